//! Five phases of different character on pools whose size follows them, and why.
//!
//!     cargo run --release -p adaptive
//!     cargo run --release -p adaptive -- --check
//!
//! `--rounds N` runs each phase N times (default 400). On two cores a sample of one may cost a whole
//! execution, which the budget covers after a hundred executions. `--check` also runs each phase on all
//! threads, and at the end at every configuration, in alternation. It prints the ratio of the chosen
//! configuration's time to the best one's, and the largest loss by samples. That loss prices each
//! execution at the median of its configuration, so that other programs do not affect it. The check
//! fails (status 1) if the ratio is above 1.05. It also fails if the loss from the 120th execution on
//! is above 1 % of the time of all threads. The raw time of all executions is printed next to it. So
//! is the ratio of two measurements of all threads, which shows how quiet the machine is.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use pacman_adapt::Adapter;
use pacman_adapt::predict::Configuration;
use pacman_core::{Result, Topology};
use pacman_rayon::AdaptivePool;
use rayon::prelude::*;

const USAGE: &str = "\
usage: adaptive [--rounds N] [--check]

Runs five different phases on pools whose size adapts to them, and prints the reasons.
  --rounds N  runs of each phase (default 400)
  --check     also runs each phase at every configuration; status 1 if the chosen one takes more
              than 1.05 times the best, or lost more than 1 % from the 120th execution on";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut rounds, mut check) = (400, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-h" | "--help" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            "--check" => check = true,
            "--rounds" => match words.next().and_then(|number| number.parse().ok()) {
                Some(number) if number > 0 => rounds = number,
                _ => return refuse("--rounds needs a number above 0"),
            },
            _ => return refuse(&format!("no option {word:?}; there are --rounds N and --check")),
        }
    }
    match run(rounds, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("adaptive: {error}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(problem: &str) -> ExitCode {
    eprintln!("adaptive: {problem}");
    ExitCode::from(2)
}

fn run(rounds: usize, check: bool) -> Result<bool> {
    // A simulated machine, if PACMAN_MACHINE names one.
    pacman_sim::install()?;
    let pool = AdaptivePool::new(Adapter::builder(Topology::detect()?))?;
    let memory = Mutex::new(vec![1f64; 1 << 22]);
    let scalable = || {
        let parts = (0..64u64).into_par_iter();
        black_box(parts.map(|part| collatz(1 + part * 2_000, 2_000)).sum::<u64>());
    };
    let stream = || {
        let mut memory = memory.lock().expect("no phase panics");
        memory.par_chunks_mut(1 << 14).for_each(triad);
    };
    let lock = |adds: u64| {
        let shared = Mutex::new(0u64);
        (0..adds).into_par_iter().for_each(|n| *shared.lock().expect("no panic") += n);
        black_box(shared);
    };
    let works: [(&str, &(dyn Fn() + Sync)); 5] = [
        ("serial", &|| {
            black_box(collatz(1, 60_000));
        }),
        ("scalable", &scalable),
        ("memory", &stream),
        ("lock", &|| lock(200_000)),
        ("mixed", &|| {
            black_box(collatz(1, 20_000));
            scalable();
            stream();
            lock(20_000);
        }),
    ];
    let phases: Result<Vec<_>> = works.iter().map(|(name, _)| pool.phase(name)).collect();
    let phases = phases?;
    let mut totals = vec![Totals::default(); works.len()];
    for first in (0..rounds).step_by(BLOCK) {
        let block = BLOCK.min(rounds - first);
        for ((phase, (_, work)), totals) in phases.iter().zip(&works).zip(&mut totals) {
            let everything = pool.adapter().candidates().default();
            // The first one finds the caches as the phase before left them: all take their turn at it.
            for turn in 0..if check { WAYS } else { 1 } {
                let way = (turn + first / BLOCK * usize::from(check)) % WAYS;
                for _ in 0..block {
                    let on = if way == ADAPTED { phase.next() } else { everything };
                    let begun = Instant::now();
                    match way {
                        ADAPTED => phase.run(work)?,
                        _ => pool.install_at(everything, work)?,
                    }
                    totals.seconds[way] += begun.elapsed().as_secs_f64();
                    if way == ADAPTED {
                        totals.ran.push(on);
                    }
                }
            }
        }
    }
    for phase in &phases {
        println!("{}", phase.why());
    }
    pool.trouble().iter().for_each(|line| println!("{line}"));
    if !check {
        return Ok(true);
    }
    println!();
    println!(
        "{:10} {:>8} {:>8} {:>14} {:>14} {:>14} {:>10}",
        "phase", "chosen", "best", "chosen / best", "most lost", "adapted / all", "all / all"
    );
    let mut passed = true;
    for ((phase, (name, work)), totals) in phases.iter().zip(&works).zip(&totals) {
        let chosen = phase.next();
        let medians = exhaustive(&pool, work)?;
        let best = medians.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("one at least");
        let price = |on| medians.iter().find(|one| one.0 == on).map_or(f64::NAN, |one| one.1);
        let lost = most_lost(&totals.ran, price, price(pool.adapter().candidates().default()));
        let ratio = price(chosen) / best.1;
        let [adapted, all, again] = totals.seconds;
        println!(
            "{name:10} {chosen:>8} {:>8} {ratio:>14.3} {:>12.2} % {:>14.3} {:>10.3}",
            best.0,
            lost * 100.0,
            2.0 * adapted / (all + again),
            all / again
        );
        passed &= ratio <= NEAR && (rounds < TURN || lost <= LOST);
    }
    println!(
        "{}: chosen / best at most {NEAR}; at most {} % lost from the {TURN}th execution on",
        if passed { "passed" } else { "failed" },
        LOST * 100.0
    );
    Ok(passed)
}

/// Executions of a phase in a row, in each way: in the other pool it is cold.
const BLOCK: usize = 10;

/// The most that the chosen configuration may take over the best.
const NEAR: f64 = 1.05;

/// The largest permitted loss after `TURN` executions, as a part of the time on all threads.
const LOST: f64 = 0.01;
const TURN: usize = 120;

/// The ways in which blocks run: adapted, on all threads, and on all threads once more.
const WAYS: usize = 3;
const ADAPTED: usize = 0;

/// The measurements of a phase.
#[derive(Clone, Default)]
struct Totals {
    /// By the way.
    seconds: [f64; WAYS],
    /// Where the adapted executions ran.
    ran: Vec<Configuration>,
}

/// The most that executions cost beyond `default` from the turn on, as a part of all on it.
fn most_lost(ran: &[Configuration], price: impl Fn(Configuration) -> f64, default: f64) -> f64 {
    let (mut lost, mut most) = (0.0, 0.0f64);
    for (number, on) in ran.iter().enumerate() {
        lost += price(*on) / default - 1.0;
        if number + 1 >= TURN {
            most = most.max(lost / (number + 1) as f64);
        }
    }
    most
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The median seconds of a phase at every configuration, one after the other.
fn exhaustive(pool: &AdaptivePool, work: &(dyn Fn() + Sync)) -> Result<Vec<(Configuration, f64)>> {
    const TURNS: usize = 31;
    let adapter = pool.adapter();
    let all = adapter.candidates();
    let mut times = vec![Vec::new(); all.all().len()];
    for _ in 0..TURNS {
        for (on, times) in all.all().iter().zip(&mut times) {
            let begun = Instant::now();
            pool.install_at(*on, work)?;
            times.push(begun.elapsed().as_secs_f64());
        }
    }
    Ok(all.all().iter().copied().zip(times.into_iter().map(median)).collect())
}

/// Arithmetic and branches that no predictor knows, in registers.
fn collatz(from: u64, count: u64) -> u64 {
    let steps = |mut n: u64| {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    };
    (from..from + count).map(steps).sum()
}

/// Reads and writes a part once.
fn triad(part: &mut [f64]) {
    part.iter_mut().for_each(|a| *a = 0.5 * *a + 3.0);
}
