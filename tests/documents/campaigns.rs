//! Each test that docs/campaigns.md names beside a defect is in the file that it names.

use super::{read, root};

#[test]
fn each_defect_names_tests_that_are_there() {
    let page = read(&root().join("docs/campaigns.md"));
    let (_, section) = page.split_once("## Defects found by attack").expect("a section of defects");
    let mut defects = 0;
    for line in section.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(number) = cells.get(1).and_then(|cell| cell.parse::<u32>().ok()) else { continue };
        defects += 1;
        assert_eq!(number, defects, "the defects are counted from 1: {line}");
        let &["", _, _, answer, tests, ""] = &cells[..] else {
            panic!("not four cells: {line}");
        };
        assert!(!answer.is_empty(), "defect {number}: the old build's answer is missing");
        for test in tests.split("<br>") {
            is_there(number, test);
        }
    }
    assert_eq!(defects, 28);
}

/// `` `file` ``, or `` `function` (file) ``.
fn is_there(defect: u32, test: &str) {
    let (name, rest) = test
        .strip_prefix('`')
        .and_then(|rest| rest.split_once('`'))
        .unwrap_or_else(|| panic!("defect {defect}: not a test's name: {test}"));
    let Some(file) = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        assert!(root().join(name).is_file(), "defect {defect}: {name} is not there");
        return;
    };
    let source = read(&root().join(file));
    let function = format!("fn {name}()");
    assert!(
        source.lines().any(|line| line.trim().starts_with(&function)),
        "defect {defect}: {file} has no {name}"
    );
}
