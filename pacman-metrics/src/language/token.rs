//! The words of an expression.

use pacman_events::shown;

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    /// A bare name with `(` behind it, which is part of the token.
    Call(String),
    /// One of `+ - * / ( ) ,`.
    Sign(char),
}

/// Whether a name needs no quotes: a letter or `_`, then letters, digits and `_ . : =`.
pub(super) fn is_bare(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(continues_name)
}

/// Splits an expression into its words; the error is a reason.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() == MOST_TOKENS {
            return Err(format!(
                "an expression has at most {MOST_TOKENS} words, and this has more"
            ));
        }
        let (token, after) = match first {
            '+' | '-' | '*' | '/' | '(' | ')' | ',' => (Token::Sign(first), &rest[1..]),
            '"' => quoted(&rest[1..])?,
            '.' => number(rest)?,
            digit if digit.is_ascii_digit() => number(rest)?,
            letter if begins_name(letter) => bare(rest),
            other => return Err(unknown(other)),
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn quoted(rest: &str) -> Result<(Token, &str), String> {
    let Some((name, after)) = rest.split_once('"') else {
        return Err("a name in quotes has no second quote".into());
    };
    if name.trim() != name || name.is_empty() {
        return Err(format!("the name {name:?} is empty or has blanks at its ends"));
    }
    // The file separates its fields by bars.
    if let Some(sign) = name.chars().find(|sign| *sign == '|' || shown::is_unsafe(*sign)) {
        return Err(format!("no event's name has {sign:?} in it"));
    }
    Ok((Token::Name(name.to_owned()), after))
}

fn bare(rest: &str) -> (Token, &str) {
    let end = rest.find(|letter| !continues_name(letter)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    match after.trim_start().strip_prefix('(') {
        Some(inside) => (Token::Call(name.to_owned()), inside),
        None => (Token::Name(name.to_owned()), after),
    }
}

fn number(rest: &str) -> Result<(Token, &str), String> {
    // A sign belongs to the number right after the e of an exponent, and nowhere else.
    let mut exponent = false;
    let end = rest.find(|letter: char| {
        let signed = std::mem::replace(&mut exponent, matches!(letter, 'e' | 'E'));
        let belongs = letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_');
        !(belongs || signed && matches!(letter, '+' | '-'))
    });
    let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((Token::Number(number), after)),
        Ok(_) => Err(format!("{digits} is beyond the largest number")),
        Err(_) => Err(format!("{digits} is not a number, and no event begins with a digit")),
    }
}

fn begins_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn continues_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '=')
}

fn unknown(sign: char) -> String {
    format!(
        "{sign:?} means nothing here; there are + - * / ( ) min max part, numbers and event names, \
         those with other signs in quotes"
    )
}

/// Limits the depth of the tree, and so the stack of the functions that walk it.
const MOST_TOKENS: usize = 500;
