//! The events that may follow each step of a function, by one backward data-flow analysis.

use super::callee::Callee;
use super::operation::{FlagsWritten, Memory, Operand, Operation, Register, Step, Uses};
use super::registers::{GENERAL, R8, R9, RAX, RBP, RCX, RDI, RDX, RSI, RSP};

/// The bits of registers are those of their places in a state: such a register may be read before it is
/// written. The bits behind them:
pub(super) const REGISTERS: u64 = (1 << super::registers::REGISTERS) - 1;
/// The flags may be read before they are written.
pub(super) const FLAGS: u64 = 1 << 48;
/// A question may be asked.
pub(super) const ASKS: u64 = 1 << 49;
/// A division may be executed.
pub(super) const DIVIDES: u64 = 1 << 50;
/// Memory may be written, or a function called that does something others notice.
pub(super) const ACTS: u64 = 1 << 51;

/// The general registers that have arguments, in order.
pub(super) const ARGUMENTS: [usize; 6] = [RDI, RSI, RDX, RCX, R8, R9];
/// The vector registers that have arguments.
pub(super) const VECTORS: usize = 8;

/// The bits for each step.
pub(super) fn of(steps: &[Step]) -> Vec<u64> {
    let effects: Vec<(u64, u64)> = steps.iter().map(effects).collect();
    let mut later = vec![0; steps.len()];
    // Most steps go on at the next number, so that one round finds most. The others go back.
    let mut back = Vec::new();
    let before = |later: &[u64], number: usize| {
        let step = &steps[number];
        let from = |step: u32| later.get(step as usize).copied().unwrap_or(0);
        let mut after = from(step.next) | from(step.target);
        if let Some(handler) = step.handler {
            after |= from(handler);
        }
        let (causes, ends) = effects[number];
        causes | after & !ends
    };
    for number in (0..steps.len()).rev() {
        let step = &steps[number];
        let goes_back = |to: u32| to as usize <= number;
        if goes_back(step.next) || goes_back(step.target) || step.handler.is_some_and(goes_back) {
            back.push(number);
        }
        later[number] = before(&later, number);
    }
    while back.iter().any(|number| before(&later, *number) != later[*number]) {
        for number in (0..steps.len()).rev() {
            later[number] = before(&later, number);
        }
    }
    later
}

/// The bits of the step itself, and those of the registers and flags that it writes.
fn effects(step: &Step) -> (u64, u64) {
    let mut effects = Effects::default();
    match &step.operation {
        Operation::Nothing | Operation::Jump | Operation::UnknownBranch | Operation::Trap => {}
        Operation::Push(from) => {
            effects.read(from);
            effects.causes |= bit(RSP);
        }
        Operation::Pop(to) => {
            effects.causes |= bit(RSP);
            effects.set(*to);
        }
        Operation::Leave => {
            effects.causes |= bit(RSP) | bit(RBP);
            effects.ends |= bit(RBP);
        }
        Operation::Move { to, from, .. } | Operation::Copy { to, from } => {
            effects.read(from);
            effects.write(to);
        }
        Operation::Extend { to, from } => {
            effects.read(from);
            effects.set(*to);
        }
        Operation::Address { to, base, index, .. } => {
            let part = |register: &Option<Register>| register.map_or(0, Register::bit);
            effects.causes |= part(base) | part(index);
            effects.set(*to);
        }
        Operation::Unknown(to) => effects.set(*to),
        Operation::Clear(to) => {
            effects.write(to);
            effects.ends |= FLAGS;
        }
        Operation::Align => {
            effects.causes |= bit(RSP);
            effects.ends |= FLAGS;
        }
        Operation::Add(to, from) | Operation::Subtract(to, from) => {
            effects.read(to);
            effects.read(from);
            effects.write(to);
            effects.ends |= FLAGS;
        }
        Operation::Step(to, _) => {
            effects.read(to);
            effects.write(to);
            effects.causes |= FLAGS;
        }
        Operation::Negate(to) | Operation::Shift(to, _) => {
            effects.read(to);
            effects.write(to);
            effects.ends |= FLAGS;
        }
        Operation::Multiply { to, one, another } => {
            effects.read(one);
            effects.read(another);
            effects.write(to);
            effects.ends |= FLAGS;
        }
        Operation::Sign { .. } => {
            effects.causes |= bit(RAX);
            effects.ends |= bit(RDX);
        }
        Operation::Divide { by, uses, .. } => {
            effects.read(by);
            effects.other(uses);
            effects.causes |= bit(RAX) | bit(RDX) | DIVIDES;
        }
        Operation::Compare(one, another) => {
            effects.read(one);
            effects.read(another);
            effects.ends |= FLAGS;
        }
        Operation::Other(uses) => effects.other(uses),
        Operation::Set(_, to, around) => {
            effects.read(to);
            effects.write(to);
            effects.causes |= around.map_or(0, Register::bit) | FLAGS;
        }
        Operation::MoveIf { to, from, .. } => {
            effects.read(to);
            effects.read(from);
            effects.write(to);
            effects.causes |= FLAGS;
        }
        Operation::Branch(_) => effects.causes |= FLAGS,
        Operation::Call(target) => {
            target.iter().for_each(|target| effects.read(target));
            effects.call(step.callee);
            effects.ends |= FLAGS;
        }
        Operation::TailCall => effects.call(step.callee),
        Operation::Return => {
            effects.causes |= bit(RAX) | bit(RDX) | bit(GENERAL) | bit(GENERAL + 1);
        }
    }
    (effects.causes, effects.ends)
}

