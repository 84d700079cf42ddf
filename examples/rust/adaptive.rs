//! Five phases of different character on pools whose size follows them, and why.
//!
//!     cargo run --release -p pacman-rayon --example adaptive
//!     cargo run --release -p pacman-rayon --example adaptive -- --check
//!
//! `--rounds N` runs each phase N times (default 400: on two cores a sample of one may cost a whole
//! execution, which takes a hundred to be paid for). `--check` runs each phase on all threads
//! besides, and at the end at every configuration, in turns; it prints what the chosen one takes
//! over the best and what all executions took over all threads, and fails (status 1) if the one is
//! more than 1.05 or the other, from the 50th execution on, more than 1.01.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use pacman_core::adapt::Adapter;
use pacman_core::predict::Configuration;
use pacman_core::{Result, Topology};
use pacman_rayon::AdaptivePool;
use rayon::prelude::*;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut rounds, mut check) = (400, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
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
            let begun = Instant::now();
            for _ in 0..block {
                phase.run(work)?;
            }
            let adapted = begun.elapsed().as_secs_f64();
            if check {
                let begun = Instant::now();
                for _ in 0..block {
                    pool.install_at(pool.adapter().candidates().default(), work)?;
                }
                totals.add(block, adapted, begun.elapsed().as_secs_f64());
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
        "{:10} {:>8} {:>8} {:>14} {:>22} {:>14}",
        "phase", "chosen", "best", "chosen / best", "most / all threads", "all again"
    );
    let mut passed = true;
    for ((phase, (name, work)), totals) in phases.iter().zip(&works).zip(&totals) {
        let chosen = phase.next();
        let medians = exhaustive(&pool, work)?;
        let best = medians.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("one at least");
        let its = medians.iter().find(|(on, _)| *on == chosen).map_or(f64::NAN, |one| one.1);
        let (ratio, most, noise) = (its / best.1, totals.most, totals.noise());
        println!("{name:10} {chosen:>8} {:>8} {ratio:>14.3} {most:>22.3} {noise:>14.3}", best.0);
        passed &= ratio <= NEAR && (rounds < TURN || most <= SLOWER * noise);
    }
    println!(
        "{}: chosen / best at most {NEAR}; from the {TURN}th execution on at most {SLOWER} times what \
         all threads take, times what these differ by among themselves",
        if passed { "passed" } else { "failed" }
    );
    Ok(passed)
}

/// Executions of a phase in a row, adapted and on all threads in turns: in the other pool it is cold.
const BLOCK: usize = 10;

/// What the chosen configuration may take over the best.
const NEAR: f64 = 1.05;

/// What all executions may take over those on all threads, after so many.
const SLOWER: f64 = 1.01;
const TURN: usize = 50;

/// Seconds of a phase so far.
#[derive(Clone, Copy, Default)]
struct Totals {
    executions: usize,
    adapted: f64,
    /// On all threads, in blocks of even and of odd number.
    all: [f64; 2],
    /// The greatest ratio of the two after the turn.
    most: f64,
}

impl Totals {
    fn add(&mut self, block: usize, adapted: f64, all: f64) {
        self.all[self.executions / BLOCK % 2] += all;
        self.executions += block;
        self.adapted += adapted;
        if self.executions >= TURN {
            self.most = self.most.max(self.adapted / (self.all[0] + self.all[1]));
        }
    }

    /// How much the same differs from the same: what other programs do to a ratio.
    fn noise(&self) -> f64 {
        let [even, odd] = self.all;
        if odd > 0.0 { (even / odd).max(odd / even) } else { 1.0 }
    }
}

/// The median seconds of a phase at every configuration, which take turns.
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
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[TURNS / 2]
    };
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
