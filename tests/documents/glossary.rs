//! The glossary has ideas that the manual uses, and no more than a reader keeps in mind.

use crate::markdown::prose;
use crate::{files, read, root};

#[test]
fn every_word_of_the_glossary_is_used_in_the_manual_or_the_sources() {
    let pages = files(&root().join("docs"), "md").into_iter();
    let pages = pages.filter(|page| !page.ends_with("glossary.md")).map(|page| read(&page));
    let sources = files(&root(), "rs").into_iter().map(|source| read(&source));
    let used = pages.chain(sources).collect::<String>().to_lowercase();
    let words = words();
    assert!(words.len() > 40, "only {} words were found", words.len());
    let unused: Vec<&String> = words.iter().filter(|word| !used.contains(*word)).collect();
    assert!(unused.is_empty(), "docs/glossary.md explains what nothing says: {unused:?}");
}

#[test]
fn the_glossary_has_at_most_60_rows_and_each_word_once() {
    let mut words = words();
    let rows = rows().len();
    assert!((1..=60).contains(&rows), "{rows} rows");
    words.sort();
    let twice: Vec<_> = words.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "one word has one meaning: {twice:?}");
    // Types are explained where they are declared.
    assert!(words.iter().all(|word| !word.contains('`')), "{words:?}");
}

/// The first cells of the tables' rows.
fn rows() -> Vec<String> {
    let text = read(&root().join("docs/glossary.md"));
    let cells = prose(&text).filter_map(|(_, line)| line.strip_prefix("| ")?.split(" | ").next());
    cells.filter(|cell| *cell != "word").map(str::to_owned).collect()
}

/// The words of all rows; a bracket says of what a word is.
fn words() -> Vec<String> {
    let rows = rows().into_iter();
    let words = rows.flat_map(|row| {
        let word = row.split(" (").next().unwrap_or_default().to_owned();
        word.split(", ").map(str::to_owned).collect::<Vec<_>>()
    });
    words.map(|word| word.to_lowercase()).collect()
}
