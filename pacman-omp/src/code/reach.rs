//! The functions of a module that others call.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::FlowControl;

use super::callee::Code;
use super::graph::Graph;

/// Instructions that a search follows at most.
const MOST: usize = 100_000;

/// Larger functions are not followed.
const LARGEST: usize = 20_000;

/// The calls of functions that earlier searches have followed, by the functions' addresses.
#[derive(Debug)]
pub(crate) struct Calls(BTreeMap<u64, Option<Followed>>);

#[derive(Debug)]
struct Followed {
    instructions: usize,
    /// The functions that it calls directly, each once.
    called: BTreeSet<u64>,
}

impl Calls {
    pub(crate) const fn new() -> Calls {
        Calls(BTreeMap::new())
    }

    /// The calls of a function; `None` if it cannot be followed to its end.
    fn of(&mut self, code: &Code<'_>, function: u64) -> Option<&Followed> {
        let follow = || {
            let graph = Graph::of(code, function, LARGEST).ok()?;
            let instructions = graph.nodes.iter().map(|node| &node.instruction);
            let calls = instructions.filter(|call| call.flow_control() == FlowControl::Call);
            let called = calls.map(|call| call.near_branch_target()).collect();
            Some(Followed { instructions: graph.nodes.len(), called })
        };
        self.0.entry(function).or_insert_with(follow).as_ref()
    }
}

/// The function that has the code at `address`, if one of `callers` calls it, directly or through other
/// functions of the module. Calls through pointers do not count. `calls` are those of earlier searches.
pub(crate) fn called_function(
    code: &Code<'_>,
    calls: &mut Calls,
    callers: &[u64],
    address: u64,
) -> Option<u64> {
    let tables = code.handlers.as_ref()?;
    let sought = tables.function_begin(address).ok().flatten()?;
    if callers.contains(&sought) {
        return None;
    }
    let mut known: BTreeSet<u64> = callers.iter().copied().collect();
    let mut open: Vec<u64> = known.iter().copied().collect();
    let mut followed = 0;
    while let Some(function) = open.pop() {
        // A function that is not followed to its end may call others; these are not found.
        let Some(calls) = calls.of(code, function) else { continue };
        followed += calls.instructions;
        if followed > MOST {
            return None;
        }
        if calls.called.contains(&sought) {
            return Some(sought);
        }
        open.extend(calls.called.iter().copied().filter(|target| known.insert(*target)));
    }
    None
}
