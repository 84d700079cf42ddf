//! The values of the general and vector registers.

use super::value::Value;

/// The number of general registers, and of those with the vector registers behind them.
pub(super) const GENERAL: usize = 16;
pub(super) const REGISTERS: usize = GENERAL + 32;

/// General registers, in the processor's numbering.
pub(super) const RAX: usize = 0;
pub(super) const RCX: usize = 1;
pub(super) const RDX: usize = 2;
pub(super) const RSP: usize = 4;
pub(super) const RBP: usize = 5;
pub(super) const RSI: usize = 6;
pub(super) const RDI: usize = 7;
pub(super) const R8: usize = 8;
pub(super) const R9: usize = 9;

/// Few registers have a value of which anything is known. Copies and joins of states touch only these, and
/// most instructions read none of them.
#[derive(Debug)]
pub(super) struct Registers {
    /// The bits of the registers whose values are not [`Value::UNKNOWN`].
    known: u64,
    /// The values of those registers; the others have old values.
    values: [Value; REGISTERS],
}

impl Registers {
    pub(super) fn new() -> Registers {
        Registers { known: 0, values: [Value::UNKNOWN; REGISTERS] }
    }

    #[inline]
    pub(super) fn get(&self, register: usize) -> Value {
        if self.known >> register & 1 == 0 { Value::UNKNOWN } else { self.values[register] }
    }

    #[inline]
    pub(super) fn set(&mut self, register: usize, value: Value) {
        if value == Value::UNKNOWN {
            self.known &= !(1 << register);
        } else {
            self.known |= 1 << register;
            self.values[register] = value;
        }
    }

    /// Whether one of the registers of these bits has a value of which something is known.
    #[inline]
    pub(super) fn knows(&self, registers: u64) -> bool {
        self.known & registers != 0
    }

    /// Sets the registers of these bits to unknown values.
    #[inline]
    pub(super) fn forget(&mut self, registers: u64) {
        self.known &= !registers;
    }

    /// The registers whose values are known here or in `other`.
    pub(super) fn known_in_either(&self, other: &Registers) -> impl Iterator<Item = usize> + use<> {
        bits(self.known | other.known)
    }

    /// The values of which something is known.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        bits(self.known).map(|register| self.values[register])
    }

    pub(super) fn map(&mut self, new: impl Fn(Value) -> Value) {
        for register in bits(self.known) {
            self.set(register, new(self.values[register]));
        }
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        first
    })
}

impl Clone for Registers {
    fn clone(&self) -> Registers {
        Registers { known: self.known, values: self.values }
    }

    fn clone_from(&mut self, other: &Registers) {
        self.known = other.known;
        bits(other.known).for_each(|register| self.values[register] = other.values[register]);
    }
}

impl PartialEq for Registers {
    fn eq(&self, other: &Registers) -> bool {
        self.known_in_either(other).all(|register| self.get(register) == other.get(register))
    }
}

impl Eq for Registers {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_keep_their_values_until_they_are_forgotten() {
        let mut registers = Registers::new();
        registers.set(RAX, Value::Mixed);
        registers.set(47, Value::TeamSize);
        assert_eq!(
            [RAX, RCX, 47].map(|at| registers.get(at)),
            [Value::Mixed, Value::UNKNOWN, Value::TeamSize]
        );
        assert!(registers.knows(1) && registers.knows(1 << 47) && !registers.knows(1 << RCX));
        let mut copy = Registers::new();
        copy.set(RCX, Value::Constant(1));
        copy.clone_from(&registers);
        assert_eq!(copy, registers);
        registers.forget(1);
        assert_eq!((registers.get(RAX), registers.get(47)), (Value::UNKNOWN, Value::TeamSize));
        assert_ne!(copy, registers);
        registers.map(|_| Value::UNKNOWN);
        assert_eq!(registers, Registers::new());
    }
}
