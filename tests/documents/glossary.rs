//! The glossary has every public type of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::markdown::prose;
use crate::{files, read, root};

#[test]
fn every_public_type_is_in_the_glossary() {
    let glossary = words(&read(&root().join("docs/glossary.md")));
    let types = types();
    assert!(types.len() > 200, "only {} public types were found", types.len());
    let missing: Vec<String> = types
        .iter()
        .filter(|(name, _)| !glossary.contains(*name))
        .map(|(name, file)| format!("{name} ({file})"))
        .collect();
    assert!(missing.is_empty(), "docs/glossary.md lacks:\n{}", missing.join("\n"));
}

#[test]
fn every_type_in_the_glossary_is_public() {
    let types = types();
    let stale: Vec<String> = words(&read(&root().join("docs/glossary.md")))
        .into_iter()
        .filter(|word| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase))
        .filter(|word| !types.contains_key(word))
        .collect();
    assert!(stale.is_empty(), "docs/glossary.md has types that no crate has: {stale:?}");
}

/// The words in code spans of the tables' first cells.
fn words(glossary: &str) -> BTreeSet<String> {
    prose(glossary)
        .filter_map(|(_, line)| line.strip_prefix("| "))
        .filter_map(|line| line.split(" | ").next().zip(line.split(" | ").nth(1)))
        .flat_map(|(word, meaning)| {
            // A crate's own name of a C type stands in the meaning.
            let own = meaning.split("in the crate").next().filter(|own| *own != meaning);
            let own = own.into_iter().flat_map(spans);
            spans(word).chain(own).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The public types of all crates and a file of each. `unreachable_pub` keeps `pub` off types that
/// users cannot name, so `pub` alone tells. The libraries of the commands are for these alone.
fn types() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in files(&root(), "rs") {
        let name = file.strip_prefix(root()).expect("a file of the repository");
        let place = name.display().to_string();
        let of_commands = ["pacman-cli/", "pacman-train/"].iter().any(|own| place.starts_with(own));
        let library = place.starts_with("pacman-") && place.contains("/src/") && !of_commands;
        if library && !place.contains("/tests") {
            for word in declared(&file) {
                found.insert(word, place.clone());
            }
        }
    }
    found
}

fn declared(file: &Path) -> Vec<String> {
    let text = read(file);
    let own = text.lines().take_while(|line| *line != "mod tests {");
    own.filter_map(|line| {
        let mut words =
            line.trim_start().strip_prefix("pub ")?.split([' ', '<', '(', '{', ';', ':']);
        let kind = words.find(|word| *word != "unsafe")?;
        let named = matches!(kind, "struct" | "enum" | "trait" | "type" | "union");
        named.then(|| words.next().expect("a declaration has a name").to_owned())
    })
    .collect()
}
