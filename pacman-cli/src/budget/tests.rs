//! The article's table 2 as the command shows it, and files that make no sense.

use serde_json::Value;

use super::{BudgetArgs, compute, json, positive, table, text};
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
    let expected = "\
UltraSPARC T1 at 1.200 GHz

                                   cost         count          cycles    time s  share
cycles with a full store buffer       1       3626323         3626323    0.0030   0.6%
floating-point instructions          30            31             930    0.0000   0.0%
instruction cache misses             20         99418         1988360    0.0017   0.3%
data cache misses                    20      16829760       336595200    0.2805  52.9%
instruction TLB misses              100           139           13900    0.0000   0.0%
data TLB misses                     100         25669         2566900    0.0021   0.4%
instruction fetches that miss L2    100          3661          366100    0.0003   0.1%
loads that miss L2                  100        771285        77128500    0.0643  12.1%
instructions                          1      87048958        87048958    0.0725  13.7%
unexplained                                                 126664829    0.1056  19.9%
run                                                         636000000    0.5300 100.0%

issue budget: 13.7% of its cycles where 25.0% are its fair share of 4 contexts; 55% used
stall budget: 89% used of the 75.0% of its cycles that are its siblings' anyway
headroom: at most 1.83 times as fast on this core

";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains("3. fewer stalls (at most 1.83 times): most go to data cache misses"));
    assert!(!shown.contains("not counted"), "{shown}");

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
    assert!(
        shown.contains("so stalls are at least these: SB_full, FP_instr_cnt, IC_miss"),
        "{shown}"
    );
}

#[test]
fn bad_files_are_refused_by_line() {
    for (cpu, seconds, file, why) in [
        (
            "niagara1",
            None,
            "Instr_cnt,1\nInstr_ld,2\n",
            "t.csv: line 2: \"Instr_ld\" is not an event with",
        ),
        ("niagara1", None, "\n#\nInstr_cnt 1", "line 3: \"Instr_cnt 1\" is not event,count"),
        ("niagara1", None, "Instr_cnt,-1", "line 1: \"-1\" is not a count from 0 to"),
        ("niagara1", None, "Instr_cnt,1\nevent,count", "line 2: \"count\" is not a count"),
        ("niagara1", None, "Instr_cnt,1\ninstr_cnt,1", "line 2: \"instr_cnt\" was counted above"),
        ("niagara1", None, "cycles,1\nCYCLES,1", "line 2: \"CYCLES\" was counted above already"),
        ("niagara1", None, "Instr_cnt,1", "t.csv has no count of \"cycles\"; --seconds"),
        ("niagara1", Some(1.0), "Instr_cnt,1\ncycles,9", "has cycles, and --seconds was given too"),
        ("niagara1", None, "cycles,9", "because Instr_cnt was not counted"),
        ("niagara1", None, "cycles,0\nInstr_cnt,0", "because the run has no cycles"),
        (
            "niagara2",
            None,
            "SB_full,1",
            "is not an event with a cost on UltraSPARC T2, which has Instr_FGU",
        ),
        ("niagra1", None, "", "--cpu \"niagra1\": no such model; near: niagara1"),
        ("skx", None, "", "no costs of its events are published"),
    ] {
        let words = refused(cpu, seconds, file);
        assert!(words.contains(why), "{words}");
        assert!(!words.contains('\n'), "{words}");
    }
}

#[test]
fn clocks_are_numbers_above_zero() {
    assert_eq!(positive("1.2e9"), Ok(1.2e9));
    for text in ["0", "-1", "nan", "inf", "fast", ""] {
        assert!(positive(text).is_err(), "{text}");
    }
}
