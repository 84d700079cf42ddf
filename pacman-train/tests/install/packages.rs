//! The tar file and the Python wheel. `packaging/all` tries them where nothing else is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_suite::command::finish;
use pacman_suite::skipped;

use crate::tree::{built, everyday, root, text};

/// The one file that the script of this folder of `packaging` makes of what cargo has built for this test.
fn package(kind: &str, arguments: &[&str], into: &Path) -> PathBuf {
    let built = built();
    let mut build = Command::new(root().join("packaging").join(kind).join("build"));
    build.env_remove("DESTDIR").args(arguments).env("PYTHON", PYTHON);
    finish(build.arg("--from").arg(built.path()).arg("--output").arg(into));
    let files: Vec<_> = fs::read_dir(into).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("one package, not {files:?}") };
    file.clone()
}

/// Debian's own, for which there are packages of all that the wheel needs.
const PYTHON: &str = "/usr/bin/python3";

/// The command in this folder has its version, the program beside it and the libraries.
fn runs_in(folder: &Path) {
    let command = folder.join("pacman-pmu");
    let version = text(Command::new(&command).arg("--version"));
    assert_eq!(version, concat!("pacman-pmu ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = text(Command::new(&command).args(["help", "train"]).env("PATH", "/none"));
    assert!(help.contains("model.json"), "{help}");
    // Without the library, this ends before the program runs.
    let mut run = Command::new(&command);
    finish(run.args(["run", "--strict", "--", "true"]).env_remove("PACMAN_OMP_LIBRARY"));
}

#[test]
fn the_tar_file_is_one_folder_that_runs_from_any_place() {
    if everyday().is_none() {
        return;
    }
    let (folder, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = package("tar", &[], folder.path());
    let name = file.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap();
    assert!(name.starts_with(concat!("pacman-pmu-", env!("CARGO_PKG_VERSION"), "-linux-")));
    finish(Command::new("tar").arg("-C").arg(tree.path()).arg("-xf").arg(&file));
    let own = tree.path().join(name);
    runs_in(&own.join("bin"));
    let files = text(Command::new("tar").arg("-tf").arg(&file));
    for part in ["/include/pacman.h", "/lib/libpacman.a", "/share/man/man1/pacman-pmu-run.1"] {
        assert!(files.lines().any(|line| line.ends_with(part)), "no {part} in\n{files}");
    }
    for part in [".debug", "share/pacman/"] {
        assert!(!files.contains(part), "{part} in\n{files}");
    }
    assert!(files.lines().all(|line| line.starts_with(name)), "{files}");
}

#[test]
fn the_wheel_has_the_command_and_what_it_loads() {
    if everyday().is_none() {
        return;
    }
    let has = Command::new(PYTHON).args(["-c", "import setuptools, wheel, pip, pandas"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return skipped("no /usr/bin/python3 with pandas, pip, setuptools and wheel");
    }
    let (folder, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let wheel = package("wheel", &["--platform", "linux_x86_64"], folder.path());
    let environment = ["-m", "venv", "--without-pip", "--system-site-packages"];
    finish(Command::new(PYTHON).args(environment).arg(tree.path()));
    let own = tree.path().join("bin/python3");
    let mut pip = Command::new(PYTHON);
    pip.args(["-m", "pip", "--python"]).arg(&own).args(["install", "--quiet", "--no-deps"]);
    finish(pip.args(["--no-index", "--force-reinstall"]).arg(&wheel));
    runs_in(&tree.path().join("bin"));
    let code = "from pacman_pmu.library import library; print(library().path)";
    let mut python = Command::new(&own);
    let path = text(python.args(["-c", code]).env_remove("PACMAN_LIBRARY").env("PATH", "/none"));
    let library = Path::new(path.trim());
    assert!(library.starts_with(tree.path()), "{path}");
    assert!(library.ends_with("pacman_pmu/libpacman.so.0"), "{path}");
}

#[test]
fn their_bad_arguments_are_one_line() {
    for kind in ["tar", "wheel"] {
        let mut build = Command::new(root().join("packaging").join(kind).join("build"));
        let output = build.arg("--from").output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        let complaint = String::from_utf8_lossy(&output.stderr);
        let line =
            complaint.strip_suffix("; --help lists the options\n").expect("the help is named");
        assert!(line.starts_with(&format!("packaging/{kind}/build: --from needs a ")), "{line}");
    }
}
