//! The choice of the next sample.

use pacman_events::few;

use super::known::Known;
use crate::predict::Configuration;

/// The next move of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// Sample there.
    Run { at: usize, why: String },
    /// A sample there is wanted, but the budget cannot pay for it yet.
    Wait { at: usize, risk: f64 },
    /// Nothing is left to sample.
    Decide { why: String },
}

/// A configuration that a direction proposes; the preferred ones come first.
struct Proposal {
    wanted: Vec<usize>,
    /// The number of steps that led here: a direction with gains is followed.
    momentum: usize,
}

impl Known<'_> {
    /// The built-in search: down and up from the best, in cores and in contexts.
    ///
    /// Steps double while they gain, and never cost more than the credit.
    pub(super) fn climb(&self, credit: f64) -> Move {
        let best = self.best();
        let mut proposals = Vec::new();
        for line in [self.contexts_line(best), self.cores_line(best)] {
            // A first step in contexts is worth a short wait. A step in cores is cheaper, but its
            // loss would put off the step in contexts for very long.
            if let Some(&at) = proposals.first().and_then(|first: &Proposal| first.wanted.last()) {
                let risk = self.risk(at);
                let waits = self.account.waits(risk, self.level(self.default));
                if proposals[0].momentum == 0 && waits.is_some_and(|waits| waits <= PATIENCE) {
                    break;
                }
            }
            let Some(place) = line.iter().position(|&at| at == best) else { continue };
            let down: Vec<usize> = line[..=place].iter().rev().copied().collect();
            let up = line[place..].to_vec();
            proposals.extend(self.propose(&down, &up));
            proposals.extend(self.propose(&up, &down));
        }
        for proposal in &mut proposals {
            proposal.wanted.retain(|&at| self.promises(at, best));
        }
        proposals.retain(|proposal| !proposal.wanted.is_empty());
        few::sort_by_key(&mut proposals, |proposal| std::cmp::Reverse(proposal.momentum));
        for proposal in &proposals {
            // A sample without risk is allowed even if the budget is overdrawn.
            let affordable = |at: &&usize| self.risk(**at) <= credit.max(0.0);
            if let Some(&at) = proposal.wanted.iter().find(affordable) {
                let why = format!("a step from {}, the best so far", self.all[best]);
                return Move::Run { at, why };
            }
        }
        let wanted = proposals.iter().flat_map(|proposal| &proposal.wanted);
        match wanted.min_by(|&&a, &&b| self.risk(a).total_cmp(&self.risk(b))) {
            Some(&at) => Move::Wait { at, risk: self.risk(at) },
            None => Move::Decide { why: "no step from it pays".into() },
        }
    }

    /// The next sample on a line that leads away from the best, its first member.
    fn propose(&self, line: &[usize], opposite: &[usize]) -> Option<Proposal> {
        let measured = |at: &usize| self.records[*at].is_measured();
        let best = self.level(line[0]);
        let mut from = 0;
        // A neutral step goes on, because the cost behind it may be lower.
        let next = loop {
            let next = (from + 1..line.len()).find(|&place| measured(&line[place]));
            match next {
                Some(place)
                    if self.level(line[place])
                        <= best * self.level_ground(line[0], line[place]) =>
                {
                    from = place
                }
                _ => break next,
            }
        };
        let behind = (1..opposite.len()).find(|&place| measured(&opposite[place]));
        let momentum = match from {
            0 => behind.unwrap_or(0),
            flat => flat,
        };
        let wanted: Vec<usize> = match next {
            None => {
                let farthest = (from + (2 * momentum).max(1)).min(line.len() - 1);
                (from + 1..=farthest).rev().map(|place| line[place]).collect()
            }
            Some(worse) if worse == from + 1 => Vec::new(),
            Some(worse) => {
                let behind = behind.map(|place| opposite[place]);
                let gap = &line[from + 1..worse];
                self.in_gap(behind, line[from], gap, line[worse]).into_iter().collect()
            }
        };
        (!wanted.is_empty()).then_some(Proposal { wanted, momentum })
    }

    /// The factor on the cost at `from` up to which a step to `to` counts as neutral.
    ///
    /// Threads in excess of the contexts take turns. A step without them is not a step down, and
    /// does not stop the search unless it is clearly worse.
    fn level_ground(&self, from: usize, to: usize) -> f64 {
        let takes_turns = self.all[from].threads() > self.contexts;
        match takes_turns && self.capacity(self.all[from]) <= self.capacity(self.all[to]) {
            true => CLEARLY_WORSE,
            false => 1.0 + self.margin,
        }
    }

    /// The member of a gap between a good and a worse configuration that is worth a sample.
    fn in_gap(
        &self,
        behind: Option<usize>,
        good: usize,
        gap: &[usize],
        worse: usize,
    ) -> Option<usize> {
        let predicted = |at: &&usize| self.expected(**at).map(|one| one.cost);
        if gap.iter().all(|at| predicted(&at).is_some()) {
            let cost = |at: &&usize| predicted(at).unwrap_or(f64::INFINITY);
            return gap.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).copied();
        }
        let point = |at: usize| (f64::from(self.all[at].threads()).ln(), self.level(at).ln());
        let (good_x, good_y) = point(good);
        let (worse_x, worse_y) = point(worse);
        let Some(behind) = behind else {
            // The cost grew almost in proportion to the threads left out, so they were at work.
            let proportional = (good_x - worse_x).max(0.0) * f64::from(self.cost_exponent);
            let steep = proportional > 0.0 && worse_y - good_y > 0.6 * proportional;
            return (!steep).then(|| gap[gap.len() / 2]);
        };
        // The lowest point of the parabola through all three.
        let (behind_x, behind_y) = point(behind);
        let (left, right) = (behind_x - good_x, worse_x - good_x);
        let (rise, fall) = ((behind_y - good_y) / left, (worse_y - good_y) / right);
        let bend = (rise - fall) / (left - right);
        let slope = rise - bend * left;
        let (lowest, gain) = (-slope / (2.0 * bend), slope * slope / (4.0 * bend));
        let inside = lowest * right > 0.0 && lowest.abs() < right.abs();
        if !(bend > 0.0 && inside && gain >= self.margin.max(WORTH)) {
            return None;
        }
        let off = |at: &&usize| (point_x(self.all[**at]) - good_x - lowest).abs();
        gap.iter().min_by(|a, b| off(a).total_cmp(&off(b))).copied()
    }
}

/// The factor on the level of an oversubscribed team. Above it, one thread per context is clearly
/// worse.
const CLEARLY_WORSE: f64 = 1.5;

/// The least gain that justifies a sample between two others.
pub(super) const WORTH: f64 = 0.01;

/// Executions for which a first step in contexts may delay one in cores.
const PATIENCE: u64 = 10;

fn point_x(on: Configuration) -> f64 {
    f64::from(on.threads()).ln()
}
