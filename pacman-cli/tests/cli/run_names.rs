//! Names of regions are the same under all compilers.

use std::fs;
use std::path::Path;

use pacman_suite::skipped;
use serde_json::Value;

use super::run_openmp::{SOURCE, regions};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Names and lines of a program's regions under a compiler.
fn named(compiler: &str, flags: &[&str], source: &str) -> Option<Vec<(String, u64)>> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, &[&["-g", "-fopenmp"], flags].concat(), source)?;
    let path = scratch.path("report.json");
    let answer = pacman_pmu(&["run", "-o"]).arg(&path).arg("--").arg(&program).output();
    assert_eq!(answer.expect("it runs").status.code(), Some(0));
    let text = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    Some(regions(&report).into_iter().map(|(name, line, _)| (name, line)).collect())
}

#[test]
fn a_region_has_one_name_under_all_compilers() {
    const CPP: &str = "namespace lab { template<class T> struct Grid { void smooth(int n) const; };\n\
        template<class T> void Grid<T>::smooth(int n) const {\n\
        #pragma omp parallel num_threads(2)\n\
        { volatile double sum = 0; for (int i = 0; i < n; i++) sum = i; }\n\
        } }\n\
        template<class T> void fill(T *cells, int n) {\n\
        #pragma omp parallel for num_threads(2)\n\
        for (int i = 0; i < n; i++) cells[i] = i;\n\
        }\n\
        int main() { static double cells[1000]; lab::Grid<double> grid; grid.smooth(1000);\n\
        fill(cells, 1000);\n\
        auto each = [](int n) {\n\
        #pragma omp parallel num_threads(2)\n\
        { volatile double sum = 0; for (int i = 0; i < n; i++) sum = i; } };\n\
        each(10); return 0; }\n";
    let c = SOURCE.replace("return 3", "return 0");
    let of_c = [("fill, line 5", 5), ("main, line 12", 12)];
    let of_cpp =
        [("lab::Grid<double>::smooth, line 3", 3), ("fill, line 7", 7), ("main, line 13", 13)];
    for level in ["-O0", "-O2"] {
        for (compilers, language, source, expected) in
            [(["gcc", "clang"], "c", &*c, &of_c[..]), (["g++", "clang++"], "c++", CPP, &of_cpp[..])]
        {
            for compiler in compilers {
                let Some(found) = named(compiler, &["-x", language, level], source) else {
                    continue;
                };
                let found: Vec<(&str, u64)> =
                    found.iter().map(|(name, line)| (name.as_str(), *line)).collect();
                assert_eq!(found, expected, "{compiler} {level}");
            }
        }
    }
    let fortran = "program lab\ninteger :: i\n!$omp parallel do num_threads(2)\ndo i = 1, 10\n\
                   end do\n!$omp end parallel do\nend program\n";
    if let Some(found) = named("gfortran", &["-x", "f95"], fortran) {
        assert_eq!(found, [("main program, line 3".to_owned(), 3)]);
    }
}

#[test]
fn instances_of_a_template_have_one_name_under_all_compilers() {
    const CPP: &str = "template<class T> T sum(const T *cells, int n) {\n\
        T sum = 0;\n\
        #pragma omp parallel for num_threads(2) reduction(+ : sum)\n\
        for (int i = 0; i < n; i++) sum += cells[i];\n\
        return sum;\n\
        }\n\
        int main() { static float a[1000]; static double b[1000];\n\
        auto add = [&](auto by) {\n\
        #pragma omp parallel for num_threads(2)\n\
        for (int i = 0; i < 1000; i++) a[i] += by; };\n\
        add(1); add(2.0);\n\
        auto put = [&](int k) {\n\
        #pragma omp parallel for num_threads(2)\n\
        for (int i = 0; i < 1000; i++) b[i] += k; };\n\
        put(1);\n\
        return sum(a, 1000) + sum(b, 1000) < 0; }\n";
    let expected = [
        ("main, line 13", 13),
        ("main, line 9 (operator()<double>)", 9),
        ("main, line 9 (operator()<int>)", 9),
        ("sum, line 3 (sum<double>)", 3),
        ("sum, line 3 (sum<float>)", 3),
    ];
    // Loaded anywhere, and where they are linked.
    for placed in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
        for level in ["-O0", "-O2"] {
            for compiler in ["g++", "clang++"] {
                let flags = [&["-x", "c++", "-std=c++14", level], &placed[..]].concat();
                let Some(mut found) = named(compiler, &flags, CPP) else { continue };
                found.sort();
                let found: Vec<(&str, u64)> =
                    found.iter().map(|(name, line)| (name.as_str(), *line)).collect();
                assert_eq!(found, expected, "{compiler} {level} {placed:?}");
            }
        }
    }
}

/// gfortran's symbol of a subroutine of no module has an underscore that the program does not know.
#[test]
fn procedures_of_fortran_are_named_as_the_program_names_them() {
    let source = "subroutine sweep\ninteger :: i\n!$omp parallel do num_threads(2)\ndo i = 1, 10\n\
                  end do\n!$omp end parallel do\nend subroutine\nprogram lab\ncall sweep\nend program\n";
    let scratch = Scratch::new();
    let file = scratch.file("lab.f90", source);
    let Some(found) = named("gfortran", &["-x", "f95", &file.to_string_lossy()], "") else {
        return;
    };
    assert_eq!(found, [("sweep, line 3".to_owned(), 3)]);
}

/// The kernel starts the dynamic linker, which loads the program.
#[test]
fn a_program_that_the_dynamic_linker_was_told_to_load_has_its_own_names() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("gcc", &["-g", "-fopenmp"], SOURCE) else { return };
    let linker = ["/lib64/ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2"];
    let Some(linker) = linker.into_iter().find(|path| Path::new(path).exists()) else {
        return skipped("no dynamic linker at its usual place");
    };
    let path = scratch.path("report.json");
    let answer = pacman_pmu(&["run", "-o"]).arg(&path).args(["--", linker]).arg(&program).output();
    let answer = answer.expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(3), ""));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let names: Vec<String> = regions(&report).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["fill, line 5", "main, line 12"]);
}

/// The report is written after the run, when another program is at the path.
#[test]
fn a_program_that_is_replaced_while_it_runs_is_not_named_by_the_other_one() {
    const REPLACED: &str = "#include <stdio.h>\nint main(int count, char **words) { int n = 0;\n\
        #pragma omp parallel\n\
        if (count) n = 1;\n\
        return rename(words[1], words[0]) || !n; }";
    let scratch = Scratch::new();
    for flags in [&["-Wl,--build-id"][..], &["-Wl,--build-id=none"]] {
        let flags = [&["-g", "-fopenmp"], flags].concat();
        let Some(made) = scratch.compile("gcc", &flags, REPLACED) else { return };
        let program = scratch.path("program");
        fs::rename(made, &program).expect("it was made");
        let other = REPLACED.replace("main(", "other(int n) { return n; }\nint main(");
        let Some(other) = scratch.compile("gcc", &flags, &other) else { return };
        let path = scratch.path("report.json");
        let mut command = pacman_pmu(&["run", "-o"]);
        let answer = command.arg(&path).arg("--").arg(&program).arg(&other).output();
        assert_eq!(answer.expect("it runs").status.code(), Some(0));
        let report = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let name = regions(&report).remove(0).0;
        assert!(name.starts_with("program+0x"), "{name}");
        let notes = report["notes"].to_string();
        assert!(notes.contains("the program used another file there"), "{notes}");
    }
}
