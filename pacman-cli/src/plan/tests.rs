//! The command as a user runs it, but for the process.

use clap::Parser;
use pacman_events::CpuId;
use serde_json::Value;

use super::{PlanArgs, plan};
use crate::tests::platform::TestPlatform;
use crate::tests::snapshot::snapshot;

/// A Skylake whose siblings and watchdog are as given.
fn skylake(smt: bool, watchdog: bool) -> TestPlatform {
    let cpu_id = Some(CpuId::new("GenuineIntel", 6, 0x5e, 3));
    let mut machine = TestPlatform { cpu_id, ..TestPlatform::default() };
    (machine.permissions.smt, machine.permissions.watchdog) = (smt, watchdog);
    machine
}

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: PlanArgs,
}

fn run(line: &str) -> (u8, String) {
    run_on(&TestPlatform::default(), line)
}

fn run_on(machine: &TestPlatform, line: &str) -> (u8, String) {
    let words = std::iter::once("plan").chain(line.split_whitespace());
    let args = Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).args;
    let mut out = Vec::new();
    let status = plan(&args, machine, &mut out).unwrap_or_else(|error| error.status());
    (status, String::from_utf8(out).unwrap())
}

fn json(line: &str) -> (u8, Value) {
    let (status, text) = run(&format!("--json {line}"));
    (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[test]
fn a_plan_has_a_list_for_each_thread_of_each_set() {
    let (status, answer) = json(
        "--cpu p4-prescott --thread instr_retired:NBOGUSNTAG,global_power_events:RUNNING \
         --thread instr_retired:NBOGUSNTAG",
    );
    assert_eq!((status, &answer["feasible"]), (0, &Value::Bool(true)));
    let sets = answer["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0][0].as_array().unwrap().len(), 2);
    assert_eq!(sets[0][1][0]["event"], "instr_retired:NBOGUSNTAG");
    let escr = |thread: usize| sets[0][thread][0]["escr"].as_str().unwrap().to_owned();
    assert_eq!([escr(0), escr(1)], ["0x3b8", "0x3b9"]);
    assert_ne!(sets[0][0][0]["counter"], sets[0][1][0]["counter"]);
}

#[test]
fn a_refusal_is_a_conflict_and_status_3() {
    let (status, answer) = json("--cpu p4 --split whole --thread CYCLES --thread INSTRUCTIONS");
    assert_eq!((status, &answer["feasible"]), (3, &Value::Bool(false)));
    let conflict = &answer["conflict"];
    assert_eq!(conflict["events"], serde_json::json!(["INSTRUCTIONS"]));
    for key in ["resource", "reason", "remedy"] {
        assert!(!conflict[key].as_str().unwrap().is_empty());
    }
}

#[test]
fn more_events_than_counters_take_turns_unless_that_is_refused() {
    let line = "--cpu skl --thread UOPS_ISSUED.ANY,UOPS_EXECUTED.THREAD,IDQ.DSB_UOPS,\
                BR_INST_RETIRED.ALL_BRANCHES,BR_MISP_RETIRED.ALL_BRANCHES";
    let (status, answer) = json(line);
    assert_eq!((status, answer["sets"].as_array().unwrap().len()), (0, 2));
    let (status, answer) = json(&format!("{line} --at-once"));
    assert_eq!(status, 3);
    assert_eq!(answer["conflict"]["events"].as_array().unwrap().len(), 5);
    assert_eq!(answer["conflict"]["resource"], "counters 0-3");
    let (status, answer) = json(&format!("{line} --smt off"));
    assert_eq!((status, answer["sets"].as_array().unwrap().len()), (0, 1));
    // Two threads that run the same phase share the five out.
    let (status, answer) = json(&format!("{line} --spread"));
    assert_eq!((status, answer["sets"].as_array().unwrap().len()), (0, 1));
    assert_eq!(answer["sets"][0].as_array().unwrap().len(), 2);
}

#[test]
fn fixed_counters_are_numbered_from_32_and_software_events_have_none() {
    let (_, answer) = json("--cpu skl --thread INST_RETIRED.ANY,task-clock");
    let events = &answer["sets"][0][0];
    assert_eq!(events[0]["counter"], 32);
    assert_eq!(events[1]["counter"], Value::Null);
    assert_eq!(events[1]["escr"], Value::Null);
}

#[test]
fn bad_input_is_status_2() {
    let (status, answer) = json("--cpu skl --thread UOPS_ISUED.ANY");
    assert_eq!(status, 2);
    assert_eq!(answer["event"], "UOPS_ISUED.ANY");
    assert_eq!(answer["nearest"][0], "UOPS_ISSUED.ANY");
    for (line, status) in [
        ("--cpu nosuch --thread CYCLES", 2),
        // Nothing is asked for; then the other sibling counts.
        ("--cpu skl --thread= --thread=,", 2),
        ("--cpu skl --thread= --thread CYCLES", 0),
        ("--cpu skl --thread CYCLES --thread CYCLES --thread CYCLES", 2),
        ("--cpu skl --smt off --thread CYCLES --thread CYCLES", 2),
        ("--cpu skl --spread --thread CYCLES --thread CYCLES", 2),
    ] {
        assert_eq!(run(line).0, status, "{line}");
    }
}

#[test]
fn the_table_shows_counters_and_escrs_side_by_side() {
    let (status, text) =
        run("--cpu p4-prescott --thread instr_retired:NBOGUSNTAG,packed_SP_retired \
         --thread instr_retired:NBOGUSNTAG,x87_FP_uop:ALL");
    assert_eq!(status, 0, "{text}");
    snapshot("plan.txt", &text);
}

#[test]
fn a_refusal_reads_like_advice() {
    let (status, text) = run("--cpu nhm-ep --at-once \
         --thread OFFCORE_RESPONSE_0.ANY_DATA.ANY_CACHE_DRAM \
         --thread OFFCORE_RESPONSE_0.ANY_DATA.LOCAL_CACHE");
    assert_eq!(status, 3);
    snapshot("plan-refusal.txt", &text);
}

#[test]
fn the_watchdog_is_named_where_it_is_in_the_way() {
    let line = "--cpu skl --at-once --thread CPU_CLK_UNHALTED.THREAD";
    assert_eq!(run(line).0, 0);
    let (status, text) = run(&format!("{line} --watchdog"));
    assert_eq!(status, 3);
    snapshot("plan-watchdog.txt", &text);
}

#[test]
fn without_a_table_s_name_siblings_and_watchdog_are_the_machine_s() {
    let pair = "--thread CYCLES --thread CYCLES";
    assert_eq!(run_on(&skylake(true, false), pair).0, 0);
    assert_eq!(run_on(&skylake(false, false), pair).0, 2);
    assert_eq!(run_on(&skylake(false, false), &format!("--cpu skl {pair}")).0, 0);
    let fixed = "--at-once --thread CPU_CLK_UNHALTED.THREAD";
    assert_eq!(run_on(&skylake(true, false), fixed).0, 0);
    assert_eq!(run_on(&skylake(true, true), fixed).0, 3);
}

#[test]
fn an_expression_of_too_many_terms_is_counted_piecemeal() {
    let (status, text) = run("--cpu skx --thread FP_OPS");
    assert_eq!(status, 0, "{text}");
    snapshot("plan-piecemeal.txt", &text);
    let (status, answer) = json("--cpu skx --at-once --thread FP_OPS,L2_MISSES");
    assert_eq!(status, 3);
    assert_eq!(answer["conflict"]["events"], serde_json::json!(["FP_OPS"]));
}
