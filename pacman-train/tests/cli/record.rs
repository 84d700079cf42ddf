//! `record`: this test binary is the program that is run, and marks phases of its own.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use pacman_adapt::Adapter;
use pacman_adapt::predict::{Model, machine_name};
use pacman_core::{Session, Topology};
use pacman_suite::command::with_default_signals;
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{everyday, pacman_pmu, text};

/// The work of [`subject`].
const PART: &str = "PACMAN_TEST_PART";

/// Not a test: the program that `record` runs.
#[test]
#[ignore = "the other tests have it run by the command"]
fn subject() {
    let threads: usize = env::var("PACMAN_THREADS").unwrap().parse().unwrap();
    assert_eq!(env::var("OMP_NUM_THREADS").unwrap(), threads.to_string());
    let allowed = Topology::detect().unwrap().allowed().len();
    assert_eq!(allowed, threads, "confined to as many contexts as there are threads");
    let part = env::var(PART).unwrap();
    if part == "no session" {
        return;
    }
    if part == "fails on two" && threads == 2 {
        std::process::exit(3);
    }
    let session = Session::builder("subject").events("task-clock").start().unwrap();
    if part == "no phase" {
        return;
    }
    let sweep = session.phase("sweep").unwrap();
    if part == "exits" {
        let attached = session.attach().unwrap();
        attached.run(sweep, || work(100_000)).unwrap();
        // Nothing is dropped: neither the attachment nor the session.
        std::process::exit(0);
    }
    // The part of the work that one thread does alone.
    let serial: u64 = part.parse().unwrap_or(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let session = &session;
            scope.spawn(move || {
                let attached = session.attach().unwrap();
                let alone = if thread == 0 { serial } else { 0 };
                let mine = alone + (WORK - serial) / threads as u64;
                for _ in 0..4 {
                    attached.run(sweep, || work(mine)).unwrap();
                }
            });
        }
    });
}

const WORK: u64 = 4_000_000;

fn work(steps: u64) -> u64 {
    (0..steps).fold(1, |x, step| std::hint::black_box(x ^ step))
}

/// `record` with [`subject`] as its program.
fn record(part: &str, data: &str, options: &[&str]) -> Output {
    let own = env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let rest = ["--", own, "--exact", "record::subject", "--ignored"];
    let arguments = [&["record", "--quiet", "-o", data], options, &rest].concat();
    pacman_pmu(&arguments).env(PART, part).output().unwrap()
}

fn table(data: &str) -> (Vec<String>, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_path(data).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (header, reader.records().collect::<Result<_, _>>().unwrap())
}

/// Configurations with at most two threads.
fn configurations() -> usize {
    let here = Topology::detect().unwrap();
    pacman_adapt::Candidates::of(&here, Some(2)).unwrap().all().len()
}

fn complaint(answer: &Output) -> &str {
    let said = text(&answer.stderr);
    let own: Vec<&str> = said.lines().filter(|line| line.starts_with("pacman-pmu: ")).collect();
    assert_eq!(own.len(), 1, "one line: {said}");
    own[0]
}

#[test]
fn a_row_for_each_phase_configuration_and_run() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    let options = ["--max-threads", "2", "--runs", "2", "-e", "page-faults"];
    let answer = record("marks", &data, &options);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    assert!(answer.stderr.is_empty(), "{}", text(&answer.stderr));
    let (header, rows) = table(&data);
    let own = ["machine", "app", "phase", "threads", "run", "time_s", "executions"];
    assert_eq!(header[..7], own);
    assert_eq!(header[7..], ["task-clock", "page-faults"], "the program's, and those asked for");
    assert_eq!(rows.len(), 2 * configurations());
    let here = machine_name(&Topology::detect().unwrap());
    for row in &rows {
        assert_eq!((&row[0], &row[2], &row[6]), (here.as_str(), "sweep", "4"));
        let (seconds, busy): (f64, f64) = (row[5].parse().unwrap(), row[7].parse().unwrap());
        assert!(seconds > 0.0 && seconds < 60.0 && busy > 0.0, "{row:?}");
    }
    let said = text(&answer.stdout);
    assert!(said.contains(&format!("{} rows of 1 phase on {here}", rows.len())), "{said}");

    let again = record("marks", &data, &["--max-threads", "1", "--runs", "1"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(complaint(&again).contains("is there already: --append adds to it"));
    let again = record("marks", &data, &["--max-threads", "1", "--runs", "1", "--append"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let (_, all) = table(&data);
    assert_eq!(all[..rows.len()], rows);
    let last = all.last().unwrap();
    assert_eq!((&last[3], &last[4], &last[8]), ("1x1", "3", ""), "run 3, page-faults not counted");
}

#[test]
fn a_program_that_exits_in_the_middle_reports_all_the_same() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    let answer = record("exits", &data, &["--max-threads", "1", "--runs", "1", "--app", "ours"]);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let (_, rows) = table(&data);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0][1], &rows[0][2], &rows[0][6]), ("ours", "sweep", "1"));
}

