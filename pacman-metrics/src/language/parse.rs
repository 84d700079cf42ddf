//! Parses the words of an expression into its tree.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = part (("*" | "/") part)*
//! part    = NUMBER | NAME | "(" sum ")" | ("min" | "max") "(" sum ("," sum)* ")"
//! ```

use std::str::FromStr;

use super::expression::{Expression, Function, Node, Operator};
use super::token::{Token, tokens};
use pacman_events::{Error, ErrorKind};

/// Reads an expression; the error is a reason.
pub(super) fn expression(text: &str) -> Result<Expression, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: tokens.into_iter().peekable() };
    let node = parser.sum()?;
    match parser.tokens.next() {
        None => Ok(Expression(node)),
        Some(Token::Sign(')')) => Err("there is a ) without its (".into()),
        Some(token) => Err(format!("an operator is expected before {}", shown(&token))),
    }
}

impl FromStr for Expression {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidInput`], with the reason, for text that is not an expression.
    fn from_str(text: &str) -> Result<Expression, Error> {
        expression(text).map_err(|reason| {
            Error::new(ErrorKind::InvalidInput, format!("cannot read {text:?}: {reason}"))
        })
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser {
    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[Operator::Add, Operator::Subtract]) {
            left = Node::Binary(Box::new(left), operator, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.part()?;
        while let Some(operator) = self.operator(&[Operator::Multiply, Operator::Divide]) {
            left = Node::Binary(Box::new(left), operator, Box::new(self.part()?));
        }
        Ok(left)
    }

    fn operator(&mut self, wanted: &[Operator]) -> Option<Operator> {
        let Some(Token::Sign(sign)) = self.tokens.peek() else { return None };
        let found = wanted.iter().copied().find(|operator| operator.sign() == *sign)?;
        self.tokens.next();
        Some(found)
    }

    fn part(&mut self) -> Result<Node, String> {
        match self.tokens.next() {
            Some(Token::Number(number)) => Ok(Node::Number(number)),
            Some(Token::Name(name)) => Ok(Node::Name(name)),
            Some(Token::Sign('(')) => {
                let inside = self.sum()?;
                self.close("(")?;
                Ok(inside)
            }
            Some(Token::Call(name)) => self.call(&name),
            Some(token) => {
                Err(format!("a number, an event or ( is expected where {} stands", shown(&token)))
            }
            None => Err("it ends where a number, an event or ( is expected".into()),
        }
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let Some(function) = Function::ALL.into_iter().find(|known| known.name() == name) else {
            let near = pacman_events::nearest(name, Function::ALL.iter().map(|one| one.name()));
            let hint = near.first().map_or(String::new(), |near| format!("; nearest: {near}"));
            return Err(format!("there is no function {name}, only min, max and part{hint}"));
        };
        let mut arguments = vec![self.sum()?];
        while self.tokens.next_if_eq(&Token::Sign(',')).is_some() {
            arguments.push(self.sum()?);
        }
        self.close(name)?;
        if function == Function::Part && arguments.len() != 2 {
            return Err("part takes two: the part and the whole".into());
        }
        Ok(Node::Call(function, arguments))
    }

    fn close(&mut self, opened: &str) -> Result<(), String> {
        match self.tokens.next() {
            Some(Token::Sign(')')) => Ok(()),
            Some(token) => Err(format!("an operator or ) is expected before {}", shown(&token))),
            None => Err(format!("the ) of {opened} is missing")),
        }
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Number(number) => number.to_string(),
        Token::Name(name) => name.clone(),
        Token::Call(name) => format!("{name}("),
        Token::Sign(sign) => sign.to_string(),
    }
}
