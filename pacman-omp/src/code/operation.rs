//! Instructions in the form in which the proof executes them.
//!
//! A path visits an instruction several times. So the decoder is asked once for each instruction, and all that the
//! execution needs is kept.

use iced_x86::ConditionCode;

use super::callee::Callee;
use super::value::Division;

/// A general or vector register, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// The place in a state, or [`OTHER`](Register::OTHER).
    pub(super) index: u8,
    /// Bytes.
    pub(super) size: u8,
}

/// An operand in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) base: Register,
    pub(super) index: Option<Register>,
    pub(super) displacement: i64,
    /// 0 if unknown.
    pub(super) size: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(Register),
    Memory(Memory),
    Constant(i64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Nothing,
    Push(Operand),
    Pop(Register),
    Leave,
    /// `wide` is false for 32 bits.
    Move {
        to: Operand,
        from: Operand,
        wide: bool,
    },
    /// Extends the sign to 64 bits.
    Extend {
        to: Register,
        from: Operand,
    },
    /// Moves between general and vector registers or memory.
    Copy {
        to: Operand,
        from: Operand,
    },
    /// Computes an address without an access to memory.
    Address {
        to: Register,
        base: Option<Register>,
        index: Option<Register>,
        scale: i64,
        displacement: i64,
    },
    /// Sets a register to an unknown value.
    Unknown(Register),
    Clear(Operand),
    /// Aligns the stack pointer.
    Align,
    Add(Operand, Operand),
    Subtract(Operand, Operand),
    /// Adds 1 or -1.
    Step(Operand, i64),
    Negate(Operand),
    /// Multiplies by a power of two, if that is known.
    Shift(Operand, Option<i64>),
    Multiply {
        to: Operand,
        one: Operand,
        another: Operand,
    },
    /// Sets `rdx` to the sign of `rax`.
    Sign {
        wide: bool,
    },
    Divide {
        by: Operand,
        wide: bool,
        /// `None` if the function has more divisions than are told apart.
        division: Option<Division>,
        uses: Uses,
    },
    Compare(Operand, Operand),
    Other(Uses),
    /// Sets a byte to whether the condition is true. The register around the byte is the second.
    Set(ConditionCode, Operand, Option<Register>),
    MoveIf {
        condition: ConditionCode,
        to: Operand,
        from: Operand,
    },
    Jump,
    Branch(ConditionCode),
    /// A branch that compares by itself.
    UnknownBranch,
    /// A call; indirect calls have the operand with the address.
    Call(Option<Operand>),
    TailCall,
    Return,
    /// Raises an error on purpose.
    Trap,
}

/// The uses of an instruction without rules of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uses {
    /// The bits of registers whose values it reads, also for an address or if it leaves a part of the register
    /// as it was, and of the stack pointer if it writes that.
    pub(super) read: u64,
    /// The bits of registers that it writes.
    pub(super) written: u64,
    pub(super) stores: bool,
    pub(super) reads_flags: bool,
    pub(super) flags: FlagsWritten,
    /// The ranges of its accesses and registers in [`Program`](super::program::Program).
    pub(super) accesses: (u32, u32),
    pub(super) registers: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FlagsWritten {
    None,
    /// Some, and the others stay.
    Some,
    /// All that conditions depend on.
    All,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) memory: Memory,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) repeats: bool,
}

/// A register that an instruction reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) register: Register,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// It is not only a part of an address.
    pub(super) is_value: bool,
    /// It is written under a condition.
    pub(super) conditional: bool,
}

/// An instruction with its place in the control flow.
pub(super) struct Step {
    pub(super) at: u64,
    pub(super) operation: Operation,
    pub(super) callee: Option<Callee>,
    /// Where the function goes on after an exception in the call.
    pub(super) handler: Option<u32>,
    pub(super) next: u32,
    pub(super) target: u32,
    /// Paths may meet before the instruction.
    pub(super) meets: bool,
    /// The number of the place before the instruction, by address, if paths meet or fork there.
    pub(super) place: Option<u32>,
}

impl Register {
    /// The index of other registers, which never have numbers.
    pub(super) const OTHER: u8 = u8::MAX;

    /// The place in a state; `None` for other registers.
    #[inline]
    pub(super) fn place(self) -> Option<usize> {
        (self.index != Register::OTHER).then_some(usize::from(self.index))
    }

    /// Whether a write leaves nothing of the register's value.
    pub(super) fn is_whole(self) -> bool {
        matches!(self.size, 4 | 8 | 16..)
    }

    /// The bit of the register; 0 for other registers.
    pub(super) fn bit(self) -> u64 {
        self.place().map_or(0, |place| 1 << place)
    }
}
