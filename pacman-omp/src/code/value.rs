//! The abstract values of the proof.

/// A division of a number of iterations by the size of the team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// The number of its instruction among the function's divisions, by address.
    pub(super) number: u8,
    /// Whether it is a division of signed numbers.
    pub(super) signed: bool,
}

/// Which threads a path is for: those whose number is below the remainder of a division get one
/// iteration more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    NotBelow,
}

/// A name for an unknown value, by the step that gave it: equal names are equal values. `wide` is false if
/// only the lower half is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) step: u32,
    pub(super) wide: bool,
}

/// The value of a register or a word of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Not known, and computed from neither the number of the thread nor the size of the team.
    Plain(Option<Id>),
    /// The sign of a named value, in every bit.
    Sign(Id),
    Constant(i64),
    /// An address in the function's frame.
    Frame(Place),
    /// The answer for the size of the team.
    TeamSize,
    /// A sum of the thread's number and parts of its share.
    Form(Form),
    /// Computed from the share of one division.
    Derived(Division),
    /// Computed from numbers in any other way.
    Mixed,
}

/// An address in the frame: the offset from the stack pointer at the function's entry, or from the
/// stack pointer where the function aligned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) aligned: bool,
    pub(super) offset: i64,
}

/// `number`·t + `quotient`·q + `remainder`·r + `product`·q·t + `constant`, where t is the thread's number,
/// q = N / n and r = N % n for the iterations N of `division` and the size n of the team.
///
/// There is a division if one of the last three factors is not 0. A constant with a division is one that
/// only one side of the division has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) division: Option<Division>,
    pub(super) number: i32,
    pub(super) quotient: i32,
    pub(super) remainder: i32,
    pub(super) product: i32,
    pub(super) constant: i64,
}

impl Value {
    pub(super) const UNKNOWN: Value = Value::Plain(None);

    /// The thread's number.
    pub(super) const NUMBER: Value = Value::Form(Form {
        division: None,
        number: 1,
        quotient: 0,
        remainder: 0,
        product: 0,
        constant: 0,
    });

    pub(super) fn quotient(division: Division) -> Value {
        Value::Form(Form { division: Some(division), quotient: 1, ..Form::default() })
    }

    pub(super) fn remainder(division: Division) -> Value {
        Value::Form(Form { division: Some(division), remainder: 1, ..Form::default() })
    }

    /// Whether it is computed from a number of the thread or the team.
    pub(super) fn is_tainted(self) -> bool {
        match self {
            Value::Plain(_) | Value::Sign(_) | Value::Constant(_) | Value::Frame(_) => false,
            Value::TeamSize | Value::Form(_) | Value::Derived(_) | Value::Mixed => true,
        }
    }

    /// The value as a sum, if it is one.
    pub(super) fn form(self) -> Option<Form> {
        match self {
            Value::Form(form) => Some(form),
            Value::Constant(constant) => Some(Form { constant, ..Form::default() }),
            _ => None,
        }
    }
}

impl Division {
    /// The most divisions of a function that are told apart.
    pub(super) const MOST: usize = 64;

    /// The division's bit in a set.
    pub(super) fn bit(self) -> u64 {
        1 << self.number
    }
}

impl Form {
    /// A sum without factors or a division is a constant.
    fn normal(self) -> Value {
        if self == (Form { constant: self.constant, ..Form::default() }) {
            return Value::Constant(self.constant);
        }
        Value::Form(self)
    }

    /// `self` + `scale`·`other`; `None` if it has no form.
    pub(super) fn plus(self, other: Form, scale: i32) -> Option<Value> {
        let division = match (self.division, other.division) {
            (Some(one), Some(another)) if one != another => return None,
            (one, another) => one.or(another),
        };
        let sum = |one: i32, another: i32| one.checked_add(another.checked_mul(scale)?);
        let constant = other.constant.checked_mul(i64::from(scale))?;
        let form = Form {
            division,
            number: sum(self.number, other.number)?,
            quotient: sum(self.quotient, other.quotient)?,
            remainder: sum(self.remainder, other.remainder)?,
            product: sum(self.product, other.product)?,
            constant: self.constant.checked_add(constant)?,
        };
        Some(form.normal())
    }

