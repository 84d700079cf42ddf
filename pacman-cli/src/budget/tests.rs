//! The article's table 2 as the command shows it, and files that make no sense.

use serde_json::Value;

use super::{BudgetArgs, compute, json, positive, table, text};
use crate::tests::snapshot::snapshot;
use pacman_report::document;

const TABLE_2: &str = "event,count
SB_full,3626323
FP_instr_cnt,31
# the caches
IC_miss,99418
\"DC_miss\", 16829760
ITLB_miss,139
DTLB_miss,25669

L2_imiss,3661
l2_dmiss_ld,771285
Instr_cnt,87048958
Cycles,636000000
";

fn args(cpu: &str, seconds: Option<f64>) -> BudgetArgs {
    BudgetArgs {
        cpu: cpu.into(),
        clock: 1.2e9,
        seconds,
        file: "t.csv".into(),
        phase: None,
        json: false,
    }
}

fn refused(cpu: &str, seconds: Option<f64>, file: &str) -> String {
    let done = table(cpu).and_then(|table| compute(&args(cpu, seconds), table, file));
    let error = done.unwrap_err();
    assert_eq!(error.status(), 2, "{error}");
    error.to_string()
}

#[test]
fn the_articles_table_is_shown_line_by_line() {
    let table = table("niagara1").unwrap();
    let budget = compute(&args("niagara1", None), table, TABLE_2).unwrap();
    let shown = text::budget(&budget, table, 1.2e9);
    snapshot("budget.txt", &shown);

    let value = document::value(&json::budget(&budget, table, 1.2e9));
    assert_eq!(value["lines"][3]["cycles"], 336_595_200);
    assert_eq!(value["fair_share"], 0.25);
    assert_eq!(value["remedies"][1]["gain"], Value::Null);
    for field in ["processor", "unexplained_cycles", "headroom", "caveat", "source"] {
        assert!(!value[field].is_null(), "{field}");
    }
}

#[test]
fn seconds_stand_in_for_cycles() {
    let table = table("niagara1").unwrap();
    let budget = compute(&args("niagara1", Some(0.53)), table, "Instr_cnt,1").unwrap();
    assert_eq!(budget.cycles, 636_000_000);
    let shown = text::budget(&budget, table, 1.2e9);
    snapshot("budget-of-few.txt", &shown);
}

#[test]
fn bad_files_are_refused_by_line() {
    let mut lines = String::new();
    for (cpu, seconds, file) in [
        ("niagara1", None, "Instr_cnt,1\nInstr_ld,2\n"),
        ("niagara1", None, "\n#\nInstr_cnt 1"),
        ("niagara1", None, "Instr_cnt,-1"),
        ("niagara1", None, "Instr_cnt,1\nevent,count"),
        ("niagara1", None, "Instr_cnt,1\ninstr_cnt,1"),
        ("niagara1", None, "cycles,1\nCYCLES,1"),
        ("niagara1", None, "Instr_cnt,1"),
        ("niagara1", Some(1.0), "Instr_cnt,1\ncycles,9"),
        ("niagara1", None, "cycles,9"),
        ("niagara1", None, "cycles,0\nInstr_cnt,0"),
        ("niagara2", None, "SB_full,1"),
        ("niagra1", None, ""),
        ("skx", None, ""),
    ] {
        let words = refused(cpu, seconds, file);
        assert!(!words.contains('\n'), "{words}");
        lines += &format!("{cpu} {file:?}\n  {words}\n");
    }
    snapshot("budget-refusals.txt", &lines);
}

#[test]
fn clocks_are_numbers_above_zero() {
    assert_eq!(positive("1.2e9"), Ok(1.2e9));
    for text in ["0", "-1", "nan", "inf", "fast", ""] {
        assert!(positive(text).is_err(), "{text}");
    }
}
