//! Tab-separated tables. Their errors name file and line.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// A fault of a row, and its place.
#[derive(Debug)]
pub(crate) struct Fault {
    file: String,
    line: usize,
    reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// One line of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    file: String,
    line: usize,
    cells: HashMap<String, String>,
}

/// The rows of a file. Lines that begin with `#` are comments; `-` is an empty cell.
pub(crate) fn read(data: &Path, file: &str, columns: &[&str]) -> Result<Vec<Row>, Fault> {
    let fault = |line, reason: String| Fault { file: format!("data/{file}"), line, reason };
    let text = fs::read_to_string(data.join(file))
        .map_err(|error| fault(0, format!("cannot be read: {error}")))?;
    parse(&format!("data/{file}"), &text, columns)
}

/// The first line of a file, which says where its rows come from, up to the licence.
pub(crate) fn first_comment(data: &Path, file: &str) -> Result<String, Fault> {
    let fault = |reason: String| Fault { file: format!("data/{file}"), line: 1, reason };
    let text = fs::read_to_string(data.join(file))
        .map_err(|error| fault(format!("cannot be read: {error}")))?;
    let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
    let source = first.and_then(|line| line.split(';').next()).map(str::trim_end);
    source
        .filter(|source| !source.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| fault("the first line does not name the source".into()))
}

/// The rows of a text, as [`read`] takes them from a file.
pub(crate) fn parse(file: &str, text: &str, columns: &[&str]) -> Result<Vec<Row>, Fault> {
    let fault = |line, reason: String| Fault { file: file.to_owned(), line, reason };
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, text)| (index + 1, text))
        .filter(|(_, text)| !text.starts_with('#') && !text.is_empty());
    let Some((line, header)) = lines.next() else {
        return Err(fault(1, "no header".into()));
    };
    if header.split('\t').ne(columns.iter().copied()) {
        return Err(fault(line, format!("the columns must be {}", columns.join(", "))));
    }
    lines
        .map(|(line, text)| {
            let cells: Vec<_> = text.split('\t').collect();
            if cells.len() != columns.len() {
                let reason = format!("{} cells where {} are due", cells.len(), columns.len());
                return Err(fault(line, reason));
            }
            let cells =
                columns.iter().zip(cells).map(|(c, cell)| ((*c).to_owned(), cell.to_owned()));
            Ok(Row { file: file.to_owned(), line, cells: cells.collect() })
        })
        .collect()
}

impl Row {
    pub(crate) fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault { file: self.file.clone(), line: self.line, reason: reason.into() }
    }

    /// The text of a cell; empty for `-`.
    pub(crate) fn text(&self, column: &str) -> &str {
        match self.cells[column].as_str() {
            "-" => "",
            cell => cell,
        }
    }

    /// A cell that must not be empty.
    pub(crate) fn required(&self, column: &str) -> Result<&str, Fault> {
        match self.text(column) {
            "" => Err(self.fault(format!("{column} is empty"))),
            cell => Ok(cell),
        }
    }

    pub(crate) fn set(&mut self, column: &str, cell: &str) {
        self.cells.insert(column.to_owned(), cell.to_owned());
    }

    /// Comma-separated entries; none for `-`.
    pub(crate) fn list(&self, column: &str) -> Vec<String> {
        self.text(column).split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect()
    }

    pub(crate) fn number(&self, column: &str) -> Result<u64, Fault> {
        number(self.required(column)?).ok_or_else(|| self.not_a_number(column))
    }

    pub(crate) fn optional_number(&self, column: &str) -> Result<Option<u64>, Fault> {
        match self.text(column) {
            "" => Ok(None),
            cell => number(cell).map(Some).ok_or_else(|| self.not_a_number(column)),
        }
    }

    /// A word out of a fixed set.
    pub(crate) fn one_of<T: Copy>(&self, column: &str, words: &[(&str, T)]) -> Result<T, Fault> {
        let cell = &self.cells[column];
        let found = words.iter().find(|(word, _)| word == cell);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.fault(format!("{column} is {cell:?}, not one of {}", words.join(", ")))
        })
    }

    fn not_a_number(&self, column: &str) -> Fault {
        self.fault(format!("{column} is {:?}, not a number", self.text(column)))
    }
}

/// Decimal, or hexadecimal after `0x`.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
