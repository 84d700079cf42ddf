//! The decisions about one region.

use super::budget::LossBudget;
use super::recent::Recent;

/// Nanoseconds below which a region is too short to be packed: an execution would take two changes of threads.
const SHORT: u64 = 20_000;
/// The cost of a sample besides its executions: it wakes the watchers, and moves threads there and back.
const OVERHEAD: u64 = 30_000;
/// The most that a change of the masks may cost for each thread that it moves.
const MOVE: u64 = 35_000;
/// Executions with all contexts before the first sample, besides the one that starts the threads.
const BEFORE: usize = 3;
/// Executions of a sample, and the time that they should take together.
const EXECUTIONS: (u64, u64) = (2, 8);
const SAMPLE: u64 = 300_000;
/// Samples that a configuration needs before a region is held at it.
const SAMPLES: u32 = 2;
/// The percentage of the time with all contexts that a configuration may take at most.
const BETTER: u64 = 90;
/// The percentage above which the controller leaves it.
const NO_BETTER: u64 = 95;
/// The time between two checks of a held region, in nanoseconds and in executions with all contexts.
const CHECK: (u64, u64) = (20_000_000, 60);
const LONGEST_CHECK: u64 = 2_000_000_000;
/// Executions of a check. The first one has threads that move.
const CHECKED: u32 = 3;
/// A held execution may take this multiple of the time with all contexts, and at least the second figure in ns.
const HELD: (u64, u64) = (2, 500_000);

/// How the next execution runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With all contexts.
    Full,
    /// With all contexts; a sample may follow, for which the watchers should be awake.
    Ask,
    /// A sample of that configuration, and the nanoseconds after which it has to be cut.
    Sample(usize, u64),
    /// The configuration at which the region is held, and the nanoseconds after which the execution has to be cut.
    Held(usize, u64),
}

/// An execution that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its time, in nanoseconds, with the change of masks before it.
    pub time: u64,
    /// If it was cut, the time until its threads had all contexts: it lost no more than that.
    pub cut_after: Option<u64>,
    /// It began or ended with other threads than were packed, so its time measures nothing.
    pub is_odd: bool,
    /// Masks had to be changed before it.
    pub is_changed: bool,
}

/// Whether the masks were changed before the latest execution of one kind. Threads that move make the first execution
/// after a change longer. Where another region always comes between, every execution is such a one.
#[derive(Clone, Copy, Debug, Default)]
struct Moved(bool);

impl Moved {
    /// Whether the time of an execution is typical of others.
    fn is_typical(&mut self, ended: &Ended) -> bool {
        let before = std::mem::replace(&mut self.0, ended.is_changed);
        !ended.is_odd && (!ended.is_changed || before)
    }
}

/// The knowledge of a configuration.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    times: Recent,
    samples: u32,
    /// The longest sample whose allowance was too short for its executions.
    at_least: u64,
    /// It is worse than all contexts, as far as is known.
    is_worse: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// With all contexts, until a sample can be paid.
    Searching,
    Sampling(Sample),
    Holding {
        on: usize,
    },
    /// Executions with all contexts that are left, to see whether the candidate still is the better one.
    Checking {
        on: usize,
        left: u32,
    },
}

/// A sample of a candidate that goes on. All times are nanoseconds.
///
/// The allowance is reserved twice. The second one is given back unless the sample is cut: threads that come back to other
/// contexts may wait longer for each other for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    on: usize,
    /// All of its executions fit into the allowance if they take as long as with all contexts.
    is_whole: bool,
    allowance: u64,
    /// The executions, and the part of the allowance, that are left.
    executions: u64,
    left: u64,
    /// Reserved, too, for watchers that wake so late.
    late: u64,
}

/// The controller of one region, with teams of one size. It knows no clock: all times are nanoseconds that the
/// caller measured.
#[derive(Clone, Debug)]
pub struct Packing {
    candidates: Vec<Candidate>,
    full: Recent,
    state: State,
    /// The threads of its teams that a change of masks moves.
    moved: u64,
    executions: u64,
    /// All time so far, and the time at which the search begins anew.
    total: u64,
    resume: u64,
    /// Since the latest check, and the time of the next one.
    held: u64,
    check: u64,
    /// Held executions so far, those that were packed at all, those that were cut, and the estimated gain.
    figures: Figures,
    /// Cuts of held executions.
    held_cuts: u32,
    full_moved: Moved,
    packed_moved: Moved,
    /// The cost of changes back to other regions.
    charged: u64,
}

/// The outcome of a region, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Executions on fewer contexts.
    pub packed: u64,
    /// Those of them that were cut.
    pub cut: u64,
    /// The estimated gain, in nanoseconds; negative for a loss.
    pub gained: i64,
}

impl Packing {
    /// A region with `candidates` configurations besides all contexts, in the order in which they are tried.
    /// Its teams have `threads`.
    pub fn new(candidates: usize, threads: u32) -> Packing {
        Packing {
            candidates: vec![Candidate::default(); candidates],
            full: Recent::default(),
            state: State::Searching,
            moved: threads.into(),
            executions: 0,
            total: 0,
            resume: 0,
            held: 0,
            check: 0,
            figures: Figures::default(),
            held_cuts: 0,
            full_moved: Moved::default(),
            packed_moved: Moved::default(),
            charged: 0,
        }
    }

