//! Lists, values and files that make no sense, as the command answers them.

use std::fs;
use std::path::PathBuf;

use clap::Parser;
use serde_json::{Value, json};

use crate::command::{Cli, Command};
use crate::error::CliResult;
use crate::tests::platform::TestPlatform;
use crate::tests::snapshot::snapshot;

/// A file in the temporary directory, removed in the end.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, text: &str) -> Written {
        let path = std::env::temp_dir().join(format!("pacman-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        Written(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn run(arguments: &[&str]) -> CliResult<(u8, String)> {
    let all = ["pacman-pmu", "metrics"].iter().chain(arguments);
    let Command::Metrics(args) = Cli::try_parse_from(all).unwrap().command else {
        panic!("another command");
    };
    let mut out = Vec::new();
    let status = super::metrics(&args, &TestPlatform::default(), &mut out)?;
    Ok((status, String::from_utf8(out).unwrap()))
}

fn json_of(arguments: &[&str]) -> (u8, Value) {
    let (status, text) = run(&[arguments, &["--json"]].concat()).unwrap();
    (status, serde_json::from_str(&text).unwrap())
}

fn refused(arguments: &[&str]) -> String {
    let error = run(arguments).unwrap_err();
    assert_eq!(error.status(), 2, "{error}");
    let said = error.to_string();
    assert!(!said.contains('\n'), "{said}");
    said
}

fn of<'l>(list: &'l Value, name: &str) -> &'l Value {
    let all = list.as_array().expect("a list");
    all.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_list_says_what_the_model_can_count() {
    let (status, text) = run(&["--list", "--cpu", "skl"]).unwrap();
    assert_eq!(status, 0);
    snapshot("metrics-list.txt", &text);

    let (_, facts) = json_of(&["--cpu", "p4-prescott"]);
    assert_eq!(facts["cpu"], "p4-prescott");
    let metrics = &facts["metrics"];
    assert_eq!(of(metrics, "non-halted-cpi")["countable"], "at-once");
    assert_eq!(of(metrics, "nominal-cpi")["events"], json!(["instr_retired:NBOGUSNTAG:NBOGUSTAG"]));
    let never = of(metrics, "core-utilisation");
    assert_eq!((&never["countable"], &never["sets"]), (&json!("never"), &Value::Null));
    assert!(!never["because"].as_str().unwrap().is_empty());
}

#[test]
fn metrics_of_a_file_stand_beside_the_librarys() {
    let file = Written::new(
        "own.metrics",
        "# mine\n\
         full | 1 | UOPS_ISSUED.ANY:c=4 / CYCLES | cycles that issue four\n\
         two | 1 | L1D_PEND_MISS.PENDING / CYCLE_ACTIVITY.CYCLES_L1D_PENDING | both want counter 2\n",
    );
    let (_, facts) = json_of(&["--file", file.path(), "--cpu", "hsw"]);
    let metrics = &facts["metrics"];
    assert_eq!(of(metrics, "full")["countable"], "at-once");
    assert_eq!(of(metrics, "full")["origin"], format!("{}:2", file.path()));
    let two = of(metrics, "two");
    assert_eq!((&two["countable"], &two["sets"]), (&json!("by-rotation"), &json!(2)));
    assert!(two["because"].as_str().unwrap().contains("counter 2"), "{two}");
    assert_eq!(of(metrics, "ipc")["countable"], "at-once");

    let (_, text) = run(&["two", "--file", file.path(), "--cpu", "hsw"]).unwrap();
    snapshot("metrics-of-a-file.txt", &text.replace(file.path(), "own.metrics"));
}

/// Five general counters' worth of events fit where a core has eight to itself.
#[test]
fn siblings_take_counters_away() {
    let file = Written::new(
        "five.metrics",
        "five | 1 | BR_MISP_RETIRED.ALL_BRANCHES + BR_INST_RETIRED.ALL_BRANCHES + L2_RQSTS.MISS \
         + LONGEST_LAT_CACHE.MISS + UOPS_ISSUED.ANY | five counters\n",
    );
    for (smt, countable) in [("on", "by-rotation"), ("off", "at-once")] {
        let (_, facts) = json_of(&["five", "--file", file.path(), "--cpu", "hsw", "--smt", smt]);
        assert_eq!(facts["metrics"][0]["countable"], countable, "{smt}");
    }
}

