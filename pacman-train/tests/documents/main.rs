//! Each shell line of README.md, of the manual and all other pages, of `pacman.h` and of `--help` runs as it is
//! typed, or carries the reason why it does not. Man pages are the texts of `--help` and of `pacman.h`.
//!
//! Pages say it in a comment right before the block: `<!-- not run: REASON -->`, or
//! `<!-- status 0, 1 or 3: REASON -->` for a block whose last line may end so. Examples of `--help` are
//! in the list `NOT_RUN`. A block that needs a program which is not there is skipped. `./install.sh` installs what is
//! built, below the page's folder.

mod blocks;
mod place;
mod promises;
mod recordings;
mod statuses;
#[allow(dead_code, reason = "the tests of installations need more of it")]
#[path = "../install/tree.rs"]
mod tree;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use blocks::Block;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pacman_suite::skipped_part;
use place::Place;

/// Examples of `--help` that do not run here, by their begin, and why.
const NOT_RUN: [(&str, &str); 6] = [
    ("pacman-pmu stat -p 1234", "names a process that is not there"),
    ("pacman-pmu stat -a", "needs leave to count whole contexts"),
    ("pacman-pmu topo --sysfs copy-of-another-machine", "needs files of another machine"),
    ("pacman-pmu run --energy", "needs RAPL"),
    ("pacman-pmu smt --method counters", "needs counters of whole contexts"),
    ("pacman-pmu smt", "runs until Ctrl-C"),
];

/// Examples of `--help` that may end with status 1 here, by their begin, and why.
const MAY_END_WITH_1: [(&str, &str); 3] = [
    ("pacman-pmu validate", "a machine may lack counters"),
    ("pacman-pmu compare", "a region may have got slower"),
    ("pacman-pmu topo --tiles", "most machines tell no places"),
];

/// Programs that a machine may lack.
const OPTIONAL: [&str; 10] =
    ["cc", "gcc", "g++", "clang", "gfortran", "mpirun", "jq", "make", "pkg-config", "python3"];

/// README.md and the pages in `docs`.
fn manual() -> Vec<PathBuf> {
    let folder = tree::root().join("docs");
    let is_of_manual = |page: &PathBuf| {
        let above = page.parent();
        above == Some(&folder) || page.ends_with("README.md") && above == Some(tree::root())
    };
    pages().into_iter().filter(is_of_manual).collect()
}

/// All pages of the sources.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![tree::root().to_owned()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The name of a page: its path below the root.
fn name(page: &Path) -> String {
    page.strip_prefix(tree::root()).expect("a page of the sources").display().to_string()
}

#[test]
fn the_lines_of_the_pages_run_as_they_are_typed() {
    let Some(place) = Place::of_tests() else { return };
    let mut all: Vec<(String, Vec<Block>)> = pages()
        .iter()
        .map(|page| {
            let text = fs::read_to_string(page).expect("a page");
            (name(page), blocks::of_page(&text))
        })
        .collect();
    for (path, compiler) in
        [("pacman-ffi/include/pacman.h", "cc "), ("pacman-ffi/fortran/pacman.f90", "gfortran ")]
    {
        let text = fs::read_to_string(source(path)).expect("a source");
        let block = blocks::of_comment(&text, compiler);
        assert_eq!(block.len(), 1, "{path} says how to build");
        all.push((path.to_owned(), block));
    }
    let blocks: usize = all.iter().map(|(_, blocks)| blocks.len()).sum();
    assert!(blocks > 40, "{blocks} blocks: the pages have more");
    assert_all(place, all);
}

