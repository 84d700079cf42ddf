//! Answers for a file system that is full: a line and a status, and no piece of a file. A report that
//! only one run can give goes to standard error.

use std::process::{Command, Output};

use pacman_suite::command::with_default_signals;
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{library, text};

const SOURCE: &str = "volatile int turns;
int main(void) {
#pragma omp parallel
#pragma omp atomic
  turns++;
  return 0;
}";

/// The arguments of a command that writes to `$FULL`, and whether its report then goes to standard error.
const WRITERS: [(&str, bool); 15] = [
    ("run -o $FULL/r.json -- ./program", true),
    ("run -o $FULL/r.csv -- ./program", true),
    ("run -o $FULL/r.txt -- ./program", true),
    ("run -o $FULL/r.html -- ./program", true),
    ("run -o $FULL/r.prom -- ./program", true),
    ("run -o $FULL/r.trace.json -- ./program", true),
    ("run --record $FULL/r.csv -- ./program", true),
    ("merge ranks.json.ranks -o $FULL/r.json", true),
    ("stat -e task-clock -o $FULL/s -- ./program", false),
    ("stat -e task-clock --json -o $FULL/s.json -- ./program", false),
    ("stat -e task-clock --csv --interval 100 -o $FULL/s.csv -- ./program", false),
    ("record --regions --configurations 1x1 --runs 1 -o $FULL/data.csv -- ./program", false),
    ("compare report.json report.json -o $FULL/c.json", false),
    ("smt --duration 0.1 --json -o $FULL/smt.json", false),
    ("validate -e task-clock --repeat 3 -o $FULL/v.json", false),
];

/// A shell whose `$FULL` is a file system without room.
fn shell(scratch: &Scratch, script: &str) -> Output {
    let full = scratch.named("full");
    let script = format!(
        "mkdir -p {full} && mount -t tmpfs -o size=4k,mode=700 none {full} || exit 99
        head -c 8192 /dev/zero > {full}/all 2> /dev/null
        {script}"
    );
    let mut command = Command::new("unshare");
    command.args(["-r", "-m", "sh", "-c", &script]).current_dir(scratch.path("."));
    command.env("FULL", full).env("PMU", env!("CARGO_BIN_EXE_pacman-pmu"));
    command.env("PACMAN_OMP_LIBRARY", library()).env("PACMAN_OMP_MEMORY", "");
    command.env("OMP_NUM_THREADS", "2");
    with_default_signals(&mut command);
    command.output().expect("util-linux has unshare")
}

#[test]
fn each_answer_that_has_no_room_is_a_line_and_status_4() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("cc", &["-O1", "-fopenmp"], SOURCE) else { return };
    std::fs::rename(program, scratch.path("program")).expect("its own");
    if shell(&scratch, "exit 7").status.code() != Some(7) {
        return skipped("this user cannot mount a file system in a namespace");
    }
    let prepare = "$PMU run -o report.json -- ./program && ! PMI_RANK=0 PMI_SIZE=2 PMI_JOBID=a \
                   $PMU run -o ranks.json -- ./program && ls ranks.json.ranks/*.recordings";
    let prepared = shell(&scratch, prepare);
    assert!(prepared.status.success(), "{}", text(&prepared.stderr));
    for (arguments, is_shown) in WRITERS {
        // Another name than the one of the mark is a piece of a file.
        let threads = if arguments.contains("1x1") { "OMP_NUM_THREADS=1" } else { "" };
        let answer = shell(
            &scratch,
            &format!("{threads} $PMU {arguments}; status=$?; ls -A $FULL >&2; exit $status"),
        );
        let said = text(&answer.stderr);
        assert_eq!(answer.status.code(), Some(4), "{arguments}: {said}");
        assert!(said.contains("No space left on device"), "{arguments}: {said}");
        // Intervals are written as they pass.
        let is_whole = said.ends_with("all\n") || arguments.contains("--interval");
        assert!(is_whole, "{arguments} leaves something: {said}");
        assert_eq!(said.contains("main, region 0"), is_shown, "{arguments}: {said}");
    }
}
