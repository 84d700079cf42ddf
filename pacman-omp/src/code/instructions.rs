//! The effects of instructions that do not jump.

use iced_x86::{
    Instruction, InstructionInfoFactory, Mnemonic as M, OpAccess, OpKind, Register, RflagsBits,
};

use super::arithmetic::{computed, product, scaled, sum};
use super::operands::{self, USED, index, named, read, set, size, store, write};
use super::state::{Dividend, Flags, RAX, RBP, RDX, RSP, State};
use super::value::{Division, Place, Value};

type Done = Result<(), &'static str>;

/// Executes an instruction without a condition.
pub(super) fn execute(
    facts: &mut InstructionInfoFactory,
    instruction: &Instruction,
    state: &mut State,
) -> Done {
    let is_whole = |operand: u32| match instruction.op_kind(operand) {
        OpKind::Register => {
            instruction.op_register(operand).is_gpr() && size(instruction, operand) >= 4
        }
        _ => size(instruction, operand) >= 4,
    };
    let count = instruction.op_count();
    let whole = count > 0 && (0..count).all(is_whole) && !instruction.has_lock_prefix();
    match instruction.mnemonic() {
        // The upper halves of vector registers have nothing that their lower halves lack.
        M::Nop | M::Endbr64 | M::Pause | M::Vzeroupper => Ok(()),
        M::Push if size(instruction, 0) == 8 => {
            let value = read(state, instruction, 0)?;
            push(state, value)
        }
        M::Pop if instruction.op0_kind() == OpKind::Register => {
            let value = pop(state)?;
            set(state, instruction.op0_register(), value)
        }
        M::Leave => {
            set(state, Register::RSP, state.registers[RBP])?;
            let value = pop(state)?;
            set(state, Register::RBP, value)
        }
        M::Mov if whole => {
            let value = named(state, instruction, 1)?;
            write(state, instruction, 0, value)
        }
        M::Movsxd | M::Cdqe => extend(instruction, state),
        M::Movd | M::Movq | M::Vmovd | M::Vmovq if count == 2 && moves_whole(instruction) => {
            let value = read(state, instruction, 1)?;
            write(state, instruction, 0, value)
        }
        M::Lea if whole_lea(instruction) => {
            let value = address(instruction, state);
            set(state, instruction.op0_register(), value)
        }
        M::Xor | M::Sub if is_same(instruction) && whole => {
            state.flags = Flags::Of(Value::Constant(0));
            write(state, instruction, 0, Value::Constant(0))
        }
        M::And if whole && aligns(instruction) => align(instruction, state),
        M::Add if whole => binary(instruction, state, |state, one, another| {
            let value = sum(state, one, another, 1);
            (value, Flags::Of(value))
        }),
        M::Sub if whole => binary(instruction, state, |state, one, another| {
            (sum(state, one, another, -1), Flags::Compared(one, another))
        }),
        M::Inc | M::Dec if whole => {
            let step = if instruction.mnemonic() == M::Inc { 1 } else { -1 };
            let value = read(state, instruction, 0)?;
            let value = sum(state, value, Value::Constant(step), 1);
            // The carry flag stays.
            let flags = state.of_flags(state.flags);
            state.flags = Flags::Of(state.computed([value, flags]));
            write(state, instruction, 0, value)
        }
        M::Neg if whole => {
            let value = read(state, instruction, 0)?;
            let value = scaled(state, value, -1);
            state.flags = Flags::Of(value);
            write(state, instruction, 0, value)
        }
        M::Shl if instruction.op1_kind() == OpKind::Immediate8 && is_whole(0) => {
            let value = read(state, instruction, 0)?;
            let value = match instruction.immediate8() {
                count @ ..=30 => scaled(state, value, 1 << count),
                _ => computed(state, [value]),
            };
            state.flags = Flags::Of(value);
            write(state, instruction, 0, value)
        }
        M::Imul if whole && count >= 2 => {
            let one = read(state, instruction, count - 2)?;
            let another = read(state, instruction, count - 1)?;
            let value = product(state, one, another);
            state.flags = Flags::Of(state.computed([value]));
            write(state, instruction, 0, value)
        }
        M::Cdq | M::Cqo => {
            let value = sign(state, instruction.mnemonic() == M::Cqo);
            set(state, Register::RDX, value)
        }
        M::Div | M::Idiv if whole => divide(facts, instruction, state),
        M::Cmp if whole => {
            let (one, another) = (read(state, instruction, 0)?, read(state, instruction, 1)?);
            state.flags = Flags::Compared(one, another);
            Ok(())
        }
        M::Test if whole && is_same(instruction) => {
            let value = read(state, instruction, 0)?;
            state.flags = Flags::Compared(value, Value::Constant(0));
            Ok(())
        }
        _ => other(facts, instruction, state),
    }
}