    /// The product of the thread's number and the length of a share: q, or q + 1.
    pub(super) fn times_number(self) -> Option<Value> {
        let division = self.division?;
        let length = Form { division: Some(division), quotient: 1, ..Form::default() };
        match self.constant {
            0 if self == length => Some(Value::Form(Form { quotient: 0, product: 1, ..length })),
            1 if self == (Form { constant: 1, ..length }) => {
                Some(Value::Form(Form { quotient: 0, product: 1, number: 1, ..length }))
            }
            _ => None,
        }
    }

    /// The length of a share on one side of `division`.
    pub(super) fn length(division: Division, side: Side) -> Form {
        let constant = i64::from(side == Side::Below);
        Form { division: Some(division), quotient: 1, constant, ..Form::default() }
    }

    /// The first iteration of a share on one side of `division`: (q + 1)·t or q·t + r.
    pub(super) fn first(division: Division, side: Side) -> Form {
        let (number, remainder) = if side == Side::Below { (1, 0) } else { (0, 1) };
        Form { division: Some(division), product: 1, number, remainder, ..Form::default() }
    }

    /// Whether the form has the thread's number only as GCC's shares have it, on that side or, without
    /// one, before the comparison that tells the sides apart.
    pub(super) fn is_of_share(self, side: Option<Side>) -> bool {
        self.division.is_some()
            && match side {
                Some(Side::Below) => self.number == self.product,
                Some(Side::NotBelow) => self.number == 0,
                None => self.number == 0 && self.product == 0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVISION: Division = Division { number: 1, signed: true };

    /// The value of a form for a thread `t` of `n` and `total` iterations.
    fn evaluate(form: Form, t: i64, n: i64, total: i64) -> i64 {
        let (q, r) = (total / n, total % n);
        i64::from(form.number) * t
            + i64::from(form.quotient) * q
            + i64::from(form.remainder) * r
            + i64::from(form.product) * q * t
            + form.constant
    }

    #[test]
    fn shares_of_all_threads_are_all_iterations_in_order() {
        for (n, total) in (1..10).flat_map(|n| (0..40).map(move |total| (n, total))) {
            let mut next = 0;
            for t in 0..n {
                let side = if t < total % n { Side::Below } else { Side::NotBelow };
                let first = Form::first(DIVISION, side);
                assert_eq!(evaluate(first, t, n, total), next, "{t} of {n}, {total} iterations");
                next += evaluate(Form::length(DIVISION, side), t, n, total);
            }
            assert_eq!(next, total, "{n} threads");
        }
    }

    #[test]
    fn sums_are_computed_and_keep_their_division() {
        let share = |side| Form::first(DIVISION, side);
        let length = Form::length(DIVISION, Side::Below);
        let product = length.times_number().and_then(Value::form).expect("q·t + t");
        assert_eq!(product, share(Side::Below));
        let number = product.plus(Form { number: 0, ..product }, -1).and_then(Value::form);
        let number = number.expect("a difference of parts of a share");
        for side in [None, Some(Side::Below), Some(Side::NotBelow)] {
            assert!(!number.is_of_share(side), "{number:?} is the thread's number");
        }
        let other = Form { division: Some(Division { number: 2, signed: true }), ..length };
        assert_eq!(length.plus(other, 1), None);
        let none = Form { division: Some(DIVISION), ..Form::default() };
        assert_eq!(length.plus(length, -1), Some(Value::Form(none)));
        let two = Form { constant: 2, ..Form::default() };
        assert_eq!(two.plus(two, -1), Some(Value::Constant(0)));
        assert_eq!(length.plus(Form { constant: i64::MAX, ..Form::default() }, 1), None);
        assert_eq!(share(Side::Below).times_number(), None);
    }

    #[test]
    fn a_number_beside_a_share_is_not_of_the_share() {
        let first = Form::first(DIVISION, Side::NotBelow);
        assert!(first.is_of_share(Some(Side::NotBelow)) && !first.is_of_share(None));
        assert!(!Form { number: 1, ..first }.is_of_share(Some(Side::NotBelow)));
        let below = Form::first(DIVISION, Side::Below);
        assert!(below.is_of_share(Some(Side::Below)));
        assert!(!Form { number: 2, ..below }.is_of_share(Some(Side::Below)));
        assert!(!Form { number: 1, ..Form::default() }.is_of_share(None), "the number alone");
    }
}
