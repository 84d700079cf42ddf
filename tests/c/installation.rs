//! The installed tree: its symbols, its pkg-config file and its installer.

use std::collections::BTreeSet;
use std::process::Command;

use pacman_suite::skipped;

use super::toolchain::{self, finish, folder, have, libraries, root};
use super::{json, phases};

#[test]
fn only_what_the_header_declares_is_exported() {
    if !have("nm") {
        skipped("no nm");
        return;
    }
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only", "--format=posix"]).arg(&libraries().shared);
    let listing = String::from_utf8(finish(&mut command).stdout).expect("UTF-8");
    let exported: BTreeSet<&str> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let header = std::fs::read_to_string(root().join("pacman-ffi/include/pacman.h")).expect("it");
    // A declaration begins in the first column with its type, a page with " * name:".
    let named = |line: &str, end: char| {
        let start = line.find("pacman_")?;
        Some(line[start..].split_once(end)?.0.to_string())
    };
    let declared: BTreeSet<String> = header
        .lines()
        .filter(|line| line.starts_with("int ") || line.starts_with("const char *"))
        .filter_map(|line| named(line, '('))
        .collect();
    let described: BTreeSet<String> = header
        .lines()
        .filter(|line| line.starts_with(" * pacman_"))
        .filter_map(|line| named(line, ':'))
        .collect();
    assert_eq!(exported, declared.iter().map(String::as_str).collect());
    assert_eq!(declared, described, "a page for each function");
}

#[test]
fn an_installed_tree_serves_pkg_config_wherever_it_stands() {
    if !have("pkg-config") {
        skipped("no pkg-config");
        return;
    }
    let folder = folder();
    // Before cargo replaces the originals.
    toolchain::libraries();
    let mut install = Command::new(root().join("pacman-ffi/install.sh"));
    install.env("CARGO", toolchain::cargo()).env("DESTDIR", folder.path());
    install.env("PACMAN_PROFILE", if cfg!(debug_assertions) { "dev" } else { "release" });
    finish(install.arg("/first"));
    // Moved, because a tree is often built in one place and used in another.
    let prefix = folder.path().join("second");
    std::fs::rename(folder.path().join("first"), &prefix).expect("the tree moves");

    let pkg_config = |arguments: &[&str]| -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let output = finish(command.args(arguments).arg("pacman")).stdout;
        let words = String::from_utf8(output).expect("UTF-8");
        words.split_whitespace().map(str::to_string).collect()
    };
    assert_eq!(pkg_config(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let whole = concat!("libpacman.so.", env!("CARGO_PKG_VERSION"));
    for (name, to) in [("libpacman.so", "libpacman.so.0"), ("libpacman.so.0", whole)] {
        let link = std::fs::read_link(prefix.join("lib").join(name)).expect("a link");
        assert_eq!(link.to_str(), Some(to));
    }

    let build = |source: &str, flags: &[String], more: &[&str]| {
        let path = folder.path().join("program");
        let mut command = Command::new("cc");
        command.args(["-Wall", "-Wextra", "-Werror"]).args(more);
        finish(command.arg(root().join(source)).args(flags).arg("-o").arg(&path));
        path
    };
    let flags = pkg_config(&["--cflags", "--libs"]);
    let omp = build("examples/c/omp_phases.c", &flags, &["-fopenmp"]);
    let mut run = Command::new(&omp);
    run.env("LD_LIBRARY_PATH", prefix.join("lib")).env("OMP_NUM_THREADS", "2");
    let output = finish(run.arg("--json"));
    assert_eq!(phases(&json(&String::from_utf8(output.stdout).expect("UTF-8"))).len(), 2);

    // The archive instead, with what pkg-config says it needs; the other example.
    let mut flags = pkg_config(&["--cflags", "--static", "--libs"]);
    for flag in &mut flags {
        if flag == "-lpacman" {
            *flag = "-l:libpacman.a".to_string();
        }
    }
    let phases = build("examples/c/phases.c", &flags, &["-std=c99", "-pthread"]);
    let table = String::from_utf8(finish(&mut Command::new(&phases)).stdout).expect("UTF-8");
    assert!(table.contains("fill") && table.contains("sum"), "{table}");
}

#[test]
fn the_installer_wants_an_absolute_prefix() {
    for arguments in [&[][..], &["relative/path"]] {
        let mut install = Command::new(root().join("pacman-ffi/install.sh"));
        let output = install.args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "usage: install.sh PREFIX   (an absolute path, such as /usr/local)\n"
        );
    }
}
