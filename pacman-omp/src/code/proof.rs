//! The proof for a whole function: all paths, until nothing new is found.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::callee::Code;
use super::graph::{Graph, Unproved};
use super::interpreter::{Interpreter, Next};
use super::program::Program;
use super::state::State;
use super::value::{Division, Side};

/// Larger functions are not proved. In LULESH and NPB the largest that is proved has 1,424 instructions; those
/// from 2,850 on would need 14,000 to 32,000 steps.
const LARGEST: usize = 2_000;

/// Steps at most: some milliseconds. Most functions need fewer than they have instructions.
const MOST: usize = 10_000;

/// A place where paths of one side meet: the number of the place and that of the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    place: u32,
    side: u8,
}

impl Meeting {
    fn new(place: u32, side: Option<(Division, Side)>) -> Meeting {
        let side = side.map_or(0, |(division, side)| {
            1 + division.number * 2 + u8::from(side == Side::NotBelow)
        });
        Meeting { place, side }
    }

    /// The meeting of the paths of the shorter shares, if this is one of longer shares.
    fn of_shorter_shares(self) -> Option<Meeting> {
        (self.side % 2 == 1).then_some(Meeting { side: self.side + 1, ..self })
    }
}

/// The proof of a function: its questions for numbers serve only to divide static loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The return addresses of the questions.
    pub(crate) questions: Vec<u64>,
    /// Others notice nothing of a thread without iterations.
    pub(crate) only_shares: bool,
}

/// Proves that the questions of the region's body that begins at `entry` serve only to divide static loops.
pub(crate) fn prove(code: &Code<'_>, entry: u64) -> Result<Proof, Unproved> {
    prove_in_steps(false, code, entry).0
}

/// As [`prove`], for a function that may answer something.
pub(crate) fn prove_function(code: &Code<'_>, entry: u64) -> Result<Proof, Unproved> {
    prove_in_steps(true, code, entry).0
}

/// As [`prove`], and the number of instructions that were interpreted. The function `answers` something or
/// not.
pub(super) fn prove_in_steps(
    answers: bool,
    code: &Code<'_>,
    entry: u64,
) -> (Result<Proof, Unproved>, usize) {
    let graph = match Graph::of(code, entry, LARGEST) {
        Ok(graph) => graph,
        Err(unproved) => return (Err(unproved), 0),
    };
    let questions = graph.questions();
    if questions.is_empty() {
        return (Ok(Proof::default()), 0);
    }
    let program = Program::of(&graph);
    drop(graph);
    let mut search = Search::default();
    let only_shares = search.prove(&program, answers);
    (only_shares.map(|only_shares| Proof { questions, only_shares }), search.steps)
}

#[derive(Default)]
struct Search {
    /// The place of each meeting's state in `states`.
    numbers: BTreeMap<Meeting, usize>,
    states: Vec<State>,
    /// The meetings at which threads with the longer shares have iterations; see `is_of_longer_shares`.
    longer: BTreeSet<Meeting>,
    /// Meetings whose states have changed. The first is followed first: code mostly runs from lower to higher
    /// addresses, so that most paths to a place are known before the place is followed.
    open: BTreeSet<Meeting>,
    /// The meetings at which paths had nothing left to prove, and whether all their threads have iterations.
    settled: BTreeSet<(Meeting, bool)>,
    steps: usize,
}

impl Search {
    /// Follows all paths until nothing new is found. Answers whether others notice nothing of a thread without
    /// iterations.
    fn prove(&mut self, program: &Program, answers: bool) -> Result<bool, Unproved> {
        // Most places have one state or two.
        self.states.reserve(program.places.len().min(64));
        let mut interpreter = Interpreter::new(answers);
        self.meet(program, 0, &mut State::entry());
        loop {
            let failed = self.follow(program, &mut interpreter)?;
            if self.longer.iter().any(|meeting| !self.is_of_longer_shares(program, *meeting)) {
                let at = program.steps[0].at;
                return Err(Unproved { at, why: "the shares of some threads are not known" });
            }
            if failed.is_empty() {
                return Ok(!interpreter.has_other_effects);
            }
            for (meeting, unproved) in failed {
                if !self.is_of_longer_shares(program, meeting) || !self.bind(meeting) {
                    return Err(unproved);
                }
            }
        }
    }

