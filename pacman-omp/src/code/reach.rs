//! The functions of a module that others call.

use std::collections::BTreeSet;

use iced_x86::FlowControl;

use super::callee::Code;
use super::graph::Graph;

/// Instructions that a search decodes at most.
const MOST: usize = 100_000;

/// Larger functions are not followed.
const LARGEST: usize = 20_000;

/// The function that has the code at `address`, if one of `callers` calls it, directly or through other
/// functions of the module. Calls through pointers do not count.
pub(crate) fn called_function(code: &Code<'_>, callers: &[u64], address: u64) -> Option<u64> {
    let tables = code.handlers.as_ref()?;
    let sought = tables.function_begin(address).ok().flatten()?;
    if callers.contains(&sought) {
        return None;
    }
    let mut known: BTreeSet<u64> = callers.iter().copied().collect();
    let mut open: Vec<u64> = known.iter().copied().collect();
    let mut decoded = 0;
    while let Some(function) = open.pop() {
        // A function that is not followed to its end may call others; these are not found.
        let Ok(graph) = Graph::of(code, function, LARGEST) else { continue };
        decoded += graph.nodes.len();
        if decoded > MOST {
            return None;
        }
        let calls = graph
            .nodes
            .iter()
            .filter(|node| node.instruction.flow_control() == FlowControl::Call);
        for target in calls.map(|node| node.instruction.near_branch_target()) {
            if target == sought {
                return Some(sought);
            }
            if known.insert(target) {
                open.push(target);
            }
        }
    }
    None
}
