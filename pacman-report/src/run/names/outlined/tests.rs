//! Tests of `outlined`.

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
