//! `stat` on programs that know what they did.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use super::{pacman_pmu, run, text};

/// The program that says what its threads did.
pub(super) fn subject() -> &'static str {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stat-subject");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/stat_subject.rs");
        let built = Command::new(rustc)
            .args(["--edition", "2021", "-O", "-o"])
            .arg(&path)
            .arg(source)
            .status();
        assert!(built.expect("rustc runs").success());
        path
    });
    path.to_str().expect("a path in UTF-8")
}

/// Runs `stat --json` with more arguments; the answer is what the command printed, and the
/// document.
pub(super) fn counted(arguments: &[&str]) -> (Output, Value) {
    let answer = run(&[&["stat", "--json"], arguments].concat());
    let said = text(&answer.stderr);
    let document = serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {said}"));
    (answer, document)
}

/// The threads' rows in the order in which they began; the document has them by core.
fn rows(document: &Value) -> Vec<&Value> {
    let mut rows: Vec<&Value> = document["rows"].as_array().expect("rows").iter().collect();
    rows.sort_by_key(|row| row["thread"].as_u64());
    rows
}

/// In nanoseconds.
const MILLISECOND: i64 = 1_000_000;

fn count(row: &Value, event: usize) -> i64 {
    row["counts"][event].as_i64().unwrap_or_else(|| panic!("no count in {row:#}"))
}

#[test]
fn each_thread_s_counts_are_those_that_it_knows_of_itself() {
    let events = "context-switches,page-faults,task-clock";
    let (answer, document) = counted(&["-e", events, "--", subject(), "differ"]);
    assert_eq!(answer.status.code(), Some(0));
    assert_eq!(rows(&document).len(), 3, "{document:#}");
    let mut seen = Vec::new();
    for line in text(&answer.stdout).lines() {
        let known: Vec<i64> =
            line.split(' ').skip(1).map(|word| word.parse().expect("a number")).collect();
        let row = rows(&document).into_iter().find(|row| row["tid"] == known[0]);
        let row = row.unwrap_or_else(|| panic!("no row for {line} in {document:#}"));
        let beyond = |event: usize| count(row, event) - known[event + 1];
        // Its work after it looked: printing, and its end.
        // The stop in which a thread's counters are opened may be a switch that they miss.
        assert!((-1..=60).contains(&beyond(0)), "switches: {line} {row:#}");
        assert!((0..=60).contains(&beyond(1)), "faults: {line} {row:#}");
        let clock = beyond(2);
        assert!((-2 * MILLISECOND..=60 * MILLISECOND).contains(&clock), "clock: {line} {row:#}");
        seen.push(row["name"].as_str().expect("a name"));
    }
    seen.sort_unstable();
    assert_eq!(seen, ["burns", "waits"]);
    let of =
        |name: &str| rows(&document).into_iter().find(|row| row["name"] == name).expect("a row");
    // Now and then what it waits for is there already.
    assert!(count(of("waits"), 0) >= 25, "it waited for most of fifty");
    // Its counters open up to two milliseconds after its own clock began, as above.
    assert!(count(of("burns"), 2) >= 118 * MILLISECOND, "it burnt 120 ms");
    assert!(count(of("burns"), 1) >= 40, "it touched forty pages");
    let total: i64 = rows(&document).into_iter().map(|row| count(row, 2)).sum();
    assert_eq!(document["total"]["counts"][2], total);
}

#[test]
fn two_hundred_short_threads_are_all_there() {
    let (answer, document) = counted(&["-e", "page-faults", "--", subject(), "many", "200"]);
    assert_eq!(answer.status.code(), Some(0));
    assert_eq!(rows(&document).len(), 201);
    assert_eq!(document["total"]["missing"], 0);
    for row in &rows(&document)[1..] {
        assert!(count(row, 0) >= 1, "each touched a page: {row:#}");
    }
}

