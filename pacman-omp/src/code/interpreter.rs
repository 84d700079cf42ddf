//! The effect of one step on a state.

use iced_x86::ConditionCode;

use super::callee::Callee;
use super::graph::Unproved;
use super::instructions;
use super::later;
use super::operands;
use super::operation::{Operation, Step};
use super::program::Program;
use super::registers::{GENERAL, R8, R9, RAX, RCX, RDI, RDX, REGISTERS, RSI, RSP};
use super::state::{Flags, State};
use super::value::{Division, Form, Side, Value};

/// The steps at which a function goes on.
pub(super) enum Next {
    Ends,
    At(u32),
    /// At either step in the same state.
    AtEither(u32, u32),
    /// At the first step in the state, and at the second in the state given.
    Forks(u32, u32, Box<State>),
}

/// What the flags say of a condition.
enum Meaning {
    /// It is true for that side of a division, and false for the other.
    Side(Division, Side),
    /// It compares the ends of a share. It is true for threads with iterations, or for those without.
    Bounds(Division, bool),
    /// It depends on this value.
    Value(Value),
}

pub(super) struct Interpreter {
    /// The function may answer something.
    answers: bool,
    /// A thread without iterations may do something that others notice.
    pub(super) has_other_effects: bool,
}

impl Interpreter {
    pub(super) fn new(answers: bool) -> Interpreter {
        Interpreter { answers, has_other_effects: false }
    }

    /// Changes `state` as step number `number` does.
    pub(super) fn step(
        &mut self,
        program: &Program,
        number: u32,
        state: &mut State,
    ) -> Result<Next, Unproved> {
        let step = &program.steps[number as usize];
        let failed = |why| Unproved { at: step.at, why };
        state.wrote = false;
        let (has_share, diverges) = (state.has_share, state.diverges().is_some());
        let next = self.next(program, number, state).map_err(failed)?;
        let acts = state.wrote || step.callee.is_some_and(Callee::has_effects);
        if diverges && (acts || step.callee.is_some()) {
            return Err(failed("whether others notice something depends on a number"));
        }
        // A path that others join later is examined again.
        self.has_other_effects |= acts && !has_share;
        if state.frame.is_exposed() {
            return Err(failed("a number is in memory that other code may read"));
        }
        Ok(next)
    }

    fn next(
        &mut self,
        program: &Program,
        number: u32,
        state: &mut State,
    ) -> Result<Next, &'static str> {
        let step = &program.steps[number as usize];
        match &step.operation {
            Operation::Jump => Ok(Next::At(step.target)),
            Operation::Return if self.answers => {
                for register in [RAX, RDX, GENERAL, GENERAL + 1] {
                    let value = state.registers.get(register);
                    operands::free(state, value, "a number may be the answer of a function")?;
                }
                Ok(Next::Ends)
            }
            Operation::Return | Operation::Trap => Ok(Next::Ends),
            Operation::Branch(condition) => branch(step, *condition, state),
            Operation::UnknownBranch => Err("a branch is not followed"),
            Operation::Call(target) => {
                if let Some(target) = target {
                    let target = operands::read(state, target)?;
                    operands::free(state, target, operands::USED)?;
                }
                let callee = step.callee.unwrap_or(Callee::Unknown);
                check_arguments(callee, state)?;
                return_from(callee, state)?;
                match (step.handler, callee) {
                    (Some(handler), Callee::NeverReturns) => Ok(Next::At(handler)),
                    (None, Callee::NeverReturns) => Ok(Next::Ends),
                    (Some(handler), _) => Ok(Next::AtEither(step.next, handler)),
                    (None, _) => Ok(Next::At(step.next)),
                }
            }
            Operation::TailCall => {
                check_arguments(step.callee.unwrap_or(Callee::Unknown), state)?;
                Ok(Next::Ends)
            }
            Operation::Set(condition, to, around) => conditional(
                step,
                *condition,
                state,
                |state, holds| instructions::set_byte(state, to, *around, holds),
                |state, value| instructions::set_byte_by(state, to, value),
            ),
            Operation::MoveIf { condition, to, from } => conditional(
                step,
                *condition,
                state,
                |state, holds| instructions::move_if(state, to, from, holds),
                |state, value| instructions::move_by(state, to, from, value),
            ),
            _ => {
                instructions::execute(program, number, state)?;
                Ok(Next::At(step.next))
            }
        }
    }
}

/// Executes an operation whose `condition` says what it does: `select` does so where it is known whether
/// the condition holds, and `select_by` where it depends on a value.
fn conditional(
    step: &Step,
    condition: ConditionCode,
    state: &mut State,
    select: impl Fn(&mut State, bool) -> Result<(), &'static str>,
    select_by: impl Fn(&mut State, Value) -> Result<(), &'static str>,
) -> Result<Next, &'static str> {
    let after = step.next;
    match meaning(state, condition) {
        Meaning::Side(division, side) => {
            let (yes, no) = sides(state, division, side);
            let mut fork = None;
            for (path, holds) in [(yes, true), (no, false)] {
                let Some(mut path) = path else { continue };
                select(&mut path, holds)?;
                match fork.take() {
                    None => fork = Some((path, None)),
                    Some((first, _)) => fork = Some((first, Some(path))),
                }
            }
            let Some((first, second)) = fork else { return Ok(Next::Ends) };
            *state = first;
            Ok(match second {
                Some(second) => Next::Forks(after, after, Box::new(second)),
                None => Next::At(after),
            })
        }
        Meaning::Bounds(..) => {
            let value = state.of_flags(state.flags);
            select_by(state, value)?;
            Ok(Next::At(after))
        }
        Meaning::Value(value) => {
            select_by(state, value)?;
            Ok(Next::At(after))
        }
    }
}

