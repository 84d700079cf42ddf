//! The instructions of a function, found by following its control flow.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};

use super::callee::{Callee, Code};
use super::exceptions::Handlers;

/// Why a function is not proved: the address of the instruction, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unproved {
    pub(crate) at: u64,
    pub(crate) why: &'static str,
}

/// An instruction with what the proof needs around it.
pub(super) struct Node {
    pub(super) instruction: Instruction,
    /// The function that a call or an indirect jump reaches.
    pub(super) callee: Option<Callee>,
    /// Where the function goes on after an exception in the call.
    pub(super) handler: Option<u64>,
}

pub(super) struct Graph {
    pub(super) nodes: BTreeMap<u64, Node>,
    /// The addresses where paths may meet.
    pub(super) meets: BTreeSet<u64>,
}

impl Graph {
    /// The graph of the function that begins at `entry`, if it has no more than `most` instructions.
    pub(super) fn of(code: &Code<'_>, entry: u64, most: usize) -> Result<Graph, Unproved> {
        let mut graph = Graph { nodes: BTreeMap::new(), meets: BTreeSet::new() };
        let mut handlers = Handlers::of(code);
        let mut open = vec![entry];
        while let Some(mut at) = open.pop() {
            loop {
                if graph.nodes.contains_key(&at) {
                    graph.meets.insert(at);
                    break;
                }
                let failed = |why| Unproved { at, why };
                if graph.nodes.len() == most {
                    return Err(failed("the function is too large"));
                }
                let instruction =
                    code.instruction(at).ok_or(failed("the code is not readable here"))?;
                let mut node = Node { instruction, callee: None, handler: None };
                let mut goes_on = true;
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::UnconditionalBranch => {
                        goes_on = false;
                        open.push(instruction.near_branch_target());
                        graph.meets.insert(instruction.near_branch_target());
                    }
                    FlowControl::ConditionalBranch => {
                        open.push(instruction.near_branch_target());
                        graph.meets.insert(instruction.near_branch_target());
                        graph.meets.insert(instruction.next_ip());
                    }
                    FlowControl::IndirectBranch => {
                        goes_on = false;
                        let callee = code.called(&instruction);
                        if callee == Callee::Unknown {
                            return Err(failed("the target of a jump is not known"));
                        }
                        node.callee = Some(callee);
                    }
                    FlowControl::Call | FlowControl::IndirectCall => {
                        let callee = code.called(&instruction);
                        goes_on = callee != Callee::NeverReturns;
                        node.callee = Some(callee);
                        let handler = handlers.of_call(&instruction);
                        node.handler = handler.map_err(failed)?;
                        if let Some(handler) = node.handler {
                            open.push(handler);
                            graph.meets.insert(handler);
                        }
                    }
                    FlowControl::Return => goes_on = false,
                    FlowControl::Exception if instruction.mnemonic() == Mnemonic::Ud2 => {
                        goes_on = false;
                    }
                    _ => return Err(failed("an instruction leaves the function")),
                }
                let next = instruction.next_ip();
                graph.nodes.insert(at, node);
                if !goes_on {
                    break;
                }
                at = next;
            }
        }
        Ok(graph)
    }

    /// The return addresses of the questions for numbers.
    pub(super) fn questions(&self) -> Vec<u64> {
        let asks = |node: &&Node| {
            matches!(node.callee, Some(Callee::TeamSize | Callee::ThreadNumber))
                && !matches!(node.instruction.flow_control(), FlowControl::IndirectBranch)
        };
        self.nodes.values().filter(asks).map(|node| node.instruction.next_ip()).collect()
    }
}

/// Whether a branch compares and jumps by itself, as `jrcxz` and `loop` do.
pub(super) fn is_plain_branch(instruction: &Instruction) -> bool {
    instruction.is_jcc_short_or_near() && instruction.op0_kind() == OpKind::NearBranch64
}
