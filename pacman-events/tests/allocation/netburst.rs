//! The NetBurst events as bare numbers, for tests and measurements that need no table.

use pacman_events::CounterSet;
use pacman_events::allocate::{Alternative, EventConstraints, Register};

/// One row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) select: u64,
    /// ESCR and counters of each half.
    pub(crate) halves: [Option<(u32, CounterSet)>; 2],
    /// Counts both logical processors, whatever the T bits say.
    pub(crate) independent: bool,
}

/// The table's rows by column; the 46 events that Linux knows come first.
pub(crate) fn rows() -> Vec<Vec<&'static str>> {
    let lines = include_str!("netburst_events.tsv").lines();
    let rows = lines.filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| row.split('\t').collect()).collect()
}

/// All 47 events, in the order of the rows.
pub(crate) fn events() -> Vec<Event> {
    rows().into_iter().map(event).collect()
}

/// An ESCR and the counters that go with it.
pub(crate) fn choice(escr: &str, counters: &str) -> Option<(u32, CounterSet)> {
    let number = u32::from_str_radix(escr.strip_prefix("0x")?, 16).unwrap();
    Some((number, counters.split(',').map(|n| n.parse::<u8>().unwrap()).collect()))
}

fn event(columns: Vec<&'static str>) -> Event {
    Event {
        name: columns[0],
        select: u64::from_str_radix(&columns[1][2..], 16).unwrap(),
        halves: [choice(columns[2], columns[3]), choice(columns[4], columns[5])],
        independent: columns[6] == "TI",
    }
}

impl Event {
    /// The event with an event mask, so that different masks are different settings.
    pub(crate) fn demand(&self, mask: u64) -> EventConstraints {
        let mut alternatives = Vec::new();
        for lp in 0..2u8 {
            for half in 0..2u8 {
                let Some((escr, counters)) = self.halves[usize::from(half)] else { continue };
                // Bits 3:2 are T0's, bits 1:0 T1's; user mode only.
                let bits = if lp == 0 { 4 } else { 1 };
                let value = self.select << 25 | mask << 9 | bits;
                alternatives.push(
                    Alternative::general(counters)
                        .claiming(Register::escr(escr, half), value)
                        .on(lp),
                );
            }
        }
        let demand = EventConstraints::new(self.name, alternatives);
        if self.independent { demand.counting_core() } else { demand }
    }
}