/// The states of both sides, of which one may be known to be impossible.
fn sides(state: &State, division: Division, holds_for: Side) -> (Option<State>, Option<State>) {
    let other = if holds_for == Side::Below { Side::NotBelow } else { Side::Below };
    let known = state.side_of(division);
    let on = |side: Side| {
        if known.is_some_and(|known| known != side) {
            return None;
        }
        let mut state = state.clone();
        match known {
            None => state.take_side(division, side),
            // The code may tell the sides apart again for another loop, or for something else.
            Some(_) => state.bounds &= !division.bit(),
        }
        Some(state)
    };
    (on(holds_for), on(other))
}

fn branch(step: &Step, condition: ConditionCode, state: &mut State) -> Result<Next, &'static str> {
    let (taken, after) = (step.target, step.next);
    match meaning(state, condition) {
        Meaning::Side(division, side) => Ok(match sides(state, division, side) {
            (Some(yes), Some(no)) => {
                *state = no;
                Next::Forks(after, taken, Box::new(yes))
            }
            (Some(yes), None) => {
                *state = yes;
                Next::At(taken)
            }
            (None, Some(no)) => {
                *state = no;
                Next::At(after)
            }
            (None, None) => Next::Ends,
        }),
        Meaning::Bounds(division, has_share) => {
            state.bound(division);
            let mut other = state.clone();
            (state.has_share, other.has_share) = (!has_share, has_share);
            Ok(Next::Forks(after, taken, Box::new(other)))
        }
        Meaning::Value(value) if state.is_free(value) => Ok(Next::AtEither(after, taken)),
        Meaning::Value(_) => Err("a branch depends on a number"),
    }
}

/// The meaning of a condition of the present flags.
fn meaning(state: &State, condition: ConditionCode) -> Meaning {
    let Flags::Compared(one, another) = state.flags else {
        return Meaning::Value(state.of_flags(state.flags));
    };
    let value = || Meaning::Value(state.of_flags(state.flags));
    use ConditionCode as Is;
    // The order of the two for which the condition holds.
    let (less, signed) = match condition {
        Is::l => (Some(true), Some(true)),
        Is::ge => (Some(false), Some(true)),
        Is::b => (Some(true), Some(false)),
        Is::ae => (Some(false), Some(false)),
        _ => (None, None),
    };
    let (more, signed) = match condition {
        Is::g => (Some(true), Some(true)),
        Is::le => (Some(false), Some(true)),
        Is::a => (Some(true), Some(false)),
        Is::be => (Some(false), Some(false)),
        _ => (None, signed),
    };
    // t < r, or r > t.
    let (remainder, below) = match (one, another) {
        (Value::NUMBER, remainder) => (remainder, less),
        (remainder, Value::NUMBER) => (remainder, more),
        _ => (Value::UNKNOWN, None),
    };
    if let (Value::Form(Form { division: Some(division), .. }), Some(below)) = (remainder, below) {
        if remainder == Value::remainder(division) && signed == Some(division.signed) {
            return Meaning::Side(division, if below { Side::Below } else { Side::NotBelow });
        }
    }
    let Some((division, side)) = state.side else { return value() };
    let length = Form::length(division, side);
    let first = Form::first(division, side);
    let Some(end) = first.plus(length, 1) else { return value() };
    let (first, length) = (Value::Form(first), Value::Form(length));
    let order = match (one, another) {
        ends if ends == (first, end) => less,
        ends if ends == (end, first) || ends == (length, Value::Constant(0)) => more,
        _ => return value(),
    };
    // Equal ends are an empty share.
    let order = match condition {
        Is::e => Some(false),
        Is::ne => Some(true),
        _ => order,
    };
    order.map_or_else(value, |has_share| Meaning::Bounds(division, has_share))
}

/// Checks that no number goes to a function.
fn check_arguments(callee: Callee, state: &mut State) -> Result<(), &'static str> {
    let (general, vectors) = later::arguments(callee);
    for register in general.iter().copied().chain(GENERAL..GENERAL + vectors) {
        let value = state.registers.get(register);
        operands::free(state, value, PASSED)?;
    }
    let Value::Frame(top) = state.registers.get(RSP) else { return Err(LOST) };
    if general.len() == later::ARGUMENTS.len()
        && state.frame.arguments(top).any(|value| !state.is_free(value))
    {
        return Err(PASSED);
    }
    Ok(())
}

const PASSED: &str = "a number may be an argument of a call";
const LOST: &str = "the stack pointer is not known";

/// The state after a call.
fn return_from(callee: Callee, state: &mut State) -> Result<(), &'static str> {
    const R10: usize = 10;
    const R11: usize = 11;
    let Value::Frame(top) = state.registers.get(RSP) else { return Err(LOST) };
    let general = [RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11];
    for register in general.into_iter().chain(GENERAL..REGISTERS) {
        // A compiler that knows the called function may rely on registers that it leaves alone.
        let keeps = callee == Callee::Unknown && !state.is_free(state.registers.get(register));
        state.registers.set(register, if keeps { Value::Mixed } else { Value::UNKNOWN });
    }
    match callee {
        Callee::TeamSize => state.registers.set(RAX, Value::TeamSize),
        Callee::ThreadNumber => state.registers.set(RAX, Value::NUMBER),
        _ => {}
    }
    state.flags = Flags::Of(Value::UNKNOWN);
    state.frame.drop_below(top);
    state.frame.forget_names();
    Ok(())
}