/// Executes a conditional move or `set` whose condition `holds` or not.
pub(super) fn select(state: &mut State, instruction: &Instruction, holds: bool) -> Done {
    if instruction.op_count() == 1 {
        // The rest of the register stays, and the byte alone is known.
        let value = match operands::read(state, instruction, 0)? {
            value if instruction.op0_kind() != OpKind::Register => value,
            _ => operands::register(state, instruction.op0_register().full_register()),
        };
        let byte = Value::Constant(i64::from(holds));
        // A register that was cleared before has the byte as its value.
        if value == Value::Constant(0) {
            return set(state, instruction.op0_register().full_register(), byte);
        }
        return write(state, instruction, 0, Value::UNKNOWN);
    }
    let value = read(state, instruction, u32::from(holds))?;
    write(state, instruction, 0, value)
}

/// As [`select`], for a condition that depends on `condition`.
pub(super) fn select_by(state: &mut State, instruction: &Instruction, condition: Value) -> Done {
    if instruction.op_count() == 1 {
        let value = state.computed([condition]);
        return write(state, instruction, 0, value);
    }
    let (one, another) = (read(state, instruction, 0)?, read(state, instruction, 1)?);
    let value = if one == another && state.is_free(condition) {
        one
    } else {
        computed(state, [one, another, condition])
    };
    write(state, instruction, 0, value)
}

fn push(state: &mut State, value: Value) -> Done {
    let Value::Frame(top) = state.registers[RSP] else { return Err(LOST) };
    let top = Place { offset: top.offset - 8, ..top };
    state.registers[RSP] = Value::Frame(top);
    store(state, Some(top), 8, value)
}

fn pop(state: &mut State) -> Result<Value, &'static str> {
    let Value::Frame(top) = state.registers[RSP] else { return Err(LOST) };
    let value = state.frame.load(top, 8);
    set(state, Register::RSP, Value::Frame(Place { offset: top.offset + 8, ..top }))?;
    Ok(value)
}

const LOST: &str = "the stack pointer is not known";

fn is_same(instruction: &Instruction) -> bool {
    instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

fn binary(
    instruction: &Instruction,
    state: &mut State,
    compute: impl FnOnce(&mut State, Value, Value) -> (Value, Flags),
) -> Done {
    let (one, another) = (read(state, instruction, 0)?, read(state, instruction, 1)?);
    let (value, flags) = compute(state, one, another);
    state.flags = flags;
    write(state, instruction, 0, value)
}

/// Sign extension to 64 bits.
fn extend(instruction: &Instruction, state: &mut State) -> Done {
    let (value, to) = match instruction.mnemonic() {
        M::Cdqe => (state.registers[RAX], Register::RAX),
        _ => (read(state, instruction, 1)?, instruction.op0_register()),
    };
    let value = match value {
        Value::TeamSize | Value::NUMBER | Value::Constant(_) => value,
        // Parts of a share are below N, which has a sign bit of its own if the division has.
        Value::Form(form) if form.division.is_some_and(|division| division.signed) => value,
        value => computed(state, [value]),
    };
    set(state, to, value)
}

/// Whether a move between general and vector registers or memory has all of a general register.
fn moves_whole(instruction: &Instruction) -> bool {
    let is_vector = |operand: u32| {
        instruction.op_kind(operand) == OpKind::Register
            && instruction.op_register(operand).is_xmm()
    };
    let is_other = |operand: u32| match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).is_gpr(),
        kind => kind == OpKind::Memory,
    };
    is_vector(0) && is_other(1) || is_other(0) && is_vector(1)
}

fn whole_lea(instruction: &Instruction) -> bool {
    size(instruction, 0) >= 4 && instruction.memory_base().size() != 4
}

/// The value of an address that is computed and not used.
fn address(instruction: &Instruction, state: &mut State) -> Value {
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    if base == Register::RIP {
        return Value::UNKNOWN;
    }
    let displacement = Value::Constant(instruction.memory_displacement64() as i64);
    let part = |state: &State, register: Register| match register {
        Register::None => Value::Constant(0),
        register => operands::register(state, register),
    };
    let (base, index) = (part(state, base), part(state, index));
    let scaled = scaled(state, index, i64::from(instruction.memory_index_scale()));
    let value = sum(state, base, scaled, 1);
    sum(state, value, displacement, 1)
}

fn aligns(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register && instruction.op0_register() == Register::RSP
}

