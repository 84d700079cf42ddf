//! The text of `data/` and of the tests' oracles, with file and line.

use std::collections::HashMap;
use std::fs;
use std::ops::Index;
use std::path::PathBuf;

/// A line of a table.
pub(crate) struct Row {
    file: String,
    line: usize,
    cells: HashMap<String, String>,
}

/// The rows of a file below `data/`.
pub(crate) fn rows(file: &str) -> Vec<Row> {
    read("data", file)
}

/// The rows of a file below `tests/`: facts of sources that are not shipped.
pub(crate) fn oracle(file: &str) -> Vec<Row> {
    read("tests", file)
}

fn read(directory: &str, file: &str) -> Vec<Row> {
    let name = format!("{directory}/{file}");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let header: Vec<_> = lines.next().expect("a header").1.split('\t').map(str::to_owned).collect();
    lines
        .map(|(index, line)| Row {
            file: name.clone(),
            line: index + 1,
            cells: header.iter().cloned().zip(line.split('\t').map(str::to_owned)).collect(),
        })
        .collect()
}

/// Decimal, or hexadecimal after `0x`.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Row {
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The number in a column; `None` for `-`.
    pub(crate) fn number(&self, column: &str) -> Option<u64> {
        number(&self[column])
    }
}

impl Index<&str> for Row {
    type Output = str;

    fn index(&self, column: &str) -> &str {
        &self.cells[column]
    }
}
