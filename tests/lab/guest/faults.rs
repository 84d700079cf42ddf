//! Every system call about counters failing in turn: a count is right, or somebody is told why there is none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use pacman_core::session::EventSetRotation;
use pacman_core::{Placement, Result, Session, Topology};
use pacman_suite::inject::{Call, Fault, watch_counters};

use crate::doorbell::{known_loop, ring};
use crate::siblings::THREADS;

/// Errors that each kind of call may give.
const ERRORS: [(i64, &[i32]); 4] = [
    (libc::SYS_perf_event_open, &[libc::EMFILE, libc::EPERM, libc::ENOMEM, libc::EBUSY]),
    (libc::SYS_mmap, &[libc::ENOMEM, libc::EPERM]),
    (libc::SYS_ioctl, &[libc::ENOMEM, libc::EPERM]),
    (libc::SYS_read, &[libc::EINTR, libc::EIO]),
];

/// Events for all counters, and for more, so that sets rotate. The first one happens by itself.
const FITTING: &str = "INSTRUCTIONS,r0151,r0108";
const ROTATING: &str = "INSTRUCTIONS,r0151,r0108,r412e,r01c4,r01c5,r0149,r0187,r01a2,r0148";

/// The file that `run` writes to.
pub(crate) const REPORT: &str = "/tmp/report.json";

const EXECUTIONS: u64 = 6;
const ITERATIONS: u64 = 20_000;
/// Instructions of the library's and of the rings in an execution.
const EDGE: u64 = 1_000;

/// Prints a line for each scenario, and each run of it that was not as it must be.
pub(crate) fn run() -> Result<()> {
    programs_stay_where_they_are();
    for (name, events) in [("fitting", FITTING), ("rotating", ROTATING)] {
        let command = ["/t/lab-guest", "faulty", events];
        everywhere(name, &command, |_, seen| session(seen));
    }
    Ok(())
}

/// The emulator keeps what it has translated of a program that is where it was.
pub(crate) fn programs_stay_where_they_are() {
    fs::write("/proc/sys/kernel/randomize_va_space", "0").expect("the lab's guest is root");
}

/// A run as seen from outside.
pub(crate) struct Seen {
    hung: bool,
    pub(crate) status: Option<i32>,
    signal: Option<i32>,
    pub(crate) printed: String,
    pub(crate) complained: String,
    /// The content of [`REPORT`], without blanks.
    pub(crate) report: String,
    calls: Vec<Call>,
}

/// The end of a run that is as it must be.
pub(crate) struct Ended {
    pub(crate) right: usize,
    pub(crate) refused: usize,
}

/// Has each call of an undisturbed run fail, each time with another error.
pub(crate) fn everywhere(
    name: &str,
    command: &[&str],
    judge: impl Fn(&Seen, &Seen) -> Option<Ended>,
) {
    let alone = seen(command, None);
    let (mut runs, mut right, mut refused, mut wrong) = (0, 0, 0, 0);
    let mut judged = |what: &str, seen: &Seen| {
        runs += 1;
        match judge(&alone, seen).filter(|_| !seen.hung) {
            Some(ended) => {
                right += ended.right;
                refused += ended.refused;
            }
            None => {
                wrong += 1;
                let Seen { hung, status, signal, printed, complained, report, .. } = seen;
                println!("wrong {name} {what}: hung {hung}, {status:?}, {signal:?}");
                for text in [printed, complained, report] {
                    println!("wrong {}", text.trim());
                }
            }
        }
    };
    judged("undisturbed", &alone);
    let mut kinds: BTreeMap<i64, usize> = BTreeMap::new();
    for call in &alone.calls {
        *kinds.entry(call.number).or_default() += 1;
    }
    let mut met: BTreeMap<i64, usize> = BTreeMap::new();
    for call in &alone.calls {
        let nth = met.entry(call.number).or_default();
        *nth += 1;
        // The many in the middle are of changes of sets, and alike.
        if !(*nth <= 8 || kinds[&call.number] - *nth < 2 || nth.is_power_of_two()) {
            continue;
        }
        let errors = ERRORS.iter().find(|(number, _)| *number == call.number).expect("a kind").1;
        let errno = errors[*nth % errors.len()];
        let fault = Fault { module: 0, number: call.number, nth: *nth, errno };
        judged(
            &format!("call {nth} of {}, errno {errno}", call.number),
            &seen(command, Some(fault)),
        );
    }
    let calls = ERRORS.map(|(number, _)| kinds.get(&number).copied().unwrap_or_default());
    let [opened, mapped, switched, read] = calls;
    println!("faults {name} {runs} {right} {refused} {wrong} {opened} {mapped} {switched} {read}");
}

