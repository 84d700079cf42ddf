//! The effects of operations that do not jump.

use super::arithmetic::{computed, product, scaled, sum};
use super::later::DIVIDES;
use super::operands::{self, USED, named, place, read, set, store, write};
use super::operation::{FlagsWritten, Operand, Operation, Register, Uses};
use super::program::Program;
use super::registers::{RAX, RBP, RDX, RSP};
use super::state::{Dividend, Flags, State};
use super::value::{Division, Place, Value};

type Done = Result<(), &'static str>;

/// Executes the operation of step number `step`, which has no condition.
pub(super) fn execute(program: &Program, step: u32, state: &mut State) -> Done {
    match &program.steps[step as usize].operation {
        Operation::Nothing => Ok(()),
        Operation::Push(from) => {
            let value = read(state, from)?;
            push(state, value)
        }
        Operation::Pop(to) => {
            let value = pop(state)?;
            set(state, *to, value)
        }
        Operation::Leave => {
            set(state, whole(RSP), state.registers.get(RBP))?;
            let value = pop(state)?;
            set(state, whole(RBP), value)
        }
        Operation::Move { to, from, wide } => {
            // Names say which divisions have the same dividend.
            let value = if program.later[step as usize] & DIVIDES != 0 {
                named(state, from, *wide, step)?
            } else {
                read(state, from)?
            };
            write(state, to, value)
        }
        Operation::Extend { to, from } => {
            let value = read(state, from)?;
            let value = extended(state, value);
            set(state, *to, value)
        }
        Operation::Copy { to, from } => {
            let value = read(state, from)?;
            write(state, to, value)
        }
        Operation::Address { to, base, index, scale, displacement } => {
            let part = |state: &State, register: Option<Register>| {
                register.map_or(Value::Constant(0), |register| operands::register(state, register))
            };
            let (base, index) = (part(state, *base), part(state, *index));
            let scaled = scaled(state, index, *scale);
            let value = sum(state, base, scaled, 1);
            let value = sum(state, value, Value::Constant(*displacement), 1);
            set(state, *to, value)
        }
        Operation::Unknown(to) => set(state, *to, Value::UNKNOWN),
        Operation::Clear(to) => {
            state.flags = Flags::Of(Value::Constant(0));
            write(state, to, Value::Constant(0))
        }
        Operation::Align => align(state),
        Operation::Add(to, from) => {
            let (one, another) = (read(state, to)?, read(state, from)?);
            let value = sum(state, one, another, 1);
            state.flags = Flags::Of(value);
            write(state, to, value)
        }
        Operation::Subtract(to, from) => {
            let (one, another) = (read(state, to)?, read(state, from)?);
            let value = sum(state, one, another, -1);
            state.flags = Flags::Compared(one, another);
            write(state, to, value)
        }
        Operation::Step(to, by) => {
            let value = read(state, to)?;
            let value = sum(state, value, Value::Constant(*by), 1);
            // The carry flag stays.
            let flags = state.of_flags(state.flags);
            state.flags = Flags::Of(state.computed([value, flags]));
            write(state, to, value)
        }
        Operation::Negate(to) => {
            let value = read(state, to)?;
            let value = scaled(state, value, -1);
            state.flags = Flags::Of(value);
            write(state, to, value)
        }
        Operation::Shift(to, factor) => {
            let value = read(state, to)?;
            let value = match factor {
                Some(factor) => scaled(state, value, *factor),
                None => computed(state, [value]),
            };
            state.flags = Flags::Of(value);
            write(state, to, value)
        }
        Operation::Multiply { to, one, another } => {
            let (one, another) = (read(state, one)?, read(state, another)?);
            let value = product(state, one, another);
            state.flags = Flags::Of(state.computed([value]));
            write(state, to, value)
        }
        Operation::Sign { wide } => {
            let value = sign(state, *wide);
            set(state, whole(RDX), value)
        }
        Operation::Divide { by, wide, division, uses } => {
            let by = read(state, by)?;
            match division {
                Some(division) if by == Value::TeamSize => {
                    divide(program, uses, *division, *wide, state)
                }
                _ => other(program, uses, state),
            }
        }
        Operation::Compare(one, another) => {
            let (one, another) = (read(state, one)?, read(state, another)?);
            state.flags = Flags::Compared(one, another);
            Ok(())
        }
        Operation::Other(uses) => other(program, uses, state),
        _ => Err("an operation has a condition"),
    }
}

/// A general register of 64 bits.
fn whole(register: usize) -> Register {
    Register { index: register as u8, size: 8 }
}

/// Executes a `set` of a byte whose condition `holds` or not. A register that was cleared before has the
/// byte as its value; otherwise the byte alone is known.
pub(super) fn set_byte(
    state: &mut State,
    to: &Operand,
    around: Option<Register>,
    holds: bool,
) -> Done {
    if let Some(around) = around {
        if operands::register(state, around) == Value::Constant(0) {
            return set(state, around, Value::Constant(i64::from(holds)));
        }
    }
    write(state, to, Value::UNKNOWN)
}

/// As [`set_byte`], for a condition that depends on `condition`.
pub(super) fn set_byte_by(state: &mut State, to: &Operand, condition: Value) -> Done {
    let value = state.computed([condition]);
    write(state, to, value)
}

/// Executes a conditional move whose condition `holds` or not.
pub(super) fn move_if(state: &mut State, to: &Operand, from: &Operand, holds: bool) -> Done {
    let value = read(state, if holds { from } else { to })?;
    write(state, to, value)
}

/// As [`move_if`], for a condition that depends on `condition`.
pub(super) fn move_by(state: &mut State, to: &Operand, from: &Operand, condition: Value) -> Done {
    let (one, another) = (read(state, to)?, read(state, from)?);
    let value = if one == another && state.is_free(condition) {
        one
    } else {
        computed(state, [one, another, condition])
    };
    write(state, to, value)
}