    /// How the next execution runs. `budget` is that of all regions; the run has taken `run` so far. A sample's
    /// allowance is reserved when it begins, twice, and with it the time by which the watchers are late. That time is
    /// known once they are `armed`; before that no sample begins.
    pub fn next(&mut self, budget: &mut LossBudget, run: u64, armed: Option<u64>) -> Next {
        match self.state {
            State::Searching => {
                let Some(sample) = self.wanted(budget.left(run)) else {
                    return Next::Full;
                };
                let Some(late) = armed else { return Next::Ask };
                if !budget.reserve(2 * sample.allowance + late + OVERHEAD, run) {
                    return Next::Full;
                }
                self.state = State::Sampling(Sample { late, ..sample });
                Next::Sample(sample.on, sample.allowance)
            }
            // Another region's sample may have taken longer than it should have.
            State::Sampling(Sample { on, left, .. })
                if armed.is_some() && budget.spent() <= budget.limit(run) =>
            {
                Next::Sample(on, left)
            }
            State::Sampling(Sample { left, late, allowance, .. }) => {
                budget.give_back(left + late + allowance);
                self.state = State::Searching;
                Next::Full
            }
            State::Holding { on } => {
                let usual = self.full.median().unwrap_or(0);
                Next::Held(on, (HELD.0 * usual).max(HELD.1))
            }
            State::Checking { .. } => Next::Full,
        }
    }

    /// The next sample, with an allowance that the rest of the budget pays for.
    fn wanted(&self, left: u64) -> Option<Sample> {
        let usual = self.full.median()?;
        if self.full.len() < BEFORE || usual < SHORT || self.total < self.resume {
            return None;
        }
        let on = self.candidates.iter().position(|one| !one.is_worse)?;
        let one = &self.candidates[on];
        let executions = (SAMPLE / usual).clamp(EXECUTIONS.0, EXECUTIONS.1);
        let whole = executions * (usual + usual / 8) + MOVE;
        // Half of the rest stays for others, and the allowance is reserved twice. A sample that is cut before a better
        // configuration would end teaches nothing. After one that was too short the next one has to be longer.
        let allowance = whole.min(left.saturating_sub(OVERHEAD) / 4);
        let is_whole = allowance == whole;
        let sample = Sample { on, is_whole, allowance, executions, left: allowance, late: 0 };
        let least = (usual * BETTER / 100).max(2 * one.at_least);
        (is_whole || allowance >= least).then_some(sample)
    }

    /// The execution that ran as `ran` says has ended. Returns whether the watchers should stay awake for another.
    pub fn ended(&mut self, ran: Next, ended: Ended, budget: &mut LossBudget) -> bool {
        self.total += ended.time;
        self.executions += 1;
        match (ran, self.state) {
            (Next::Full | Next::Ask, state) => {
                // The first execution starts the threads.
                if self.full_moved.is_typical(&ended) && self.executions > 1 {
                    self.full.enter(ended.time);
                }
                if let State::Checking { on, left } = state {
                    self.state = match left.checked_sub(1) {
                        Some(left @ 1..) => State::Checking { on, left },
                        _ => self.verdict(on),
                    };
                }
                false
            }
            (Next::Sample(..), State::Sampling(sample)) => self.sampled(sample, ended, budget),
            (Next::Held(on, _), State::Holding { .. }) => {
                if let Some(lost) = ended.cut_after {
                    budget.overspend(lost);
                }
                self.was_held(on, ended);
                false
            }
            // The environment forces a configuration.
            _ => {
                self.figures.packed += 1;
                self.figures.cut += u64::from(ended.cut_after.is_some());
                false
            }
        }
    }

    fn sampled(&mut self, sample: Sample, ended: Ended, budget: &mut LossBudget) -> bool {
        let Sample { on, is_whole, allowance, executions, left, late } = sample;
        let usual = self.full.median().unwrap_or(ended.time);
        let one = &mut self.candidates[on];
        self.figures.packed += 1;
        self.figures.gained += usual as i64 - ended.time as i64;
        let lost = ended.cut_after.unwrap_or(ended.time);
        let beyond = lost.saturating_sub(left);
        budget.overspend(beyond.saturating_sub(late));
        let late = late.saturating_sub(beyond);
        let is_cut = ended.cut_after.is_some();
        let left = if is_cut { left } else { left.saturating_sub(ended.time) };
        let executions = executions - 1;
        if !is_cut && self.packed_moved.is_typical(&ended) {
            one.times.enter(ended.time);
        }
        // A further one that would be cut loses time and teaches nothing.
        let is_too_short = !is_whole && !is_cut && executions > 0 && left < ended.time;
        if executions > 0 && left > 0 && !ended.is_odd && !is_cut && !is_too_short {
            self.state = State::Sampling(Sample { executions, left, late, ..sample });
            return true;
        }
        budget.give_back(if is_cut { late } else { left + late + allowance });
        self.figures.cut += u64::from(is_cut);
        one.is_worse |= is_cut && left * 100 >= usual * BETTER;
        if is_too_short {
            one.at_least = one.at_least.max(allowance);
        } else if !ended.is_odd {
            one.samples += 1;
        }
        let samples = one.samples;
        let is_better = self.is_below(on, BETTER);
        let one = &mut self.candidates[on];
        self.state = State::Searching;
        if samples >= SAMPLES && !is_better {
            one.is_worse = true;
        } else if samples >= SAMPLES && !one.is_worse {
            self.hold(on);
        }
        self.settle();
        false
    }

