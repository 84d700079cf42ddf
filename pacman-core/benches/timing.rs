//! The shortest times that can be told here, by each clock.
//!
//! `cargo bench -p pacman-core --bench timing` times nothing at all, and chains of
//! multiplications of which each waits for the one before: a line that grows with the
//! chain has left the floor.

use std::hint::black_box;

use pacman_core::clock::ClockSource;
use pacman_core::timing::{Timed, Timer};
use pacman_core::{Binding, Result, Topology};

fn main() -> Result<()> {
    let here = Topology::detect()?;
    let binding = here.allowed().first().map(|cpu| here.place(cpu)).transpose()?;
    let _bound = binding.map(|place| Binding::bind(&here, &place)).transpose()?;
    println!("{}", here.machine_name());
    for source in [ClockSource::Tsc, ClockSource::Monotonic] {
        match Timer::with_source(source) {
            Ok(timer) => floor(&timer.repetitions(20_000))?,
            Err(error) => println!("\n{error}"),
        }
    }
    Ok(())
}

fn floor(timer: &Timer) -> Result<()> {
    let empty = timer.time(|| ())?;
    println!(
        "\n{:?}, a tick is {:.3} ns: reading costs {} ticks ({:.1} ns), which are taken off; \
         its steps are no longer than about {}",
        timer.source(),
        empty.nanos_per_tick,
        empty.overhead,
        empty.nanos(empty.overhead),
        empty.step.map_or("what is not known".to_owned(), |step| format!("{step} ticks")),
    );
    println!(
        "{:20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8}  left out",
        "ticks of", "minimum", "quartile", "median", "quartile", "maximum", "at floor"
    );
    line("nothing", &empty);
    for length in [1u32, 3, 10, 30, 100, 300, 1_000, 10_000] {
        line(&format!("{length} multiplications"), &timer.time(|| square(black_box(length)))?);
    }
    Ok(())
}

/// Squares a number so often.
fn square(times: u32) -> u64 {
    (0..times).fold(black_box(3), |number, _| number.wrapping_mul(number))
}

fn line(what: &str, timed: &Timed) {
    let notes: Vec<String> = timed
        .discarded
        .iter()
        .map(|discarded| discarded.to_string())
        .chain(timed.caveats().into_iter().map(|caveat| caveat.text().to_owned()))
        .collect();
    println!(
        "{what:20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8}  {}",
        timed.minimum,
        timed.lower_quartile,
        timed.median,
        timed.upper_quartile,
        timed.maximum,
        timed.at_floor,
        notes.join("; "),
    );
    if let Some(pace) = timed.pace.filter(|_| what == "nothing") {
        println!(
            "{:20} {:.4} to {:.4} ticks per dependent addition of registers",
            "the core's pace", pace.fastest, pace.slowest
        );
    }
}