#[test]
fn without_marked_phases_there_is_a_line_and_no_file() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    for (part, why) in [
        ("no session", "it opened no session, or came to no end of its own; --regions is for"),
        ("no phase", "its session \"subject\" has no finished phase: mark one with begin and end"),
    ] {
        let answer = record(part, &data, &["--max-threads", "2"]);
        assert_eq!(answer.status.code(), Some(1));
        assert!(complaint(&answer).contains(why), "{}", text(&answer.stderr));
        assert!(!fs::exists(&data).unwrap());
    }
}

#[test]
fn a_failure_at_one_configuration_keeps_the_rows_of_others() {
    if configurations() < 2 {
        skipped("one context");
        return;
    }
    let place = Scratch::new();
    let data = place.named("data.csv");
    let answer = record("fails on two", &data, &["--max-threads", "2", "--runs", "2"]);
    assert_eq!(answer.status.code(), Some(1));
    let said = text(&answer.stderr);
    let failed = said.lines().filter(|line| line.contains("exit status 3; not run there"));
    assert_eq!(failed.count(), configurations() - 1, "each configuration once: {said}");
    let (_, rows) = table(&data);
    assert_eq!(rows.iter().map(|row| &row[3]).collect::<Vec<_>>(), ["1x1", "1x1"]);
}

#[test]
fn nonsense_is_refused_before_anything_runs() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    let other = place.named("other.csv");
    fs::write(&other, "name,age\nx,3\n").unwrap();
    let ran = place.named("ran");
    let touch = ["--", "touch", &ran];
    for (arguments, status, why) in [
        (
            vec!["-o", &data, "--configurations", "4096x1"],
            2,
            "this machine has no configuration 4096x1",
        ),
        (vec!["-o", &data, "--configurations", "1x0"], 2, "\"1x0\" is not a configuration"),
        (vec!["-o", &data, "--runs", "0"], 2, "'0' for '--runs <N>'"),
        (vec!["-o", &data, "--max-threads", "0"], 2, "'0' for '--max-threads <N>'"),
        (vec!["-o", &data, "-e", "task-clock,task-clock"], 2, "cannot count task-clock twice"),
        (vec!["-o", &data, "--app", ""], 2, "a value is required for '--app <NAME>'"),
        (vec!["-o", &data, "--measured-on", ""], 2, "a value is required for '--measured-on"),
        (
            vec!["-o", "/dev/null", "--append"],
            2,
            "cannot add to /dev/null: it is not a regular file",
        ),
        (vec!["-o", &data, "-e", "NO_SUCH_EVENT"], 2, "NO_SUCH_EVENT"),
        (vec!["-o", &other, "--append"], 2, "line 1: no column threads, so it is not a table"),
        (vec!["-o", "/no/such/place.csv"], 4, "; name a file in a directory that can be written"),
    ] {
        let answer = pacman_pmu(&[vec!["record"], arguments.clone(), touch.to_vec()].concat())
            .output()
            .unwrap();
        assert_eq!(answer.status.code(), Some(status), "{arguments:?}: {answer:?}");
        assert!(complaint(&answer).contains(why), "{arguments:?}: {}", text(&answer.stderr));
        assert!(!fs::exists(&ran).unwrap(), "{arguments:?}");
        assert!(!fs::exists(&data).unwrap(), "{arguments:?}");
    }
    let missing = pacman_pmu(&["record", "-o", &data, "--", "/no/such/program"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        complaint(&missing).contains("cannot run /no/such/program: No such file"),
        "{missing:?}"
    );
    let simulated =
        pacman_pmu(&["--machine", "p4", "record", "-o", &data, "--", "true"]).output().unwrap();
    assert_eq!(simulated.status.code(), Some(2));
    let said = text(&simulated.stderr);
    assert!(said.contains("cannot record on simulated machine p4"), "{said}");
}

