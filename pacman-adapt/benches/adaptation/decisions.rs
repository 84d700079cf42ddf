//! The cost of decisions: of a held phase, and over a search.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pacman_adapt::phases::{Kind, Noise, Random, SmtMachine};
use pacman_adapt::{Adapter, Candidates, Controller, Result, Rules, State};
use pacman_topology::Topology;

/// From two contexts to 128.
const MACHINES: [(u32, u32); 7] = [(2, 1), (4, 1), (2, 2), (8, 2), (16, 2), (16, 4), (16, 8)];
/// The phases that are searched on each machine.
const SEARCHES: u64 = 50;
/// Each search is repeated, and each decision takes its least time, so that interrupts do not count.
const REPEATS: usize = 7;
/// The executions of a search, and of a run.
const SEARCH: usize = 100;
const RUN: usize = 1_000;
const ROUNDS: usize = 9;

/// Begin and end of a phase that is held.
pub(super) fn held() -> Result<()> {
    let adapter = Adapter::builder(Topology::synthetic("16 cores, 8 threads")?)
        .break_even(Duration::ZERO)
        .build()?;
    let phase = adapter.phase("held")?;
    let time = |threads: usize| Duration::from_nanos(1_000_000 / threads.min(16) as u64);
    while phase.state() != State::Holding {
        let choice = phase.begin();
        let took = time(choice.threads()) + Duration::from_nanos(choice.threads() as u64 * 2_000);
        phase.end(choice, took)?;
    }
    let rounds = nanoseconds(|| {
        let choice = black_box(&phase).begin();
        let took = time(choice.threads()) + Duration::from_nanos(choice.threads() as u64 * 2_000);
        phase.end(choice, took).expect("a valid time");
    });
    println!(
        "a decision, begin and end: {:.0} ns (median of {ROUNDS}, {:.0} to {:.0}; bar 200 ns)",
        rounds[ROUNDS / 2],
        rounds[0],
        rounds[ROUNDS - 1]
    );
    println!("{}", phase.why());
    Ok(())
}

/// The controller without its shell, which is what a runtime that has its own pays.
pub(super) fn bare() -> Result<()> {
    let topology = Topology::synthetic("16 cores, 8 threads")?;
    let mut controller = Controller::new(Candidates::of(&topology, None)?, Rules::default());
    let seconds = |threads: u32| 1e-3 / f64::from(threads.min(16)) + 2e-6 * f64::from(threads);
    while controller.state() != State::Holding {
        let on = controller.next();
        controller.finished(on, seconds(on.threads()), seconds(on.threads()))?;
    }
    let on = controller.next();
    let held = seconds(on.threads());
    let rounds = nanoseconds(|| {
        let on = black_box(&controller).next();
        // The checks of the default in between are part of it.
        let took = if on.threads() < 128 { held } else { seconds(128) };
        controller.finished(on, took, took).expect("a valid time");
    });
    let chain = nanoseconds(|| {
        let end = (0..100u64).fold(black_box(3), |x, n| black_box(x ^ n).wrapping_mul(0x9e37_79b9));
        black_box(end);
    });
    println!(
        "next and finished of {on}, held: {:.1} ns (median of {ROUNDS}, {:.1} to {:.1}; bar 50 ns), \
         {:.3} of a chain of 100 multiplications ({:.1} ns)",
        rounds[ROUNDS / 2],
        rounds[0],
        rounds[ROUNDS - 1],
        rounds[ROUNDS / 2] / chain[ROUNDS / 2],
        chain[ROUNDS / 2],
    );
    Ok(())
}

/// The nanoseconds of a call in each round, in ascending order.
fn nanoseconds(mut act: impl FnMut()) -> Vec<f64> {
    const CALLS: u32 = 500_000;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            (0..CALLS).for_each(|_| act());
            begun.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
        })
        .collect();
    rounds.sort_unstable_by(f64::total_cmp);
    rounds
}

/// The decisions of the first executions of a phase, which are most of a search, and of a longer run.
pub(super) fn searches() -> Result<()> {
    println!(
        "\ndecisions of {SEARCHES} phases a machine, noise 0.01, in ns\n\
         machine  candidates  mean of {SEARCH}  of {RUN}  greatest: mean of the phases, most"
    );
    let clock = clock();
    for (cores, contexts) in MACHINES {
        let machine = SmtMachine::new(cores, contexts);
        let candidates = Candidates::of(&Topology::synthetic(&machine.as_text())?, None)?;
        let mut random = Random::new(1);
        let (mut search, mut run, mut greatest) = (0.0, 0.0, Vec::new());
        for seed in 0..SEARCHES {
            let law = Kind::Any.draw(&mut random, machine);
            let mut least = vec![f64::INFINITY; RUN];
            for _ in 0..REPEATS {
                let mut noise = Noise::new(seed, 0.01);
                let mut controller = Controller::new(candidates.clone(), Rules::default());
                for time in &mut least {
                    let on = controller.next();
                    let took = law.seconds(on) * noise.factor();
                    let begun = Instant::now();
                    controller.finished(black_box(on), took, took)?;
                    black_box(controller.next());
                    *time = time.min(begun.elapsed().as_secs_f64());
                }
            }
            least.iter_mut().for_each(|time| *time = (*time - clock).max(0.0) * 1e9);
            search += least[..SEARCH].iter().sum::<f64>();
            run += least.iter().sum::<f64>();
            greatest.push(least.into_iter().fold(0.0, f64::max));
        }
        let phases = SEARCHES as f64;
        println!(
            "{cores:>4}x{contexts:<2} {:>11} {:>12.0} {:>8.0} {:>28.0} {:>6.0}",
            candidates.all().len(),
            search / phases / SEARCH as f64,
            run / phases / RUN as f64,
            greatest.iter().sum::<f64>() / phases,
            greatest.iter().copied().fold(0.0, f64::max),
        );
    }
    Ok(())
}

/// The least time between two readings of the clock, in seconds.
fn clock() -> f64 {
    let once = || Instant::now().elapsed().as_secs_f64();
    (0..10_000).map(|_| once()).fold(f64::INFINITY, f64::min)
}
