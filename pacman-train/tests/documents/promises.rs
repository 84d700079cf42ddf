//! Each sentence of README.md, of the pages in `docs` and of `--help` about statuses, silence and loss has a
//! row in `promises.tsv` that names the test that tries it. Man pages are the texts of `--help`.
//!
//! A row has the page, a part of the sentence, and `FILE::FUNCTION` with the file below the tests of
//! `pacman-cli` or `pacman-train`, or the root. For a sentence that has such words and promises nothing the third cell is
//! `no promise`. A test fails for a sentence without a row and for a row without a sentence. Lists of exit
//! statuses are for `statuses`, and pages that name their tests themselves are checked so.

use std::fs;

use crate::{manual, source};

/// Words of sentences about statuses, silence and loss.
const WORDS: [&str; 38] = [
    "status",
    "lost",
    "lose",
    "loses",
    "loss of",
    "silent",
    "silently",
    "without a word",
    "says so",
    "say so",
    "warns",
    "warn",
    "one line",
    "a line says",
    "a line gives",
    "a line names",
    "line names",
    "line of the report",
    "one line for each",
    "ends with a line",
    "first line",
    "a line on",
    "a note",
    "interrupted",
    "killed",
    "ctrl-c",
    "sigint",
    "sigterm",
    "sighup",
    "sigkill",
    "full disk",
    "disk is full",
    "cannot be written",
    "could not be written",
    "ignored",
    "left out",
    "missing",
    "never 0",
];

/// Pages whose tables name the test of each row, and those that promise nothing of the product.
const OTHER_PAGES: [(&str, &str); 7] = [
    ("campaigns.md", "its table of defects names tests"),
    ("transparency.md", "its table names tests"),
    ("glossary.md", "names of types"),
    ("SUMMARY.md", "names of pages"),
    ("silicon.md", "facts of processors"),
    ("lab-findings.md", "facts of QEMU and Linux"),
    ("why.md", "facts of other tools"),
];

/// Parts of `--help` that other tests hold: statuses, examples, and members of documents.
const OTHER_PARTS: [&str; 7] =
    ["Exit status", "Examples:", "Usage:", "JSON:", "Columns", "CSV", "Reading"];

struct Sentence {
    page: String,
    text: String,
}

fn has_word(text: &str) -> bool {
    let text = text.to_lowercase();
    WORDS.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let is_part = |one: char| one.is_alphanumeric() || one == '-' || one == '_';
            !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
        })
    })
}

/// Sentences of running text, and rows of tables. Tables of members are made from the types.
fn sentences(text: &str) -> Vec<String> {
    let (mut all, mut paragraph) = (Vec::new(), String::new());
    let (mut is_code, mut is_made) = (false, false);
    for line in text.lines().map(str::trim).chain([""]) {
        is_made |= line.starts_with("<!-- members of");
        is_made &= !line.starts_with("<!-- end of members");
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_text = !(is_code || is_fence || is_made || line.starts_with(['#', '<']));
        let is_row = line.starts_with('|');
        if !is_text || is_row || line.is_empty() || line.starts_with("- ") {
            all.extend(split(&std::mem::take(&mut paragraph)));
        }
        match is_text {
            true if is_row => all.push(line.to_owned()),
            true => paragraph = format!("{paragraph} {}", line.trim_start_matches("- ")),
            false => {}
        }
    }
    all
}

/// A sentence of a few words, as "A line says so.", belongs to the one before it.
fn split(paragraph: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut rest = paragraph.trim();
    while !rest.is_empty() {
        let end = rest
            .match_indices(". ")
            .map(|(at, _)| at + 1)
            .find(|at| rest[*at..].trim_start().starts_with(|one: char| !one.is_lowercase()));
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        match sentences.last_mut() {
            Some(last) if sentence.split(' ').count() < 6 => *last = format!("{last} {sentence}"),
            _ => sentences.push(sentence.to_owned()),
        }
        rest = after.trim_start();
    }
    sentences
}

