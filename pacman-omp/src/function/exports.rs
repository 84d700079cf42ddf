//! The table against the functions that runtimes export.
//!
//! `tests/runtimes/exports.tsv` has what several releases of both runtimes export, so the test needs none of
//! them. The runtimes of this machine are asked as well.

use std::process::Command;

use pacman_suite::skipped_part;

use super::{ALL, CallKind};

const EXPORTS: &str = include_str!("../../tests/runtimes/exports.tsv");
const UNWATCHED: &str = include_str!("../../tests/runtimes/unwatched.tsv");

/// The rows of a table, without its comments and its head.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').collect())
}

fn exports() -> Vec<&'static str> {
    rows(EXPORTS).map(|row| row[0]).collect()
}

/// The patterns of functions that need no entry.
fn unwatched() -> Vec<&'static str> {
    rows(UNWATCHED).flat_map(|row| row[1].split(' ')).collect()
}

fn is_openmp(name: &str) -> bool {
    let prefixes = ["GOMP_", "omp_", "ompc_", "ompx_", "kmp_", "kmpc_", "__kmpc_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether `name` fits a pattern with one `*` at most.
fn fits(name: &str, pattern: &str) -> bool {
    pattern.split_once('*').map_or(name == pattern, |(start, end)| {
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    })
}

fn kind_of(name: &str) -> Option<CallKind> {
    ALL.iter().find(|(_, known, _)| known.to_str() == Ok(name)).map(|one| one.2)
}

/// The function that a name of Fortran or C means, if it is one of several names for it.
fn base(name: &str) -> String {
    let name = name.strip_suffix('_').unwrap_or(name);
    let name = name.strip_suffix("_8").filter(|_| !name.starts_with("__")).unwrap_or(name);
    let name = name.strip_prefix("ompc_").map_or(name.to_owned(), |rest| format!("omp_{rest}"));
    name.strip_prefix("kmp_").map_or(name.clone(), |rest| {
        let of_omp = format!("omp_{rest}");
        if kind_of(&of_omp).is_some() { of_omp } else { name.clone() }
    })
}

/// The faults of the exported functions: those that are in neither list, or in both.
fn unknown<'a>(exports: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let unwatched = unwatched();
    let is_known = |name: &str| {
        let times = unwatched.iter().filter(|pattern| fits(name, pattern)).count();
        times + usize::from(kind_of(name).is_some()) == 1
    };
    exports.into_iter().filter(|name| !is_known(name)).collect()
}

#[test]
fn each_function_of_the_runtimes_has_an_entry_or_a_reason_for_none() {
    let exports = exports();
    assert!(exports.len() > 900 && exports.iter().all(|name| is_openmp(name)));
    assert_eq!(unknown(exports.iter().copied()), [""; 0]);
    for pattern in unwatched() {
        assert!(exports.iter().any(|name| fits(name, pattern)), "{pattern} is no function");
    }
    for (_, name, _) in ALL {
        let name = name.to_str().unwrap();
        assert!(!is_openmp(name) || exports.contains(&name), "{name} is no function");
    }
}

#[test]
fn a_function_that_neither_list_has_is_found() {
    let names = ["GOMP_parallel", "GOMP_parallel_of_tomorrow", "omp_get_wtime"];
    assert_eq!(unknown(names), ["GOMP_parallel_of_tomorrow"]);
}

#[test]
fn all_names_of_a_function_have_one_kind() {
    for name in exports() {
        let (own, of_base) = (kind_of(name), kind_of(&base(name)));
        // The library itself calls functions without a kind, by one of their names.
        if own.is_some() && of_base.is_some() {
            assert_eq!(own, of_base, "{name} and {}", base(name));
        }
        if of_base.is_some_and(|kind| !matches!(kind, CallKind::Neutral | CallKind::Called)) {
            assert!(own.is_some(), "{name} is in no kind, but {} is", base(name));
        }
    }
}

#[test]
fn the_runtimes_of_this_machine_export_nothing_else() {
    let located = |compiler: &str, file: &str| {
        let asked = Command::new(compiler).arg(format!("-print-file-name={file}")).output().ok()?;
        let path = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
        path.contains('/').then_some(path)
    };
    for (compiler, file) in [("gcc", "libgomp.so.1"), ("clang", "libomp.so")] {
        let Some(path) = located(compiler, file) else {
            skipped_part(file, format_args!("{compiler} has none"));
            continue;
        };
        let Ok(listed) = Command::new("nm").args(["-D", "--defined-only", &path]).output() else {
            return skipped_part("exported functions", "no nm");
        };
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let functions = listed.lines().filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let is_function = matches!(words.next()?, "T" | "W" | "i");
            words.next()?.split('@').next().filter(|name| is_function && is_openmp(name))
        });
        let functions: Vec<&str> = functions.collect();
        assert!(functions.len() > 200, "{path}: {}", functions.len());
        assert_eq!(unknown(functions), [""; 0], "{path}");
    }
}
