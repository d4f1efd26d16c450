//! Compares what clients have with what is true.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::game::{FIRST_PLAYER, MARGIN_PERCENT, RADIUS_MM};

/// Where an entity is, and its health.
type State = ([i128; 3], u16);

/// The entities that someone knows, by their tags.
type World = BTreeMap<u32, State>;

/// How many clients were looked at, and what they have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) clients: usize,
    pub(crate) entities: usize,
}

/// Compares two files as server and swarm wrote them.
///
/// Each client must have what is within its radius, nothing that is beyond the margin, and all of it
/// as the server has it.
pub(crate) fn compare(truth: &Path, mirrors: &Path) -> Result<Agreement> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
    };
    let truth = parse(read(truth)?.lines())?;
    let mirrors = read(mirrors)?;
    let mut agreement = Agreement::default();
    for part in mirrors.split("client ").skip(1) {
        let mut lines = part.lines();
        let account: u32 = lines.next().context("no account")?.parse()?;
        let mirror = parse(lines)?;
        check(&truth, account, &mirror).with_context(|| format!("client {account}"))?;
        agreement.clients += 1;
        agreement.entities += mirror.len();
    }
    Ok(agreement)
}

fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Result<World> {
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [tag, x, y, z, health] = words[..] else {
                anyhow::bail!("not an entity: `{line}`");
            };
            let at = [x.parse()?, y.parse()?, z.parse()?];
            Ok((tag.parse()?, (at, health.parse()?)))
        })
        .collect()
}

fn check(truth: &World, account: u32, mirror: &World) -> Result<()> {
    let player = truth.get(&(FIRST_PLAYER + account));
    let (center, _) = player.context("has no player")?;
    let margin = RADIUS_MM * i128::from(MARGIN_PERCENT) / 100;
    let (near, far) = (RADIUS_MM.pow(2), (RADIUS_MM + margin).pow(2));
    for (tag, state) in truth {
        let square: i128 = (0..3).map(|i| (state.0[i] - center[i]).pow(2)).sum();
        match mirror.get(tag) {
            None => ensure!(square > near, "lacks {tag}, {square} square mm away"),
            Some(_) if square > far => anyhow::bail!("has {tag}, {square} square mm away"),
            Some(seen) => ensure!(seen == state, "has {tag} as {seen:?}, it is {state:?}"),
        }
    }
    let unknown = mirror.keys().find(|tag| !truth.contains_key(tag));
    ensure!(unknown.is_none(), "has {unknown:?}, which is not there");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(entities: &[(u32, i128)]) -> World {
        let state = |x| ([x, 0, 0], 7);
        entities.iter().map(|&(tag, x)| (tag, state(x))).collect()
    }

    #[test]
    fn a_client_must_have_its_surroundings_and_no_more() {
        let own = (FIRST_PLAYER + 1, 0);
        let truth = world(&[own, (1, 50_000), (2, 52_000), (3, 55_001)]);
        assert!(check(&truth, 1, &world(&[own, (1, 50_000)])).is_ok());
        assert!(check(&truth, 1, &world(&[own, (1, 50_000), (2, 52_000)])).is_ok());
        let problem = |mirror: &[(u32, i128)]| {
            let error = check(&truth, 1, &world(mirror)).expect_err("differs");
            error.to_string()
        };
        assert!(problem(&[own]).starts_with("lacks 1"));
        assert!(problem(&[own, (1, 50_000), (3, 55_001)]).starts_with("has 3"));
        assert!(problem(&[own, (1, 49_999)]).contains("as ([49999, 0, 0], 7)"));
        assert!(problem(&[own, (1, 50_000), (4, 0)]).contains("not there"));
        assert!(check(&truth, 2, &World::new()).is_err(), "no player");
    }
}
