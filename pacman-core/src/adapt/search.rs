//! What to sample next, and what it may cost at most.

use super::account::Account;
use super::record::Record;
use crate::predict::{Configuration, Predictor, Sample, Step};

/// What is known of a phase, read only.
pub(super) struct Known<'a> {
    pub(super) all: &'a [Configuration],
    pub(super) default: usize,
    pub(super) records: &'a [Record],
    /// What one more context of a core can be worth at most, as a part of the core's first.
    pub(super) context_worth: f64,
    /// With which power of the time costs grow.
    pub(super) degree: i32,
    /// Differences below this part are noise.
    pub(super) margin: f64,
    pub(super) account: &'a Account,
}

/// The next move of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// Sample there.
    Run { at: usize, why: String },
    /// Sampling there is wanted, and may lose more than can be paid for now.
    Wait { at: usize, risk: f64 },
    /// Nothing is left to sample.
    Decide { why: String },
}

/// A configuration that a direction proposes; the preferred ones come first.
struct Proposal {
    wanted: Vec<usize>,
    /// How many steps of the line led here: a direction that pays is followed.
    momentum: usize,
}

impl Known<'_> {
    pub(super) fn best(&self) -> usize {
        let level = |&at: &usize| self.records[at].level();
        let measured = (0..self.all.len()).filter(|&at| self.records[at].is_measured());
        measured.min_by(|a, b| level(a).total_cmp(&level(b))).unwrap_or(self.default)
    }

    pub(super) fn level(&self, at: usize) -> f64 {
        self.records[at].level()
    }

    /// What an execution there may cost beyond one at the default, by what is measured so far.
    pub(super) fn risk(&self, at: usize) -> f64 {
        let noise = 2.0 * self.records[self.default].spread();
        (self.ceiling(at) - self.level(self.default)) * (1.0 + noise)
    }

    /// The most that an execution there may cost.
    ///
    /// Who has at least as many cores and contexts loses no more than their share of the machine
    /// when they go; and between two measured core counts it is no worse than at the worse one.
    fn ceiling(&self, at: usize) -> f64 {
        let measured = || (0..self.all.len()).filter(|&other| self.records[other].is_measured());
        let shrunk = |from: usize| {
            let share = self.capacity(self.all[from]) / self.capacity(self.all[at]);
            self.level(from) * share.max(1.0).powi(self.degree)
        };
        let from_above = measured()
            .filter(|&from| contains(self.all[from], self.all[at]))
            .map(shrunk)
            .fold(f64::INFINITY, f64::min);
        let row = self.cores_line(at);
        let place = row.iter().position(|&other| other == at).unwrap_or(0);
        let nearest = |mut side: Box<dyn Iterator<Item = &usize> + '_>| {
            side.find(|&&other| self.records[other].is_measured()).map(|&other| self.level(other))
        };
        let below = nearest(Box::new(row[..place].iter().rev()));
        let above = nearest(Box::new(row[place..].iter()));
        match (below, above) {
            (Some(below), Some(above)) => from_above.min(below.max(above)),
            _ => from_above,
        }
    }

    /// The most that its contexts do together, where the first context of a core does 1.
    fn capacity(&self, on: Configuration) -> f64 {
        match (on.cores(), on.per_core()) {
            (Some(cores), Some(contexts)) => {
                f64::from(cores) * (1.0 + self.context_worth * f64::from(contexts - 1))
            }
            _ => f64::from(on.threads()),
        }
    }

    /// The built-in search: down and up from the best, in cores and in contexts, with steps that
    /// double for as long as they pay and are never dearer than the credit.
    pub(super) fn climb(&self, credit: f64) -> Move {
        let best = self.best();
        let mut proposals = Vec::new();
        for line in [self.contexts_line(best), self.cores_line(best)] {
            // A first step in contexts is worth a short wait. In cores it is cheaper, but what it
            // loses would put the other off until long after the turn.
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
        proposals.sort_by_key(|proposal| std::cmp::Reverse(proposal.momentum));
        for proposal in &proposals {
            let affordable = |at: &&usize| self.risk(**at) <= credit;
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

    /// What to sample on a line that leads away from the best, its first member.
    fn propose(&self, line: &[usize], opposite: &[usize]) -> Option<Proposal> {
        let measured = |at: &usize| self.records[*at].is_measured();
        let best = self.level(line[0]);
        let mut from = 0;
        // Flat ground is walked over: what lies behind it may be lower.
        let next = loop {
            let next = (from + 1..line.len()).find(|&place| measured(&line[place]));
            match next {
                Some(place) if self.level(line[place]) <= best * (1.0 + self.margin) => {
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

    /// The member of a gap between a good and a worse configuration that is worth a sample.
    fn in_gap(
        &self,
        behind: Option<usize>,
        good: usize,
        gap: &[usize],
        worse: usize,
    ) -> Option<usize> {
        let point = |at: usize| (f64::from(self.all[at].threads()).ln(), self.level(at).ln());
        let (good_x, good_y) = point(good);
        let (worse_x, worse_y) = point(worse);
        let Some(behind) = behind else {
            // Nearly as dear as threads that went: what was left out was at work.
            let proportional = (good_x - worse_x).max(0.0) * f64::from(self.degree);
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

    /// The same number of contexts on each core, in order of cores.
    fn cores_line(&self, at: usize) -> Vec<usize> {
        let per_core = self.all[at].per_core();
        let row = per_core.or(Some(1));
        let among = |other: &usize| *other == at || self.all[*other].per_core() == row;
        (0..self.all.len()).filter(among).collect()
    }

    /// The same number of cores, or the nearest not above it, in order of contexts.
    fn contexts_line(&self, at: usize) -> Vec<usize> {
        let on = self.all[at];
        let most = self.all.iter().filter_map(|other| other.per_core()).max().unwrap_or(0);
        let cores = on.cores().unwrap_or(u32::MAX);
        let mut line = Vec::new();
        for per_core in 1..=most {
            let row = (0..self.all.len()).filter(|&other| {
                let other = self.all[other];
                other.per_core() == Some(per_core)
                    && other.cores().is_some_and(|have| have <= cores)
            });
            line.extend(row.max_by_key(|&other| self.all[other].threads()));
        }
        if on.per_core().is_none() {
            line.push(at);
        }
        line
    }

    /// What a predictor of the user's wants next; on the way there, what can be paid for.
    pub(super) fn follow(&self, predictor: &dyn Predictor, credit: f64) -> Move {
        let samples: Result<Vec<Sample>, _> = (0..self.all.len())
            .filter(|&at| self.records[at].is_measured())
            .map(|at| Sample::new(self.all[at], self.level(at)))
            .collect();
        let step = match samples.and_then(|samples| predictor.step(&samples)) {
            Ok(step) => step,
            Err(error) => return Move::Decide { why: format!("the predictor gave up: {error}") },
        };
        let wish = step.configuration();
        let Some(at) = self.all.iter().position(|&on| on == wish) else {
            return Move::Decide { why: format!("the predictor wants {wish}, which is not there") };
        };
        match step {
            Step::Decide { why, .. } => return Move::Decide { why },
            Step::Sample { events, .. } if !events.is_empty() => {
                let why = format!("the predictor wants counts of {}", events.join(", "));
                return Move::Decide { why };
            }
            // Asking twice for the same teaches it nothing here: levels are all it is told.
            _ if self.records[at].is_measured() => {
                return Move::Decide { why: format!("the predictor asks for {wish} again") };
            }
            Step::Sample { .. } | Step::Verify { .. } => {}
        }
        if self.risk(at) <= credit {
            return Move::Run { at, why: step.why().to_owned() };
        }
        let on_the_way = (0..self.all.len())
            .filter(|&other| !self.records[other].is_measured() && contains(self.all[other], wish));
        let on_the_way: Vec<usize> = on_the_way.collect();
        let affordable = on_the_way.iter().filter(|&&other| self.risk(other) <= credit);
        if let Some(&other) = affordable.min_by_key(|&&other| self.all[other].threads()) {
            return Move::Run { at: other, why: format!("on the way to {wish}") };
        }
        let dear = |&at: &usize| self.risk(at);
        let next = on_the_way.into_iter().min_by(|a, b| dear(a).total_cmp(&dear(b)));
        let at = next.unwrap_or(at);
        Move::Wait { at, risk: self.risk(at) }
    }
}

/// The least gain for which a sample between two others is taken.
const WORTH: f64 = 0.01;

/// Executions that a first step in contexts may keep one in cores waiting.
const PATIENCE: u64 = 10;

fn point_x(on: Configuration) -> f64 {
    f64::from(on.threads()).ln()
}

/// Whether `small` is what remains of `large` when cores or contexts go.
fn contains(large: Configuration, small: Configuration) -> bool {
    match ((large.cores(), large.per_core()), (small.cores(), small.per_core())) {
        ((Some(cores), Some(contexts)), (Some(fewer), Some(less))) => {
            fewer <= cores && less <= contexts
        }
        _ => small.threads() <= large.threads(),
    }
}