/// The report of a session of a program in another language.
const REPORT: &str = r#"{"format":"pacman-report","version":1,"session":"s","simulated":false,
"events":[],"phases":["once"],"threads":[{"phases":[
{"phase":0,"executions":1,"time_ns":{"sum":1000,"min":1000,"max":1000},"counts":[]}]}]}"#;

#[test]
fn after_ctrl_c_the_file_has_the_runs_that_ended() {
    let place = Scratch::new();
    let (data, mark, report) =
        (place.named("data.csv"), place.named("mark"), place.named("report"));
    fs::write(&report, REPORT).unwrap();
    // The first run ends at once, the second never.
    let script = format!(
        "cp {report} \"$PACMAN_REPORT_DIR/1.json\"; test -e {mark} && echo ready && exec sleep 600; \
         touch {mark}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-train"));
    command.args(["record", "--max-threads", "1", "-o", &data, "--", "sh", "-c", &script]);
    with_default_signals(&mut command);
    let spawned = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut job = spawned.unwrap();
    let mut line = String::new();
    BufReader::new(job.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    // SAFETY: kill has no preconditions; the group is the one started here.
    unsafe { libc::kill(-(job.id() as i32), libc::SIGINT) };
    let status = job.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let (_, rows) = table(&data);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0][2], &rows[0][4], &rows[0][5]), ("once", "1", "0.000001"));
}

#[test]
fn after_ctrl_c_in_the_first_run_a_line_says_that_there_is_no_file() {
    let place = Scratch::new();
    let data = place.named("data.csv");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacman-train"));
    command.args(["record", "-o", &data, "--", "sh", "-c", "echo ready && exec sleep 600"]);
    with_default_signals(&mut command);
    let spawned = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut job = spawned.unwrap();
    let mut line = String::new();
    BufReader::new(job.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    // SAFETY: kill has no preconditions; the group is the one started here.
    unsafe { libc::kill(-(job.id() as i32), libc::SIGINT) };
    let output = job.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), line.as_str()), (Some(130), "ready\n"), "{said}");
    assert!(said.contains("no run has ended well") && said.lines().count() == 1, "{said}");
    assert!(!place.path("data.csv").exists());
}

/// Two regions that all threads work in, and one that asks for a single thread.
const OPENMP: &str = "
int main(void) {
    static double a[1 << 16];
    for (int round = 0; round < 5; round++) {
        #pragma omp parallel for
        for (int i = 0; i < 1 << 16; i++) a[i] = a[i] * 0.5 + i;
        #pragma omp parallel for
        for (int i = 0; i < 1 << 16; i++) a[i] += 1.0;
        #pragma omp parallel num_threads(1)
        a[0] += 1.0;
    }
    return a[9] > 0.0 ? 0 : 1;
}";

#[test]
fn an_openmp_program_is_recorded_as_it_is() {
    let place = Scratch::new();
    let (data, source, program) = (place.named("data.csv"), place.named("x.c"), place.named("x"));
    fs::write(&source, OPENMP).unwrap();
    let compiled = Command::new("cc").args(["-O1", "-fopenmp", &source, "-o", &program]).output();
    if !compiled.is_ok_and(|compiled| compiled.status.success()) {
        skipped("no compiler with OpenMP");
        return;
    }
    let record = |options: &[&str]| {
        let start = ["record", "--max-threads", "2", "-o", &data];
        pacman_pmu(&[&start, options, &["--", &program]].concat()).output().unwrap()
    };
    let unmarked = record(&[]);
    assert_eq!(unmarked.status.code(), Some(1));
    assert!(complaint(&unmarked).contains("--regions is for OpenMP programs"), "{unmarked:?}");
    let answer = record(&["--regions", "--runs", "1"]);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let (_, rows) = table(&data);
    for row in &rows {
        let (phase, threads, executions) = (&row[2], &row[3], &row[6]);
        assert!(phase.starts_with("main, region ") && executions == "5", "{row:?}");
        assert!(row[5].parse::<f64>().unwrap() > 0.0, "{threads}: {row:?}");
    }
    // With one thread all three regions are as wide as was asked for, else two.
    let wide = rows.iter().filter(|row| &row[3] != "1x1").count();
    assert_eq!((rows.len() - wide, wide), (3, 2 * (configurations() - 1)));
    if everyday().is_none() {
        return;
    }
    let both = place.named("both.csv");
    let mut command = pacman_pmu(&["run", "--record", &both, "-o", &place.named("r.txt"), "--"]);
    let answer = command.arg(&program).env("OMP_NUM_THREADS", "2").output().unwrap();
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let phases = |rows: &[csv::StringRecord]| -> BTreeSet<String> {
        rows.iter().map(|row| row[2].to_owned()).collect()
    };
    let (ran, recorded) = (phases(&table(&both).1), phases(&rows));
    assert!(ran.len() == 2 && ran.is_subset(&recorded), "{ran:?}, but {recorded:?}");
}

