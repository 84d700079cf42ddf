//! What is known before an instruction, on all paths to it.

use super::frame::Frame;
use super::later;
use super::registers::{RSP, Registers};
use super::value::{Division, Form, Id, Side, Value};

/// The result of the latest instruction that set the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    /// They depend on this value.
    Of(Value),
    /// They compare the first value with the second one.
    Compared(Value, Value),
}

/// A division of iterations, with the dividend's halves while these have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dividend {
    pub(super) division: Division,
    pub(super) low: Value,
    pub(super) high: Value,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) registers: Registers,
    pub(super) frame: Frame,
    pub(super) flags: Flags,
    /// The side of the path, from the comparison that tells sides apart to that of the next division.
    pub(super) side: Option<(Division, Side)>,
    /// The [bits](Division::bit) of divisions whose shares were compared with their ends: they are bounds of
    /// loops from then on.
    pub(super) bounds: u64,
    pub(super) dividend: Option<Dividend>,
    /// All paths to here are of threads that have iterations of the latest loop.
    pub(super) has_share: bool,
    /// The latest instruction wrote to memory outside of the frame.
    pub(super) wrote: bool,
}

impl Clone for State {
    fn clone(&self) -> State {
        State { registers: self.registers.clone(), frame: self.frame.clone(), ..*self }
    }

    /// Keeps the memory of the frame, so that a copy of a state costs no allocation.
    fn clone_from(&mut self, other: &State) {
        let State { registers, frame, flags, side, bounds, dividend, has_share, wrote } = other;
        self.registers.clone_from(registers);
        self.frame.clone_from(frame);
        (self.flags, self.side, self.bounds, self.dividend) = (*flags, *side, *bounds, *dividend);
        (self.has_share, self.wrote) = (*has_share, *wrote);
    }
}

/// As [`State::is_free`], on a path with these `bounds` and that side.
fn is_free(value: Value, bounds: u64, side: Option<(Division, Side)>) -> bool {
    let is_bound = |division: Division| bounds & division.bit() != 0;
    let side_of = |division| side.filter(|(of, _)| *of == division).map(|(_, side)| side);
    match value {
        Value::TeamSize | Value::Mixed => false,
        Value::Derived(division) => is_bound(division),
        Value::Form(form) => form
            .division
            .is_some_and(|division| is_bound(division) && form.is_of_share(side_of(division))),
        _ => true,
    }
}

impl State {
    /// A state of which nothing is known.
    fn new() -> State {
        State {
            registers: Registers::new(),
            frame: Frame::default(),
            flags: Flags::Of(Value::UNKNOWN),
            side: None,
            bounds: 0,
            dividend: None,
            has_share: false,
            wrote: false,
        }
    }

    /// The state at the function's entry.
    pub(super) fn entry() -> State {
        let mut state = State::new();
        state.registers.set(RSP, Value::Frame(Frame::ENTRY));
        state
    }

    /// The side of the path for a division.
    pub(super) fn side_of(&self, division: Division) -> Option<Side> {
        self.side.filter(|(of, _)| *of == division).map(|(_, side)| side)
    }

    /// The division whose sides the path tells apart, until the ends of its share are compared.
    pub(super) fn diverges(&self) -> Option<Division> {
        self.side.map(|(division, _)| division).filter(|of| self.bounds & of.bit() == 0)
    }

    /// The value as it is written: what only one side writes depends on the side.
    pub(super) fn written(&self, value: Value) -> Value {
        match (self.diverges(), value) {
            (Some(_), Value::Frame(_)) | (None, _) => value,
            (Some(division), Value::Constant(constant)) => {
                let division = Some(division);
                Value::Form(Form { division, constant, ..Form::default() })
            }
            (Some(division), Value::Plain(_) | Value::Sign(_)) => Value::Derived(division),
            (Some(_), value) => value,
        }
    }

    /// Whether the program may do with the value as it likes: it has nothing of the thread's number
    /// or of the team's size, or it comes from the bounds of a loop.
    pub(super) fn is_free(&self, value: Value) -> bool {
        is_free(value, self.bounds, self.side)
    }

    /// The result of any computation from `values`.
    pub(super) fn computed(&self, values: impl IntoIterator<Item = Value>) -> Value {
        let mut result = Value::UNKNOWN;
        values.into_iter().for_each(|value| result = self.with(result, value));
        result
    }

    /// The result of a computation from `value` and those of which `result` is the result.
    pub(super) fn with(&self, result: Value, value: Value) -> Value {
        if self.is_free(value) {
            return result;
        }
        let of = match value {
            Value::Derived(division) => Some(division),
            Value::Form(form) => form.division.filter(|of| form.is_of_share(self.side_of(*of))),
            _ => None,
        };
        match (result, of) {
            (Value::UNKNOWN, Some(division)) => Value::Derived(division),
            (Value::Derived(before), Some(division)) if before == division => result,
            _ => Value::Mixed,
        }
    }

    /// Replaces each value by `new` of it.
    fn map(&mut self, new: impl Fn(Value) -> Value) {
        self.registers.map(&new);
        self.frame.map(&new);
        self.flags = match self.flags {
            Flags::Of(value) => Flags::Of(new(value)),
            Flags::Compared(one, another) => Flags::Compared(new(one), new(another)),
        };
    }