fn bit(register: usize) -> u64 {
    1 << register
}

#[derive(Default)]
struct Effects {
    causes: u64,
    ends: u64,
}

impl Effects {
    fn memory(&mut self, memory: &Memory) {
        self.causes |= memory.base.bit() | memory.index.map_or(0, Register::bit);
    }

    fn read(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) => self.causes |= register.bit(),
            Operand::Memory(memory) => self.memory(memory),
            Operand::Constant(_) => {}
        }
    }

    fn write(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) => self.set(*register),
            Operand::Memory(memory) => {
                self.memory(memory);
                self.causes |= ACTS;
            }
            Operand::Constant(_) => {}
        }
    }

    fn set(&mut self, register: Register) {
        // A write to a part leaves the rest.
        let set = if register.is_whole() { &mut self.ends } else { &mut self.causes };
        *set |= register.bit();
    }

    fn other(&mut self, uses: &Uses) {
        self.causes |= uses.read;
        // Registers that keep a part are among those read.
        self.ends |= uses.written;
        self.causes |= if uses.stores { ACTS } else { 0 };
        match uses.flags {
            FlagsWritten::All if !uses.reads_flags => self.ends |= FLAGS,
            FlagsWritten::None if !uses.reads_flags => {}
            _ => self.causes |= FLAGS,
        }
    }

    fn call(&mut self, callee: Option<Callee>) {
        let callee = callee.unwrap_or(Callee::Unknown);
        let (general, vectors) = arguments(callee);
        self.causes |= general.iter().fold(bit(RSP), |all, register| all | bit(*register));
        self.causes |= (GENERAL..GENERAL + vectors).fold(0, |all, register| all | bit(register));
        if let Callee::TeamSize | Callee::ThreadNumber = callee {
            self.causes |= ASKS;
        }
        if callee.has_effects() {
            self.causes |= ACTS;
        }
    }
}

/// The general registers, and the number of vector registers, that may have arguments of a function.
pub(super) fn arguments(callee: Callee) -> (&'static [usize], usize) {
    match callee {
        Callee::TeamSize | Callee::ThreadNumber => (&[], 0),
        Callee::Takes(count) => (&ARGUMENTS[..count], 0),
        Callee::TakesVectors => (&[], VECTORS),
        Callee::Imported | Callee::NeverReturns | Callee::Unknown => (&ARGUMENTS, VECTORS),
    }
}