#[test]
fn the_examples_of_the_help_run_as_they_are_typed() {
    let Some(place) = Place::of_tests() else { return };
    let mut own = pacman_train::command_line();
    let mut all = vec![("help".to_owned(), blocks::of_help(&own.render_long_help().to_string()))];
    for command in own.get_subcommands_mut() {
        let blocks = blocks::of_help(&command.render_long_help().to_string());
        all.push((format!("help of {}", command.get_name()), blocks));
    }
    let mut unused: Vec<&str> = NOT_RUN.iter().map(|(begin, _)| *begin).collect();
    for block in all.iter_mut().flat_map(|(_, blocks)| blocks) {
        let known = NOT_RUN.iter().find(|(begin, _)| {
            block.text == *begin
                || block.text.starts_with(&format!("{begin} --")) && *begin != "pacman-pmu smt"
        });
        if MAY_END_WITH_1.iter().any(|(begin, _)| block.text.starts_with(begin)) {
            block.statuses = vec![0, 1];
        }
        if let Some((begin, why)) = known {
            block.not_run = Some((*why).to_owned());
            unused.retain(|one| one != begin);
        }
    }
    assert!(unused.is_empty(), "no example begins so: {unused:?}");
    let examples: usize = all.iter().map(|(_, blocks)| blocks.len()).sum();
    assert!(examples > 60, "{examples} examples: the help has more");
    assert_all(place, all);
}

#[test]
fn commands_in_sentences_are_understood() {
    let mut seen = 0;
    for page in pages().iter().filter(|page| !name(page).starts_with("CHANGELOG")) {
        let text = fs::read_to_string(page).expect("a page");
        for words in blocks::in_sentences(&text) {
            seen += 1;
            let all = ["pacman-pmu"].into_iter().chain(words.iter().map(String::as_str));
            let mut own = pacman_train::command_line();
            let all = pacman_cli::typed::in_full(all.map(OsString::from), || own.clone());
            let Err(error) = own.try_get_matches_from_mut(all) else { continue };
            // The sentence names the command, or an option without its value.
            let is_part = match error.kind() {
                ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
                ErrorKind::InvalidValue => {
                    error.get(ContextKind::InvalidValue)
                        == Some(&ContextValue::String(String::new()))
                }
                _ => false,
            };
            assert!(
                is_part || !error.use_stderr(),
                "{}: pacman-pmu {}: {error}",
                name(page),
                words.join(" ")
            );
        }
    }
    assert!(seen > 30, "{seen} commands: the pages have more");
}

/// Runs the blocks of each page in a folder of its own, two pages at a time.
fn assert_all(place: &Place, mut pages: Vec<(String, Vec<Block>)>) {
    for (page, blocks) in &mut pages {
        // Programs that blocks would have built, and the program that was lacking: later blocks start them.
        let mut unbuilt: Vec<(String, &str)> = Vec::new();
        blocks.retain(|block| {
            let words = |line: &str| -> Vec<String> {
                line.split(|one: char| !(one.is_alphanumeric() || "+-_./".contains(one)))
                    .map(str::to_owned)
                    .collect()
            };
            let words = words(&block.text);
            let lacking = OPTIONAL
                .iter()
                .find(|program| words.iter().any(|word| word == *program) && !place.has(program))
                .copied();
            let starts =
                |name: &str| words.iter().any(|word| word.strip_prefix("./") == Some(name));
            let lacking = lacking.or_else(|| {
                unbuilt.iter().find(|(name, _)| starts(name)).map(|(_, program)| *program)
            });
            if let Some(program) = lacking {
                let built = words.windows(2).filter(|pair| pair[0] == "-o");
                unbuilt.extend(built.map(|pair| (pair[1].clone(), program)));
            }
            if let (Some(program), None) = (lacking, &block.not_run) {
                skipped_part(format!("{page}, line {}", block.line), format!("no {program}"));
            }
            lacking.is_none() && block.not_run.is_none()
        });
    }
    let (one, other): (Vec<_>, Vec<_>) =
        pages.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let run = |pages: Vec<(usize, (String, Vec<Block>))>| -> Vec<String> {
        let pages = pages.into_iter().filter(|(_, (_, blocks))| !blocks.is_empty());
        pages.filter_map(|(_, (page, blocks))| place.run(&page, &blocks).err()).collect()
    };
    let failed = thread::scope(|scope| {
        let other = scope.spawn(|| run(other));
        let mut failed = run(one);
        failed.extend(other.join().expect("the other pages"));
        failed
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The path of a file of the sources.
fn source(path: &str) -> PathBuf {
    Path::new(tree::root()).join(path)
}
