//! Tests of the commands' output on a fake machine.

use pacman_events::{CpuId, SysfsPmu};
use serde_json::Value;

use super::{EncodeArgs, ListArgs, Tables, encode, list};
use crate::tests::platform::TestPlatform;

/// A machine with this CPUID, whose only PMU is one of a hybrid processor.
fn fake(cpu_id: Option<CpuId>) -> TestPlatform {
    let atom = SysfsPmu::parse("cpu_atom", "10", [("event", "config:0-7")], []).expect("a PMU");
    TestPlatform { cpu_id, pmus: vec![atom], ..TestPlatform::default() }
}

fn tables(cpu: &str) -> Tables {
    Tables { cpu: Some(cpu.to_owned()), ..Tables::default() }
}

fn encoded(tables: Tables, names: &[&str]) -> (u8, Value) {
    let args =
        EncodeArgs { tables, json: true, names: names.iter().map(|n| (*n).to_owned()).collect() };
    let mut out = Vec::new();
    let status = encode(&args, &fake(None), &mut out).expect("writing to memory");
    (status, serde_json::from_slice(&out).expect("JSON"))
}

fn text(run: impl FnOnce(&mut Vec<u8>) -> u8) -> (u8, String) {
    let mut out = Vec::new();
    let status = run(&mut out);
    (status, String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn every_key_stands_in_every_object() {
    let names = ["STALL_CYCLES", "INST_RETIRED.ANY", "task-clock", "FP_OPS", "DTLB_MISSES"];
    let (status, objects) = encoded(tables("skl"), &names);
    assert_eq!(status, 0);
    for object in objects.as_array().expect("an array") {
        let keys: Vec<_> = object.as_object().expect("an object").keys().collect();
        assert_eq!(
            keys,
            [
                "event",
                "name",
                "cpu",
                "table",
                "kind",
                "evtsel",
                "extra",
                "fixed",
                "escr",
                "cccr",
                "escr_msr",
                "counters",
                "counters_smt_off",
                "perf",
                "terms",
            ],
        );
    }
}

#[test]
fn an_architectural_event_in_json() {
    let (_, objects) = encoded(tables("SNB"), &["stall_cycles"]);
    let object = &objects[0];
    assert_eq!(object["event"], "stall_cycles");
    assert_eq!(object["name"], "UOPS_ISSUED.STALL_CYCLES");
    assert_eq!((&object["cpu"], &object["kind"]), (&"snb".into(), &"arch".into()));
    assert_eq!(object["evtsel"], "0x180010e");
    assert_eq!(object["counters"], serde_json::json!([0, 1, 2, 3]));
    assert_eq!(object["perf"]["type"], 4);
    assert_eq!(object["perf"]["config"], "0x180010e");
    assert_eq!(object["extra"], serde_json::json!([]));
    for absent in ["fixed", "escr", "cccr", "escr_msr", "terms"] {
        assert_eq!(object[absent], Value::Null, "{absent}");
    }
}

#[test]
fn netburst_in_json() {
    let (_, objects) =
        encoded(tables("p4"), &["NON_HALTED_CLOCKTICKS", "split_load_retired", "STALL_CYCLES"]);
    assert_eq!(objects[0]["escr"], "0x26000204");
    assert_eq!(objects[0]["cccr"], "0x3d000");
    assert_eq!(objects[0]["escr_msr"], serde_json::json!(["0x3a2", "0x3a3"]));
    assert_eq!(objects[0]["evtsel"], Value::Null);
    assert_eq!(objects[1]["extra"][0], serde_json::json!({"msr": "0x3f1", "value": "0x1000400"}));
    assert_eq!(objects[1]["perf"], Value::Null);
    assert_eq!(objects[2]["terms"][1]["coefficient"], -1);
    assert_eq!(objects[2]["terms"][1]["encoding"]["cccr"], "0x79000");
}

#[test]
fn a_hybrids_pmu_has_the_number_of_the_machine_that_has_it() {
    let (_, objects) = encoded(tables("adl-gracemont"), &["INSTRUCTIONS"]);
    assert_eq!(objects[0]["perf"]["type"], 10);
    let (_, objects) = encoded(tables("arl-crestmont"), &["INSTRUCTIONS"]);
    assert_eq!(objects[0]["perf"]["type"], Value::Null, "cpu_lowpower is not here");
}

#[test]
fn a_refusal_takes_the_events_place_and_the_exit_status() {
    let (status, objects) = encoded(tables("skl"), &["CYCLES", "UOPS_ISUED.ANY"]);
    assert_eq!(status, 2);
    assert_eq!(objects[0]["fixed"], 1);
    assert_eq!(objects[1]["kind"], "unknown");
    assert_eq!(objects[1]["nearest"][0], "UOPS_ISSUED.ANY");
    let keys: Vec<_> = objects[1].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["event", "error", "kind", "nearest"]);
}

#[test]
fn without_a_name_the_machines_own_table_answers() {
    let zen = CpuId::new("AuthenticAMD", 25, 0x61, 2);
    let args = EncodeArgs { tables: Tables::default(), json: false, names: vec!["CYCLES".into()] };
    let (status, shown) = text(|out| encode(&args, &fake(Some(zen)), out).expect("memory"));
    assert_eq!(status, 0);
    assert!(shown.starts_with("CYCLES on zen4 (Zen 4)\n"), "{shown}");
    let (_, shown) = text(|out| encode(&args, &fake(None), out).expect("memory"));
    assert!(shown.contains("on linux"), "{shown}");
}

#[test]
fn lists_are_tables_with_a_header() {
    let args = ListArgs { cpus: true, ..ListArgs::default() };
    let (status, shown) = text(|out| list(&args, &fake(None), out).expect("memory"));
    assert_eq!(status, 0);
    assert!(shown.lines().next().expect("a header").starts_with("TABLE"));
    let p4 = shown.lines().find(|line| line.starts_with("p4-prescott")).expect("a row");
    assert_eq!(p4.split_whitespace().nth(1), Some("p4"));
    assert!(shown.lines().all(|line| line == line.trim_end()));

    let pattern = Some("bsq_cache*miss".to_owned());
    let args = ListArgs { tables: tables("p4"), pattern, ..ListArgs::default() };
    let (_, shown) = text(|out| list(&args, &fake(None), out).expect("memory"));
    assert_eq!(shown.lines().filter(|line| line.starts_with("BSQ_cache_reference:")).count(), 4);

    let args =
        ListArgs { tables: tables("p4"), pattern: Some("zzz".into()), ..ListArgs::default() };
    let (status, _) = text(|out| list(&args, &fake(None), out).expect("memory"));
    assert_eq!(status, 2);
}

#[test]
fn another_processors_formats_are_not_this_machines() {
    let pmu = SysfsPmu::parse("cpu", "4", [("event", "config:8-15")], []).expect("a PMU");
    let power = TestPlatform { pmus: vec![pmu], ..TestPlatform::default() };
    let config = |tables: Tables| {
        let args = EncodeArgs { tables, json: true, names: vec!["cpu/event=0x3c/".into()] };
        let mut out = Vec::new();
        encode(&args, &power, &mut out).expect("memory");
        let objects: Value = serde_json::from_slice(&out).expect("JSON");
        objects[0]["perf"]["config"].clone()
    };
    assert_eq!(config(tables("skl")), "0x3c");
    assert_eq!(config(Tables::default()), "0x3c00");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let format = elsewhere.path().join("cpu/format");
    std::fs::create_dir_all(&format).expect("a directory");
    std::fs::write(elsewhere.path().join("cpu/type"), "4\n").expect("a file");
    std::fs::write(format.join("event"), "config:8-15\n").expect("a file");
    let named = Tables { devices: Some(elsewhere.path().into()), ..tables("skl") };
    assert_eq!(config(named), "0x3c00");
}

/// The tables of Arm, POWER and IBM Z on any machine, by their names and by the processor's register.
#[test]
fn an_event_that_is_one_code_in_json_and_text() {
    for (cpu, name, code, counters, fixed) in [
        ("olympus", "CPU_SLOT", "0x1e1", serde_json::json!([0, 1, 2, 3, 4, 5]), Value::Null),
        ("vera", "STALL_CYCLES", "0x3c", serde_json::json!([0, 1, 2, 3, 4, 5]), Value::Null),
        ("power9", "CYCLES", "0x600f4", serde_json::json!([]), 6.into()),
        ("z16", "CYCLES:u", "0x20", serde_json::json!([]), Value::Null),
    ] {
        let (status, objects) = encoded(tables(cpu), &[name]);
        let event = &objects[0];
        assert_eq!((status, event["kind"].as_str()), (0, Some("code")), "{event}");
        assert_eq!((&event["evtsel"], &event["perf"]["config"]), (&code.into(), &code.into()));
        assert_eq!((&event["counters"], &event["fixed"]), (&counters, &fixed), "{event}");
    }
    let args = EncodeArgs { tables: tables("tx2"), json: false, names: vec!["CYCLES".into()] };
    let (status, shown) = text(|out| encode(&args, &fake(None), out).expect("memory"));
    assert!(status == 0 && shown.contains("  PMEVTYPER   0x11\n"), "{shown}");
    let listed = |cpu: &str, machine: &TestPlatform| {
        let tables = if cpu.is_empty() { Tables::default() } else { tables(cpu) };
        let args = ListArgs { tables, pattern: Some("cycles".into()), ..ListArgs::default() };
        text(|out| list(&args, machine, out).expect("memory")).1
    };
    let own = listed("", &fake(Some(CpuId::from_midr(0x4e0f_0100))));
    assert!(own.starts_with("olympus: NVIDIA Olympus (Vera)\ncounters 0-5 of 64 bits"), "{own}");
    assert_eq!(own, listed("olympus", &fake(None)));
    for (cpuinfo, heading) in [
        ("processor\t: 0\nrevision\t: 2.2 (pvr 004e 1202)\n", "power9: "),
        ("processor 0: version = FF,  identification = 0133E8,  machine = 3931\n", "z16: "),
    ] {
        let own = listed("", &fake(CpuId::from_cpuinfo(cpuinfo, None)));
        assert!(own.starts_with(heading), "{own}");
    }
    let z = listed("z16", &fake(None));
    assert!(z.contains("\na counter of 64 bits for each event, 2 contexts a core\n"), "{z}");
    assert!(z.contains("its own"), "{z}");
}
