//! Names of C++ functions: what is read of them, and what tells instances of a template apart.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lambda_is_the_function_around_it_and_its_number_is_no_part_of_an_instance() {
        // `each` with a lambda of `main` as its argument; lambdas of `main` with arguments of their own.
        let (each, gcc, llvm) = (
            "_Z4eachIZ4mainEUliE_EviT_",
            "_ZZ4mainENKUlT_E2_clIiEEDaS_",
            "_ZZ4mainENK3$_0clIiEEDaT_",
        );
        assert_eq!(plain(each).as_deref(), Some("each"));
        assert_eq!(instance(each).as_deref(), Some("each<main::{lambda(int)#1}>"));
        for symbol in [gcc, llvm] {
            assert_eq!(plain(symbol).as_deref(), Some("main"));
            assert_eq!(instance(symbol).as_deref(), Some("operator()<int>"));
            assert!(is_lambda(symbol));
        }
        assert!(!is_lambda(each));
        // `a < b` of a class template, and a lambda in an operator.
        assert_eq!(plain("_ZltIiEbRK1AIT_ES4_").as_deref(), Some("operator< <int>"));
        assert_eq!(plain("_ZZlsR1AiENKUlvE_clEv").as_deref(), Some("operator<<(A&, int)"));
        assert_eq!(plain("main"), None);
        assert_eq!(instance("_Z4fillIdEvPT_i").as_deref(), Some("fill<double>"));
        assert_eq!(instance("main"), None);
    }

    #[test]
    fn a_long_name_is_the_template_and_the_function_whose_lambda_it_calls() {
        // As nm(1) shows them, of XGBoost 3.2.
        for (symbol, name) in [
            (
                "_ZN7xgboost6common11ParallelForImZ21XGDMatrixGetDataAsCSREUlmE_EEvT_iNS0_5SchedEOT0_",
                "common::ParallelFor in XGDMatrixGetDataAsCSR",
            ),
            (
                "_ZN7xgboost6common13ParallelFor2dIZNS_4tree13HistEvaluator14EvaluateSplitsERKNS2_21Bounded\
                 HistCollectionERKNS0_13HistogramCutsENS0_4SpanIKNS_11FeatureTypeELm18446744073709551615EEERKNS_\
                 7RegTreeEPSt6vectorINS2_14CPUExpandEntryESaISI_EEEUlmNS0_7Range1dEE0_EEvRKNS0_14BlockedSpace2d\
                 EiOT_",
                "common::ParallelFor2d in HistEvaluator::EvaluateSplits",
            ),
            // A lambda of a template that is called with a lambda of its own.
            (
                "_ZN7xgboost6common11ParallelForImZNKS0_16PartitionBuilderILm2048EE13LeafPartitionIZNKS_4tree20\
                 CommonRowPartitioner13LeafPartitionEPKNS_7ContextERKNS5_14ScalarTreeViewENS0_4SpanIKfLm1844674\
                 4073709551615EEENSD_IiLm18446744073709551615EEEEUlmE_SA_EEvS9_RKT0_RKNS0_16RowSetCollectionESG_\
                 T_EUlSO_E_EEvSO_iNS0_5SchedEOSI_",
                "common::ParallelFor in CommonRowPartitioner::LeafPartition",
            ),
            ("_ZZ4mainENKUliE_clEi", "main"),
            ("_ZNK3lab4GridIdE6smoothEi", "Grid::smooth"),
            ("_ZNK3lab4GridIdEclEi", "Grid::operator()"),
        ] {
            assert_eq!(brief(symbol).as_deref(), Some(name), "{symbol}");
        }
        assert_eq!(brief("a_c_function"), None);
        let each = "_ZN3lab4eachIZNS_4GridIdE6smoothERKSt6vectorISt4pairIilESaIS4_EEEUliE_EEvT_";
        assert_eq!(instance(each).as_deref(), Some("lab::each in Grid::smooth"));
    }

    #[test]
    fn types_are_demangled_and_words_are_kept() {
        // GCC 12's `typeid(...).name()`.
        for (text, name) in [
            ("Z4mainEUliE_", "main::{lambda(int)#1}"),
            ("N3lab10RelaxationIdEE", "lab::Relaxation<double>"),
            ("17ComputeForceLocal", "ComputeForceLocal"),
            ("4axpyIdE", "axpy<double>"),
            ("4AxpyIN6Kokkos4ViewIPdJEEEE", "Axpy<Kokkos::View<double*> >"),
            ("axpy", "axpy"),
            ("4I/E", "4I/E"),
            ("1aIE", "1aIE"),
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
