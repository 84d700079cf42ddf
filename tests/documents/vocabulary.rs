//! Old names are gone: they stand in CHANGELOG's migration table and nowhere else.

use std::collections::BTreeMap;

use super::{files, read, root};

/// Old names that are no words of the field or of English programs.
const OLD: [&str; 38] = [
    "Turns",
    "InTurns",
    "in_turns",
    "PACMAN_TURNS_",
    "MAX_EVENTS_IN_TURNS",
    "ByExecution",
    "BySpread",
    "by-execution",
    "by-spread",
    "in-turns",
    "Rota",
    "Parting",
    "went_without",
    "attach_here",
    "attach_here_at",
    "detach_here",
    "with_here",
    "enroll",
    "Standing",
    "survey",
    "Ledger",
    "Gauge",
    "RefusalKind",
    "Judgement",
    "WentBack",
    "context_worth",
    "bleeds",
    "forgiven",
    "untypical",
    "narrowed",
    "let_pass",
    "Wishes",
    "Crew",
    "Manner",
    "Innermost",
    "Hosted",
    "pacman_adapted",
    "pacman_adapt_phase_id",
];

#[test]
fn old_names_are_in_the_migration_table_alone() {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for extension in ["rs", "c", "h", "cpp", "md", "js", "html"] {
        for file in files(&root(), extension) {
            let name = file.strip_prefix(root()).expect("a file of the repository");
            let place = name.display().to_string();
            // Research pages quote the papers; this file has the list.
            let may_have = ["CHANGELOG.md", "docs/research", "tests/documents/vocabulary.rs"];
            if may_have.iter().any(|own| place.starts_with(own)) {
                continue;
            }
            let text = read(&file);
            for old in OLD {
                if has_word(&text, old) {
                    found.entry(old).or_default().push(place.clone());
                }
            }
        }
    }
    assert!(found.is_empty(), "old names: {found:#?}");
}

/// Whether `word` stands in the text, with no letter, digit or `_` around it; one that ends in
/// `_` is a beginning.
fn has_word(text: &str, word: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_inner) && (word.ends_with('_') || !after.is_some_and(is_inner))
    })
}

#[test]
fn words_end_where_letters_do() {
    assert!(has_word("the Crew.", "Crew") && has_word("PACMAN_TURNS_X", "PACMAN_TURNS_"));
    assert!(!has_word("Crews", "Crew") && !has_word("a_Crew", "Crew"));
}