/// All sentences of that kind.
fn promises() -> Vec<Sentence> {
    let mut all = Vec::new();
    let mut take = |page: &str, text: &str| {
        let found = sentences(text).into_iter().filter(|text| has_word(text));
        all.extend(found.map(|text| Sentence { page: page.to_owned(), text }));
    };
    for page in manual() {
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        if !OTHER_PAGES.iter().any(|(other, _)| *other == name) {
            take(&name, &fs::read_to_string(&page).expect("a page"));
        }
    }
    let mut own = pacman_train::command_line();
    let mut helps = vec![("--help".to_owned(), own.render_long_help().to_string())];
    for command in own.get_subcommands_mut() {
        helps.push((
            format!("{} --help", command.get_name()),
            command.render_long_help().to_string(),
        ));
    }
    for (name, help) in helps {
        let parts = help.split("\n\n").filter(|part| {
            let part = part.trim_start();
            !OTHER_PARTS.iter().any(|other| part.starts_with(other))
        });
        parts.for_each(|part| take(&name, part));
    }
    all
}

/// Whether a test of that name is there: `FILE::FUNCTION`.
fn is_test(name: &str) -> bool {
    let Some((file, function)) = name.split_once("::") else { return false };
    let folders = ["pacman-cli/tests", "pacman-train/tests", "."];
    let mut places = folders.iter().map(|folder| source(folder).join(file));
    let Some(text) = places.find_map(|place| fs::read_to_string(place).ok()) else {
        return false;
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let python = line.starts_with(&format!("def {function}("));
        let marks = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
        let rust = line.starts_with(&format!("fn {function}("));
        python || rust && marks.into_iter().any(|mark| *mark == "#[test]")
    })
}

#[test]
fn each_promise_has_a_test_that_tries_it() {
    let table = fs::read_to_string(source("pacman-train/tests/documents/promises.tsv"));
    let table = table.expect("the table");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let promises = promises();
    assert!(promises.len() > 60, "{} sentences: the pages have more", promises.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let &[page, part, test] = &row[..] else { panic!("not three cells: {row:?}") };
        let is_said = promises.iter().any(|one| one.page == page && one.text.contains(part));
        if !is_said {
            wrong.push(format!("no sentence of {page} has: {part}"));
        }
        if test != "no promise" && !is_test(test) {
            wrong.push(format!("no such test: {test}"));
        }
    }
    for Sentence { page, text } in &promises {
        if !rows.iter().any(|row| row[0] == page && text.contains(row[1])) {
            wrong.push(format!("no row: {page}\t{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_test_that_transparency_names_is_there() {
    let page = fs::read_to_string(source("docs/transparency.md")).expect("a page");
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let folders = ["pacman-cli/tests/cli", "tests/omp", "tests/omp/programs", "tests/process"];
    let mut known = String::new();
    for folder in folders.map(source) {
        for entry in fs::read_dir(folder).expect("tests").flatten() {
            known += &format!("{}\n", entry.file_name().display());
            if entry.path().is_file() {
                known += &fs::read_to_string(entry.path()).unwrap_or_default();
            }
        }
    }
    let mut seen = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().expect("a cell");
        for name in tests.split('`').skip(1).step_by(2) {
            seen += 1;
            let is_there = known.contains(&format!("fn {name}()"))
                || known.lines().any(|line| line.strip_suffix(".rs").unwrap_or(line) == name);
            assert!(is_there, "{name} is no test: {row}");
        }
    }
    assert!(seen > 30, "{seen} names");
}

#[test]
fn sentences_are_those_of_text_and_tables() {
    let text = "# Lost\nIt is lost. A line says so. More\nof it, e.g. `a`.\n- an item\n| a | b |\n\n```\nlost\n```\n\
                <!-- members of x -->\n| lost |\n<!-- end of members -->\nEnd.\n";
    let all = ["It is lost. A line says so. More of it, e.g. `a`.", "an item", "| a | b |", "End."];
    assert_eq!(sentences(text), all);
    assert!(has_word("It is lost.") && !has_word("exit_status") && !has_word("a lostling"));
}