fn push(state: &mut State, value: Value) -> Done {
    let Value::Frame(top) = state.registers.get(RSP) else { return Err(LOST) };
    let top = Place { offset: top.offset - 8, ..top };
    state.registers.set(RSP, Value::Frame(top));
    store(state, Some(top), 8, value)
}

fn pop(state: &mut State) -> Result<Value, &'static str> {
    let Value::Frame(top) = state.registers.get(RSP) else { return Err(LOST) };
    let value = state.frame.load(top, 8);
    set(state, whole(RSP), Value::Frame(Place { offset: top.offset + 8, ..top }))?;
    Ok(value)
}

const LOST: &str = "the stack pointer is not known";

/// The value with its sign extended to 64 bits.
fn extended(state: &mut State, value: Value) -> Value {
    match value {
        Value::TeamSize | Value::NUMBER | Value::Constant(_) => value,
        // Parts of a share are below N, which has a sign bit of its own if the division has.
        Value::Form(form) if form.division.is_some_and(|division| division.signed) => value,
        value => computed(state, [value]),
    }
}

/// `and rsp, -64`: the words of the frame from here on have offsets from the new stack pointer.
fn align(state: &mut State) -> Done {
    let Value::Frame(Place { aligned: false, offset }) = state.registers.get(RSP) else {
        return Err(LOST);
    };
    if !state.frame.align(offset) {
        return Err(LOST);
    }
    state.registers.set(RSP, Value::Frame(Place { aligned: true, offset: 0 }));
    state.flags = Flags::Of(Value::UNKNOWN);
    Ok(())
}

/// The upper half of a signed dividend whose lower half is in `rax`.
fn sign(state: &mut State, wide: bool) -> Value {
    match state.registers.get(RAX) {
        Value::Plain(Some(id)) if id.wide == wide => Value::Sign(id),
        Value::Constant(constant) => Value::Constant(constant >> 63),
        value => computed(state, [value]),
    }
}

/// Divides by the size of the team.
fn divide(
    program: &Program,
    uses: &Uses,
    division: Division,
    wide: bool,
    state: &mut State,
) -> Done {
    let (low, high) = (state.registers.get(RAX), state.registers.get(RDX));
    // All threads of a team have the same loop, so a number that is free is the same for all of them.
    if !state.is_free(low) || !state.is_free(high) {
        return other(program, uses, state);
    }
    let is_known = |value: Value| match value {
        Value::Plain(Some(id)) => id.wide == wide,
        Value::Sign(_) | Value::Constant(_) => true,
        _ => false,
    };
    let known = state
        .dividend
        .filter(|of| of.division.signed == division.signed && (of.low, of.high) == (low, high));
    let division = match known {
        Some(of) => of.division,
        None => {
            state.restart(division);
            state.dividend =
                (is_known(low) && is_known(high)).then_some(Dividend { division, low, high });
            division
        }
    };
    state.registers.set(RAX, Value::quotient(division));
    state.registers.set(RDX, Value::remainder(division));
    state.flags = Flags::Of(Value::UNKNOWN);
    Ok(())
}

/// An instruction of which only the registers and the memory are known that it reads and writes.
fn other(program: &Program, uses: &Uses, state: &mut State) -> Done {
    if !state.registers.knows(uses.read) && !uses.reads_flags && state.diverges().is_none() {
        // Nothing is known of the values that it reads, and it does not access the frame.
        if uses.stores {
            state.frame.forget_names();
            state.wrote = true;
        }
        state.registers.forget(uses.written);
        set_flags(state, uses.flags, Value::UNKNOWN);
        return Ok(());
    }
    let accesses = &program.accesses[uses.accesses.0 as usize..uses.accesses.1 as usize];
    let registers = &program.registers[uses.registers.0 as usize..uses.registers.1 as usize];
    // Addresses must not have numbers.
    for access in accesses {
        let place = place(state, &access.memory)?;
        if place.is_some() && (access.memory.size == 0 || access.repeats) {
            state.frame.escape();
        }
    }
    let mut value = Value::UNKNOWN;
    for used in registers.iter().filter(|used| used.reads) {
        let input = operands::register(state, used.register);
        if let (Value::Frame(_), true) = (input, used.is_value) {
            state.frame.escape();
        }
        value = state.with(value, input);
    }
    for access in accesses.iter().filter(|access| access.reads && access.memory.size > 0) {
        if let Some(place) = place(state, &access.memory)? {
            let input = state.frame.load(place, access.memory.size);
            value = state.with(value, input);
        }
    }
    if uses.reads_flags {
        value = state.with(value, state.of_flags(state.flags));
    }
    for access in accesses.iter().filter(|access| access.writes) {
        let place = place(state, &access.memory)?.filter(|_| access.memory.size > 0);
        store(state, place, access.memory.size, value)?;
    }
    for used in registers.iter().filter(|used| used.writes) {
        match used.register.place() {
            Some(number) if used.conditional => {
                let before = state.registers.get(number);
                let value = computed(state, [before, value]);
                state.registers.set(number, state.written(value));
            }
            Some(_) => set(state, used.register, value)?,
            None => operands::free(state, value, USED)?,
        }
    }
    set_flags(state, uses.flags, value);
    Ok(())
}

/// Sets flags to those of a result.
fn set_flags(state: &mut State, written: FlagsWritten, value: Value) {
    match written {
        FlagsWritten::None => {}
        FlagsWritten::All => state.flags = Flags::Of(value),
        FlagsWritten::Some => {
            let flags = state.of_flags(state.flags);
            state.flags = Flags::Of(state.computed([value, flags]));
        }
    }
}
