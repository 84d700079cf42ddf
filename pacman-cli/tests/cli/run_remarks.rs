//! Lines of `run`'s text about regions, each of them once.

use super::scratch::Scratch;
use super::{pacman_pmu, text};

const TASKS: &str = "int main(void) { int sum = 0;\n\
    #pragma omp parallel num_threads(2)\n\
    {\n\
    #pragma omp single nowait\n\
    for (int i = 0; i < 8; i++) {\n\
    #pragma omp task shared(sum)\n\
    {\n\
    #pragma omp atomic\n\
    sum += i;\n\
    } } }\n\
    return sum != 28; }\n";

/// The report on standard error of a program under `run` with these options.
fn said(compiler: &str, source: &str, options: &[&str]) -> Option<String> {
    let scratch = Scratch::new();
    let program = scratch.compile(compiler, &["-g", "-fopenmp", "-x", "c"], source)?;
    let answer = pacman_pmu(&["run"]).args(options).arg("--").arg(&program).output();
    let answer = answer.expect("it runs");
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(0), ""));
    Some(text(&answer.stderr).to_owned())
}

/// Without `--waits` a task that a thread runs after its part of the region is in no busy time.
#[test]
fn tasks_that_count_as_waiting_are_told() {
    const NOTE: &str = "tasks that a thread runs at the region's end";
    for compiler in ["gcc", "clang"] {
        let Some(times) = said(compiler, TASKS, &[]) else { continue };
        assert_eq!(times.matches(NOTE).count(), 1, "{compiler}: {times}");
        let waits = said(compiler, TASKS, &["--waits"]).expect("it was compiled");
        assert!(!waits.contains(NOTE), "{compiler}: {waits}");
        let loops = TASKS.replace("#pragma omp task shared(sum)", "");
        let loops = said(compiler, &loops, &[]).expect("it is compiled");
        assert!(!loops.contains(NOTE), "{compiler}: {loops}");
    }
}

#[test]
fn the_reason_of_a_team_that_the_program_asked_for_is_told_once() {
    let source = "int main(void) { int sum = 0; for (int i = 0; i < 2; i++) {\n\
        #pragma omp parallel num_threads(2)\n\
        {\n\
        #pragma omp atomic\n\
        sum++;\n\
        } } return sum != 4; }\n";
    let Some(report) = said("gcc", source, &["--adapt", "--narrow"]) else { return };
    let line = "main, line 2: a clause of the program says how many threads it gets";
    assert!(report.lines().any(|is| is == line), "{report}");
}

#[test]
fn the_reason_of_many_regions_is_told_once() {
    let region = "\n#pragma omp parallel num_threads(2)\n{\n#pragma omp atomic\nsum++;\n}\n";
    let source = format!("int main(void) {{ int sum = 0; {} return sum != 8; }}", region.repeat(4));
    let Some(report) = said("gcc", &source, &["--adapt", "--narrow"]) else { return };
    let line = "4 regions: a clause of the program says how many threads it gets";
    assert!(report.lines().any(|is| is == line), "{report}");
    assert_eq!(report.matches("a clause of the program").count(), 1, "{report}");
}

/// Serial regions, critical sections and leagues of teams are calls of the runtime, too.
#[test]
fn a_program_without_teams_of_threads_is_not_said_to_call_no_runtime() {
    let program = |part: &str| {
        format!("int main(int count, char **words) {{ int n = 0;\n{part}\nreturn n == 0; }}")
    };
    let serial = "#pragma omp parallel if (count > 5)\n{\n#pragma omp critical\nn++; }";
    for part in [serial, "#pragma omp critical\nn++;", "#pragma omp teams num_teams(2)\nn = 1;"] {
        for compiler in ["gcc", "clang"] {
            let Some(said) = said(compiler, &program(part), &[]) else { continue };
            let is_seen = said.contains("main, line 2");
            let is_told = said.contains("but by no call that starts a parallel region");
            assert!(is_seen || is_told, "{compiler} {part}: {said}");
            for untrue in ["called no OpenMP runtime", "came by", "is loaded at"] {
                assert!(!said.contains(untrue), "{compiler} {part}: {said}");
            }
        }
    }
    for compiler in ["gcc", "clang"] {
        let clock = "n = omp_get_wtime() > 0;";
        let source = format!("double omp_get_wtime(void);\n{}", program(clock));
        let Some(said) = self::said(compiler, &source, &[]) else { continue };
        assert!(said.contains(" is loaded at 0x"), "no such call is observed: {said}");
    }
}
