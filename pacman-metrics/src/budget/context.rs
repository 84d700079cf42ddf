//! The stall and issue budget of one context.

use super::costs::{Cost, CostTable};
use super::issue::{Issue, refused};
use super::remedy::{Remedy, RemedyKind};
use crate::language::named;
use pacman_events::Result;

/// One event and its cost in a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// The event, in the table's spelling.
    pub event: &'static str,
    /// The event's meaning.
    pub meaning: &'static str,
    /// The cost of one occurrence, in cycles.
    pub cost: u32,
    /// The number of occurrences.
    pub count: u64,
    /// The cost of all occurrences, in cycles.
    pub cycles: u64,
    /// The cost of all occurrences, in seconds.
    pub seconds: f64,
    /// The cost of all occurrences as a part of the run time. An estimate may exceed 1.
    pub share: f64,
}

/// The cycles of a context by cause, and the speed-up that its core still allows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// The rule by which contexts share the core's issue slots.
    pub issue: Issue,
    /// Cycles of the run.
    pub cycles: u64,
    /// Seconds of the run.
    pub seconds: f64,
    /// One entry per counted event, in the table's order, instructions included.
    pub lines: Vec<Line>,
    /// Events of the table that were not counted; their stalls are missing in the budget.
    pub uncounted: Vec<&'static str>,
    /// Instructions per cycle.
    pub instructions: f64,
    /// The part of its instruction budget that the context used; 1 is its fair share.
    pub used: f64,
    /// The largest speed-up that the instruction budget allows; at least 1.
    pub headroom: f64,
    /// The part of its stall budget that the context used. Above 1, stalls slow the context down.
    pub stalls_used: f64,
    /// Cycles that no line explains: waits for issue slots, uncounted events and errors of the
    /// costs. It is below 0 if the costs are too high.
    pub unexplained: i64,
    /// The remedies, the most effective first.
    pub remedies: Vec<Remedy>,
}

impl Budget {
    /// Computes the budget from counts of the events of `table`.
    ///
    /// `counts` must have the instructions and may have any other event, with names in any case.
    /// `cycles` is the run time in cycles of a clock of `clock_hz` hertz.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) if
    ///
    /// - instructions or cycles are missing or 0, or the clock is not a positive number,
    /// - there are more instructions than issue slots,
    /// - the table lacks an event, or an event is given twice,
    /// - the cost of an event exceeds 64 bits, or the table's issue rule is invalid.
    ///
    /// ```
    /// use pacman_metrics::budget::{Budget, CostTable};
    /// use pacman_events::CpuModel;
    ///
    /// let table = CostTable::of(CpuModel::named("niagara1").unwrap())?;
    /// let counts = [("DC_miss", 16_829_760), ("Instr_cnt", 87_048_958)];
    /// let budget = Budget::of(table, &counts, 636_000_000, 1.2e9)?;
    /// assert_eq!((100.0 * budget.lines[0].share).round(), 53.0);
    /// assert_eq!((100.0 * budget.instructions).round(), 14.0);
    /// # Ok::<(), pacman_metrics::Error>(())
    /// ```
    pub fn of(
        table: &CostTable,
        counts: &[(&str, u64)],
        cycles: u64,
        clock_hz: f64,
    ) -> Result<Budget> {
        table.issue.check()?;
        if cycles == 0 {
            return Err(refused("the run has no cycles"));
        }
        if !(clock_hz.is_finite() && clock_hz > 0.0) {
            return Err(refused("the clock does not tick"));
        }
        let mut given: Vec<Option<u64>> = vec![None; table.costs.len()];
        for (event, count) in counts {
            let Some(at) = table.position(event) else {
                return Err(refused(format_args!("{} has no cost of {event:?}", table.title)));
            };
            if given[at].replace(*count).is_some() {
                return Err(refused(format_args!("{event:?} is given twice")));
            }
        }
        let mut lines = Vec::with_capacity(counts.len());
        let mut uncounted = Vec::new();
        for (cost, count) in table.costs.iter().zip(given) {
            match count {
                Some(count) => lines.push(cost.line(count, cycles, clock_hz)?),
                None => uncounted.push(cost.event),
            }
        }
        let Some(instructions) = lines.iter().find(|line| line.event == table.instructions) else {
            return Err(refused(format_args!("{} was not counted", table.instructions)));
        };
        if instructions.count == 0 {
            return Err(refused("the run executed no instruction"));
        }
        let ipc = named("ipc").expect("it is built in");
        let per_cycle = ipc.value(|event| match event {
            "INSTRUCTIONS" => Some(instructions.count),
            "CYCLES" => Some(cycles),
            _ => None,
        })?;
        if per_cycle > table.issue.alone {
            return Err(refused(format_args!(
                "{} instructions do not fit {cycles} cycles of one context",
                instructions.count
            )));
        }
        Ok(Budget::from_lines(table, lines, uncounted, per_cycle, cycles, clock_hz))
    }

