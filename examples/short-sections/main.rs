//! The shortest times that can be told here, by each clock: docs/short-sections.md explains them.
//!
//!     cargo run --release -p short-sections
//!     cargo run --release -p short-sections -- --repetitions 100000
//!
//! It times nothing at all, and chains of multiplications of which each waits for the one before. A line that grows
//! with the chain has left the floor.

mod clocks;
mod section;

use std::hint::black_box;
use std::process::ExitCode;

#[cfg(target_arch = "x86_64")]
use clocks::Tsc;
use clocks::{ADDITIONS, Monotonic};
use pacman_core::clock::Clock;
#[cfg(target_arch = "x86_64")]
use pacman_core::clock::ClockSource;
use pacman_core::session::Reading;
use pacman_core::{Attached, Binding, Result, Session, Topology};
use pacman_metrics::quality::{self, Counts, KernelPart};
use section::{Instrument, Plan, Timed};

const USAGE: &str =
    "usage: short-sections [--repetitions N]   from 1 to 10000000, 20000 by default";

/// Nanoseconds of the warm-up: caches, branch predictors, the frequency and wide units need time to settle.
const WARM_UP: f64 = 1e8;

/// Nanoseconds of a batch: long against a question to the kernel, short against the milliseconds between interrupts
/// of the timer.
const BATCH: f64 = 1e5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let repetitions = match arguments.iter().map(String::as_str).collect::<Vec<&str>>()[..] {
        [] => Some(20_000),
        ["--repetitions", number] => number.parse().ok(),
        _ => None,
    };
    let Some(repetitions) = repetitions.filter(|number| (1..=10_000_000).contains(number)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match floors(repetitions) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("short-sections: {error}");
            ExitCode::FAILURE
        }
    }
}

fn floors(repetitions: usize) -> Result<()> {
    let here = Topology::detect()?;
    let place = here.allowed().first().map(|cpu| here.place(cpu)).transpose()?;
    let _bound = place.map(|place| Binding::bind(&here, &place)).transpose()?;
    println!("{}", here.machine_name());
    #[cfg(target_arch = "x86_64")]
    match (Clock::tsc(), Tsc::constant(Clock::detect().source() == ClockSource::Tsc)) {
        (Some(clock), Some(mut tsc)) => {
            floor("time stamp counter", &mut tsc, clock.nanos_per_tick(), repetitions)?;
        }
        _ => println!(
            "\nthe processor does not promise that its time stamp counter ticks at one rate"
        ),
    }
    let mut system = Monotonic(Clock::monotonic());
    floor("the system's clock, which orders nothing", &mut system, 1.0, repetitions)
}

fn floor(
    clock: &str,
    instrument: &mut impl Instrument,
    nanos_per_tick: f64,
    repetitions: usize,
) -> Result<()> {
    let ticks = |nanos: f64| (nanos / nanos_per_tick) as u64;
    let (warm_up, batch) = (ticks(WARM_UP), ticks(BATCH).max(1));
    let plan = Plan { nanos_per_tick, repetitions, warm_up, batch };
    let empty = section::time(instrument, &plan, || ())?;
    println!(
        "\n{clock}, a tick is {nanos_per_tick:.3} ns: reading costs {} ticks ({:.1} ns), which are \
         taken off; its steps are no longer than about {}",
        empty.overhead,
        empty.nanos(empty.overhead),
        empty.step.map_or("what is not known".to_owned(), |step| format!("{step} ticks")),
    );
    if let Some((least, most)) = empty.paces {
        let each = |ticks: u64| ticks as f64 / ADDITIONS as f64;
        println!("a dependent addition takes {:.4} to {:.4} ticks", each(least), each(most));
    }
    println!(
        "{:20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8}  left out",
        "ticks of", "minimum", "quartile", "median", "quartile", "maximum", "at floor"
    );
    line("nothing", &empty);
    let session = Session::builder("short-sections").events(EVENTS).start();
    let counters = session.and_then(|session| session.attach());
    let before = match &counters {
        Ok(thread) => Some(reading(thread, instrument)?),
        Err(_) => None,
    };
    for length in [1u32, 3, 10, 30, 100, 300, 1_000, 10_000] {
        let timed = section::time(instrument, &plan, || square(black_box(length)))?;
        line(&format!("{length} multiplications"), &timed);
    }
    match (counters, before) {
        (Ok(thread), Some(before)) => {
            let after = reading(&thread, instrument)?;
            let quality = quality::check(&before, &after, 1e9 / nanos_per_tick)?;
            let flags: Vec<&str> = quality.flags.iter().map(|flag| flag.text()).collect();
            let found = if flags.is_empty() { "no disturbance".into() } else { flags.join("; ") };
            println!("by counters, of all lines together: {found}");
        }
        (Err(error), _) => println!("not checked by counters: {error}"),
        (Ok(_), None) => {}
    }
    Ok(())
}

/// The events that the rules of quality know, in both modes and in the kernel.
const EVENTS: &str = "INSTRUCTIONS:uk,CYCLES:uk,REF_CYCLES:uk,INSTRUCTIONS:k,CYCLES:k";

/// The switches and faults of the thread so far, and its counters.
fn reading(thread: &Attached, instrument: &mut impl Instrument) -> Result<quality::Reading> {
    let mut now = Reading::EMPTY;
    thread.read(&mut now)?;
    let [instructions, cycles, reference, of_kernel, kernel_cycles, ..] = now.counts;
    let kernel = Some(KernelPart { instructions: of_kernel, cycles: kernel_cycles });
    let counts = Some(Counts { instructions, cycles, reference, kernel });
    Ok(quality::Reading { counts, ..instrument.kernel() })
}

/// Squares a number so often.
fn square(times: u32) -> u64 {
    (0..times).fold(black_box(3), |number, _| number.wrapping_mul(number))
}

fn line(what: &str, timed: &Timed) {
    let discarded = timed.discarded.iter().map(|(reason, runs)| format!("{runs}: {reason}"));
    let notes: Vec<String> =
        discarded.chain(timed.caveats().into_iter().map(str::to_owned)).collect();
    let figures = timed.figures.map(|ticks| format!("{ticks:>9}")).join(" ");
    println!("{what:20} {figures} {:>8}  {}", timed.at_floor, notes.join("; "));
}