#[test]
fn a_busy_machine_is_told_at_the_end() {
    let place = Scratch::new();
    // Long enough that the kernel takes the processor away: 0.2 s.
    let source = "
volatile long turns;
int main(void) {
    for (int round = 0; round < 10; round++) {
        #pragma omp parallel
        for (long i = 0; i < 20000000; i++) turns = i;
    }
    return 0;
}";
    let Some(program) = place.compile("cc", &["-O1", "-fopenmp"], source) else { return };
    let contexts = std::thread::available_parallelism().map_or(1, usize::from);
    let mut others: Vec<_> = (0..2 * contexts)
        .map(|_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
        .collect();
    let data = place.named("data.csv");
    let options = ["--regions", "--configurations", "1x1", "--runs", "2", "-o", &data, "--"];
    let answer = pacman_pmu(&[&["record"], &options[..]].concat()).arg(&program).output().unwrap();
    for other in &mut others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    let said = text(&answer.stdout);
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    assert!(said.contains("in 2 of 2 runs the first thread had a processor in less"), "{said}");
}

#[test]
fn what_is_recorded_can_be_trained_on_and_adapted_with() {
    if configurations() < 2 {
        skipped("one context");
        return;
    }
    let place = Scratch::new();
    let (data, file) = (place.named("data.csv"), place.named("model.json"));
    for serial in [0, 1_000_000, 2_000_000, 3_000_000] {
        let app = format!("serial-{serial}");
        let options = ["--append", "--max-threads", "2", "--runs", "1", "--app", &app];
        let answer = record(&serial.to_string(), &data, &options);
        assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    }
    let arguments = ["train", &data, "-o", &file, "--samples", "1", "--events", "none"];
    let trained = pacman_pmu(&arguments).output().unwrap();
    assert_eq!(trained.status.code(), Some(0), "{}", text(&trained.stderr));
    assert!(text(&trained.stdout).contains("4 programs"), "{}", text(&trained.stdout));

    let here = Topology::detect().unwrap();
    let model = Model::from_file(file.as_ref()).unwrap();
    assert_eq!(model.programs[3], "serial-3000000/sweep");
    let predictor = model.clone().adapting(&machine_name(&here)).unwrap();
    let adapter = Adapter::builder(here).max_threads(2).predictor(predictor).build().unwrap();
    assert_eq!(adapter.candidates().all().len(), configurations());
    let elsewhere = model.adapting("Keystone").unwrap_err();
    assert_eq!(elsewhere.kind(), pacman_adapt::ErrorKind::Unsupported);
    assert!(elsewhere.to_string().contains("not for \"Keystone\""), "{elsewhere}");
}

#[test]
fn a_recording_from_a_busy_machine_says_so() {
    let scratch = Scratch::new();
    let source = include_str!("../../../pacman-cli/tests/cli/shared_processor.c");
    let Some(program) = scratch.compile("gcc", &["-O1", "-fopenmp"], source) else { return };
    let data = scratch.named("data.csv");
    let arguments = ["record", "--regions", "--max-threads", "1", "--runs", "2", "-o", &data, "--"];
    let answer = pacman_pmu(&arguments).arg(&program).output().expect("it runs");
    let said = text(&answer.stdout);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert!(said.contains("\nin 2 of 2 runs the first thread had a processor in less"), "{said}");
}
