//! Computes the value of an expression, or the reason why it has none.

use super::expression::{Expression, Function, Node, Operator};

/// Counts by name, or the reason why there is none.
pub(super) type Counts<'c> = dyn Fn(&str) -> Result<f64, String> + 'c;

impl Expression {
    /// The value, which may be below 0; the error is a reason.
    pub(super) fn value(&self, count: &Counts<'_>) -> Result<f64, String> {
        self.0.value(count)
    }
}

impl Node {
    fn value(&self, count: &Counts<'_>) -> Result<f64, String> {
        match self {
            Node::Number(number) => Ok(*number),
            Node::Name(name) => count(name),
            Node::Binary(left, operator, right) => {
                let (first, second) = (left.value(count)?, right.value(count)?);
                let value = match operator {
                    Operator::Add => first + second,
                    Operator::Subtract => first - second,
                    Operator::Multiply => first * second,
                    Operator::Divide if second == 0.0 => return Err(format!("{right} is 0")),
                    Operator::Divide => first / second,
                };
                // Both operands are finite, so only an overflow makes the value infinite.
                if value.is_finite() {
                    Ok(value)
                } else {
                    Err(format!("{self} is beyond the largest number"))
                }
            }
            Node::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.value(count));
                let values = values.collect::<Result<Vec<f64>, String>>()?;
                let chosen = match (function, &*values) {
                    (Function::Min, values) => values.iter().copied().reduce(f64::min),
                    (Function::Max, values) => values.iter().copied().reduce(f64::max),
                    (Function::Part, [_, 0.0]) => return Err(format!("{} is 0", arguments[1])),
                    (Function::Part, [part, whole]) if part > whole => {
                        let (one, other) = (&arguments[0], &arguments[1]);
                        return Err(format!("{one} ({part}) is more than {other} ({whole})"));
                    }
                    (Function::Part, [part, whole]) => Some(part / whole),
                    (Function::Part, _) => None,
                };
                match chosen {
                    Some(value) if value.is_finite() => Ok(value),
                    Some(_) => Err(format!("{self} is beyond the largest number")),
                    None => Err(format!("{self} lacks an argument")),
                }
            }
        }
    }
}
