//! Counts a phase in two threads, and prints the table.
use pacman_counters::Counters;

fn main() -> pacman_counters::Result<()> {
    let pmu = Counters::default_events()?;
    let sweep =
        || pmu.count("sweep", || (0..5_000_000u64).fold(0, |sum, n| sum ^ n.wrapping_mul(n)));
    let sums = std::thread::scope(|all| [all.spawn(sweep), all.spawn(sweep)].map(|one| one.join()));
    println!("{pmu}\n{sums:?}, {:?}", pmu.report().get("sweep", "task-clock")?.sum());
    Ok(())
}
