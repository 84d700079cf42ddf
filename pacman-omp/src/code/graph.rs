//! The instructions of a function, found by following its control flow.

use iced_x86::{FlowControl, Instruction, Mnemonic};

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
    /// The numbers of the nodes behind it and at a branch's target; [`NOWHERE`] for none.
    pub(super) next: u32,
    pub(super) target: u32,
    /// Paths may meet before it.
    pub(super) meets: bool,
}

pub(super) const NOWHERE: u32 = u32::MAX;

pub(super) struct Graph {
    /// The first is that of the function's entry.
    pub(super) nodes: Vec<Node>,
    numbers: Numbers,
}

impl Graph {
    /// The graph of the function that begins at `entry`, if it has no more than `most` instructions.
    pub(super) fn of(code: &Code<'_>, entry: u64, most: usize) -> Result<Graph, Unproved> {
        let mut graph = Graph { nodes: Vec::new(), numbers: Numbers::new() };
        let mut handlers = Handlers::of(code);
        let mut decoder = code.decoder();
        let mut open = vec![entry];
        while let Some(mut at) = open.pop() {
            // The node that goes on here.
            let mut before: Option<usize> = None;
            loop {
                let number = graph.number(at);
                if let Some(before) = before {
                    graph.nodes[before].next = number.unwrap_or(graph.nodes.len() as u32);
                }
                if let Some(number) = number {
                    graph.nodes[number as usize].meets = true;
                    break;
                }
                let failed = |why| Unproved { at, why };
                if graph.nodes.len() == most {
                    return Err(failed("the function is too large"));
                }
                let instruction =
                    decoder.instruction(at).ok_or(failed("the code is not readable here"))?;
                let mut goes_on = true;
                let (mut callee, mut handler) = (None, None);
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::UnconditionalBranch => {
                        goes_on = false;
                        open.push(instruction.near_branch_target());
                    }
                    FlowControl::ConditionalBranch => open.push(instruction.near_branch_target()),
                    FlowControl::IndirectBranch => {
                        goes_on = false;
                        let target = decoder.called(&instruction);
                        if target == Callee::Unknown {
                            return Err(failed("the target of a jump is not known"));
                        }
                        callee = Some(target);
                    }
                    FlowControl::Call | FlowControl::IndirectCall => {
                        let target = decoder.called(&instruction);
                        goes_on = target != Callee::NeverReturns;
                        callee = Some(target);
                        handler = handlers.of_call(&instruction).map_err(failed)?;
                        open.extend(handler);
                    }
                    FlowControl::Return => goes_on = false,
                    FlowControl::Exception if instruction.mnemonic() == Mnemonic::Ud2 => {
                        goes_on = false;
                    }
                    _ => return Err(failed("an instruction leaves the function")),
                }
                let number = graph.nodes.len();
                graph.numbers.add(at, number as u32, &graph.nodes);
                let (next, target, meets) = (NOWHERE, NOWHERE, false);
                graph.nodes.push(Node { instruction, callee, handler, next, target, meets });
                if !goes_on {
                    break;
                }
                before = Some(number);
                at = instruction.next_ip();
            }
        }
        graph.connect();
        Ok(graph)
    }

    /// The number of the node at an address.
    pub(super) fn number(&self, at: u64) -> Option<u32> {
        self.numbers.find(at, &self.nodes)
    }

    /// Finds the targets of branches, and the nodes where paths meet.
    fn connect(&mut self) {
        let meet = |nodes: &mut [Node], number: Option<u32>| {
            if let Some(number) = number {
                nodes[number as usize].meets = true;
            }
        };
        meet(&mut self.nodes, Some(0));
        for number in 0..self.nodes.len() {
            let node = &self.nodes[number];
            let (next, handler) = (node.next, node.handler);
            let flow = node.instruction.flow_control();
            if let FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch = flow {
                let target = self.number(node.instruction.near_branch_target());
                self.nodes[number].target = target.unwrap_or(NOWHERE);
                meet(&mut self.nodes, target);
                meet(&mut self.nodes, (flow == FlowControl::ConditionalBranch).then_some(next));
            }
            if let Some(handler) = handler {
                let handler = self.number(handler);
                meet(&mut self.nodes, handler);
            }
        }
    }

    /// The return addresses of the questions for numbers, in order.
    pub(super) fn questions(&self) -> Vec<u64> {
        let asks = |node: &&Node| {
            matches!(node.callee, Some(Callee::TeamSize | Callee::ThreadNumber))
                && !matches!(node.instruction.flow_control(), FlowControl::IndirectBranch)
        };
        let asked = self.nodes.iter().filter(asks).map(|node| node.instruction.next_ip());
        let mut questions: Vec<u64> = asked.collect();
        questions.sort_unstable();
        questions
    }
}

/// The numbers of nodes by their addresses: a hash table with open addressing.
struct Numbers {
    /// The numbers, each plus 1; 0 for a free place. The length is a power of two.
    places: Vec<u32>,
}

impl Numbers {
    fn new() -> Numbers {
        Numbers { places: vec![0; 256] }
    }

    /// The places to try for an address.
    fn of(&self, at: u64) -> impl Iterator<Item = usize> {
        let mask = self.places.len() - 1;
        // Fibonacci hashing.
        let first = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (0..).map(move |step| (first + step) & mask)
    }

    fn find(&self, at: u64, nodes: &[Node]) -> Option<u32> {
        let mut known = self.of(at).map(|place| self.places[place]).take_while(|known| *known != 0);
        known.find_map(|known| {
            (nodes[known as usize - 1].instruction.ip() == at).then_some(known - 1)
        })
    }

    /// Adds the node that follows `nodes`.
    fn add(&mut self, at: u64, number: u32, nodes: &[Node]) {
        // At most half of the places are taken, so that a search ends soon.
        if self.places.len() < (nodes.len() + 1) * 2 {
            self.places = vec![0; self.places.len() * 2];
            for (number, node) in nodes.iter().enumerate() {
                self.take(node.instruction.ip(), number as u32);
            }
        }
        self.take(at, number);
    }

    fn take(&mut self, at: u64, number: u32) {
        let free = self.of(at).find(|place| self.places[*place] == 0);
        if let Some(free) = free {
            self.places[free] = number + 1;
        }
    }
}
