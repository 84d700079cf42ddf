//! One thread of a region: its place and its counts.

use pacman_regions::Row;

use super::columns::{Columns, Figures};
use super::counts_by_state::CountsByState;
use super::seats::{Seat, Seats};

/// One thread of the team.
#[derive(Debug)]
pub(in crate::run) struct Thread {
    pub(in crate::run) row: Row,
    /// Package, core and sibling of its context, if it was never elsewhere.
    pub(in crate::run) seat: Option<Seat>,
    /// Threads of the team that were on the other contexts of its core all the time.
    pub(in crate::run) beside: Vec<u32>,
    pub(in crate::run) figures: Figures,
    /// If waits were timed and counted.
    pub(in crate::run) by_state: Option<CountsByState>,
    /// Why its counts were left out, if they were.
    pub(in crate::run) implausible: Option<String>,
}

impl Thread {
    /// The threads of a region by number.
    pub(super) fn all(rows: &[Row], columns: &Columns, seats: &Seats) -> Vec<Thread> {
        let seat = |row: &Row| seats.get(row.cpu.filter(|_| row.moves == 0)?);
        let seats: Vec<(u32, Option<Seat>)> =
            rows.iter().map(|row| (row.thread, seat(row))).collect();
        let mut threads: Vec<Thread> = rows
            .iter()
            .zip(&seats)
            .map(|(row, (_, seat))| Thread {
                seat: *seat,
                beside: seats
                    .iter()
                    .filter(|(thread, other)| {
                        *thread != row.thread && seat.zip(*other).is_some_and(Seat::are_siblings)
                    })
                    .map(|(thread, _)| *thread)
                    .collect(),
                figures: columns.figures(&[row]),
                by_state: CountsByState::of(&[row], columns),
                row: row.clone(),
                implausible: None,
            })
            .collect();
        threads.sort_by_key(|thread| thread.row.thread);
        threads
    }
}
