//! Compilers' names of the functions that they make of regions, and people's names of them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use addr2line::demangle_auto;

use super::shortened::{LONG, shortened};
use super::{cxx, cython};

/// The name of a region; `None` if nothing is known but its address.
///
/// With a line the name is that of the function, without parameters and template arguments, and the
/// line: compilers number regions differently, and LLVM's leave no more of the function.
///
/// GCC's `main._omp_fn.0` and LLVM's `main.omp_outlined.1` have the function in which the
/// region stands; LLVM's `.omp_outlined..2`, up to release 16, has not: it is `enclosing` then,
/// with the line, where the compiler left them beside the call.
pub(super) fn human(
    symbol: Option<&str>,
    enclosing: Option<&str>,
    line: Option<u32>,
    module: Option<&str>,
) -> Option<String> {
    let outlined = symbol.map(Outlined::of);
    // Code inside of a region is in the function that has the region.
    let enclosing = enclosing.map(|function| match Outlined::of(function) {
        Outlined::Region { function: Some(function), .. } => function,
        _ => function,
    });
    match (outlined, enclosing, line) {
        (Some(Outlined::Region { function: Some(function), .. }), _, Some(line)) => {
            Some(format!("{}, line {line}", cut(function, plain(function))))
        }
        (Some(Outlined::Region { function: Some(function), number }), _, None) => {
            Some(format!("{}, region {number}", cut(function, demangled(function))))
        }
        (Some(Outlined::Function(function)), None, _) => Some(cut(function, demangled(function))),
        (_, Some(function), Some(line)) => {
            Some(format!("{}, line {line}", cut(function, plain(function))))
        }
        (_, Some(function), None) => {
            Some(format!("a region of {}", cut(function, demangled(function))))
        }
        (Some(Outlined::Region { function: None, number }), None, _) => {
            Some(format!("{}, region {number}", module?))
        }
        (None, None, _) => None,
    }
}

/// The name of a function, or a shorter one in place of a long one.
fn cut(function: &str, name: Cow<'_, str>) -> String {
    if name.chars().count() <= LONG {
        return name.into_owned();
    }
    cxx::brief(function).unwrap_or_else(|| shortened(&name))
}

#[derive(Debug, PartialEq, Eq)]
enum Outlined<'a> {
    /// A region, of a function if the symbol tells.
    Region { function: Option<&'a str>, number: u32 },
    /// A function that is a region's whole body, or one of an unknown compiler.
    Function(&'a str),
}

impl Outlined<'_> {
    fn of(symbol: &str) -> Outlined<'_> {
        for mark in ["._omp_fn.", ".omp_outlined_debug__", ".omp_outlined"] {
            let Some((function, rest)) = symbol.split_once(mark) else { continue };
            let digits = rest.trim_start_matches(['.', '_']);
            let digits = digits.strip_prefix("debug__").unwrap_or(digits).trim_start_matches('.');
            let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
            // LLVM's first has no number.
            let number = digits[..end].parse().unwrap_or(0);
            // Clones of the function have suffixes of their own: `.constprop.0`, `.isra.0`.
            let function = function.split('.').next().filter(|function| !function.is_empty());
            return Outlined::Region { function, number };
        }
        Outlined::Function(symbol)
    }
}

/// Whether a symbol is that of a region.
pub(super) fn is_region(symbol: &str) -> bool {
    matches!(Outlined::of(symbol), Outlined::Region { .. })
}

/// The function that a region's symbol names.
pub(super) fn function(symbol: &str) -> Option<&str> {
    match Outlined::of(symbol) {
        Outlined::Region { function, .. } => function,
        Outlined::Function(_) => None,
    }
}

/// Whether two names may be of one function, beside template arguments and parameters. GCC's debug
/// information has no symbol of a lambda's operator.
pub(super) fn may_be_same(one: &str, other: &str) -> bool {
    plain(one) == plain(other) || other.starts_with("operator()") && cxx::is_lambda(one)
}

/// A function's name without parameters and without template arguments of its own.
fn plain(function: &str) -> Cow<'_, str> {
    match cxx::plain(function) {
        Some(name) => Cow::Owned(cython::function(&name).unwrap_or(name)),
        None => demangled(function),
    }
}

/// C++, Rust, Fortran and Python names as their languages write them.
fn demangled(symbol: &str) -> Cow<'_, str> {
    // gfortran's `__module_MOD_procedure`.
    let fortran = symbol.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    if let Some((module, procedure)) = fortran {
        return Cow::Owned(format!("{module}::{procedure}"));
    }
    // Cython's modules may be C++.
    let own = cxx::plain(symbol);
    if let Some(name) = cython::function(own.as_deref().unwrap_or(symbol)) {
        return Cow::Owned(name);
    }
    // Type codes of C++ are names as well: `f` would become `float`, and `St` `std`.
    match ["_Z", "__Z", "_R"].iter().any(|mark| symbol.starts_with(mark)) {
        true => demangle_auto(Cow::Borrowed(symbol), None),
        false => Cow::Borrowed(symbol),
    }
}

/// The name of a region of a Fortran file, with its procedure as the program has it. gfortran adds an
/// underscore to procedures of no module.
pub(super) fn procedure(name: String) -> String {
    let name = main_program(name);
    let (procedure, rest) = name.split_at(name.find(", ").unwrap_or(name.len()));
    match procedure.strip_suffix('_') {
        Some(own) if !own.is_empty() => format!("{own}{rest}"),
        _ => name,
    }
}

/// The name of a region, which may be in the main program that gfortran calls `MAIN__`.
pub(super) fn main_program(name: String) -> String {
    match name.strip_prefix("MAIN__") {
        Some(rest) if rest.is_empty() || rest.starts_with(", ") => format!("main program{rest}"),
        _ => name,
    }
}