    fn from_lines(
        table: &CostTable,
        lines: Vec<Line>,
        uncounted: Vec<&'static str>,
        instructions: f64,
        cycles: u64,
        clock_hz: f64,
    ) -> Budget {
        let issue = table.issue;
        let total: i128 = lines.iter().map(|line| i128::from(line.cycles)).sum();
        let stalls = lines.iter().filter(|line| line.event != table.instructions);
        let stalled: f64 = stalls.map(|line| line.cycles as f64).sum();
        let unexplained = i128::from(cycles) - total;
        let mut budget = Budget {
            issue,
            cycles,
            seconds: cycles as f64 / clock_hz,
            lines,
            uncounted,
            instructions,
            used: instructions / issue.fair(),
            headroom: (issue.fair() / instructions).max(1.0),
            stalls_used: part(stalled / cycles as f64, issue.stall_budget()),
            unexplained: unexplained.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            remedies: Vec::new(),
        };
        budget.remedies = ranked(&budget, stalled, table.instructions);
        budget
    }
}

impl Cost {
    fn line(&self, count: u64, run: u64, clock_hz: f64) -> Result<Line> {
        let Some(cycles) = count.checked_mul(u64::from(self.cycles)) else {
            return Err(refused(format_args!("{count} of {} is more than a run has", self.event)));
        };
        Ok(Line {
            event: self.event,
            meaning: self.meaning,
            cost: self.cycles,
            count,
            cycles,
            seconds: cycles as f64 / clock_hz,
            share: cycles as f64 / run as f64,
        })
    }
}

/// The used part of a budget. For a budget of 0 it is 0 if nothing is used, otherwise infinite.
fn part(used: f64, budget: f64) -> f64 {
    if used == 0.0 { 0.0 } else { used / budget }
}

/// All three remedies in Gove's order, each with its largest gain.
fn ranked(budget: &Budget, stalled: f64, instructions: &str) -> Vec<Remedy> {
    let issue = budget.issue;
    let threads = (issue.width / budget.instructions).clamp(1.0, f64::from(issue.contexts));
    let cycles = budget.cycles as f64;
    // Without its stalls the context still needs its other cycles. It gets no more than its fair
    // share of slots while the siblings use theirs.
    let unstalled = cycles / (cycles - stalled).max(1.0);
    let stalls = unstalled.min(budget.headroom);
    let worst = budget
        .lines
        .iter()
        .filter(|line| line.event != instructions && line.cycles > 0)
        .max_by_key(|line| line.cycles);
    vec![
        Remedy {
            kind: RemedyKind::MoreThreads,
            gain: Some(threads),
            why: format!(
                "each thread more has a budget of its own, {} instructions per cycle, until the \
                 core's {} contexts are in use",
                issue.fair(),
                issue.contexts
            ),
        },
        Remedy {
            kind: RemedyKind::FewerInstructions,
            gain: None,
            why: "time goes down with the instructions, and with the stalls they bring".into(),
        },
        Remedy { kind: RemedyKind::FewerStalls, gain: Some(stalls), why: of_stalls(budget, worst) },
    ]
}

fn of_stalls(budget: &Budget, worst: Option<&Line>) -> String {
    match worst {
        None => "no stall was counted".into(),
        Some(_) if budget.headroom <= 1.0 => {
            "the context has its fair share of slots: its stalls are its siblings' turns".into()
        }
        Some(line) => format!(
            "most go to {}, {:.0} % of the time; beyond the fair share of slots they gain nothing",
            line.meaning,
            100.0 * line.share
        ),
    }
}
