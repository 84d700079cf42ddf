//! Functions of the C library that libpacman_omp.so exports, too.
//!
//! Code of the library must not call them by name. The call would go to the library's own entry, which takes
//! it for one of the program's: that the process ends, say.

use std::path::{Path, PathBuf};

use crate::workspace;

/// The names of the C library's functions in the table of entries.
pub(crate) fn names(table: &str) -> Vec<String> {
    let kinds = ["Exits {", "Execs {", "UsesAffinity {"];
    let names_of = |kind: &str| {
        let names = table.split_once(kind)?.1.split_once('}')?.0;
        Some(names.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    kinds.iter().flat_map(|kind| names_of(kind).unwrap_or_default()).collect()
}

/// The lines of a file that call one of the functions by name, without its tests.
pub(crate) fn calls(text: &str, names: &[String]) -> Vec<String> {
    let is_test =
        |line: &str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
    let code = text.lines().take_while(|line| !is_test(line));
    let is_call = |line: &str| names.iter().any(|name| line.contains(&format!("libc::{name}(")));
    code.filter(|line| is_call(line)).map(|line| line.trim().to_owned()).collect()
}

/// The files whose code is in the library: its package's and those of all that it depends on.
pub(crate) fn files() -> Vec<PathBuf> {
    let packages = workspace::packages();
    let mut linked = vec!["pacman-omp".to_owned()];
    let mut at = 0;
    while let Some(name) = linked.get(at).cloned() {
        let package = packages.iter().find(|package| package.name == name);
        for dependency in package.into_iter().flat_map(workspace::Package::dependencies) {
            let is_own = packages.iter().any(|package| package.name == dependency);
            if is_own && !linked.contains(&dependency) {
                linked.push(dependency);
            }
        }
        at += 1;
    }
    let mut files = Vec::new();
    for name in linked {
        workspace::rust_files(&workspace::root().join(name).join("src"), &mut files);
    }
    files.retain(|file| {
        let own = file.strip_prefix(workspace::root()).unwrap_or(file);
        !own.components().any(|part| part.as_os_str() == Path::new("tests"))
    });
    files
}

#[test]
fn a_call_is_found_and_one_in_tests_is_not() {
    let names =
        names("Exits { _exit }\nOther { free }\nUsesAffinity {\n sched_getaffinity vfork }");
    assert_eq!(names, ["_exit", "sched_getaffinity", "vfork"]);
    let text =
        "fn f() {\n    libc::vfork();\n    libc::free(0);\n}\n#[cfg(test)]\nlibc::_exit(1);\n";
    assert_eq!(calls(text, &names), ["libc::vfork();"]);
}
