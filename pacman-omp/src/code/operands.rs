//! Operands of instructions: registers, constants, words of the frame and other memory.

use iced_x86::{Instruction, OpKind, Register};

use super::state::{GENERAL, State};
use super::value::{Form, Id, Place, Value};

pub(super) const USED: &str = "a number is used";
const ADDRESSES: &str = "a number is used as an address";
const LOST: &str = "the stack pointer is not known";

/// The place of a general or vector register in a state; `None` for others, which never have numbers.
pub(super) fn index(register: Register) -> Option<usize> {
    let number = register.full_register().number();
    match () {
        () if register.is_gpr() => Some(number),
        () if register.is_vector_register() => Some(GENERAL + number),
        () => None,
    }
}

/// The value of a register.
pub(super) fn register(state: &State, register: Register) -> Value {
    let Some(number) = index(register) else { return Value::UNKNOWN };
    let value = state.registers[number];
    // Parts of a register have no form.
    if register.size() >= 4 { value } else { state.computed([value]) }
}

/// Checks that the value may go to any part of the program.
pub(super) fn free(state: &mut State, value: Value, why: &'static str) -> Result<(), &'static str> {
    if let Value::Frame(_) = value {
        state.frame.escape();
    }
    if state.is_free(value) { Ok(()) } else { Err(why) }
}

/// The place in the frame of an address; `None` for other memory, or for an unknown place in the frame.
pub(super) fn place(
    state: &mut State,
    base: Register,
    index: Register,
    displacement: u64,
) -> Result<Option<Place>, &'static str> {
    let (of_base, of_index) = (register(state, base), register(state, index));
    if !state.is_free(of_base) || !state.is_free(of_index) {
        return Err(ADDRESSES);
    }
    match (of_base, of_index) {
        (Value::Frame(place), _) if index == Register::None => {
            let offset = place.offset.wrapping_add(displacement as i64);
            Ok(Some(Place { offset, ..place }))
        }
        (Value::Frame(_), _) | (_, Value::Frame(_)) => {
            state.frame.escape();
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// The place in the frame of an instruction's memory operand.
pub(super) fn memory(
    state: &mut State,
    instruction: &Instruction,
) -> Result<Option<Place>, &'static str> {
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    place(state, base, index, instruction.memory_displacement64())
}

/// The size in bytes of an operand in a general register, memory or the instruction.
pub(super) fn size(instruction: &Instruction, operand: u32) -> i64 {
    match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size() as i64,
        OpKind::Memory => instruction.memory_size().size() as i64,
        _ => match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().size() as i64,
            _ => instruction.memory_size().size() as i64,
        },
    }
}

/// The value of an operand.
pub(super) fn read(
    state: &mut State,
    instruction: &Instruction,
    operand: u32,
) -> Result<Value, &'static str> {
    match instruction.op_kind(operand) {
        OpKind::Register => Ok(register(state, instruction.op_register(operand))),
        OpKind::Memory => {
            let size = size(instruction, operand);
            Ok(match memory(state, instruction)? {
                Some(place) => state.frame.load(place, size),
                None => Value::UNKNOWN,
            })
        }
        _ => {
            let constant = instruction.immediate(operand);
            Ok(Value::Constant(match size(instruction, operand) {
                4 => i64::from(constant as u32 as i32),
                _ => constant as i64,
            }))
        }
    }
}

/// Writes an operand: a general register or memory.
pub(super) fn write(
    state: &mut State,
    instruction: &Instruction,
    operand: u32,
    value: Value,
) -> Result<(), &'static str> {
    match instruction.op_kind(operand) {
        OpKind::Register => set(state, instruction.op_register(operand), value),
        _ => {
            let place = memory(state, instruction)?;
            store(state, place, size(instruction, operand), value)
        }
    }
}

/// Sets a register, or a part of it.
pub(super) fn set(state: &mut State, to: Register, value: Value) -> Result<(), &'static str> {
    let Some(number) = index(to) else { return free(state, value, USED) };
    let is_stack_pointer = to.full_register() == Register::RSP;
    let value = match (to.size(), value) {
        (8, value) => value,
        (4 | 16.., Value::Frame(_)) => {
            state.frame.escape();
            Value::UNKNOWN
        }
        (4 | 16.., value) => value,
        (_, value) => {
            free_of_frame(state, value);
            let before = state.registers[number];
            free_of_frame(state, before);
            state.computed([before, value])
        }
    };
    state.registers[number] = state.written(value);
    match value {
        Value::Frame(top) if is_stack_pointer => {
            // The 128 bytes below are the function's as well.
            state.frame.drop_below(Place { offset: top.offset - 128, ..top });
            Ok(())
        }
        _ if is_stack_pointer => Err(LOST),
        _ => Ok(()),
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

/// Gives an unknown value of an operand an identity, so that its copies are known to be equal.
pub(super) fn named(
    state: &mut State,
    instruction: &Instruction,
    operand: u32,
) -> Result<Value, &'static str> {
    let value = read(state, instruction, operand)?;
    let wide = size(instruction, operand) == 8;
    match value {
        Value::Plain(Some(id)) if id.wide != wide => return Ok(Value::UNKNOWN),
        Value::Plain(None) if size(instruction, operand) >= 4 => {}
        value => return Ok(value),
    }
    let id = Id { at: instruction.ip(), wide };
    state.retire(id);
    let value = Value::Plain(Some(id));
    match instruction.op_kind(operand) {
        OpKind::Register => {
            if let Some(number) = index(instruction.op_register(operand)) {
                state.registers[number] = value;
            }
        }
        OpKind::Memory => match memory(state, instruction)? {
            Some(place) => state.frame.store(place, size(instruction, operand), value, false),
            None => return Ok(Value::UNKNOWN),
        },
        _ => {}
    }
    Ok(value)
}