#[test]
fn children_are_followed_over_fork_and_exec() {
    let script = "env true; (exit 3); exit 4";
    let (answer, document) = counted(&["-e", "task-clock", "--", "sh", "-c", script]);
    assert_eq!((answer.status.code(), &document["exit_status"]), (Some(4), &Value::from(4)));
    let names: Vec<&str> =
        rows(&document).into_iter().map(|row| row["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["sh", "true", "sh"], "env became true in its own process");
    let processes: Vec<&Value> = rows(&document).into_iter().map(|row| &row["pid"]).collect();
    assert!(processes[0] != processes[1] && processes[1] != processes[2], "{document:#}");
    assert!(rows(&document).into_iter().all(|row| count(row, 0) > 0));
}

#[test]
fn a_thread_that_becomes_a_program_keeps_its_counts() {
    let (answer, document) =
        counted(&["-e", "task-clock", "--", subject(), "exec", "sh", "-c", "exit 6"]);
    assert_eq!(answer.status.code(), Some(6));
    let rows = rows(&document);
    assert_eq!(rows.len(), 3, "{document:#}");
    let process = &rows[0]["tid"];
    assert!(count(rows[1], 0) >= 20_000_000, "it burnt 20 ms before: {document:#}");
    let note = format!("became thread {process} when it began another program");
    assert_eq!(rows[1]["notes"], serde_json::json!([note]));
    assert_eq!((&rows[2]["tid"], &rows[2]["name"]), (process, &Value::from("sh")));
}

#[test]
fn a_process_whose_first_thread_ends_goes_on() {
    let (answer, document) = counted(&["-e", "task-clock", "--", subject(), "leaderless"]);
    assert_eq!(answer.status.code(), Some(11), "{document:#}");
    assert_eq!(rows(&document).len(), 2);
    assert!(count(rows(&document)[1], 0) >= 20_000_000, "{document:#}");
}

#[test]
fn who_outlives_the_command_is_let_go() {
    let script = "sleep 30 >/dev/null 2>&1 & echo $!";
    let (answer, document) = counted(&["-e", "task-clock", "--", "sh", "-c", script]);
    let sleeper: i32 = text(&answer.stdout).trim().parse().expect("a process id");
    let status = std::fs::read_to_string(format!("/proc/{sleeper}/status")).expect("it lives on");
    let tracer = status.lines().find(|line| line.starts_with("TracerPid:"));
    assert_eq!(tracer, Some("TracerPid:\t0"));
    // SAFETY: kill has no preconditions; the process is the one that the test started.
    unsafe { libc::kill(sleeper, libc::SIGKILL) };
    assert_eq!(answer.status.code(), Some(0));
    let note = "1 thread outlived the command: counted until then, and not followed further";
    assert_eq!(document["notes"], serde_json::json!([note]));
    assert!(rows(&document).into_iter().all(|row| count(row, 0) > 0), "{document:#}");
}

#[test]
fn bound_threads_share_cores_as_asked() {
    let (_, document) = counted(&["--bind", "0", "-e", "task-clock", "--", subject(), "differ"]);
    for row in rows(&document) {
        assert_eq!((&row["cpu"], &row["bound"]), (&Value::from(0), &Value::from(true)));
        assert_eq!(row["moved"], false);
    }
    let note = "there were more threads than places at one time: some shared one";
    assert_eq!(document["notes"], serde_json::json!([note]));
    let by_core = ["--per-core", "--bind", "0", "-e", "task-clock", "--", subject(), "differ"];
    let (_, document) = counted(&by_core);
    assert_eq!((rows(&document).len(), &rows(&document)[0]["rows"]), (1, &Value::from(3)));
    assert_eq!(document["by"], "core");
}

/// Also when it begins anew from a thread that was bound.
#[test]
fn a_bound_program_sees_as_many_cpus_as_there_are_places() {
    let alone = run(&["stat", "-e", "task-clock", "--", subject(), "team"]);
    let team: usize = text(&alone.stdout).trim().parse().expect("a number of threads");
    let bind = ["--bind", "compact", "-e", "task-clock", "--", subject(), "team", "again"];
    let (answer, document) = counted(&bind);
    assert_eq!(text(&answer.stdout), format!("{team}\n{team}\n"));
    let rows = rows(&document);
    assert_eq!(rows.len(), 2 * team - 1, "the first thread is the same in both");
    if team > 1 {
        assert!(rows.iter().all(|row| row["bound"] == true), "{document:#}");
        let mut cpus: Vec<u64> =
            rows[..team].iter().filter_map(|row| row["cpu"].as_u64()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus.len(), team, "{document:#}");
    }
}

#[test]
fn intervals_add_up_to_the_whole() {
    let arguments = ["stat", "--json", "--interval", "20", "-e", "task-clock", "--"];
    let answer = run(&[arguments.as_slice(), &[subject(), "differ"]].concat());
    let documents: Vec<Value> = text(&answer.stderr)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a document a line"))
        .collect();
    let (whole, parts) = documents.split_last().expect("at least the whole");
    assert!(whole["interval"].is_null() && parts.len() >= 2, "120 ms are several intervals");
    let mut end = 0;
    for (number, part) in parts.iter().enumerate() {
        assert_eq!(part["interval"]["number"], number);
        assert_eq!(part["interval"]["begin_ns"], end);
        end = part["interval"]["end_ns"].as_u64().expect("a time");
    }
    let sum: i64 = parts.iter().flat_map(rows).map(|row| count(row, 0)).sum();
    assert_eq!(whole["total"]["counts"][0], sum);
}

#[test]
fn contexts_show_what_runs_there() {
    let answer = run(&["stat", "-a", "--json", "-e", "cpu-clock", "--", "sleep", "0.2"]);
    let said = text(&answer.stderr);
    if answer.status.code() == Some(1) {
        assert!(said.contains("perf_event_paranoid") || said.contains("permission"), "{said}");
        return;
    }
    let document: Value = serde_json::from_str(said).expect("JSON");
    assert_eq!(document["by"], "context");
    assert!(!rows(&document).is_empty());
    for row in rows(&document) {
        assert!(count(row, 0) >= 190_000_000, "a context's clock never stops: {row:#}");
        assert!(row["thread"].is_null() && row["cpu"].is_u64(), "{row:#}");
    }
    let contexts = rows(&document).len();
    let answer = run(&["stat", "-a", "--per-core", "--json", "-e", "cpu-clock", "--", "true"]);
    let document: Value = serde_json::from_str(text(&answer.stderr)).expect("JSON");
    assert_eq!(document["by"], "core");
    let members: u64 = rows(&document).iter().filter_map(|row| row["rows"].as_u64()).sum();
    assert_eq!(members, contexts as u64, "{document:#}");
    let answer = run(&["stat", "-a", "--per-core", "-e", "cpu-clock", "--", "true"]);
    let heading = |line: &str| line.split_whitespace().take(2).eq(["core", "contexts"]);
    assert!(text(&answer.stderr).lines().any(heading), "{answer:?}");
}

#[test]
fn the_table_pairs_threads_and_ends_with_their_sum() {
    let arguments = ["stat", "-e", "task-clock,page-faults", "--bind", "0", "--"];
    let answer = run(&[arguments.as_slice(), &[subject(), "differ"]].concat());
    let said = text(&answer.stderr);
    let lines: Vec<Vec<&str>> =
        said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(said.starts_with(subject()), "{said}");
    let of = |name: &str| lines.iter().find(|line| line.contains(&name)).expect("a line");
    assert_eq!(of("T0")[..2], ["0", "0"], "core and cpu: {said}");
    assert_eq!(of("T1")[0], "0", "its sibling's core is not repeated: {said}");
    assert_eq!(of("total").len(), 4, "{said}");
    assert!(lines[2][..5] == ["core", "cpu", "pid", "tid", "thread"], "{said}");
}

#[test]
fn a_terminal_gets_one_line_of_progress_and_a_table_of_its_width() {
    let (mut master, mut terminal) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: two descriptors are written, and the size is read; neither a name nor modes are
    // asked for.
    let opened = unsafe {
        let (master, terminal) = (&raw mut master, &raw mut terminal);
        libc::openpty(master, terminal, std::ptr::null_mut(), std::ptr::null(), &raw const size)
    };
    assert_eq!(opened, 0);
    // SAFETY: both are fresh and owned by nobody else.
    let [master, terminal] = [master, terminal].map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let mut command = pacman_pmu(&["stat", "-e", EVENTS, "--", "sleep", "1.6"]);
    const EVENTS: &str = "task-clock,page-faults,context-switches,cpu-migrations";
    let ended = command.env("TERM", "xterm").stderr(terminal).spawn().expect("it runs").wait();
    // It holds the terminal's other end, and reading would wait for more.
    drop(command);
    assert!(ended.expect("it ends").success());
    let mut said = Vec::new();
    // A terminal that nobody holds any more ends with EIO.
    let _ = File::from(master).read_to_end(&mut said);
    let said = text(&said);
    let drawn = said.matches("\r\x1b[K").count();
    assert!(drawn >= 2 && said.contains(" s, 1 thread, "), "{said:?}");
    let (_, table) = said.rsplit_once("\r\x1b[K").expect("the line is wiped in the end");
    // How many bands it takes depends on the width of process ids.
    assert!(table.matches("T0 sleep").count() >= 2, "bands: {table}");
    // A footnote is a sentence, which the terminal may break.
    let mut lines = table.lines().skip(1).filter(|line| !line.starts_with('*'));
    assert!(lines.all(|line| line.trim_end().len() <= 60), "{table}");
}

#[test]
fn csv_has_as_many_fields_everywhere() {
    let answer = run(&["stat", "--csv", "-e", "task-clock", "--", "sh", "-c", "true, a; true"]);
    let said = text(&answer.stderr);
    let table: Vec<&str> = said.lines().filter(|line| !line.starts_with("sh:")).collect();
    assert_eq!(table.len(), 2, "{said}");
    assert!(table[0].ends_with(
        ",implausible,command_user_ns,command_system_ns,command_cpus_used,task-clock [ns]"
    ));
    assert_eq!(table[0].split(',').count(), table[1].split(',').count());
    assert!(
        pacman_pmu(&["stat", "--csv", "--json", "--", "true"])
            .output()
            .is_ok_and(|both| { both.status.code() == Some(2) })
    );
}

#[test]
fn a_table_is_as_wide_as_it_may_be() {
    let events = "task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches";
    let widest = |columns: &str| {
        let mut stat = pacman_pmu(&["stat", "-e", events, "--", "true"]);
        let answer = stat.env("COLUMNS", columns).output().expect("the command was built");
        let said = text(&answer.stderr);
        let ruled = said.lines().filter(|line| line.starts_with("---"));
        ruled.map(str::len).max().unwrap_or_else(|| panic!("no table in {said}"))
    };
    assert!(widest("80") <= 80);
    for unset in ["", "0", "many"] {
        assert!(widest(unset) > 80, "{unset:?}");
    }
}

/// Both ends of a terminal that no other test's command inherits.
fn terminal() -> (File, File) {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    let mut name = [0; 64];
    // SAFETY: the descriptor is fresh and owned by nobody else; the name is written into a live
    // array of the length that is passed, and closed by a zero.
    let (outer, name) = unsafe {
        let outer = libc::posix_openpt(flags);
        assert!(outer >= 0, "{}", std::io::Error::last_os_error());
        assert_eq!((libc::grantpt(outer), libc::unlockpt(outer)), (0, 0));
        assert_eq!(libc::ptsname_r(outer, name.as_mut_ptr(), name.len()), 0);
        (File::from_raw_fd(outer), CStr::from_ptr(name.as_ptr()))
    };
    let mut how = OpenOptions::new();
    how.read(true).write(true).custom_flags(libc::O_NOCTTY);
    (outer, how.open(name.to_str().expect("a path")).expect("the inner end"))
}

/// The picture that `stat` draws on a terminal while its command says nothing for a while.
fn drawn(options: &[&str]) -> String {
    let (mut terminal, inner) = terminal();
    let arguments = [&["stat", "-e", "task-clock"][..], options, &["--", "sleep", "1.4"]].concat();
    let mut stat = pacman_pmu(&arguments);
    stat.env("TERM", "xterm").stdout(Stdio::null()).stderr(inner);
    let mut running = stat.spawn().expect("the command was built");
    // Its copies of the inner end keep the terminal open.
    drop(stat);
    let mut said = Vec::new();
    // A terminal whose other end is closed is answered with an error, after all that was written.
    let _ = terminal.read_to_end(&mut said);
    assert!(running.wait().expect("it ends").success());
    text(&said).to_owned()
}

#[test]
fn the_live_line_can_be_left_out() {
    let wiped = "\r\x1b[K";
    assert!(drawn(&[]).contains(wiped));
    let quiet = drawn(&["--quiet"]);
    assert!(!quiet.contains(wiped) && quiet.contains("sleep 1.4"), "{quiet}");
}
