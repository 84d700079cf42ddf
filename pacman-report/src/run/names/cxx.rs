//! Names of C++ functions: what is read of them, and what tells instances of a template apart.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use addr2line::demangle_auto;
use cpp_demangle::{DemangleOptions, Symbol};

use super::shortened::{LONG, Letter, nested, without_brackets};

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
    let caller = within.map(|at| last_words(function_of(innermost(&name[..at]))));
    Some(match caller.filter(|caller| *caller != own) {
        Some(caller) => format!("{own} in {caller}"),
        None => own,
    })
}

/// The type or function that the text ends in, inside of all brackets that are open there.
fn innermost(text: &str) -> &str {
    let letters = nested(text);
    let depth = letters.last().map_or(0, |last| last.depth + usize::from(last.opens()));
    let begins = |own: &&Letter| {
        own.opens() && own.depth + 1 == depth || own.letter == ',' && own.depth == depth
    };
    letters.iter().rfind(begins).map_or(text, |own| &text[own.at + 1..])
}

/// The name of a function without its parameters, its own template arguments and the type that it returns.
fn function_of(declared: &str) -> &str {
    let declared = declared.trim();
    let declared = declared.strip_suffix(" const").unwrap_or(declared);
    let name = without_last(declared, '(', ')');
    let name = without_last(name, '<', '>');
    let letters = nested(name);
    let blank = letters.iter().rfind(|own| own.letter == ' ' && own.depth == 0);
    blank.map_or(name, |own| &name[own.at + 1..])
}

/// The text without the outer brackets of this kind at its end.
fn without_last(text: &str, open: char, close: char) -> &str {
    let letters = nested(text);
    if !letters.last().is_some_and(|last| last.letter == close && last.closes()) {
        return text;
    }
    let opens = |own: &&Letter| own.letter == open && own.opens() && own.depth == 0;
    letters.iter().rfind(opens).map_or(text, |own| &text[..own.at])
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
    Some(if is_operator { name } else { without_last(name, '<', '>') }.to_owned())
}

/// Whether a function is a lambda's.
pub(super) fn is_lambda(function: &str) -> bool {
    without_parameters(function).is_some_and(|name| lambda(&name).is_some())
}

/// Where the first lambda of a name begins that is in no template argument.
fn lambda(name: &str) -> Option<usize> {
    let is_mark = |at: usize| LAMBDAS.iter().any(|mark| name[at..].starts_with(mark));
    nested(name).iter().find(|own| own.depth == 0 && is_mark(own.at)).map(|own| own.at)
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