    /// The masks were given back after a sample in `time`. The sample has paid for the usual time.
    pub fn given_back(time: u64, budget: &mut LossBudget) {
        budget.overspend(time.saturating_sub(OVERHEAD));
    }

    /// Whether an execution with the candidate takes less than `percent` of one with all contexts.
    fn is_below(&self, on: usize, percent: u64) -> bool {
        let usual = self.full.median().unwrap_or(0);
        let charge = self.charged / self.figures.packed.max(1);
        let time = self.candidates[on].times.median();
        time.is_some_and(|time| (time + charge) * 100 < usual * percent)
    }

    /// The next region had to change the masks back, which took `time`.
    pub fn charge(&mut self, time: u64) {
        self.charged += time;
    }

    fn hold(&mut self, on: usize) {
        let usual = self.full.median().unwrap_or(0);
        self.held = 0;
        self.check = CHECK.0.max(CHECK.1 * (usual + self.moved * MOVE));
        self.state = State::Holding { on };
    }

    /// All candidates are worse: the search begins anew when the region has taken several times as long.
    fn settle(&mut self) {
        if self.state == State::Searching && self.candidates.iter().all(|one| one.is_worse) {
            self.resume = self.total * 8;
            self.candidates.iter_mut().for_each(|one| *one = Candidate::default());
        }
    }

    fn was_held(&mut self, on: usize, ended: Ended) {
        let usual = self.full.median().unwrap_or(ended.time);
        let one = &mut self.candidates[on];
        self.figures.packed += 1;
        self.figures.gained += usual as i64 - ended.time as i64;
        self.held += ended.time;
        if ended.cut_after.is_some() {
            self.figures.cut += 1;
            self.held_cuts += 1;
            return self.leave(on);
        }
        if self.packed_moved.is_typical(&ended) {
            one.times.enter(ended.time);
        }
        let is_known = one.times.median().is_some();
        if is_known && !self.is_below(on, NO_BETTER) {
            // It, or the whole region, takes longer now.
            self.full.clear();
            self.state = State::Checking { on, left: CHECKED };
        } else if self.held >= self.check {
            self.state = State::Checking { on, left: CHECKED };
        }
    }

    /// The check has ended.
    fn verdict(&mut self, on: usize) -> State {
        let usual = self.full.median().unwrap_or(0);
        if self.is_below(on, NO_BETTER) {
            self.held = 0;
            self.check = (self.check * 2).min(LONGEST_CHECK.max(CHECK.1 * usual));
            return State::Holding { on };
        }
        self.leave(on);
        State::Searching
    }

    /// The candidate is held no more. It is tried again later, and later each time.
    fn leave(&mut self, on: usize) {
        self.candidates[on] = Candidate { is_worse: true, ..Candidate::default() };
        self.full.clear();
        self.state = State::Searching;
        self.settle();
        self.resume = self.resume.max(self.total.saturating_mul(2 << self.held_cuts.min(20)));
    }

    /// The candidate that the region is held at.
    pub fn held_at(&self) -> Option<usize> {
        match self.state {
            State::Holding { on } | State::Checking { on, .. } => Some(on),
            _ => None,
        }
    }

    /// One word for the state.
    pub fn state(&self) -> &'static str {
        let is_short = self.full.median().is_some_and(|usual| usual < SHORT);
        match self.state {
            State::Holding { .. } | State::Checking { .. } => "holding",
            State::Sampling(_) => "sampling",
            State::Searching if is_short => "left alone",
            State::Searching if self.resume > 0 => "holding",
            State::Searching => "sampling",
        }
    }

    /// Its outcome, for reports.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    /// The usual time with the candidate `on` over the one with all contexts, if as many samples as a decision needs have
    /// measured it.
    pub fn ratio(&self, on: usize) -> Option<f64> {
        let one = self.candidates.get(on).filter(|one| one.samples >= SAMPLES)?;
        let full = self.full.median().filter(|full| *full > 0)?;
        Some(one.times.median()?.max(1) as f64 / full as f64)
    }

    /// The usual times with all contexts and with the candidate `on`.
    pub fn times(&self, on: usize) -> (Option<u64>, Option<u64>) {
        (self.full.median(), self.candidates.get(on).and_then(|one| one.times.median()))
    }
}
