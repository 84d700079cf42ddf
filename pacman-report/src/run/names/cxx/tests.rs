//! Tests of `cxx`.

use super::*;

#[test]
fn a_lambda_is_the_function_around_it_and_its_number_is_no_part_of_an_instance() {
    // `each` with a lambda of `main` as its argument; lambdas of `main` with arguments of their own.
    let (each, gcc, llvm) =
        ("_Z4eachIZ4mainEUliE_EviT_", "_ZZ4mainENKUlT_E2_clIiEEDaS_", "_ZZ4mainENK3$_0clIiEEDaT_");
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
