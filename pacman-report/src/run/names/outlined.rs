//! Compilers' names of the functions that they make of regions, and people's names of them.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(symbol: &str) -> String {
        human(Some(symbol), None, None, Some("a.out")).expect("a name")
    }

    #[test]
    fn symbols_of_compilers_that_were_met() {
        // As nm(1) shows them, of GCC 12, gfortran 12, Clang 14 and Clang 18.
        for (symbol, name) in [
            ("main._omp_fn.0", "main, region 0"),
            ("fill.constprop.0._omp_fn.12", "fill, region 12"),
            ("_ZN3lab4GridIdE6smoothEv._omp_fn.0", "lab::Grid<double>::smooth(), region 0"),
            (
                "_ZZ4mainENKUliE_clEi._omp_fn.0",
                "main::{lambda(int)#1}::operator()(int) const, region 0",
            ),
            ("__m_MOD_work._omp_fn.0", "m::work, region 0"),
            ("MAIN__._omp_fn.0", "MAIN__, region 0"),
            (".omp_outlined.", "a.out, region 0"),
            (".omp_outlined..2", "a.out, region 2"),
            (".omp_outlined._debug__.1", "a.out, region 1"),
            ("main.omp_outlined", "main, region 0"),
            ("main.omp_outlined.3", "main, region 3"),
            ("main.omp_outlined_debug__.3", "main, region 3"),
            ("_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE", "alloc::vec::Vec<T>::push"),
            ("plain_function", "plain_function"),
            (
                "_ZL37__pyx_f_7sklearn_5utils_7_arrays_copyPdl._omp_fn.0",
                "sklearn.utils._arrays.copy, region 0",
            ),
            ("f._omp_fn.0", "f, region 0"),
            ("w._omp_fn.0", "w, region 0"),
            ("St.omp_outlined", "St, region 0"),
            ("v", "v"),
        ] {
            assert_eq!(of(symbol), name);
        }
    }

    #[test]
    fn the_call_s_source_names_what_the_symbol_does_not() {
        let name = human(Some(".omp_outlined..2"), Some("main"), Some(10), Some("a.out"));
        assert_eq!(name.as_deref(), Some("main, line 10"));
        let name = human(None, Some("lab::Grid<double>::smooth"), Some(3), None);
        assert_eq!(name.as_deref(), Some("lab::Grid<double>::smooth, line 3"));
        assert_eq!(human(None, Some("f"), Some(3), None).as_deref(), Some("f, line 3"));
        let name = human(None, Some("main._omp_fn.0"), Some(3), None);
        assert_eq!(name.as_deref(), Some("main, line 3"));
        assert_eq!(human(None, None, None, Some("a.out")), None);
    }

    #[test]
    fn a_line_names_a_region_alike_under_all_compilers() {
        // GCC's symbol, and the function that LLVM leaves beside the call.
        for (symbol, function) in [
            ("main._omp_fn.0", "main"),
            ("fill.constprop.0._omp_fn.12", "fill"),
            ("_ZNK3lab4GridIdE6smoothEi._omp_fn.0", "lab::Grid<double>::smooth"),
            ("_Z4fillIdEvPT_i._omp_fn.0", "fill"),
            ("_ZNK2OpltEi._omp_fn.0", "Op::operator<"),
            ("_ZZ4mainENKUliE_clEi._omp_fn.0", "main"),
        ] {
            let gcc = human(Some(symbol), None, Some(8), None);
            let llvm = human(Some(".omp_outlined..2"), Some(function), Some(8), None);
            assert_eq!(gcc.as_deref(), Some(&*format!("{function}, line 8")));
            assert_eq!(gcc, llvm);
        }
        let fortran = human(Some("__m_MOD_work._omp_fn.0"), None, Some(3), None);
        assert_eq!(fortran.as_deref(), Some("m::work, line 3"));
    }

    #[test]
    fn a_lambda_s_operator_may_be_the_function_around_it() {
        for symbol in ["_ZZ4mainENKUlT_E2_clIiEEDaS_", "_ZZ4mainENK3$_0clIiEEDaT_"] {
            assert!(may_be_same(symbol, "operator()<int>") && may_be_same("main", symbol));
        }
        assert!(!may_be_same("main", "operator()<int>"));
        assert!(!may_be_same("_Z4eachIZ4mainEUliE_EviT_", "main"));
    }

    #[test]
    fn procedures_of_fortran_have_their_own_names() {
        for (symbol, name) in [
            ("MAIN__, line 3", "main program, line 3"),
            ("translv_, line 313", "translv, line 313"),
            ("field_summary_, region 0", "field_summary, region 0"),
            ("m::work, line 3", "m::work, line 3"),
            ("_, line 1", "_, line 1"),
            ("sweep_", "sweep"),
        ] {
            assert_eq!(procedure(symbol.to_owned()), name);
        }
    }
}
