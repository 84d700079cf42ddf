//! The arguments of the bench.

use std::path::PathBuf;
use std::str::FromStr;

/// The cells to run, and how.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) rounds: usize,
    /// The executions of each phase.
    pub(crate) executions: Vec<u32>,
    /// The library to preload instead of cargo's.
    pub(crate) library: Option<PathBuf>,
    /// Words that the name of a cell must contain.
    pub(crate) filters: Vec<String>,
}

impl Arguments {
    /// Reads the words after the program's name.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments {
            rounds: 9,
            executions: vec![200, 2_000],
            library: None,
            filters: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                // Cargo's own.
                "--bench" => {}
                "--rounds" => read.rounds = number(&word, &value()?)?,
                "--executions" => {
                    read.executions = value()?
                        .split(',')
                        .map(|one| number(&word, one))
                        .collect::<Result<_, _>>()?;
                }
                "--library" => read.library = Some(value()?.into()),
                option if option.starts_with('-') => {
                    return Err(format!(
                        "no option {option}: there are --rounds, --executions and --library"
                    ));
                }
                _ => read.filters.push(word),
            }
        }
        Ok(read)
    }

    /// Whether the cell of that name is to run.
    pub(crate) fn wants(&self, cell: &str) -> bool {
        self.filters.iter().all(|filter| cell.contains(filter.as_str()))
    }
}

fn number<N: FromStr + Default + PartialEq>(option: &str, word: &str) -> Result<N, String> {
    let number = word.parse().ok().filter(|number| *number != N::default());
    number.ok_or_else(|| format!("cannot take {option} {word:?}: give a number above 0"))
}
