//! Names of C++ functions: what is read of them, and what tells instances of a template apart.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use addr2line::demangle_auto;
use cpp_demangle::{DemangleOptions, Symbol};

use super::shortened::{LONG, without_brackets};

/// The instance of a template that a function is: its name with its template arguments. Compilers number
/// lambdas differently, so that of a lambda begins behind the number. A long one becomes [`brief`].
pub(super) fn instance(function: &str) -> Option<String> {
    let name = without_parameters(function)?;
    let own = match lambda(&name) {
        Some(at) => {
            let of_lambda = &name[at + "::".len()..];
            let end = of_lambda.find("}::").map(|end| end + 1).or_else(|| of_lambda.find("::"));
            of_lambda.get(end? + "::".len()..)?
        }
        None => &name,
    };
    let own = Some(own.to_owned()).filter(|name| name.contains('<'))?;
    if own.chars().count() <= LONG { Some(own) } else { brief(function) }
}

/// The marks of lambdas: GCC's, and LLVM's for one that only its file can name.
const LAMBDAS: [&str; 2] = ["::{lambda", "::$_"];

/// The short form of a long name, such as `common::ParallelFor in Histogram::build`: the function with its class. If a
/// template argument is a lambda, the function that defines the lambda follows. `None` for other languages.
pub(super) fn brief(function: &str) -> Option<String> {
    let name = without_parameters(function)?;
    let own = lambda(&name).map_or(&*name, |at| function_of(&name[..at]));
    let own = last_words(own);
    // The first lambda is of the innermost function: templates call templates with lambdas.
    let within = LAMBDAS.iter().filter_map(|mark| name.find(mark)).min();
    let caller = within.map(|at| last_words(function_of(&name[begin_of(&name[..at])..at])));
    Some(match caller.filter(|caller| *caller != own) {
        Some(caller) => format!("{own} in {caller}"),
        None => own,
    })
}

/// The index at which the last type or function of the text begins.
fn begin_of(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            '>' | ')' => depth += 1,
            '<' | '(' | ',' if depth == 0 => return at + 1,
            '<' | '(' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// The name of a function without its parameters, its own template arguments and the type that it returns.
fn function_of(declared: &str) -> &str {
    let declared = declared.trim();
    let declared = declared.strip_suffix(" const").unwrap_or(declared);
    let name = declared.strip_suffix(')').map_or(declared, before_parameters);
    let name = &name[..own_arguments(name).unwrap_or(name.len())];
    let mut depth = 0usize;
    let mut begin = 0;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    &name[begin..]
}

/// The text up to the bracket that is open at its end.
fn before_parameters(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' if depth == 0 => return &text[..at],
            '(' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// The last two words of a name, without brackets: a function and its class or namespace.
fn last_words(name: &str) -> String {
    let bare = without_brackets(name);
    let words: Vec<&str> = bare.split("::").filter(|word| !word.is_empty()).collect();
    words[words.len().saturating_sub(2)..].join("::")
}

/// A function's name without parameters and without template arguments of its own. That of a lambda is
/// the function around it, as LLVM has it. `None` for other languages.
pub(super) fn plain(function: &str) -> Option<String> {
    let name = without_parameters(function)?;
    let name = &name[..lambda(&name).unwrap_or(name.len())];
    let is_operator = name.rsplit("::").next().is_some_and(|last| last.starts_with("operator"));
    let end = if is_operator { None } else { own_arguments(name) };
    Some(name[..end.unwrap_or(name.len())].to_owned())
}

/// Whether a function is a lambda's.
pub(super) fn is_lambda(function: &str) -> bool {
    without_parameters(function).is_some_and(|name| lambda(&name).is_some())
}

/// Where the first lambda of a name begins that is in no template argument. LLVM has its own mark for one
/// that only its file can name.
fn lambda(name: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in name.char_indices() {
        match letter {
            // Operators are no brackets.
            '<' if !name[..at].trim_end_matches('<').ends_with("operator") => depth += 1,
            '>' if !name[..at].trim_end_matches(['>', '-']).ends_with("operator") => {
                depth = depth.saturating_sub(1);
            }
            ':' if depth == 0 && LAMBDAS.iter().any(|mark| name[at..].starts_with(mark)) => {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}

/// Where the template arguments at the end of a name begin.
fn own_arguments(name: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in name.char_indices().rev() {
        match letter {
            '>' => depth += 1,
            '<' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return name.ends_with('>').then_some(at);
        }
    }
    None
}

/// The name of a C++ function; `None` for other languages.
fn without_parameters(symbol: &str) -> Option<String> {
    let name = Symbol::new(symbol).ok().filter(|_| symbol.starts_with("_Z"))?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = name.demangle(&options).ok()?;
    Some(name.strip_suffix(" const").unwrap_or(&name).to_owned())
}

/// A C++ type whose mangled name the text is, or else the text.
///
/// Short words could be both: `1a` is the type `a`. So only types with a scope or template arguments are
/// taken for one, and those whose name has a length of two digits.
pub(super) fn demangled_type(text: &str) -> Cow<'_, str> {
    let is_type = text.starts_with("Z")
        || is_instance(text)
        || text.starts_with('N') && text.ends_with('E')
        || text
            .as_bytes()
            .first_chunk()
            .is_some_and(|[a, b]| a.is_ascii_digit() && b.is_ascii_digit());
    // The symbol of a type's name, which demanglers know as such.
    let symbol = format!("_ZTS{text}");
    match demangle_auto(Cow::Borrowed(&symbol), None) {
        type_name if is_type && type_name != symbol => {
            let name = type_name.split_once(" for ").map_or(&*type_name, |(_, name)| name);
            // The demangler leaves the comma before an empty pack of arguments.
            Cow::Owned(name.replace(", >", ">"))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Whether a text is a length of one digit, a name that long, and template arguments.
fn is_instance(text: &str) -> bool {
    let Some(length) = text.chars().next().and_then(|digit| digit.to_digit(10)) else {
        return false;
    };
    let arguments = text.get(1 + length as usize..);
    length > 0 && arguments.is_some_and(|rest| rest.starts_with('I') && rest.ends_with('E'))
}
