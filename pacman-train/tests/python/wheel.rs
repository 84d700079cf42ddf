//! The wheel, built without a network from a copy of the sources, and unpacked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pacman_suite::command::finish;
use pacman_suite::skipped;
use tempfile::TempDir;

use super::package;

fn runs(python: &str, code: &str) -> bool {
    let output = Command::new(python).args(["-c", code]).output();
    output.is_ok_and(|output| output.status.success())
}

/// A Python that has what the package needs, and what builds its wheel.
fn python() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&str>> = OnceLock::new();
    // In another order Debian's setuptools refuses to be imported.
    let needs = "import setuptools, wheel, pip, pandas, matplotlib";
    *FOUND.get_or_init(|| {
        ["python3", "/usr/bin/python3"].into_iter().find(|python| runs(python, needs))
    })
}

/// A Python that finds the package of the unpacked wheel; without one the calling test is skipped.
pub(crate) fn python_with_package() -> Option<Command> {
    static UNPACKED: OnceLock<TempDir> = OnceLock::new();
    let Some(python) = python() else {
        skipped("no python3 with pandas, matplotlib, pip, setuptools and wheel");
        return None;
    };
    let unpacked = UNPACKED.get_or_init(|| {
        let (sources, folder) = (tempfile::tempdir(), tempfile::tempdir());
        let (sources, folder) = (sources.expect("a folder"), folder.expect("a folder"));
        // setuptools writes beside the sources, and the schemas are a link.
        let copy = sources.path().join("python");
        finish(Command::new("cp").arg("-rL").arg(package()).arg(&copy));
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]);
        finish(pip.arg("-w").arg(folder.path()).arg(&copy));
        let wheels = folder.path().read_dir().expect("a folder");
        let wheel = wheels.map(|entry| entry.expect("an entry").path()).next().expect("a wheel");
        let unpack = ["-m", "zipfile", "-e"];
        finish(Command::new(python).args(unpack).arg(&wheel).arg(folder.path().join("unpacked")));
        folder
    });
    let mut command = Command::new(python);
    command.env("PYTHONPATH", unpacked.path().join("unpacked")).env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

/// The C library as cargo built it for this test.
pub(crate) fn library() -> PathBuf {
    built("libpacman.so")
}

/// A library as cargo built it for this test.
pub(crate) fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let path: &Path = &test.with_file_name(name);
    assert!(path.exists(), "cargo builds {} with this test", path.display());
    path.to_owned()
}
