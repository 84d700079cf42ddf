//! The kernel's account of the first thread of a child.

use pacman_regions::Scheduling;

/// The account until now. A child that has ended keeps it until it is reaped. `None` if the kernel
/// keeps no such account.
pub fn of(child: u32) -> Option<Scheduling> {
    let text = std::fs::read_to_string(format!("/proc/{child}/schedstat")).ok()?;
    let mut nanoseconds = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    let (ran, delayed) = (nanoseconds.next()?, nanoseconds.next()?);
    let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
    (ran > 0).then(|| Scheduling { ran: seconds(ran), delayed: seconds(delayed) })
}
