//! Compilers' names of the functions that they make of regions, and people's names of them.

use std::borrow::Cow;

use addr2line::demangle_auto;

/// The name of a region; `None` if nothing is known but its address.
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
        (Some(Outlined::Region { function: Some(function), number }), ..) => {
            Some(format!("{}, region {number}", demangled(function)))
        }
        (Some(Outlined::Function(function)), None, _) => Some(demangled(function).into_owned()),
        (_, Some(function), Some(line)) => Some(format!("{}, line {line}", demangled(function))),
        (_, Some(function), None) => Some(format!("a region of {}", demangled(function))),
        (Some(Outlined::Region { function: None, number }), None, _) => {
            Some(format!("{}, region {number}", module?))
        }
        (None, None, _) => None,
    }
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

/// C++, Rust and Fortran names as their languages write them.
fn demangled(symbol: &str) -> Cow<'_, str> {
    // gfortran's `__module_MOD_procedure`.
    let fortran = symbol.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    match fortran {
        Some((module, procedure)) => Cow::Owned(format!("{module}::{procedure}")),
        // Type codes of C++ are names as well: `f` would become `float`, and `St` `std`.
        None if ["_Z", "__Z", "_R"].iter().any(|mark| symbol.starts_with(mark)) => {
            demangle_auto(Cow::Borrowed(symbol), None)
        }
        None => Cow::Borrowed(symbol),
    }
}

/// A C++ type whose mangled name the text is, or else the text.
///
/// Short words could be both: `1a` is the type `a`. So only types with a scope are taken for one, and
/// those whose name has a length of two digits.
pub(super) fn demangled_type(text: &str) -> Cow<'_, str> {
    let is_type = text.starts_with("Z")
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
            Cow::Owned(name.to_owned())
        }
        _ => Cow::Borrowed(text),
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
    fn types_are_demangled_and_words_are_kept() {
        // GCC 12's `typeid(...).name()`.
        for (text, name) in [
            ("Z4mainEUliE_", "main::{lambda(int)#1}"),
            ("N3lab10RelaxationIdEE", "lab::Relaxation<double>"),
            ("17ComputeForceLocal", "ComputeForceLocal"),
            ("axpy", "axpy"),
            ("Zero", "Zero"),
            ("NONE", "NONE"),
            ("1a", "1a"),
            ("3D stencil", "3D stencil"),
            ("2x2 blocks", "2x2 blocks"),
        ] {
            assert_eq!(demangled_type(text), name);
        }
    }
}
