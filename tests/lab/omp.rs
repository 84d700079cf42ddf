//! The cost of the preloaded library in each region of an OpenMP program, counted by the emulator:
//! the program is GCC's, its runtime libgomp, and neither knows of counters.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::boots::{self, HASWELL};
use super::rows::rows;

/// User instructions that a region may take beyond the bare run, on each of so many threads.
pub(crate) struct RegionBound {
    pub(crate) threads: usize,
    pub(crate) counted: f64,
    /// The same where the library is preloaded and nobody has asked it for anything.
    pub(crate) unasked: f64,
    /// Instructions between the two readings of the first thread's empty body that are not of the readings.
    pub(crate) around: u64,
}

const BOUNDS: [RegionBound; 2] = [
    RegionBound { threads: 1, counted: 350.0, unasked: 200.0, around: 25 },
    RegionBound { threads: 2, counted: 350.0, unasked: 200.0, around: 60 },
];

/// The fixed counters, and general ones: all through RDPMC.
const EVENTS: &str = "INSTRUCTIONS,CYCLES,r0108,r0151";

/// The clock of x86 processors.
pub(crate) const TSC: &str = "tsc";

/// How often the region runs: the difference leaves out all that happens once.
const REGIONS: [u64; 2] = [1_000, 5_000];

/// Bytes that the program takes from its heap first. libgomp allocates a team of one anew at every
/// region, aligned to 64 bytes, and that takes 200 instructions more in one of four layouts of the
/// heap, with the library or without it. The least of them is what a region takes.
fn taken_first(threads: usize) -> &'static [u64] {
    if threads == 1 { &[24, 40, 56, 72, 88, 104] } else { &[24] }
}

/// The program's file; `None`, and said, where no compiler makes one.
pub(crate) fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| compiled("regions.c", "lab-regions")).as_deref()
}

/// Compiles a program for guests; `None`, and said, where no compiler does.
pub(crate) fn compiled(source: &str, program: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program);
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/lab/guest")).join(source);
    let mut compile = Command::new("gcc");
    compile.args(["-O2", "-fopenmp"]).arg(source).arg("-o").arg(&program);
    if compile.status().is_ok_and(|status| status.success()) {
        return Some(program);
    }
    pacman_suite::skipped("gcc compiles no OpenMP here");
    None
}

/// The recording of a run, as a report.
const READ: &str = "/t/pacman-pmu run --read /tmp/regions -o /tmp/read.json; cat /tmp/read.json; rm /tmp/read.json;";

/// Runs bare, preloaded, and preloaded for nothing, with one and with two threads, a line each; a
/// waiting thread sleeps, because one that spins retires as many instructions as there is time. They
/// begin when the kernel has taken `clock`, on x86 two seconds after it has booted: until then the library
/// asks the C library.
pub(crate) fn line(clock: &str) -> String {
    let mut line = format!(
        "set -e; while ! grep -qx {clock} /sys/devices/system/clocksource/clocksource0/current_clocksource; \
         do :; done; export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0",
    );
    let preloaded = format!(
        "LD_PRELOAD=/t/libpacman_omp.so PACMAN_OMP_DIR=/tmp/regions PACMAN_OMP_EVENTS={EVENTS} "
    );
    for threads in [1, 2] {
        let unasked = "LD_PRELOAD=/t/libpacman_omp.so ";
        for (kind, with) in [("bare", ""), ("preloaded", &preloaded), ("unasked", unasked)] {
            for taken in taken_first(threads) {
                for regions in REGIONS {
                    let is_read = (kind, taken, regions)
                        == ("preloaded", &taken_first(threads)[0], REGIONS[1]);
                    let read = if is_read { READ } else { "" };
                    line += &format!(
                        "; mkdir /tmp/regions; echo run {kind} {threads} {taken} {regions} \
                         $(OMP_NUM_THREADS={threads} {with}/t/lab-regions {regions} {taken}); \
                         {read} rm -r /tmp/regions"
                    );
                }
            }
        }
    }
    line
}

