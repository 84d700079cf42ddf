//! The decoded form of a region.

use super::sorted::Sorted;
use super::sums::{PrimarySum, RowSum};
use crate::arena::payload::Cursor;
use crate::arena::writer::slot;
use crate::{Adaptation, Region, Row, Site, Team};

/// The facts of a region that do not change.
pub(super) struct Known {
    runtime: u32,
    site: Site,
    entry: String,
}

impl Known {
    pub(super) fn of(record: &[u64]) -> Option<Known> {
        let mut cursor = Cursor(&record[2..]);
        let (runtime, address) = (cursor.small()?, cursor.number()?);
        let (module, source) = (cursor.path()?, cursor.optional()?);
        Some(Known { runtime, site: Site { module, address, source }, entry: cursor.text()? })
    }
}

pub(super) fn region(
    sorted: &Sorted<'_>,
    number: u32,
    sum: &PrimarySum,
    known: Option<Known>,
    adaptation: Option<Adaptation>,
    scale: f64,
) -> Region {
    let seconds = |ticks: u64| ticks as f64 * scale;
    let team = |&(threads, executions, ticks): &(u32, u64, u64)| Team {
        threads,
        executions,
        seconds: seconds(ticks),
    };
    let mut teams: Vec<Team> = sum.teams.iter().map(team).collect();
    teams.sort_by_key(|team| team.threads);
    let widest = teams.last().map_or(1, |team| team.threads);
    let rows = sorted.rows.range((number, 0)..=(number, u32::MAX));
    let rows = rows.filter(|(_, sum)| sum.executions > 0);
    let nowhere = || Known {
        runtime: 0,
        site: Site { module: Default::default(), address: 0, source: None },
        entry: "?".into(),
    };
    let known = known.unwrap_or_else(nowhere);
    Region {
        runtime: sorted.runtimes.range(..known.runtime).count(),
        site: known.site,
        entry: known.entry,
        executions: sum.executions,
        nested: sum.nested,
        seconds: seconds(sum.ticks),
        shortest: seconds(sum.shortest),
        longest: seconds(sum.longest),
        teams,
        rows: rows.map(|(&(_, thread), sum)| row(sorted, thread, sum, scale)).collect(),
        adaptation: adaptation.map(|adaptation| adaptation.of_teams(widest)),
        energy: sorted.region_energy(number, scale),
    }
}

fn row(sorted: &Sorted<'_>, thread: u32, sum: &RowSum, scale: f64) -> Row {
    let mut counts = vec![None; sorted.events.len()];
    if sum.counted > 0 {
        let counted = sorted.counted.iter().zip(&sum.counts);
        counted.for_each(|(&event, &count)| counts[event] = Some(count));
    }
    Row {
        thread,
        executions: sum.executions,
        seconds: sum.ticks as f64 * scale,
        cpu: sum.cpu,
        moves: sum.moves,
        // The process may have ended between the two stores.
        counted: sum.counted.min(sum.executions),
        counts,
        states: None,
    }
}

pub(super) fn adaptation_of(record: &[u64]) -> Option<Adaptation> {
    let half = usize::try_from(record[slot::HALF]).ok()?;
    let state = record[slot::STATE];
    let bytes = usize::try_from((state >> 1).checked_sub(1)?).ok()?;
    let start = slot::PLACES.checked_add(half.checked_mul((state & 1) as usize)?)?;
    let words = record.get(start..start.checked_add(bytes.div_ceil(8))?)?;
    let mut text: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    text.truncate(bytes);
    serde_json::from_slice(&text).ok()
}

impl Adaptation {
    /// Fills in the widest team where adaptation chose no size.
    fn of_teams(mut self, widest: u32) -> Adaptation {
        if self.threads == 0 {
            (self.threads, self.configuration) = (widest, widest.to_string());
            if self.state.is_empty() {
                self.state = "as it is".into();
            }
            if self.why.is_empty() {
                self.why = match widest {
                    0 | 1 => "never ran on more than one thread".into(),
                    _ => "ran too few times: the first execution shows what a region does".into(),
                };
            }
        }
        self
    }
}
