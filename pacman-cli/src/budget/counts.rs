//! Counts as lines of `event,count`.

use pacman_core::metrics::budget::CostTable;

/// What a file of counts says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts<'a> {
    /// Events and counts, in the file's order.
    pub(super) events: Vec<(&'a str, u64)>,
    /// The count named `cycles`.
    pub(super) cycles: Option<u64>,
}

impl<'a> Counts<'a> {
    /// Reads all lines; an error names the line.
    pub(super) fn parse(text: &'a str, table: &CostTable) -> Result<Counts<'a>, String> {
        let mut counts = Counts::default();
        let mut first = true;
        // Spreadsheets put a byte order mark in front.
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: String| format!("line {}: {why}", index + 1);
            let heading = std::mem::take(&mut first);
            let Some((event, count)) = line.split_once(',') else {
                return Err(at(format!("{line:?} is not event,count")));
            };
            let (event, count) = (unquoted(event), unquoted(count));
            if heading && event.eq_ignore_ascii_case("event") && count.eq_ignore_ascii_case("count")
            {
                continue;
            }
            let count: u64 = count
                .parse()
                .map_err(|_| at(format!("{count:?} is no count from 0 to {}", u64::MAX)))?;
            let twice = if event.eq_ignore_ascii_case(CYCLES) {
                counts.cycles.replace(count).is_some()
            } else if table.cost(event).is_none() {
                let known: Vec<&str> = table.costs.iter().map(|cost| cost.event).collect();
                let title = table.title;
                return Err(at(format!(
                    "{event:?} is no event with a cost on {title}, which has {} and {CYCLES}",
                    known.join(", ")
                )));
            } else {
                let same = |known: &(&str, u64)| known.0.eq_ignore_ascii_case(event);
                let twice = counts.events.iter().any(same);
                counts.events.push((event, count));
                twice
            };
            if twice {
                return Err(at(format!("{event:?} was counted above already")));
            }
        }
        Ok(counts)
    }
}

fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field)
}

/// The name of the count that is none of the table's.
const CYCLES: &str = "cycles";
