//! Every row of the hostile input table has a test that bears its number.

use std::collections::BTreeSet;
use std::path::Path;

/// Rows of the table.
const ROWS: u32 = 46;

#[test]
fn every_row_has_a_test() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = BTreeSet::new();
    for folder in ["tests", "src"] {
        look(&crate_folder.join(folder), &mut rows);
    }
    let missing: Vec<u32> = (1..=ROWS).filter(|row| !rows.contains(row)).collect();
    assert_eq!(missing, [], "rows without a test");
    assert_eq!(rows.last(), Some(&ROWS), "no row of this number");
}

/// Notes the rows of all tests in a folder and those inside of it.
fn look(folder: &Path, rows: &mut BTreeSet<u32>) {
    for file in std::fs::read_dir(folder).expect("readable") {
        let path = file.expect("readable").path();
        if path.is_dir() {
            look(&path, rows);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(path).expect("text");
            let names = text.split("\n    fn hostile_").skip(1);
            let names = names.chain(text.split("\nfn hostile_").skip(1));
            rows.extend(names.filter_map(|name| name.get(..2)?.parse::<u32>().ok()));
        }
    }
}
