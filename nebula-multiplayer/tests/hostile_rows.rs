//! Every row of the hostile input table has a test that bears its number, in which a second, healthy
//! client notices nothing.

use std::collections::BTreeSet;
use std::path::Path;

/// Rows of the table.
const ROWS: u32 = 46;

/// Rows without a second client, and why.
const ALONE: [(u32, &str); 2] = [
    (
        32,
        "what one table compares is counted where the table is, and there is no server",
    ),
    (
        46,
        "the server is the hostile one, and owes nothing to its other clients",
    ),
];

/// How a test asks a witness.
const WITNESS: &str = "notices_nothing(";

#[test]
fn every_row_has_a_test_with_a_witness() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Found::default();
    for folder in ["tests", "src"] {
        found.look(&crate_folder.join(folder));
    }
    let missing: Vec<u32> = (1..=ROWS).filter(|row| !found.rows.contains(row)).collect();
    assert_eq!(missing, [], "rows without a test");
    assert_eq!(found.rows.last(), Some(&ROWS), "no row of this number");
    let alone = found.rows.difference(&found.witnessed);
    assert!(
        alone.eq(ALONE.iter().map(|(row, _)| row)),
        "rows without a witness: {:?}; with a reason for it: {ALONE:?}",
        found.rows.difference(&found.witnessed)
    );
}

/// The rows that were found.
#[derive(Default)]
struct Found {
    rows: BTreeSet<u32>,
    witnessed: BTreeSet<u32>,
}

impl Found {
    /// Notes the rows of all tests in a folder and those inside of it.
    fn look(&mut self, folder: &Path) {
        for file in std::fs::read_dir(folder).expect("readable") {
            let path = file.expect("readable").path();
            if path.is_dir() {
                self.look(&path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                self.read(&std::fs::read_to_string(path).expect("text"));
            }
        }
    }

    fn read(&mut self, text: &str) {
        let functions = functions(text);
        let witnessing = witnessing(&functions);
        for (name, _) in &functions {
            let number = name.strip_prefix("hostile_").and_then(|name| name.get(..2));
            if let Some(row) = number.and_then(|number| number.parse().ok()) {
                self.rows.insert(row);
                if witnessing.contains(name) {
                    self.witnessed.insert(row);
                }
            }
        }
    }
}

/// Returns the functions of a file: the name, and everything up to the next one.
fn functions(text: &str) -> Vec<(&str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        let code = line.trim_start().trim_start_matches("pub(crate) ");
        if code.starts_with("//") {
            continue;
        }
        if let Some(name) = code.strip_prefix("fn ") {
            let end = name.find(['(', '<']).unwrap_or(name.len());
            all.push((&name[..end], String::new()));
        } else if let Some((_, body)) = all.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    all
}

/// Returns the functions that ask a witness, themselves or by way of another in the file.
fn witnessing<'a>(functions: &[(&'a str, String)]) -> BTreeSet<&'a str> {
    let mut calls = vec![WITNESS.to_owned()];
    let mut known = BTreeSet::new();
    while let Some(call) = calls.pop() {
        for (name, body) in functions {
            if body.contains(&call) && known.insert(*name) {
                calls.push(format!("{name}("));
            }
        }
    }
    known
}

#[test]
fn a_test_without_a_witness_is_told_apart() {
    let text = "fn storm(n: u32) {\n    witness.notices_nothing(&mut host);\n}\n\
        fn hostile_21_streams() {\n    storm(1);\n}\n\
        fn hostile_22_nobody() {\n    // witness.notices_nothing(\n}\n";
    let mut found = Found::default();
    found.read(text);
    assert_eq!(found.rows, BTreeSet::from([21, 22]));
    assert_eq!(found.witnessed, BTreeSet::from([21]));
}