fn seen(command: &[&str], fault: Option<Fault>) -> Seen {
    const STREAMS: [&str; 2] = ["/tmp/printed", "/tmp/complained"];
    let _ = fs::remove_file(REPORT);
    let [out, err] = STREAMS.map(|path| File::create(path).expect("a file"));
    let mut watched = Command::new(command[0]);
    watched.env("OMP_WAIT_POLICY", "passive");
    watched.args(&command[1..]).stdin(Stdio::null()).stdout(out).stderr(err);
    let (child, calls) = match watch_counters(watched, fault) {
        Ok((child, calls)) => (Some(child), calls),
        Err(error) if error.kind() == ErrorKind::TimedOut => (None, Vec::new()),
        Err(error) => panic!("{fault:?}: {error}"),
    };
    let hung = child.is_none();
    let status = child.map(|mut child| child.wait().expect("it ended"));
    let [printed, complained] = STREAMS.map(|path| fs::read_to_string(path).expect("it was made"));
    let report = fs::read_to_string(REPORT).unwrap_or_default();
    Seen {
        hung,
        status: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        printed,
        complained,
        report: report.split_whitespace().collect(),
        calls,
    }
}

/// A session: each execution is right or refused, or one line says why it did not start.
fn session(seen: &Seen) -> Option<Ended> {
    let lines = |first: &str| seen.printed.lines().filter(|line| line.starts_with(first)).count();
    let (right, threads) = (lines("right "), lines("refused thread"));
    let refused = lines("refused execution") + EXECUTIONS as usize * threads;
    let said = seen.printed.lines().count();
    let good = match seen.status {
        Some(0) => {
            said == right + lines("refused ") && right + refused == THREADS * EXECUTIONS as usize
        }
        Some(1) => said == 1 && lines("error ") == 1,
        _ => false,
    };
    (good && seen.complained.is_empty()).then_some(Ended { right, refused })
}

/// The program whose calls fail: two threads on siblings, whose every count is known. A line for each execution that
/// was counted right, or refused; a panic where a count is wrong.
pub(crate) fn faulty(events: &str) -> Result<()> {
    let here = Topology::detect()?;
    let session = Session::builder("faulty")
        .events(events)
        .placement(here, Placement::Compact)
        .rotate_event_sets(EventSetRotation::PerExecution)
        .log(EXECUTIONS as usize)
        .start()?;
    let phase = session.phase("work")?;
    let codes: Vec<u64> = events
        .split(',')
        .skip(1)
        .map(|name| u64::from_str_radix(&name[1..], 16).expect("a code"))
        .collect();
    let member = || -> Result<u64> {
        let thread = session.attach()?;
        let mut refused = 0;
        for _ in 0..EXECUTIONS {
            let ran = thread.run(phase, || {
                known_loop(ITERATIONS);
                for (event, code) in (1..).zip(&codes) {
                    ring(*code, rings(event));
                }
            });
            refused += u64::from(ran.is_err());
        }
        Ok(refused)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(member)).collect();
        for thread in threads {
            match thread.join().expect("no panic") {
                Ok(refused) => (0..refused).for_each(|_| println!("refused execution")),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!text.contains('\n') && text.len() > 20, "{text:?} explains nothing");
                    println!("refused thread: {text}");
                }
            }
        }
    });
    let report = session.report();
    for thread in &report.threads {
        for sample in &thread.log {
            for event in 0..=codes.len() {
                let Some(counted) = sample.count(&report, event) else { continue };
                let known = if event == 0 { 2 * ITERATIONS } else { rings(event as u64) };
                let edge = if event == 0 { EDGE } else { 0 };
                assert!((known..=known + edge).contains(&counted), "event {event}: {counted}");
            }
            println!("right {}", thread.number);
        }
    }
    Ok(())
}

/// How often an event is rung in an execution.
pub(crate) fn rings(event: u64) -> u64 {
    1_000 * event + 17
}
