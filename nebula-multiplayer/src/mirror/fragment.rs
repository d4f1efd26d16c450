//! Large components: fragments are put together, whatever their order.

use super::Mirror;
use super::seen::Assembly;
use super::stage::Checked;
use crate::Tick;
use crate::replication::Record;
use crate::replication::stream::FRAGMENT;
use crate::wire::DecodeError;

impl Mirror {
    pub(super) fn fragment(&mut self, tick: Tick, record: Record<'_>) -> Result<(), DecodeError> {
        let Record::Fragment {
            slot,
            kind,
            version,
            total,
            offset,
            bytes,
        } = record
        else {
            return Ok(());
        };
        let version = Tick::new(version);
        let wanted = total.saturating_sub(offset).min(FRAGMENT);
        if offset.checked_rem(FRAGMENT) != Some(0) || bytes.len() != wanted {
            return Err(DecodeError::OutOfRange { what: "a fragment" });
        }
        let Some(seen) = self.current(slot, tick) else {
            return Ok(());
        };
        if seen
            .value(kind)
            .is_some_and(|known| !version.is_newer_than(known.tick))
        {
            return Ok(());
        }
        let bit = 1_u64.wrapping_shl(u32::try_from(kind).unwrap_or(0));
        if seen.has & bit == 0 && !version.is_newer_than(seen.has_tick) {
            // It was overtaken by a list that does not name it.
            return Ok(());
        }
        let known = seen.assemblies.iter().position(|part| part.kind == kind);
        let stale = known.and_then(|at| seen.assemblies.get(at));
        let (mut added, mut removed) = (0, 0);
        let at = match (known, stale) {
            (Some(at), Some(part)) if part.version == version && part.bytes.len() == total => at,
            (Some(_), Some(part)) if part.version.is_newer_than(version) => return Ok(()),
            (found, _) => {
                if let Some(at) = found {
                    removed = seen.assemblies.swap_remove(at).bytes.len();
                }
                added = total;
                seen.assemblies.push(Assembly {
                    kind,
                    version,
                    bytes: vec![0; total],
                    got: vec![false; total.div_ceil(FRAGMENT).max(1)],
                });
                seen.assemblies.len().saturating_sub(1)
            }
        };
        let mut whole = None;
        if let Some(part) = seen.assemblies.get_mut(at) {
            let end = offset.saturating_add(bytes.len());
            if let Some(target) = part.bytes.get_mut(offset..end) {
                target.copy_from_slice(bytes);
            }
            let number = offset.checked_div(FRAGMENT).unwrap_or(0);
            if let Some(got) = part.got.get_mut(number) {
                *got = true;
            }
            if part.got.iter().all(|got| *got) {
                whole = Some(seen.assemblies.swap_remove(at).bytes);
            }
        }
        self.charge(added, removed)?;
        if let Some(bytes) = whole {
            self.bytes = self.bytes.saturating_sub(bytes.len());
            let Checked { kind, value } = self.check(kind, version, &bytes)?;
            self.put_value(slot, kind, value)?;
        }
        Ok(())
    }
}
