//! The program that runs in the lab's guests; `lab/main.rs` judges what it prints. Jobs that are about
//! x86 processors alone are there on x86.

mod alone;
mod by_registers;
mod conflicts;
mod contention;
mod doorbell;
mod eight;
mod faults;
mod faulty_commands;
#[cfg(target_arch = "x86_64")]
mod flags;
mod foreign;
mod forked;
mod groups;
#[cfg(target_arch = "x86_64")]
mod hybrid;
#[cfg(target_arch = "x86_64")]
mod netburst;
mod presets;
mod registers;
mod rest;
mod siblings;
mod smt;
mod stat;
#[cfg(target_arch = "x86_64")]
mod topdown;
mod turns;
#[cfg(target_arch = "x86_64")]
mod whole;
mod wide;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["alone"] => alone::run(),
        ["any-thread"] => groups::any_thread(),
        ["by-registers"] => by_registers::run(),
        ["unplaced"] => by_registers::unplaced(),
        ["unprivileged"] => by_registers::unprivileged(),
        ["eight"] => eight::run(),
        ["conflicts"] => conflicts::run(),
        #[cfg(target_arch = "x86_64")]
        ["flags"] => flags::run(),
        ["ends-by-7"] => faulty_commands::ends_by_7(),
        ["faults"] => faults::run(),
        ["faulty-commands"] => faulty_commands::run(),
        ["faulty", events] => faults::faulty(events),
        ["foreign", how] => foreign::run(how),
        ["forked"] => forked::run(),
        #[cfg(target_arch = "x86_64")]
        ["hybrid"] => hybrid::run(),
        ["model"] => model(),
        #[cfg(target_arch = "x86_64")]
        ["netburst"] => netburst::run(),
        #[cfg(target_arch = "x86_64")]
        ["netburst-hold"] => netburst::hold(),
        ["refused-registers"] => by_registers::refused(),
        ["registers", events] => registers::run(events),
        ["siblings"] => siblings::run(),
        ["smt", seconds] => smt::run(seconds.parse().expect("a number of seconds")),
        #[cfg(target_arch = "x86_64")]
        ["topdown"] => topdown::run(),
        ["turns", how, by] => turns::run(how, by),
        #[cfg(target_arch = "x86_64")]
        ["whole"] => whole::run(),
        #[cfg(target_arch = "x86_64")]
        ["halves"] => whole::half_each(),
        ["stat-threads"] => stat::threads(),
        ["stat-bound"] => stat::bound(),
        ["wide"] => wide::run(),
        other => {
            eprintln!("lab-guest: no such job {other:?}; see lab/main.rs");
            std::process::exit(2);
        }
    };
    if let Err(error) = done {
        println!("error {:?}: {error}", error.kind());
        std::process::exit(1);
    }
}

/// Everything that is asked of each processor, in one boot.
fn model() -> pacman_core::Result<()> {
    presets::run()?;
    rest::run()?;
    groups::run()?;
    contention::run()
}
