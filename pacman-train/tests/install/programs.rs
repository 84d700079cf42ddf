//! Programs in C, C++ and Fortran that are built against the installed tree, and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use pacman_suite::skipped;
use tempfile::TempDir;

use super::tree::{everyday, root, text, tree};
use pacman_suite::command::{finish, have};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The words that pkg-config answers for the installed tree.
fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", tree().join("lib/pkgconfig"));
    text(command.args(arguments).arg("pacman")).split_whitespace().map(str::to_string).collect()
}

/// A program that finds the installed library.
fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", tree().join("lib")).env("OMP_NUM_THREADS", "2");
    command
}

#[test]
fn pkg_config_serves_c_and_cpp_with_both_libraries() {
    if everyday().is_none() {
        return;
    }
    if !have("pkg-config") {
        skipped("no pkg-config");
        return;
    }
    assert_eq!(pkg_config(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let whole = concat!("libpacman.so.", env!("CARGO_PKG_VERSION"));
    for (name, to) in [("libpacman.so", "libpacman.so.0"), ("libpacman.so.0", whole)] {
        let link = fs::read_link(tree().join("lib").join(name)).expect("a link");
        assert_eq!(link.to_str(), Some(to));
    }

    let folder = folder();
    let build = |compiler: &str, source: &str, flags: &[String], more: &[&str]| {
        let path = folder.path().join(Path::new(source).file_stem().expect("a name"));
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Werror"]).args(more).arg(root().join(source));
        finish(command.args(["-x", "none"]).args(flags).arg("-o").arg(&path));
        path
    };
    let flags = pkg_config(&["--cflags", "--libs"]);
    let omp = build("cc", "examples/c/omp_phases.c", &flags, &["-fopenmp"]);
    let report = text(program(&omp).arg("--json"));
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["threads"].as_array().map(Vec::len), Some(2), "{report}");
    if have("c++") {
        let phases = build("c++", "tests/c/happy.c", &flags, &["-x", "c++", "-pthread"]);
        finish(&mut program(&phases));
    } else {
        skipped("no c++");
    }

    // The archive instead, with what pkg-config says it needs; the other example.
    let mut flags = pkg_config(&["--cflags", "--static", "--libs"]);
    for flag in &mut flags {
        if flag == "-lpacman" {
            *flag = "-l:libpacman.a".to_string();
        }
    }
    let phases = build("cc", "examples/c/phases.c", &flags, &["-std=c99", "-pthread"]);
    let table = text(&mut Command::new(&phases));
    assert!(table.contains("fill") && table.contains("sum"), "{table}");

    // The installed command finds the library to preload by itself.
    let output = folder.path().join("report.json");
    let mut run = program(&tree().join("bin/pacman-pmu"));
    run.env_remove("PACMAN_OMP_LIBRARY").args(["run", "-o"]).arg(&output).arg("--");
    finish(run.arg(&omp).arg("--csv"));
    let report = fs::read_to_string(&output).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert!(!report["processes"][0]["regions"].as_array().expect("regions").is_empty(), "{report}");
}

#[test]
fn fortran_compiles_the_module_with_its_program() {
    if everyday().is_none() {
        return;
    }
    if !have("gfortran") {
        skipped("no gfortran");
        return;
    }
    let folder = folder();
    let build = |source: &str| {
        let path = folder.path().join("program");
        let mut command = Command::new("gfortran");
        command.args(["-std=f2018", "-Wall", "-Wextra", "-Werror", "-O2", "-fopenmp"]);
        command.arg(tree().join("include/pacman.f90")).arg(root().join(source));
        command.arg("-L").arg(tree().join("lib")).arg("-lpacman").arg("-o").arg(&path);
        // The module's compiled form goes there.
        finish(command.current_dir(folder.path()));
        path
    };
    let module = build("tests/c/module.f90");
    assert_eq!(text(program(&module).current_dir(folder.path())), "done\n");
    let table = text(&mut program(&build("examples/fortran/omp_phases.f90")));
    assert!(table.contains("2 threads") && table.contains("stream"), "{table}");
    if have("pkg-config") {
        let module = tree().join("include/pacman.f90");
        let named = pkg_config(&["--variable=fortranmodule"]);
        assert_eq!(Path::new(&named[0]).canonicalize().ok(), module.canonicalize().ok());
    }
}

#[test]
fn cmake_finds_both_libraries() {
    if everyday().is_none() {
        return;
    }
    if !have("cmake") {
        skipped("no cmake");
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("CMakeLists.txt"), CMAKE).expect("a file");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(folder.path()).arg("-B").arg(folder.path().join("build"));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", tree().display()));
    finish(configure.arg(format!("-DSOURCE={}", root().join("examples/c/phases.c").display())));
    finish(Command::new("cmake").arg("--build").arg(folder.path().join("build")));
    // CMake has the programs find the library by themselves.
    for name in ["shared", "static"] {
        let table = text(&mut Command::new(folder.path().join("build").join(name)));
        assert!(table.contains("fill") && table.contains("sum"), "{table}");
    }
}

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.13)
project(demo C)
find_package(pacman 0.1 REQUIRED)
find_package(pacman 9.0 QUIET)
if(pacman_FOUND)
  message(FATAL_ERROR \"version 0 is taken for version 9\")
endif()
find_package(Threads REQUIRED)
add_executable(shared ${SOURCE})
target_link_libraries(shared pacman::pacman Threads::Threads)
add_executable(static ${SOURCE})
target_link_libraries(static pacman::pacman_static Threads::Threads)
if(NOT EXISTS ${PACMAN_FORTRAN_MODULE})
  message(FATAL_ERROR \"no Fortran module at ${PACMAN_FORTRAN_MODULE}\")
endif()
";
