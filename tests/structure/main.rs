//! The structure that ARCHITECTURE.md promises: no import circles between modules, the graph of the
//! crates, and files short enough to read at once.

mod c_files;
mod conditions;
mod made_up;
mod modules;
mod plurals;
mod profiles;
mod public_types;
mod publishing;
mod workspace;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::Modules;

/// Lines of a file at most.
const LONGEST: usize = 450;

/// Types that the pages of all libraries list at most.
const MOST_TYPES: usize = 220;

/// The page with the imports of all modules.
const PAGE: &str = "docs/modules.md";

/// The crates below the folders that hold no tests, by the folder of their root; and the C files of the lab.
fn all() -> Vec<(String, Modules)> {
    let reader = |path: &Path| fs::read_to_string(workspace::root().join(path)).ok();
    let roots =
        workspace::packages().iter().flat_map(workspace::Package::roots).collect::<Vec<_>>();
    let roots = roots.iter().filter(|root| !root.starts_with("tests"));
    let read = roots.map(|root| {
        let read = Modules::read(root, &reader).unwrap_or_else(|error| panic!("{error}"));
        (root.display().to_string(), read)
    });
    let mut all: Vec<_> = read.collect();
    for folder in ["lab/qemu/model", "lab/qemu-arm/model", "lab/probes"] {
        let files = fs::read_dir(workspace::root().join(folder)).expect("a folder");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "c" || ending == "h"));
        files.sort();
        let files = files.into_iter().map(|file| {
            let text = fs::read_to_string(&file).expect("a source");
            (Path::new(folder).join(file.file_name().expect("a name")), text)
        });
        all.push((folder.to_owned(), c_files::read(&files.collect::<Vec<_>>())));
    }
    all
}

#[test]
fn modules_import_each_other_in_no_circle() {
    let all = all();
    assert!(all.len() > 15, "read {} crates only", all.len());
    let arcs: usize =
        all.iter().flat_map(|(_, read)| read.imports.values().map(|to| to.len())).sum();
    assert!(arcs > 400, "{arcs} imports only");
    let circles = all
        .iter()
        .flat_map(|(name, read)| read.circles().into_iter().map(move |at| format!("{name}: {at}")));
    let wrong: Vec<String> = circles.collect();
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_page_of_modules_has_their_imports() {
    let mut page = "# Modules\n\nEach row has a module and the modules that it imports; those that import come first. A module without \
                    imports has no row. The test `structure` reads them and writes this page where `BLESS` is set.\n"
        .to_owned();
    for (name, read) in all() {
        let picture = read.picture();
        if !picture.is_empty() {
            page += &format!("\n## {name}\n\n```text\n{picture}```\n");
        }
    }
    let file = workspace::root().join(PAGE);
    if env::var_os("BLESS").is_some() {
        fs::write(&file, &page).expect("room for the page");
    }
    assert!(
        fs::read_to_string(&file).is_ok_and(|known| known == page),
        "{PAGE} is another one; BLESS=1 cargo test -p pacman-tests --test structure writes it"
    );
}

#[test]
fn pages_of_the_libraries_list_few_types() {
    let reader = |path: &Path| fs::read_to_string(workspace::root().join(path)).ok();
    let packages = workspace::packages();
    let libraries = packages.iter().filter_map(|own| Some((&own.name, own.documented_library()?)));
    let counts: Vec<(&String, usize)> =
        libraries.map(|(name, root)| (name, public_types::listed(&root, &reader).len())).collect();
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    assert!((100..=MOST_TYPES).contains(&all), "{all} types, at most {MOST_TYPES}: {counts:?}");
}

#[test]
fn crates_depend_on_each_other_as_architecture_md_draws_it() {
    let built = workspace::graph(&workspace::packages());
    let drawn = workspace::drawn(&workspace::text(Path::new("ARCHITECTURE.md")));
    let missing: Vec<_> = built.difference(&drawn).collect();
    let gone: Vec<_> = drawn.difference(&built).collect();
    assert!(missing.is_empty() && gone.is_empty(), "add {missing:#?}, delete {gone:#?}");

    let mut graph = Modules::default();
    for (from, to) in drawn.iter().filter_map(|line| line.split_once(" -> ")) {
        let imports = graph.imports.entry(from.to_owned()).or_default();
        imports.insert(to.to_owned(), "its manifest".to_owned());
    }
    assert_eq!(graph.circles(), [""; 0]);
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
