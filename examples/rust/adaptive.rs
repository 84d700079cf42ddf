//! Four phases of different character on pools whose size follows them, and why.
//!
//!     cargo run --release -p pacman-rayon --example adaptive
//!     cargo run --release -p pacman-rayon --example adaptive -- --check
//!
//! `--rounds N` runs each phase N times (default 400: on two
//! cores a sample of one may cost a whole execution, which takes a hundred to be paid for). `--check` also runs each phase at every
//! configuration, in turns, and prints what the chosen one costs over the best.

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
        Ok(()) => ExitCode::SUCCESS,
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

fn run(rounds: usize, check: bool) -> Result<()> {
    let pool = AdaptivePool::new(Adapter::builder(Topology::detect()?))?;
    let memory = Mutex::new(vec![1f64; 1 << 22]);
    let works: [(&str, &(dyn Fn() + Sync)); 4] = [
        ("serial", &|| {
            black_box(collatz(1, 60_000));
        }),
        ("scalable", &|| {
            let parts = (0..64u64).into_par_iter();
            black_box(parts.map(|part| collatz(1 + part * 2_000, 2_000)).sum::<u64>());
        }),
        ("memory", &|| {
            let mut memory = memory.lock().expect("no phase panics");
            memory.par_chunks_mut(1 << 14).for_each(triad);
        }),
        ("lock", &|| {
            let shared = Mutex::new(0u64);
            (0..200_000u64).into_par_iter().for_each(|n| *shared.lock().expect("no panic") += n);
            black_box(shared);
        }),
    ];
    let phases: Result<Vec<_>> = works.iter().map(|(name, _)| pool.phase(name)).collect();
    let phases = phases?;
    for _ in 0..rounds {
        for (phase, (_, work)) in phases.iter().zip(&works) {
            phase.run(work)?;
        }
    }
    for phase in &phases {
        println!("{}", phase.why());
    }
    pool.trouble().iter().for_each(|line| println!("{line}"));
    if check {
        println!();
        println!("{:10} {:>8} {:>8} {:>14}", "phase", "chosen", "best", "chosen / best");
        for (phase, (name, work)) in phases.iter().zip(&works) {
            let chosen = phase.next();
            let medians = exhaustive(&pool, work)?;
            let best = medians.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("one at least");
            let its = medians.iter().find(|(on, _)| *on == chosen).map_or(f64::NAN, |one| one.1);
            println!("{name:10} {chosen:>8} {:>8} {:>14.3}", best.0, its / best.1);
        }
    }
    Ok(())
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
