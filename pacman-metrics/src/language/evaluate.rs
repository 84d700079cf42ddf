//! Computes the value of an expression, or the reason why it has none.

use super::expression::{Expression, Function, Node, Operator};

impl Expression {
    /// The value, which may be below 0; the error is a reason.
    pub(super) fn value(&self, count: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
        self.0.value(count)
    }
}

impl Node {
    fn value(&self, count: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
        match self {
            Node::Number(number) => Ok(*number),
            Node::Name(name) => count(name)
                .map(|count| count as f64)
                .ok_or_else(|| format!("{name} was not counted")),
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
                let choose: fn(f64, f64) -> f64 = match function {
                    Function::Min => f64::min,
                    Function::Max => f64::max,
                };
                let values = arguments.iter().map(|argument| argument.value(count));
                let chosen = values.reduce(|one, other| Ok(choose(one?, other?)));
                chosen.unwrap_or_else(|| Err(format!("{self} has no arguments")))
            }
        }
    }
}