/// `and rsp, -64`: the words of the frame from here on have offsets from the new stack pointer.
fn align(_: &Instruction, state: &mut State) -> Done {
    let Value::Frame(Place { aligned: false, offset }) = state.registers[RSP] else {
        return Err(LOST);
    };
    if !state.frame.align(offset) {
        return Err(LOST);
    }
    state.registers[RSP] = Value::Frame(Place { aligned: true, offset: 0 });
    state.flags = Flags::Of(Value::UNKNOWN);
    Ok(())
}

/// The upper half of a signed dividend whose lower half is in `rax`.
fn sign(state: &mut State, wide: bool) -> Value {
    match state.registers[RAX] {
        Value::Plain(Some(id)) if id.wide == wide => Value::Sign(id),
        Value::Constant(constant) => Value::Constant(constant >> 63),
        value => computed(state, [value]),
    }
}

fn divide(
    facts: &mut InstructionInfoFactory,
    instruction: &Instruction,
    state: &mut State,
) -> Done {
    let by = read(state, instruction, 0)?;
    let (low, high) = (state.registers[RAX], state.registers[RDX]);
    // All threads of a team have the same loop, so a number that is free is the same for all of them.
    if by != Value::TeamSize || !state.is_free(low) || !state.is_free(high) {
        return other(facts, instruction, state);
    }
    let signed = instruction.mnemonic() == M::Idiv;
    let wide = size(instruction, 0) == 8;
    let is_known = |value: Value| match value {
        Value::Plain(Some(id)) => id.wide == wide,
        Value::Sign(_) | Value::Constant(_) => true,
        _ => false,
    };
    let known = state
        .dividend
        .filter(|of| of.division.signed == signed && (of.low, of.high) == (low, high));
    let division = match known {
        Some(of) => of.division,
        None => {
            let division = Division { at: instruction.ip(), signed };
            state.restart(division);
            state.dividend =
                (is_known(low) && is_known(high)).then_some(Dividend { division, low, high });
            division
        }
    };
    state.registers[RAX] = Value::quotient(division);
    state.registers[RDX] = Value::remainder(division);
    state.flags = Flags::Of(Value::UNKNOWN);
    Ok(())
}

/// The flags that conditions depend on.
const CONDITIONS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::CF | RflagsBits::PF;

/// An instruction of which only the registers and the memory are known that it reads and writes.
fn other(facts: &mut InstructionInfoFactory, instruction: &Instruction, state: &mut State) -> Done {
    let info = facts.info(instruction);
    let reads = |access| {
        use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
        matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
    };
    let writes = |access| {
        use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
        matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
    };
    // The places of all memory, in order; addresses must not have numbers.
    let mut places = Vec::new();
    for memory in info.used_memory() {
        let (base, index) = (memory.base(), memory.index());
        let place = operands::place(state, base, index, memory.displacement())?;
        let bytes = memory.memory_size().size() as i64;
        let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        if place.is_some() && (bytes == 0 || repeats) {
            state.frame.escape();
        }
        places.push((place.filter(|_| bytes > 0), bytes, memory.access()));
    }
    let addresses = |register: Register| {
        let full = register.full_register();
        info.used_memory().iter().any(|memory| {
            memory.base().full_register() == full || memory.index().full_register() == full
        })
    };
    let is_operand = |register: Register| {
        (0..instruction.op_count()).any(|operand| {
            instruction.op_kind(operand) == OpKind::Register
                && instruction.op_register(operand).full_register() == register.full_register()
        })
    };
    let mut inputs = Vec::new();
    for used in info.used_registers().iter().filter(|used| reads(used.access())) {
        let register = used.register();
        let value = operands::register(state, register);
        if let (Value::Frame(_), true) = (value, !addresses(register) || is_operand(register)) {
            state.frame.escape();
        }
        inputs.push(value);
    }
    for (place, bytes, access) in &places {
        if let (Some(place), true) = (place, reads(*access)) {
            inputs.push(state.frame.load(*place, *bytes));
        }
    }
    if instruction.rflags_read() != 0 {
        inputs.push(state.of_flags(state.flags));
    }
    let value = state.computed(inputs);
    for (place, bytes, access) in places {
        if writes(access) {
            store(state, place, bytes, value)?;
        }
    }
    for used in info.used_registers().iter().filter(|used| writes(used.access())) {
        let register = used.register();
        let conditional = used.access() == OpAccess::CondWrite;
        match index(register) {
            Some(number) if conditional => {
                let value = computed(state, [state.registers[number], value]);
                state.registers[number] = state.written(value);
            }
            Some(_) => set(state, register, value)?,
            None => operands::free(state, value, USED)?,
        }
    }
    let modified = instruction.rflags_modified();
    if modified & CONDITIONS == CONDITIONS {
        state.flags = Flags::Of(value);
    } else if modified != 0 {
        let flags = state.of_flags(state.flags);
        state.flags = Flags::Of(state.computed([value, flags]));
    }
    Ok(())
}
