//! What fine-grained SMT leaves of a stall: the issue and stall budget of one context.
//!
//! Where contexts share a pipeline, a context's stall costs nothing as long as its siblings issue
//! meanwhile. Each has a budget of instructions, its fair share of the issue slots, and a budget
//! of stall cycles, the slots that are its siblings' anyway: on UltraSPARC T1 and T2 one
//! instruction and three stalled cycles in every four. Removing stalls gains no more than what
//! the instruction budget leaves open.
//!
//! From Darryl Gove, *Calculating Processor Utilisation From the UltraSPARC T1 and UltraSPARC T2
//! Performance Counters*, 2007: the costs are his tables 1 and 3, the order of the remedies that
//! of his last section. [`Issue`] carries the idea to any model.

mod costs;
mod remedy;

pub use self::costs::{Cost, CostTable};
pub use self::remedy::{Remedy, RemedyKind};

use super::{Definition, not_computable};
use crate::error::{Error, Result};

/// What these metrics are made of.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "stall-time",
        unit: "seconds",
        formula: "count * cost / clock",
        needs: &["the events of the model's cost table", "the clock"],
        source: "Gove 2007, tables 1 to 4",
    },
    Definition {
        name: "issue-budget-used",
        unit: "1",
        formula: "(Instr_cnt / cycles) / (issue width / contexts)",
        needs: &["Instr_cnt", "cycles"],
        source: "Gove 2007, sections on the stall budget of T1 and T2",
    },
    Definition {
        name: "stall-budget-used",
        unit: "1",
        formula: "sum of count * cost / (cycles * (1 - 1 / contexts per pipeline))",
        needs: &["the events of the model's cost table", "cycles"],
        source: "Gove 2007, section Stall Budget Utilisation",
    },
];

/// How contexts share the issue slots of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issue {
    /// Instructions that the core issues per cycle.
    pub width: f64,
    /// Contexts that share them.
    pub contexts: u32,
    /// The most that one context issues per cycle when it is alone.
    pub alone: f64,
}

/// One kind of event and what it cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// The event, in the table's spelling.
    pub event: &'static str,
    /// What it counts.
    pub meaning: &'static str,
    /// Cycles that one costs.
    pub cost: u32,
    /// How often it happened.
    pub count: u64,
    /// Cycles that all cost.
    pub cycles: u64,
    /// The same in seconds.
    pub seconds: f64,
    /// The same as a part of the run time, from 0; estimates may pass 1.
    pub share: f64,
}

/// Where a context's cycles went, and what its core still has to give.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// How the core's slots are shared.
    pub issue: Issue,
    /// Cycles of the run.
    pub cycles: u64,
    /// Seconds of the run.
    pub seconds: f64,
    /// One entry per event that was counted, in the table's order, instructions among them.
    pub lines: Vec<Line>,
    /// Events of the table that were not counted: stalls are at least those shown.
    pub uncounted: Vec<&'static str>,
    /// Instructions per cycle.
    pub instructions: f64,
    /// The part of its instruction budget that the context used; 1 is its fair share.
    pub used: f64,
    /// How many times faster it could be before the budget is used up; at least 1.
    pub headroom: f64,
    /// The part of its stall budget that the context used: beyond 1 stalls hold it up.
    pub stalls_used: f64,
    /// Cycles that no line explains: waiting for a turn, events not counted, and the error of
    /// the costs; below 0 where the costs are too high.
    pub unexplained: i64,
    /// What would help, the most effective first.
    pub remedies: Vec<Remedy>,
}

impl Issue {
    /// Slots of a core of `width` shared by `contexts`, each of which can fill all of them alone,
    /// as on out-of-order cores.
    pub fn shared(width: f64, contexts: u32) -> Issue {
        Issue { width, contexts, alone: width }
    }

    /// Instructions per cycle that are one context's fair share.
    ///
    /// ```
    /// use pacman_metrics::budget::Issue;
    /// assert_eq!(Issue::shared(4.0, 2).fair(), 2.0);
    /// // UltraSPARC T2: eight threads, two slots, one instruction per thread.
    /// assert_eq!(Issue { width: 2.0, contexts: 8, alone: 1.0 }.fair(), 0.25);
    /// ```
    pub fn fair(&self) -> f64 {
        (self.width / f64::from(self.contexts)).min(self.alone)
    }

    /// The part of its cycles in which a context may stall and still get its fair share.
    pub fn stall_budget(&self) -> f64 {
        1.0 - self.fair() / self.alone
    }

    fn check(&self) -> Result<()> {
        let possible = |slots: f64| slots.is_finite() && slots > 0.0;
        if self.contexts > 0 && possible(self.width) && possible(self.alone) {
            return Ok(());
        }
        Err(refused("a core issues something, for one context or more"))
    }
}

impl Budget {
    /// A budget from counts of the events of `table`, named in any case.
    ///
    /// `counts` has the instructions and any of the others; `cycles` are those of the run, which
    /// are the clock times its seconds.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) without instructions, cycles
    /// or clock, with more instructions than slots, with an event that the table has not or that
    /// is given twice.
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
        let per_cycle = instructions.count as f64 / cycles as f64;
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
        budget.remedies = remedy::ranked(&budget, stalled, table.instructions);
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

/// `used` of `budget`; nothing of nothing is nothing, and something of nothing is too much.
fn part(used: f64, budget: f64) -> f64 {
    if used == 0.0 { 0.0 } else { used / budget }
}

#[cold]
fn refused(because: impl std::fmt::Display) -> Error {
    not_computable("the issue budget", because)
}