    /// The value loses its name `id`, because another value gets it.
    pub(super) fn retire(&mut self, id: Id) {
        self.map(|value| match value {
            Value::Plain(Some(known)) if known.step == id.step => Value::UNKNOWN,
            Value::Sign(known) if known.step == id.step => Value::UNKNOWN,
            value => value,
        });
        let is_named = |value: Value| match value {
            Value::Plain(Some(known)) | Value::Sign(known) => known.step == id.step,
            _ => false,
        };
        self.dividend = self.dividend.filter(|of| !is_named(of.low) && !is_named(of.high));
    }

    /// The shares of `division` have new values: those before are gone, or are mixed with others.
    pub(super) fn restart(&mut self, division: Division) {
        let free = self.bounds & division.bit() != 0;
        self.end_side();
        self.map(|value| match value {
            Value::Form(Form { division: Some(of), number: 0, product: 0, .. })
            | Value::Derived(of)
                if of == division && free =>
            {
                Value::UNKNOWN
            }
            Value::Form(Form { division: Some(of), .. }) | Value::Derived(of) if of == division => {
                Value::Mixed
            }
            value => value,
        });
        self.bounds &= !division.bit();
    }

    /// The path goes on for one side of `division`.
    pub(super) fn take_side(&mut self, division: Division, side: Side) {
        self.end_side();
        self.bounds &= !division.bit();
        self.side = Some((division, side));
    }

    /// Forgets the side. Sums that differ between sides are free or mixed from then on.
    fn end_side(&mut self) {
        let Some((division, _)) = self.side else { return };
        let (bounds, side) = (self.bounds, self.side);
        self.map(|value| match value {
            Value::Form(form) if form.division == Some(division) && form.is_of_share(None) => value,
            Value::Form(Form { division: Some(of), .. }) | Value::Derived(of) if of == division => {
                if is_free(value, bounds, side) {
                    Value::UNKNOWN
                } else {
                    Value::Mixed
                }
            }
            value => value,
        });
        self.side = None;
    }

    /// The ends of the share were compared. From here on the share is the bounds of a loop.
    pub(super) fn bound(&mut self, division: Division) {
        self.bounds |= division.bit();
    }

    /// The path of one side is of threads that have iterations.
    pub(super) fn have_share(&mut self) {
        if let Some((division, _)) = self.side {
            self.bound(division);
            self.has_share = true;
        }
    }

    /// Joins the state of another path of the same side. Answers whether this changed the state.
    pub(super) fn join(&mut self, other: &State) -> bool {
        // A change that is not told would end a search too early.
        #[cfg(debug_assertions)]
        let before = self.clone();
        let (bounds, side) = (self.bounds, self.side);
        let joined = |one: Value, another: Value| match () {
            () if one == another => one,
            () if is_free(one, bounds, side) && other.is_free(another) => Value::UNKNOWN,
            () => Value::Mixed,
        };
        let flags = match (self.flags, other.flags) {
            (one, another) if one == another => one,
            (one, another) => Flags::Of(joined(self.of_flags(one), other.of_flags(another))),
        };
        let mut changed = flags != self.flags;
        self.flags = flags;
        let escaped = self.frame.is_escaped();
        for register in self.registers.known_in_either(&other.registers) {
            let (value, another) = (self.registers.get(register), other.registers.get(register));
            if value == another {
                continue;
            }
            if let (Value::Frame(_), _) | (_, Value::Frame(_)) = (value, another) {
                self.frame.escape();
            }
            let joined = joined(value, another);
            changed |= joined != value;
            self.registers.set(register, joined);
        }
        changed |= self.frame.is_escaped() != escaped;
        changed |= self.frame.join(&other.frame, &joined);
        self.bounds &= other.bounds;
        changed |= self.bounds != bounds;
        if self.dividend != other.dividend {
            changed |= self.dividend.take().is_some();
        }
        changed |= self.has_share && !other.has_share;
        self.has_share &= other.has_share;
        #[cfg(debug_assertions)]
        assert_eq!(changed, *self != before);
        changed
    }

    /// Forgets the registers and flags that are not read any more: their bits are not in `later`.
    pub(super) fn forget_dead(&mut self, later: u64) {
        self.registers.forget(!later & later::REGISTERS);
        if later & later::FLAGS == 0 {
            self.flags = Flags::Of(Value::UNKNOWN);
        }
    }

    /// Whether the path has nothing left to prove, if `later` is what may happen: there is no number in the
    /// function, and none is asked for. Nor does it matter any more that threads may have no iterations.
    pub(super) fn is_settled(&self, later: u64) -> bool {
        let free = |value: Value| self.is_free(value);
        later & later::ASKS == 0
            && (self.has_share || later & later::ACTS == 0)
            && self.diverges().is_none()
            && !self.frame.is_spilled()
            && free(self.of_flags(self.flags))
            && self.registers.values().all(free)
            && self.frame.values().all(free)
    }

    /// A value that has all that the flags depend on.
    pub(super) fn of_flags(&self, flags: Flags) -> Value {
        match flags {
            Flags::Of(value) => value,
            Flags::Compared(one, another) => self.computed([one, another]),
        }
    }
}
