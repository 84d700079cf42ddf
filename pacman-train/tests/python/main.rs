//! The Python package: its wheel is built and unpacked, and its own tests run on reports of the built
//! command and with the built C library.

mod reports;
mod wheel;

use std::path::Path;
use std::process::Command;

use pacman_suite::command::finish;
use pacman_suite::skipped;

/// The folder of the package.
fn package() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../python"))
}

/// Runs one file of the package's tests against the unpacked wheel; skips them where there is none.
fn unittest(file: &str, change: impl FnOnce(&mut Command)) {
    let Some(mut python) = wheel::python_with_package() else { return };
    python.args(["-m", "unittest", "-q", file]);
    python.current_dir(package().join("tests")).env("PACMAN_LIBRARY", wheel::library());
    for name in ["MPLBACKEND", "PACMAN_MACHINE", "PACMAN_REPORT_DIR"] {
        python.env_remove(name);
    }
    change(&mut python);
    let output = finish(&mut python);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    // Python counts tests that it skips as passed.
    assert!(text.contains("\nOK") && !text.contains("skipped"), "{file}: {text}");
}

#[test]
fn every_format_becomes_frames_that_leave_nothing_out() {
    let Some(reports) = reports::folder() else { return };
    unittest("test_read.py", |python| {
        python.env("PACMAN_TEST_REPORTS", reports);
    });
}

#[test]
fn damaged_files_are_refused_in_one_line() {
    let Some(reports) = reports::folder() else { return };
    unittest("test_damage.py", |python| {
        python.env("PACMAN_TEST_REPORTS", reports);
    });
}

#[test]
fn pictures_show_the_figures_of_reports() {
    let Some(reports) = reports::folder() else { return };
    unittest("test_plot.py", |python| {
        python.env("PACMAN_TEST_REPORTS", reports);
    });
}

#[test]
fn phases_count_their_thread() {
    unittest("test_phases.py", |_| ());
}

#[test]
fn the_frame_of_phases_prints_as_a_table() {
    unittest("test_shown.py", |_| ());
}

#[test]
fn phases_of_coroutines_and_generators_last_while_they_run() {
    unittest("test_parts.py", |_| ());
}

#[test]
fn phases_count_on_a_simulated_machine() {
    unittest("test_phases.py", |python| {
        python.env("PACMAN_MACHINE", "skylake");
    });
}

#[test]
fn the_notebook_runs_on_the_samples_and_cells_are_phases() {
    let Some(mut python) = wheel::python_with_package() else { return };
    let tools = ["-c", "import nbclient, nbformat, ipykernel"];
    if !python.args(tools).output().is_ok_and(|output| output.status.success()) {
        skipped("no nbclient and ipykernel for python3");
        return;
    }
    unittest("test_notebook.py", |_| ());
    unittest("test_magic.py", |_| ());
}

#[test]
fn the_package_has_the_version_of_the_command() {
    let manifest = std::fs::read_to_string(package().join("pyproject.toml")).expect("a manifest");
    let version = concat!("\nversion = \"", env!("CARGO_PKG_VERSION"), "\"\n");
    assert!(manifest.contains(version), "no {version:?} in {manifest}");
}
