//! The proof for a whole function: all paths, until nothing new is found.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::callee::Code;
use super::graph::{Graph, Unproved};
use super::interpreter::{Interpreter, Next};
use super::state::State;
use super::value::{Division, Side};

/// Larger functions are not proved. In LULESH and NPB the largest that is proved has 1,424 instructions; those
/// from 2,850 on are not, and each took some milliseconds.
const LARGEST: usize = 2_000;

/// Instructions that are interpreted at most: some milliseconds. A proof takes five times the function's, some
/// thousand.
const MOST: usize = 10_000;

/// A place where paths of one side meet.
type Meeting = (u64, Option<(Division, Side)>);

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
    prove_with(Interpreter::new(false), code, entry)
}

/// As [`prove`], for a function that may answer something.
pub(crate) fn prove_function(code: &Code<'_>, entry: u64) -> Result<Proof, Unproved> {
    prove_with(Interpreter::new(true), code, entry)
}

fn prove_with(
    mut interpreter: Interpreter,
    code: &Code<'_>,
    entry: u64,
) -> Result<Proof, Unproved> {
    let graph = Graph::of(code, entry, LARGEST)?;
    let questions = graph.questions();
    if questions.is_empty() {
        return Ok(Proof::default());
    }
    let mut search = Search::default();
    search.meet(entry, &State::entry());
    loop {
        let failed = search.follow(&graph, &mut interpreter)?;
        if search.longer.iter().any(|meeting| !search.is_of_longer_shares(meeting)) {
            let at = entry;
            return Err(Unproved { at, why: "the shares of some threads are not known" });
        }
        if failed.is_empty() {
            return Ok(Proof { questions, only_shares: !interpreter.has_other_effects });
        }
        for (meeting, unproved) in failed {
            if !search.is_of_longer_shares(&meeting) || !search.bind(meeting) {
                return Err(unproved);
            }
        }
    }
}

#[derive(Default)]
struct Search {
    states: BTreeMap<Meeting, State>,
    /// The meetings at which threads with the longer shares have iterations; see `is_of_longer_shares`.
    longer: BTreeSet<Meeting>,
    /// Meetings whose states have changed. The first is followed first: code mostly runs from lower to higher
    /// addresses, so that most paths to a place are known before the place is followed.
    open: BTreeSet<Meeting>,
    steps: usize,
}

impl Search {
    /// Whether the threads with the longer shares come here as those do that have iterations of the shorter
    /// ones. The longer shares are never empty, so code without a comparison of their ends is right.
    fn is_of_longer_shares(&self, meeting: &Meeting) -> bool {
        let (at, Some((division, Side::Below))) = *meeting else { return false };
        let others = self.states.get(&(at, Some((division, Side::NotBelow))));
        others.is_some_and(|state| state.has_share && state.bounds.contains(&division))
    }

    /// The share of a path of the longer shares is the bounds of a loop from that meeting on. False if it is
    /// already.
    fn bind(&mut self, meeting: Meeting) -> bool {
        if let Some(state) = self.states.get_mut(&meeting) {
            state.have_share();
        }
        self.open.insert(meeting);
        self.longer.insert(meeting)
    }

    /// Follows all paths. Answers the meetings from which a path of the longer shares failed before the
    /// ends of a share were compared.
    fn follow(
        &mut self,
        graph: &Graph,
        interpreter: &mut Interpreter,
    ) -> Result<BTreeMap<Meeting, Unproved>, Unproved> {
        let mut failed = BTreeMap::new();
        while let Some(meeting) = self.open.pop_first() {
            let Some(state) = self.states.get(&meeting).cloned() else { continue };
            let is_longer = matches!(meeting.1, Some((_, Side::Below)));
            let may_be_longer = is_longer && state.diverges().is_some();
            match self.follow_one(graph, interpreter, meeting.0, state) {
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
        graph: &Graph,
        interpreter: &mut Interpreter,
        mut at: u64,
        mut state: State,
    ) -> Result<(), Unproved> {
        loop {
            self.steps += 1;
            if self.steps > MOST {
                return Err(Unproved { at, why: "the function has too many paths" });
            }
            let node =
                graph.nodes.get(&at).ok_or(Unproved { at, why: "no instruction is here" })?;
            match interpreter.step(node, &mut state)? {
                Next::Ends => return Ok(()),
                Next::At(next) if graph.meets.contains(&next) => {
                    self.meet(next, &state);
                    return Ok(());
                }
                Next::At(next) => at = next,
                Next::AtEither(one, another) => {
                    self.meet(one, &state);
                    self.meet(another, &state);
                    return Ok(());
                }
                Next::Forks(one, another, other) => {
                    self.meet(one, &state);
                    self.meet(another, &other);
                    return Ok(());
                }
            }
        }
    }

    /// A path comes to an instruction.
    fn meet(&mut self, at: u64, state: &State) {
        let meeting = (at, state.side);
        let mut state = Cow::Borrowed(state);
        if self.longer.contains(&meeting) {
            state.to_mut().have_share();
        }
        let changed = match self.states.entry(meeting) {
            Entry::Vacant(place) => {
                place.insert(state.into_owned());
                true
            }
            Entry::Occupied(mut known) => known.get_mut().join(&state),
        };
        if changed {
            self.open.insert(meeting);
        }
    }
}
