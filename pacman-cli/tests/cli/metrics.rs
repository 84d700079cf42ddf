//! Metrics from a pipe, and places on a die, with what goes where.

use std::io::Write;
use std::process::Stdio;

use super::{pacman_pmu, run, text};

#[test]
fn counts_come_from_standard_input() {
    let mut child = pacman_pmu(&["metrics", "ipc", "branch-mpki", "--counts", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"event,count\nINSTRUCTIONS,3000\nCYCLES,2000\n").unwrap();
    drop(pipe);
    let answer = child.wait_with_output().unwrap();
    assert_eq!(answer.status.code(), Some(1));
    assert_eq!(
        text(&answer.stdout),
        "METRIC  VALUE   UNIT\nipc     1.5000  instructions per cycle\n"
    );
    assert_eq!(
        text(&answer.stderr),
        "pacman-pmu: branch-mpki is not computable because BRANCH_MISSES was not counted\n"
    );
}

/// The one line that a command says of bad input on its standard input.
fn refused(arguments: &[&str], input: &str) -> String {
    let mut child = pacman_pmu(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let answer = child.wait_with_output().unwrap();
    assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{arguments:?}");
    text(&answer.stderr).to_owned()
}

#[test]
fn standard_input_is_called_by_its_name() {
    let budget = ["budget", "--cpu", "niagara1", "--clock", "1.2e9", "-"];
    for (arguments, input, line) in [
        (
            &["metrics", "ipc", "--counts", "-"][..],
            "a\n",
            "pacman-pmu: standard input: line 1: \"a\" is not event,count\n",
        ),
        (
            &budget,
            "Instr_cnt,5\n",
            "pacman-pmu: standard input has no count of \"cycles\"; --seconds can tell them instead\n",
        ),
        (
            &["evaluate", "-"],
            "machine,app\n",
            "pacman-pmu: standard input: line 1: no column threads; there is machine, app\n",
        ),
    ] {
        assert_eq!(refused(arguments, input), line);
    }
    let metric = refused(&["metrics", "--file", "-"], "nonsense\n");
    assert!(metric.starts_with("pacman-pmu: standard input:1: "), "{metric}");
}

#[test]
fn options_that_contradict_each_other_are_bad_input() {
    for arguments in [
        &["metrics", "--list", "ipc"][..],
        &["metrics", "--list", "--counts", "-"],
        &["topo", "--tiles", "--synthetic", "2 cores"],
        &["topo", "--tiles", "--unfold"],
    ] {
        let answer = run(arguments);
        assert_eq!((answer.status.code(), text(&answer.stdout)), (Some(2), ""), "{arguments:?}");
        assert_eq!(text(&answer.stderr).lines().count(), 1, "{arguments:?}");
    }
}

/// Whatever this machine is: it tells places, or says in one line that none are known.
#[test]
fn places_on_the_die_are_shown_or_refused() {
    let answer = run(&["topo", "--tiles"]);
    let (shown, said) = (text(&answer.stdout), text(&answer.stderr));
    match answer.status.code() {
        Some(0) => assert!(shown.contains("tile") && said.is_empty(), "{shown}{said}"),
        Some(1) => assert!(shown.is_empty() && said.lines().count() == 1, "{shown}{said}"),
        other => panic!("{other:?}: {shown}{said}"),
    }
    let facts: serde_json::Value =
        serde_json::from_slice(&run(&["topo", "--tiles", "--json"]).stdout).unwrap();
    let unknown = facts["tiles"].is_null() && facts["cha"].is_null();
    assert_eq!(answer.status.code(), Some(i32::from(unknown)), "{facts}");
}