#[test]
fn counts_become_values() {
    let counts = Written::new(
        "good.csv",
        "event,count\nINSTRUCTIONS,3000\ncycles,2000\nL2_MISSES,6\nBASE_HZ,2000000000\nTSC,4000\n\
         CYCLES:uk,2000\nREF_CYCLES:uk,2000\n",
    );
    let (status, text) = run(&["ipc", "l2-mpki", "--counts", counts.path()]).unwrap();
    assert_eq!(status, 0);
    assert_eq!(text.lines().count(), 3, "a heading and the two that were asked for: {text}");
    let (status, text) = run(&["--counts", counts.path()]).unwrap();
    assert_eq!(status, 0);
    snapshot("metrics-values.txt", &text.replace(counts.path(), "good.csv"));
}

#[test]
fn what_cannot_be_computed_says_why() {
    let counts = Written::new("poor.csv", "INSTRUCTION,3000\nCYCLES,0\nSTALL_CYCLES,5\n");
    let (status, list) = json_of(&["ipc", "stall-share-issue", "--counts", counts.path()]);
    assert_eq!((status, &list[0]["value"]), (1, &Value::Null));
    let because =
        |at: usize| list[at]["because"].as_str().unwrap().replace(counts.path(), "poor.csv");
    snapshot("metrics-absent.txt", &format!("{}\n{}\n", because(0), because(1)));
    assert_eq!(run(&["ipc", "--counts", counts.path()]).unwrap(), (1, String::new()));
    // No metric was named.
    assert_eq!(json_of(&["--counts", counts.path()]).0, 0);
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let mut lines = String::new();
    for arguments in [
        &["l2-mpik"][..],
        &["--cpu", "sklx"],
        &["--file", "/nonexistent"],
        &["--file", "-", "--counts", "-"],
    ] {
        lines += &format!("{}\n  {}\n", arguments.join(" "), refused(arguments));
    }
    for text in [
        "a | 1 | UOPS_ISUED.ANY | w",
        "\nipc | 1 | CYCLES | w",
        "a | 1 | CYCLES + | w",
        "a | 1 | CYCLES:z | w",
    ] {
        let file = Written::new("bad.metrics", text);
        let said = refused(&["--file", file.path(), "--cpu", "skl"]);
        lines += &format!("{}\n  {}\n", text.trim(), said.replace(file.path(), "bad.metrics"));
    }
    let counts = Written::new("bad.csv", "CYCLES,1\nCYCLES 2");
    let said = refused(&["--counts", counts.path()]).replace(counts.path(), "bad.csv");
    snapshot("metrics-refusals.txt", &format!("{lines}CYCLES 2\n  {said}\n"));
}

#[test]
fn a_metric_of_slots_is_listed_as_the_model_counts_it() {
    for (cpu, formula, counted) in [
        ("spr", "TOPDOWN_BAD_SPECULATION / SLOTS", "at-once"),
        ("zen5", "max(0, TOPDOWN_DISPATCHED - TOPDOWN_RETIRING) / SLOTS", "at-once"),
        (
            "skl",
            "max(0, (UOPS_ISSUED.ANY - UOPS_RETIRED.RETIRE_SLOTS) * CONTEXTS + 4 * \
             INT_MISC.RECOVERY_CYCLES_ANY) / (4 * CPU_CLK_UNHALTED.THREAD_ANY)",
            "at-once",
        ),
        ("nhm", "TOPDOWN_BAD_SPECULATION / SLOTS", "never"),
    ] {
        let (_, list) = json_of(&["topdown-bad-speculation", "--cpu", cpu]);
        let all = list["metrics"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{cpu}: one way of several");
        assert_eq!(
            (&all[0]["expression"], &all[0]["countable"]),
            (&json!(formula), &json!(counted))
        );
    }
}

#[test]
fn slots_of_a_core_need_the_number_of_its_contexts() {
    let counts = "UOPS_RETIRED.RETIRE_SLOTS,1600\nCPU_CLK_UNHALTED.THREAD_ANY,2000\n";
    let file = Written::new("core.csv", counts);
    let (status, list) = json_of(&["topdown-retiring", "--counts", file.path()]);
    assert_eq!((status, &list[0]["value"]), (1, &Value::Null), "{list}");
    let file = Written::new("core2.csv", &format!("{counts}CONTEXTS,2\n"));
    let (status, list) = json_of(&["topdown-retiring", "--counts", file.path()]);
    assert_eq!((status, &list[0]["value"]), (0, &json!(0.4)), "{list}");
}