/// The command on a program whose threads are bound to the two siblings of the only core.
pub(crate) fn on_siblings() -> String {
    "export OMP_PROC_BIND=true OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive; \
     /t/pacman-pmu run -e INSTRUCTIONS,CYCLES -o /tmp/siblings.json -- /t/lab-regions 500; \
     cat /tmp/siblings.json"
        .to_owned()
}

/// The instructions that all contexts retired in a run, beyond what one of fewer regions did: the least in user mode,
/// and in the kernel the median.
#[derive(Clone, Copy, Debug)]
struct PerRegion {
    user: f64,
    kernel: f64,
}

/// From the lines of shorter and of longer runs.
fn per_region(text: &str, kind: &str, threads: usize) -> PerRegion {
    let of = |taken: &u64| {
        let retired = REGIONS.map(|regions| {
            let prefix = format!("run {kind} {threads} {taken} {regions} ");
            let found = text.lines().find_map(|line| line.strip_prefix(&prefix));
            let words = found.unwrap_or_else(|| panic!("{prefix:?} in:\n{text}")).split(' ');
            words.map(|word| word.parse().expect("a number")).collect::<Vec<f64>>()
        });
        let regions = (REGIONS[1] - REGIONS[0]) as f64;
        let of = |ring: usize| (retired[1][ring] - retired[0][ring]) / regions;
        PerRegion { user: of(0), kernel: of(1) }
    };
    let all: Vec<PerRegion> = taken_first(threads).iter().map(of).collect();
    let user = all.iter().map(|run| run.user).min_by(f64::total_cmp).expect("at least one");
    // How much the kernel does to start a program differs by some instructions a region, either
    // way, and has nothing to do with layouts; a call at each region would be in all of them.
    let mut kernel: Vec<f64> = all.iter().map(|run| run.kernel).collect();
    kernel.sort_by(f64::total_cmp);
    PerRegion { user, kernel: kernel[kernel.len() / 2] }
}

/// The longer runs are recorded in full, by RDPMC: what was not counted would be cheap.
fn every_execution_was_counted(text: &str, threads: usize, around: u64) {
    let [_, regions] = REGIONS;
    let run = format!("run preloaded {threads} {} {regions} ", taken_first(threads)[0]);
    let (_, rest) = text.split_once(&run).expect("the run was found before");
    let json = rest.split_once('\n').expect("a recording").1;
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let report = values.next().expect("a report").unwrap_or_else(|e| panic!("{e}:\n{rest}"));
    let recording = &report["processes"][0];
    assert_eq!(recording["overhead"]["reads"], "rdpmc", "{recording:#}");
    // Two of the events cannot happen there, which the report doubts, and an empty body has the counts of the
    // readings; nothing else is to be said.
    let notes = recording["notes"].as_array().expect("a list");
    let expected = ["stayed at 0 over", "of the readings that observe"];
    let is_expected = |note: &Value| {
        note.as_str().is_some_and(|note| expected.iter().any(|part| note.contains(part)))
    };
    assert!(notes.iter().all(is_expected), "{recording:#}");
    let all = recording["regions"].as_array().expect("a list");
    let hot = all.iter().find(|region| region["executions"] == regions);
    let rows = rows(&hot.unwrap_or_else(|| panic!("{recording:#}"))["threads"]);
    assert_eq!(rows.len(), threads, "{recording:#}");
    for (thread, row) in rows.iter().enumerate() {
        assert_eq!((&row["executions"], &row["counted"]), (&regions.into(), &regions.into()));
        let counts = &row["figures"]["counts"];
        let names: Vec<&str> = EVENTS.split(',').collect();
        let count =
            |event: usize| counts[names[event]].as_u64().unwrap_or_else(|| panic!("{row:#}"));
        // The first thread's body is empty: what is counted are the edges of a phase, three cycles
        // an instruction; for the other two events nobody rings.
        let each = count(0) / regions;
        if thread == 0 {
            println!("lab omp: {threads} threads: an empty body counts {each} instructions");
            assert!((1..=300).contains(&each), "{row:#}");
            // Measured before the first region. Around a body there is a little more than the readings, and never less.
            let of_readings = recording["events"][0]["reading_count"].as_u64().expect("a count");
            println!("lab omp: {threads} threads: the readings count {of_readings} instructions");
            assert!((of_readings..=of_readings + around).contains(&each), "{recording:#}");
        } else {
            assert!((20_000..=40_000).contains(&each), "{row:#}");
        }
        assert!(count(1) > 2 * count(0) && count(1) < 4 * count(0) + 10 * regions, "{row:#}");
        assert_eq!((count(2), count(3)), (0, 0), "{row:#}");
    }
}

