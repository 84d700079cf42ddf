//! The structure that ARCHITECTURE.md promises: no import circles between files, the graph of the
//! crates, and files short enough to read at once.
//!
//! An import counts from the file that names an item to the file that defines it, with re-exports
//! followed. Tests and loom models do not count. A file that only declares modules and re-exports
//! defines nothing, so it is in no circle.

mod circles;
mod conditions;
mod imports;
mod interposed;
mod made_up;
mod modules;
mod plurals;
mod publishing;
mod resolve;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::toposort;
use petgraph::graphmap::DiGraphMap;

use crate::modules::Crate;

/// Lines of a file at most.
const LONGEST: usize = 450;

/// The crates below the folders that hold no tests.
fn crates() -> Vec<Crate> {
    let reader = |path: &Path| fs::read_to_string(workspace::root().join(path)).ok();
    workspace::packages()
        .iter()
        .flat_map(workspace::Package::roots)
        .filter(|root| !root.starts_with("tests"))
        .map(|root| Crate::read(&root, &reader).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

#[test]
fn files_import_each_other_in_no_circle() {
    let crates = crates();
    assert!(crates.len() > 6, "read {} crates only", crates.len());
    let mut found = Vec::new();
    for read in &crates {
        let imports = read.imports();
        assert!(imports.unresolved.is_empty(), "paths to nowhere: {:#?}", imports.unresolved);
        let files: Vec<String> = read.files.iter().map(|file| file.display().to_string()).collect();
        found.extend(circles::circles(&files, &imports.imports));
    }
    let reports: Vec<&str> = found.iter().map(|circle| circle.report.as_str()).collect();
    assert!(found.is_empty(), "cut these:\n{}", reports.join("\n"));
}

#[test]
fn crates_depend_on_each_other_as_architecture_md_draws_it() {
    let built = workspace::graph(&workspace::packages());
    let drawn = workspace::drawn(&workspace::text(Path::new("ARCHITECTURE.md")));
    let missing: Vec<_> = built.difference(&drawn).collect();
    let gone: Vec<_> = drawn.difference(&built).collect();
    assert!(missing.is_empty() && gone.is_empty(), "add {missing:#?}, delete {gone:#?}");

    let arcs = drawn.iter().filter_map(|line| line.split_once(" -> "));
    let graph: DiGraphMap<&str, ()> = arcs.collect();
    let circle = toposort(&graph, None).err().map(|cycle| cycle.node_id());
    assert_eq!(circle, None, "this crate depends on itself");
}

#[test]
fn the_preloaded_library_calls_no_function_that_it_exports() {
    let names = interposed::names(&workspace::text(Path::new("pacman-omp/src/function.rs")));
    assert!(names.len() > 15, "{names:?}");
    let files = interposed::files();
    assert!(files.len() > 200, "found {} files only", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        let calls = interposed::calls(&text, &names);
        found.extend(calls.into_iter().map(|call| format!("{}: {call}", file.display())));
    }
    assert!(found.is_empty(), "make a system call or look the function up: {found:#?}");
}

#[test]
fn packages_are_ready_to_be_published() {
    let packages = workspace::packages();
    let published: Vec<_> = packages.iter().filter(|package| package.is_published()).collect();
    assert!(published.len() > 10, "{} packages are published", published.len());
    let faults: Vec<String> = published.iter().flat_map(|own| publishing::faults(own)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let names: Vec<&str> = published.iter().map(|package| package.name.as_str()).collect();
    let lacking = publishing::without_version(&workspace::manifest(), &names);
    assert!(lacking.is_empty(), "the workspace gives no version of {lacking:?}");
}

#[test]
fn one_module_decides_between_singular_and_plural() {
    let mut files: Vec<PathBuf> = Vec::new();
    workspace::rust_files(workspace::root(), &mut files);
    let mut found = Vec::new();
    for file in
        files.iter().filter(|file| !file.ends_with("plural.rs") && !file.ends_with("plurals.rs"))
    {
        let text = fs::read_to_string(file).expect("a source file");
        let own = plurals::own_plurals(&text);
        found.extend(own.into_iter().map(|place| format!("{}: {place}", file.display())));
    }
    assert!(found.is_empty(), "take pacman_events::plural: {found:#?}");
}

#[test]
fn no_file_is_longer_than_its_limit() {
    let mut files: Vec<PathBuf> = Vec::new();
    workspace::rust_files(workspace::root(), &mut files);
    assert!(files.len() > 500, "found {} files only", files.len());
    let long: Vec<String> = files
        .iter()
        .map(|file| (file, fs::read_to_string(file).expect("a source file").lines().count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(file, lines)| format!("{}: {lines} lines, at most {LONGEST}", file.display()))
        .collect();
    assert!(long.is_empty(), "split these: {long:#?}");
}
