//! The decoded form of a region.

use super::sets::estimate;
use super::sorted::Sorted;
use super::sums::{PrimarySum, RowSum};
use crate::arena::payload::Cursor;
use crate::arena::writer::slot;
use crate::{Adaptation, OpenPart, Region, Row, Site, Team};

/// The facts of a region that do not change.
pub(super) struct Known {
    runtime: u32,
    site: Site,
    entry: String,
    /// The number of the phase whose label it has.
    pub(super) labelled_by: Option<u32>,
    pub(super) label: Option<String>,
}

impl Known {
    pub(super) fn of(record: &[u64]) -> Option<Known> {
        let mut cursor = Cursor(&record[2..]);
        let (runtime, address) = (cursor.small()?, cursor.number()?);
        let ((module, identity), source) = (cursor.module()?, cursor.optional()?);
        let site = Site { module, identity, address, source };
        let entry = cursor.text()?;
        let labelled_by = cursor.small()?.checked_sub(1);
        Some(Known { runtime, site, entry, labelled_by, label: None })
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
    // Timed executions stand for all executions. If all were timed, the factors are 1.
    let (factor, exact) = (sum.factor(), scale);
    let scale = scale * sum.time_factor();
    let times = |number: u64| times(number, factor);
    let seconds = |ticks: u64| ticks as f64 * exact;
    let team = |&(threads, executions, ticks): &(u32, u64, u64)| Team {
        threads,
        executions: times(executions),
        seconds: ticks as f64 * scale,
    };
    let (shortest, longest) = sum.extremes();
    let mut teams: Vec<Team> = sum.teams.iter().map(team).collect();
    teams.sort_by_key(|team| team.threads);
    let rounded = teams.iter().fold(0u64, |sum, team| sum.saturating_add(team.executions));
    if let Some(most) = teams.iter_mut().max_by_key(|team| team.executions) {
        most.executions = most.executions.saturating_add(sum.all()).saturating_sub(rounded);
    }
    let widest = teams.last().map_or(1, |team| team.threads);
    let rows = sorted.rows.range((number, 0)..=(number, u32::MAX));
    let rows = rows.filter(|(_, sum)| sum.executions > 0);
    let most = sum.most_of_a_row();
    let nowhere = || Known {
        runtime: 0,
        site: Site::default(),
        entry: "?".into(),
        labelled_by: None,
        label: None,
    };
    let known = known.unwrap_or_else(nowhere);
    Region {
        runtime: sorted.runtimes.range(..known.runtime).count(),
        site: known.site,
        label: known.label,
        entry: known.entry,
        executions: sum.all(),
        sampling: sum.sampling(exact),
        nested: sum.nested.min(sum.all()),
        within: sum.within.min(sum.all()),
        starters: u32::try_from(sum.starters).unwrap_or(u32::MAX),
        seconds: seconds(sum.ticks()),
        outer: seconds(sum.outer_ticks()),
        shortest: seconds(shortest),
        longest: seconds(longest),
        teams,
        rows: rows
            .map(|(&(_, thread), own)| {
                let mut row = row(sorted, thread, own, scale);
                estimate(&mut row, sorted, number);
                // Where no execution has ended, members may have ended their parts of the first.
                let executions =
                    if sum.all() > 0 { times(row.executions).min(most) } else { row.executions };
                Row { executions, ..row }
            })
            .collect(),
        adaptation: adaptation.map(|adaptation| adaptation.of_teams(widest)),
        energy: sorted.region_energy(number, exact),
        open: open_parts(sorted, number, exact),
    }
}

/// The parts of a region that are open; [`waits`](super::waits::waits) adds their waits.
fn open_parts(sorted: &Sorted<'_>, number: u32, scale: f64) -> Vec<OpenPart> {
    let rows = sorted.rows.range((number, 0)..=(number, u32::MAX));
    let parts =
        rows.flat_map(|(&(_, thread), row)| row.open.iter().map(move |since| (thread, since)));
    let part = |(thread, since): (u32, &u64)| {
        let since = *since as f64 * scale;
        OpenPart { thread, since, waits: Vec::new() }
    };
    parts.map(part).collect()
}

/// Scales a number of timed executions to all executions. With a factor of 1, large numbers keep all
/// digits.
pub(super) fn times(number: u64, factor: f64) -> u64 {
    if factor == 1.0 { number } else { (number as f64 * factor).round() as u64 }
}

pub(super) fn row(sorted: &Sorted<'_>, thread: u32, sum: &RowSum, scale: f64) -> Row {
    let mut counts = vec![None; sorted.events.len()];
    if let (1.., Some(set)) = (sum.counted, sorted.only_set()) {
        let counted = set.iter().zip(&sum.counts);
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
        margins: Vec::new(),
        counted_by_event: Vec::new(),
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
    // From text: the preloaded library reads all other JSON from text, so it needs no second reader.
    serde_json::from_str(std::str::from_utf8(&text).ok()?).ok()
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
                    _ => "its team has one configuration only".into(),
                };
            }
        }
        self
    }
}
