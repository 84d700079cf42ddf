//! Times of the look-up: `cargo bench -p pacman-events --bench resolve`.
//!
//! Prints the median and the worst of the first look-ups of many processes, then of many
//! warm ones. The limits that the crate promises are checked, and a miss ends the program
//! with status 1.

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use pacman_events::{CpuModel, catalog, resolve};

/// The argument of a run that only times its first look-up.
const FIRST: &str = "--first";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == FIRST) {
        println!("{}", first_look_up().as_nanos());
        return ExitCode::SUCCESS;
    }
    let mut kept = first_look_ups();

    for (table, name, limit) in [
        ("skl", "MEM_LOAD_RETIRED.L1_MISS", Some(1)),
        ("skl", "mem_load_retired:l1_miss", Some(1)),
        ("clx", "OCR.ALL_READS.L3_MISS.ANY_SNOOP", Some(1)),
        ("snb", "UOPS_ISSUED.ANY:c=1:i:u", Some(1)),
        ("skl", "CYCLES", Some(1)),
        ("zen4", "RETIRED_INSTRUCTIONS", Some(1)),
        ("p4", "instr_retired:NBOGUSNTAG", Some(1)),
        ("niagara2", "Br_completed", Some(1)),
        ("skl", "FP_OPS", None),
        ("skl", "r01c3010e", None),
        ("skl", "cpu/event=0x0e,umask=0x01,inv,cmask=1/", None),
        ("clx", "UOPS_ISUED.ANY", None),
    ] {
        kept &= report(table, name, limit);
    }
    every_event();
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One look-up before anything else has touched the tables.
fn first_look_up() -> Duration {
    let start = Instant::now();
    let skl = CpuModel::named("skl").expect("Skylake has a table");
    let found = black_box(resolve(skl, "MEM_LOAD_RETIRED.L1_MISS").is_ok());
    let taken = start.elapsed();
    assert!(found);
    taken
}

/// The first look-up of each of many processes: it pays for the pages it touches.
fn first_look_ups() -> bool {
    let program = std::env::current_exe().expect("this program");
    let mut times: Vec<Duration> = (0..31)
        .map(|_| {
            let output = Command::new(&program).arg(FIRST).output().expect("this program runs");
            let nanos = String::from_utf8_lossy(&output.stdout).trim().parse();
            Duration::from_nanos(nanos.expect("a number of nanoseconds"))
        })
        .collect();
    times.sort_unstable();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let what = "first look-up of a process";
    println!("{what:<44} {:>9.3} µs  worst {:.3}  (limit 50)", micros(median), micros(worst));
    median < Duration::from_micros(50)
}

/// Resolves one name many times and compares the median with a limit in microseconds.
fn report(table: &str, name: &str, limit: Option<u64>) -> bool {
    const BATCH: u32 = 100;
    let cpu = CpuModel::named(table).expect("a table");
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..BATCH {
                black_box(resolve(black_box(cpu), black_box(name)).is_ok());
            }
            start.elapsed() / BATCH
        })
        .collect();
    times.sort_unstable();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let limit_text = limit.map_or(String::new(), |limit| format!("  (limit {limit})"));
    let what = format!("{table} {name}");
    println!("{what:<44} {:>9.3} µs  worst {:.3}{limit_text}", micros(median), micros(worst));
    limit.is_none_or(|limit| median < Duration::from_micros(limit))
}

/// Every name of every table once.
fn every_event() {
    let names: Vec<_> =
        CpuModel::all().flat_map(|cpu| catalog(cpu).map(move |entry| (cpu, entry.name))).collect();
    let start = Instant::now();
    let resolved = names.iter().filter(|(cpu, name)| resolve(*cpu, name).is_ok()).count();
    let each = start.elapsed() / u32::try_from(names.len()).expect("fewer than 4 billion events");
    println!("{resolved} of {} names of all tables, each {:.3} µs", names.len(), micros(each));
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
