//! The tree of an expression, and its text.

use std::fmt;

use super::token;

/// A sum, product, quotient or the like of counts.
///
/// ```
/// use pacman_metrics::language::Expression;
/// let expression: Expression = "1e3*(A.B:c=1 - \"page-faults\")/TSC".parse()?;
/// assert_eq!(expression.to_string(), "1000 * (A.B:c=1 - \"page-faults\") / TSC");
/// assert_eq!(expression.names(), ["A.B:c=1", "page-faults", "TSC"]);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(pub(super) Node);

/// A part of an expression. The parser limits the depth.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A finite number, at least 0.
    Number(f64),
    /// An event or one of [`QUANTITIES`].
    Name(String),
    Binary(Box<Node>, Operator, Box<Node>),
    /// A call with at least one argument; that of a part has two.
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    /// A part over its whole.
    Part,
}

/// Names of quantities of a sample; they are not events.
const QUANTITIES: [&str; 4] = ["TSC", "NANOSECONDS", "BASE_HZ", "CONTEXTS"];

/// Whether a name means a clock or a constant instead of an event, in any case.
pub(super) fn is_quantity(name: &str) -> bool {
    QUANTITIES.iter().any(|quantity| quantity.eq_ignore_ascii_case(name))
}

impl Expression {
    /// Every event and clock, in the order of the text, without duplicates.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.0.collect(&mut names);
        names
    }
}

impl Node {
    fn collect<'n>(&'n self, names: &mut Vec<&'n str>) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) => {
                if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    names.push(name);
                }
            }
            Node::Binary(left, _, right) => {
                left.collect(names);
                right.collect(names);
            }
            Node::Call(_, arguments) => {
                arguments.iter().for_each(|argument| argument.collect(names));
            }
        }
    }

    /// Writes a part, in parentheses if it binds less than `least`.
    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        match self {
            Node::Number(number) => write!(f, "{number}"),
            Node::Name(name) if token::is_bare(name) => f.write_str(name),
            Node::Name(name) => write!(f, "\"{name}\""),
            Node::Binary(left, operator, right) => {
                let binding = operator.binding();
                let enclosed = binding < least;
                if enclosed {
                    f.write_str("(")?;
                }
                left.write(f, binding)?;
                write!(f, " {} ", operator.sign())?;
                // Operators of one rank associate to the left, so the right side needs a higher
                // rank.
                right.write(f, binding + 1)?;
                if enclosed { f.write_str(")") } else { Ok(()) }
            }
            Node::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (at, argument) in arguments.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    argument.write(f, 0)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Operator {
    pub(super) fn sign(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
        }
    }

    fn binding(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide => 2,
        }
    }
}

impl Function {
    pub(super) const ALL: [Function; 3] = [Function::Min, Function::Max, Function::Part];

    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Min => "min",
            Function::Max => "max",
            Function::Part => "part",
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, 0)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 3)
    }
}