    /// Whether the threads with the longer shares come here as those do that have iterations of the shorter
    /// ones. The longer shares are never empty, so code without a comparison of their ends is right.
    fn is_of_longer_shares(&self, program: &Program, meeting: Meeting) -> bool {
        let Some(others) = meeting.of_shorter_shares() else { return false };
        // Settled paths are not followed to here.
        let comes = |has_share: bool| {
            self.settled.iter().any(|(settled, share)| {
                let [from, to] = [settled, &others].map(|at| program.places[at.place as usize]);
                (settled.side, *share) == (others.side, has_share) && program.leads(from, to)
            })
        };
        let has_share = match self.numbers.get(&others).map(|number| &self.states[*number]) {
            Some(state) => state.has_share && state.diverges().is_none(),
            None => comes(true),
        };
        has_share && !comes(false)
    }

    /// The share of a path of the longer shares is the bounds of a loop from that meeting on. False if it is
    /// already.
    fn bind(&mut self, meeting: Meeting) -> bool {
        if let Some(number) = self.numbers.get(&meeting) {
            self.states[*number].have_share();
        }
        self.open.insert(meeting);
        self.longer.insert(meeting)
    }

    /// Follows all paths. Answers the meetings from which a path of the longer shares failed before the
    /// ends of a share were compared.
    fn follow(
        &mut self,
        program: &Program,
        interpreter: &mut Interpreter,
    ) -> Result<BTreeMap<Meeting, Unproved>, Unproved> {
        let mut failed = BTreeMap::new();
        let mut state = State::entry();
        while let Some(meeting) = self.open.pop_first() {
            let Some(number) = self.numbers.get(&meeting) else { continue };
            state.clone_from(&self.states[*number]);
            let may_be_longer = meeting.of_shorter_shares().is_some() && state.diverges().is_some();
            let from = program.places[meeting.place as usize];
            match self.follow_one(program, interpreter, from, &mut state) {
                Ok(()) => drop(failed.remove(&meeting)),
                Err(unproved) if may_be_longer => {
                    failed.insert(meeting, unproved);
                }
                Err(unproved) => return Err(unproved),
            }
        }
        Ok(failed)
    }

    /// Follows a path to its next meeting.
    fn follow_one(
        &mut self,
        program: &Program,
        interpreter: &mut Interpreter,
        from: u32,
        state: &mut State,
    ) -> Result<(), Unproved> {
        let mut step = from;
        loop {
            self.steps += 1;
            if self.steps > MOST {
                let at = program.steps[step as usize].at;
                return Err(Unproved { at, why: "the function has too many paths" });
            }
            match interpreter.step(program, step, state)? {
                Next::Ends => return Ok(()),
                Next::At(next) if program.steps[next as usize].meets => {
                    self.meet(program, next, state);
                    return Ok(());
                }
                Next::At(next) => step = next,
                Next::AtEither(one, another) => {
                    let mut other = state.clone();
                    self.meet(program, one, state);
                    self.meet(program, another, &mut other);
                    return Ok(());
                }
                Next::Forks(one, another, mut other) => {
                    self.meet(program, one, state);
                    self.meet(program, another, &mut other);
                    return Ok(());
                }
            }
        }
    }

    /// A path comes to a step.
    fn meet(&mut self, program: &Program, step: u32, state: &mut State) {
        let Some(place) = program.steps[step as usize].place else { return };
        let meeting = Meeting::new(place, state.side);
        if self.longer.contains(&meeting) {
            state.have_share();
        }
        let later = program.later[step as usize];
        state.forget_dead(later);
        if state.is_settled(later) {
            self.settled.insert((meeting, state.has_share));
            return;
        }
        let changed = match self.numbers.entry(meeting) {
            Entry::Vacant(number) => {
                number.insert(self.states.len());
                self.states.push(state.clone());
                true
            }
            Entry::Occupied(number) => self.states[*number.get()].join(state),
        };
        if changed {
            self.open.insert(meeting);
        }
    }
}
