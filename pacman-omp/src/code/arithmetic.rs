//! Sums, differences and products of abstract values.

use super::state::State;
use super::value::{Form, Place, Value};

/// `one` + `scale`·`another`.
pub(super) fn sum(state: &mut State, one: Value, another: Value, scale: i32) -> Value {
    if let (Value::Frame(place), Value::Constant(constant)) = (one, another) {
        let offset =
            constant.checked_mul(i64::from(scale)).and_then(|c| c.checked_add(place.offset));
        return match offset {
            Some(offset) => Value::Frame(Place { offset, ..place }),
            None => computed(state, [one, another]),
        };
    }
    if let (Value::Constant(_), Value::Frame(_), 1) = (one, another, scale) {
        return sum(state, another, one, 1);
    }
    let form = match (one.form(), another.form()) {
        (Some(one), Some(another)) => one.plus(another, scale),
        _ => None,
    };
    form.unwrap_or_else(|| computed(state, [one, another]))
}

/// `value`·`scale`.
pub(super) fn scaled(state: &mut State, value: Value, scale: i64) -> Value {
    let small = i32::try_from(scale).ok();
    match (value.form(), small) {
        (Some(form), Some(scale)) => {
            let product = Form::default().plus(form, scale);
            product.unwrap_or_else(|| computed(state, [value]))
        }
        _ => computed(state, [value]),
    }
}

/// `one`·`another`.
pub(super) fn product(state: &mut State, one: Value, another: Value) -> Value {
    let by_number = |form: Value| form.form().and_then(Form::times_number);
    match (one, another) {
        (Value::Constant(constant), value) | (value, Value::Constant(constant)) => {
            scaled(state, value, constant)
        }
        (Value::NUMBER, value) | (value, Value::NUMBER) => {
            by_number(value).unwrap_or_else(|| computed(state, [one, another]))
        }
        _ => computed(state, [one, another]),
    }
}

/// The result of any computation. An address of the frame among the values is no longer followed.
pub(super) fn computed<const N: usize>(state: &mut State, values: [Value; N]) -> Value {
    if values.iter().any(|value| matches!(value, Value::Frame(_))) {
        state.frame.escape();
    }
    state.computed(values)
}
