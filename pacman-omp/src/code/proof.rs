//! The proof for a whole function: all paths, until nothing new is found.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::callee::Code;
use super::graph::{Graph, Unproved};
use super::interpreter::{Interpreter, Next};
use super::state::State;
use super::value::{Division, Side};

/// Instructions that are interpreted at most. Each path joins each meeting a few times only.
const MOST: usize = 400_000;

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

/// Proves that the questions of the function that begins at `entry` serve only to divide static loops.
pub(crate) fn prove(code: &Code<'_>, entry: u64) -> Result<Proof, Unproved> {
    let graph = Graph::of(code, entry)?;
    let questions = graph.questions();
    if questions.is_empty() {
        return Ok(Proof::default());
    }
    let mut search = Search { states: BTreeMap::new(), open: Vec::new() };
    let mut interpreter = Interpreter::new();
    search.meet(entry, &State::entry());
    let mut steps = 0;
    while let Some(meeting) = search.open.pop() {
        let Some(mut state) = search.states.get(&meeting).cloned() else { continue };
        let mut at = meeting.0;
        loop {
            steps += 1;
            if steps > MOST {
                return Err(Unproved { at, why: "the function has too many paths" });
            }
            let node =
                graph.nodes.get(&at).ok_or(Unproved { at, why: "no instruction is here" })?;
            match interpreter.step(node, &mut state)? {
                Next::Ends => break,
                Next::At(next) if graph.meets.contains(&next) => {
                    search.meet(next, &state);
                    break;
                }
                Next::At(next) => at = next,
                Next::AtEither(one, another) => {
                    search.meet(one, &state);
                    search.meet(another, &state);
                    break;
                }
                Next::Forks(one, another, other) => {
                    search.meet(one, &state);
                    search.meet(another, &other);
                    break;
                }
            }
        }
    }
    Ok(Proof { questions, only_shares: !interpreter.has_other_effects })
}

struct Search {
    states: BTreeMap<Meeting, State>,
    /// Meetings whose states have changed.
    open: Vec<Meeting>,
}

impl Search {
    /// A path comes to an instruction.
    fn meet(&mut self, at: u64, state: &State) {
        let meeting = (at, state.side);
        let changed = match self.states.entry(meeting) {
            Entry::Vacant(place) => {
                place.insert(state.clone());
                true
            }
            Entry::Occupied(mut known) => known.get_mut().join(state),
        };
        if changed && !self.open.contains(&meeting) {
            self.open.push(meeting);
        }
    }
}