#[test]
fn what_a_region_costs_each_thread() {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(HASWELL, &line(TSC)) else { return };
    assert_eq!(*status, 0, "{text}");
    each_region_costs_at_most(text, "core", &BOUNDS);
}

pub(crate) fn each_region_costs_at_most(text: &str, cpu: &str, bounds: &[RegionBound]) {
    for &RegionBound { threads, counted: bound, unasked: bound_unasked, around } in bounds {
        let kinds = ["bare", "preloaded", "unasked"];
        let [bare, preloaded, unasked] = kinds.map(|kind| per_region(text, kind, threads));
        let more = |than: PerRegion| (than.user - bare.user) / threads as f64;
        let beyond = more(preloaded);
        println!(
            "lab omp, {cpu}: {threads} threads: a region takes {:.1} user instructions bare, {:.1} \
             preloaded: {beyond:.1} more a thread, for a goal of {bound} (kernel: {:.1} and {:.1})",
            bare.user, preloaded.user, bare.kernel, preloaded.kernel
        );
        every_execution_was_counted(text, threads, around);
        assert!((10.0..=bound).contains(&beyond), "{beyond}: {text}");
        println!(
            "lab omp, {cpu}: {threads} threads: asked for nothing {:.1} more a thread",
            more(unasked)
        );
        assert!((10.0..=bound_unasked).contains(&more(unasked)), "{text}");
        if threads == 1 {
            // Ticks alone: a team of one never waits, so any system call would show.
            assert!(preloaded.kernel - bare.kernel < 20.0, "{text}");
        }
    }
}

#[test]
fn siblings_are_reported_and_each_has_its_own_counts() {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(HASWELL, &on_siblings()) else { return };
    assert_eq!(*status, 0, "{text}");
    let json = text.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("a report");
    let report: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let process = &report["processes"][0];
    // The runtime had bound the first thread before anybody looked.
    assert_eq!((&process["threads"], &process["contexts"]), (&2.into(), &2.into()), "{text}");
    let regions = process["regions"].as_array().expect("a list");
    let hot = regions.iter().find(|region| region["executions"] == 500).expect("the loop's");
    for (number, thread) in rows(&hot["threads"]).iter().enumerate() {
        assert_eq!((&thread["cpu"], &thread["core"]), (&number.into(), &0.into()), "{thread:#}");
        assert_eq!(thread["beside"], serde_json::json!([1 - number]), "{thread:#}");
        let figures = &thread["figures"];
        assert_eq!(figures["complete"], true, "{thread:#}");
        let each = figures["counts"]["INSTRUCTIONS"].as_f64().expect("a count") / 500.0;
        println!("lab omp: sibling {number}: {each} instructions an execution");
        // The first one's body is empty; the other's is a loop of 5,000 rounds.
        let expected = if number == 0 { 1.0..=300.0 } else { 20_000.0..=40_000.0 };
        assert!(expected.contains(&each), "{thread:#}");
        let ipc = figures["metrics"]["ipc"].as_f64();
        // Three cycles an instruction. Of an empty body the counts are of the readings themselves, and have no metric.
        let expected = |ipc: f64| number == 1 && (0.333..=0.334).contains(&ipc);
        assert_eq!(ipc.map(expected), (number == 1).then_some(true), "{thread:#}");
    }
}
