//! Operands of operations: registers, constants, words of the frame and other memory.

use super::operation::{Memory, Operand, Register};
use super::registers::RSP;
use super::state::State;
use super::value::{Form, Id, Place, Value};

pub(super) const USED: &str = "a number is used";
const ADDRESSES: &str = "a number is used as an address";
const LOST: &str = "the stack pointer is not known";

/// The value of a register.
pub(super) fn register(state: &State, register: Register) -> Value {
    let Some(number) = register.place() else { return Value::UNKNOWN };
    let value = state.registers.get(number);
    // Parts of a register have no form.
    if register.size >= 4 { value } else { state.computed([value]) }
}

/// Checks that the value may go to any part of the program.
pub(super) fn free(state: &mut State, value: Value, why: &'static str) -> Result<(), &'static str> {
    if let Value::Frame(_) = value {
        state.frame.escape();
    }
    if state.is_free(value) { Ok(()) } else { Err(why) }
}

/// The place in the frame of an operand in memory; `None` for other memory, or for an unknown place in the
/// frame. Its address must not have a number.
pub(super) fn place(state: &mut State, memory: &Memory) -> Result<Option<Place>, &'static str> {
    let of_base = register(state, memory.base);
    let of_index = memory.index.map(|index| register(state, index));
    if !state.is_free(of_base) || of_index.is_some_and(|value| !state.is_free(value)) {
        return Err(ADDRESSES);
    }
    match (of_base, of_index) {
        (Value::Frame(place), None) => {
            let offset = place.offset.wrapping_add(memory.displacement);
            Ok(Some(Place { offset, ..place }))
        }
        (Value::Frame(_), _) | (_, Some(Value::Frame(_))) => {
            state.frame.escape();
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// The value of an operand.
pub(super) fn read(state: &mut State, operand: &Operand) -> Result<Value, &'static str> {
    Ok(match operand {
        Operand::Register(from) => register(state, *from),
        Operand::Memory(memory) => match place(state, memory)? {
            Some(place) => state.frame.load(place, memory.size),
            None => Value::UNKNOWN,
        },
        Operand::Constant(constant) => Value::Constant(*constant),
    })
}

/// Writes an operand: a register or memory.
pub(super) fn write(state: &mut State, to: &Operand, value: Value) -> Result<(), &'static str> {
    match to {
        Operand::Register(to) => set(state, *to, value),
        Operand::Memory(memory) => {
            let place = place(state, memory)?;
            store(state, place, memory.size, value)
        }
        Operand::Constant(_) => Err("a constant is written"),
    }
}

/// Sets a register, or a part of it.
pub(super) fn set(state: &mut State, to: Register, value: Value) -> Result<(), &'static str> {
    let Some(number) = to.place() else { return free(state, value, USED) };
    let value = match (to.size, value) {
        (8, value) => value,
        (4 | 16.., Value::Frame(_)) => {
            state.frame.escape();
            Value::UNKNOWN
        }
        (4 | 16.., value) => value,
        (_, value) => {
            free_of_frame(state, value);
            let before = state.registers.get(number);
            free_of_frame(state, before);
            state.computed([before, value])
        }
    };
    state.registers.set(number, state.written(value));
    match value {
        _ if number != RSP => Ok(()),
        Value::Frame(top) => {
            // The 128 bytes below are the function's as well.
            state.frame.drop_below(Place { offset: top.offset - 128, ..top });
            Ok(())
        }
        _ => Err(LOST),
    }
}

fn free_of_frame(state: &mut State, value: Value) {
    if let Value::Frame(_) = value {
        state.frame.escape();
    }
}

/// Stores a value in the frame or in other memory.
pub(super) fn store(
    state: &mut State,
    place: Option<Place>,
    size: i64,
    value: Value,
) -> Result<(), &'static str> {
    let value = match value {
        Value::Frame(_) => {
            state.frame.escape();
            Value::UNKNOWN
        }
        value => value,
    };
    let Some(place) = place else {
        state.frame.forget_names();
        state.wrote = true;
        return free(state, value, "a number is stored");
    };
    let value = state.written(value);
    let is_of_share = match value {
        Value::Form(form @ Form { division: Some(division), .. }) => {
            form.is_of_share(state.side_of(division))
        }
        Value::Derived(_) => true,
        _ => false,
    };
    state.frame.store(place, size, value, value.is_tainted() && !is_of_share);
    Ok(())
}

/// Reads an operand of 64 (`wide`) or 32 bits. Gives an unknown value an identity, the number of the `step`,
/// so that its copies are known to be equal.
pub(super) fn named(
    state: &mut State,
    operand: &Operand,
    wide: bool,
    step: u32,
) -> Result<Value, &'static str> {
    let place = match operand {
        Operand::Memory(memory) => match place(state, memory)? {
            Some(place) => Some((place, memory.size)),
            // Other memory may change, so that its value has no name.
            None => return Ok(Value::UNKNOWN),
        },
        _ => None,
    };
    let value = match (operand, place) {
        (_, Some((place, size))) => state.frame.load(place, size),
        (operand, None) => read(state, operand)?,
    };
    match value {
        Value::Plain(Some(id)) if id.wide != wide => return Ok(Value::UNKNOWN),
        Value::Plain(None) => {}
        value => return Ok(value),
    }
    let id = Id { step, wide };
    state.retire(id);
    let value = Value::Plain(Some(id));
    match (operand, place) {
        (_, Some((place, size))) => state.frame.store(place, size, value, false),
        (Operand::Register(register), None) => {
            state.registers.set(usize::from(register.index), value);
        }
        _ => {}
    }
    Ok(value)
}
