//! `run`'s reports in their forms, of a recording whose figures are known.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::rows::rows;
use super::run::{recorded, recorder};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Two regions of a process of 10 s. In the first, two threads are busy for 3 and 1 of 4 s:
/// half of their 8 s they wait, and the busiest has 1.5 times the mean. The second ran 50 times,
/// inside of the first.
pub(super) const RECORDING: &str = r#"{"process": {"pid": 0, "parent": 1, "command": ["/opt/solver", "<in>"], "seconds": 10.0, "ending": "exit"},
"runtimes": [{"family": "libgomp", "path": "/usr/lib/libgomp.so.1", "version": null}],
"threads": 2, "contexts": 2,
"events": [{"name": "CYCLES", "uncounted": null, "facts": {"canonical": "CYCLES", "unit": "cycles", "is_hardware": true, "doubt": null}}, {"name": "INSTRUCTIONS", "uncounted": null, "facts": {"canonical": "INSTRUCTIONS", "unit": "instructions", "is_hardware": true, "doubt": null}},
           {"name": "LLC_MISSES", "uncounted": "no such counter here", "facts": {"canonical": "LLC_MISSES", "unit": "misses", "is_hardware": true, "doubt": null}}],
"overhead": {"nanoseconds": 500.0, "reads": "rdpmc"},
"regions": [
{"site": {"module": "/no/such/solver", "address": 64, "source": ";a.cpp;lab::Grid<int>::inner;7;1;;"},
 "entry": "GOMP_parallel", "runtime": 0, "executions": 50, "nested": 50, "seconds": 0.5,
 "shortest": 0.01, "longest": 0.01, "teams": [{"threads": 1, "executions": 50, "seconds": 0.5}],
 "rows": [{"thread": 0, "executions": 50, "seconds": 0.5, "cpu": 0, "moves": 0, "counted": 49,
           "counts": [1000, 500, null]}], "adaptation": null},
{"site": {"module": "/no/such/solver", "address": 32, "source": null},
 "entry": "GOMP_parallel", "runtime": 0, "executions": 100, "nested": 0, "seconds": 4.0, "outer": 4.0,
 "shortest": 0.03, "longest": 0.05, "teams": [{"threads": 2, "executions": 100, "seconds": 4.0}],
 "rows": [{"thread": 0, "executions": 100, "seconds": 3.0, "cpu": 0, "moves": 0, "counted": 100,
           "counts": [3000000, 6000000, null]},
          {"thread": 1, "executions": 100, "seconds": 1.0, "cpu": 1, "moves": 2, "counted": 100,
           "counts": [1000000, 1000000, null]}],
 "adaptation": {"state": "kept", "threads": 2, "configuration": "2x1", "why": "2 are best & <fast>",
  "reduced": 0, "gained": -0.25}}],
"timeline": {"bin": 0.5, "rows": [{"region": 1, "seconds": [0, 0.5, 0.5], "thread_seconds": [0, 1.0, 0.5]}]},
"notes": ["the clock is steady"]}"#;

/// Runs a program that leaves the recording, and answers the report in `form`.
pub(super) fn report(form: &str, arguments: &[&str]) -> Option<(String, String)> {
    report_of(RECORDING, form, arguments)
}

pub(super) fn report_of(
    recording: &str,
    form: &str,
    arguments: &[&str],
) -> Option<(String, String)> {
    let scratch = Scratch::new();
    let library = recorder(&scratch)?;
    let recording = recorded(&scratch, recording);
    let path = scratch.path(&format!("report.{form}"));
    // The earlier file is longer, and nothing of it stays.
    fs::write(&path, "x".repeat(1 << 20)).expect("a file");
    let mut command = pacman_pmu(&["run", "-o"]);
    command.arg(&path).args(arguments).args(["--", "sh", "-c", "exit 3"]);
    command.env("PACMAN_OMP_LIBRARY", library).env("TEST_RECORDING", recording);
    let answer = command.output().expect("it runs");
    assert_eq!(answer.status.code(), Some(3), "{}", text(&answer.stderr));
    assert_eq!(text(&answer.stdout), "");
    let report = fs::read_to_string(&path).expect("a report");
    Some((report, text(&answer.stderr).to_owned()))
}

#[test]
fn json_has_every_figure() {
    let Some((report, said)) = report("json", &[]) else { return };
    assert_eq!(said, "pacman-pmu: LLC_MISSES was not counted: no such counter here\n");
    let document: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&document["format"], &document["version"]), (&"pacman-run".into(), &3.into()));
    assert_eq!((&document["exit_status"], &document["signal"]), (&3.into(), &Value::Null));
    let process = &document["processes"][0];
    assert_eq!(process["share"], 0.4, "the region inside another one is not counted twice");
    let outer = &process["regions"][0];
    assert_eq!(outer["name"], "solver+0x20");
    assert_eq!((&outer["waiting"], &outer["imbalance"]), (&0.5.into(), &1.5.into()));
    assert_eq!((&outer["share"], &outer["mean_s"]), (&0.4.into(), &0.04.into()));
    let figures = &outer["figures"];
    assert_eq!(figures["counts"]["CYCLES"], 4_000_000);
    assert_eq!(figures["counts"]["LLC_MISSES"], Value::Null);
    assert_eq!((&figures["metrics"]["ipc"], &figures["complete"]), (&1.75.into(), &true.into()));
    assert_eq!(figures["rates"]["CYCLES"], 1e6);
    assert_eq!(rows(&outer["threads"])[1]["core"], Value::Null, "it moved");
    let adaptation = &outer["adaptation"];
    assert_eq!((&adaptation["reduced"], &adaptation["gained_s"]), (&0.into(), &(-0.25).into()));
    let inner = &process["regions"][1];
    assert_eq!(inner["name"], "lab::Grid<int>::inner, line 7");
    assert_eq!((&inner["nested"], &inner["line"]), (&50.into(), &7.into()));
    assert_eq!(inner["figures"]["complete"], false, "an execution has no counts");
    assert_eq!(inner["figures"]["rates"]["CYCLES"], Value::Null);
    assert_eq!(inner["figures"]["metrics"]["ipc"], 0.5);
    assert_eq!(process["timeline"]["rows"][0]["region"], 0, "regions are in another order");
}

#[test]
fn the_installed_table_of_an_event_is_named() {
    let table = "skl, installed: new.json, version 60";
    let facts =
        |table: &str| format!(r#""unit": "cycles", "is_hardware": true, "doubt": null{table}}}"#);
    let own = RECORDING.replace(&facts(""), &facts(&format!(r#", "table": "{table}""#)));
    let Some((json, _)) = report_of(&own, "json", &[]) else { return };
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let events = &document["processes"][0]["events"];
    assert_eq!((&events[0]["table"], &events[1]["table"]), (&table.into(), &Value::Null));
    let line = format!("CYCLES has its code from the table {table}\n");
    let Some((told, _)) = report_of(&own, "txt", &[]) else { return };
    assert!(told.contains(&line), "{told}");
    let Some((untold, _)) = report("txt", &[]) else { return };
    assert!(!untold.contains("its code from the table"), "{untold}");
}

/// Thread 1 counted a wrap of its counter: 2^40 cycles in a second.
#[test]
fn impossible_counts_are_named_and_in_no_sum() {
    let wrapped = RECORDING.replace("[1000000, 1000000, null]", "[1099511627776, 1000000, null]");
    let why = "CYCLES came to 1099511627776, and its time allows ";
    let note =
        "T1 in solver+0x20: its counts are impossible and are left out of all sums: CYCLES came to";
    for form in ["json", "csv", "txt", "html"] {
        let Some((report, _)) = report_of(&wrapped, form, &[]) else { return };
        let has_reason = report.contains(if form == "csv" { why } else { note });
        assert!(has_reason, "{form}: {report}");
        let sums = match form {
            "csv" => ",3000000,6000000,",
            "json" => "\"CYCLES\": 3000000,",
            "html" => "\"CYCLES\":3000000,",
            _ => ">=3,000,000",
        };
        assert!(report.contains(sums), "{form}: {report}");
        if form == "json" {
            let document: Value = serde_json::from_str(&report).expect("JSON");
            let outer = &document["processes"][0]["regions"][0];
            assert_eq!(outer["figures"]["complete"], false);
            assert_eq!(outer["figures"]["metrics"]["ipc"], Value::Null);
            let threads = rows(&outer["threads"]);
            assert_eq!(threads[0]["implausible"], Value::Null);
            assert!(threads[1]["implausible"].as_str().expect("a reason").starts_with(why));
            assert_eq!(threads[1]["figures"]["counts"]["CYCLES"], Value::Null);
        }
    }
}

#[test]
fn csv_has_a_row_for_each_thread() {
    let Some((report, _)) = report("csv", &[]) else { return };
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("pid,parent,program,host,rank,region,name,"), "{}", lines[0]);
    assert!(lines[0].contains(",implausible,phase_kind,phase_s,"), "{}", lines[0]);
    // The unit of LLC_MISSES depends on the processor, which may not have it.
    let events = ",CYCLES [cycles],INSTRUCTIONS [instructions],LLC_MISSES [";
    assert!(lines[0].contains(events), "{}", lines[0]);
    // Names of regions have commas, and the sentence of a busy machine.
    let mut rows = csv::Reader::from_reader(report.as_bytes());
    assert_eq!(
        rows.records().filter(Result::is_ok).count(),
        3,
        "each as wide as the head: {report}"
    );
    let states = "useful CYCLES [cycles],useful INSTRUCTIONS [instructions],useful LLC_MISSES [";
    assert!(lines[0].contains(states), "{}", lines[0]);
    // The third event, the counts of useful time and of waits, and the shares of the readings.
    let empty = ",".repeat(10);
    let counts = format!(",3000000,6000000{empty}");
    assert!(lines[1].ends_with(&counts), "what is absent is empty: {}", lines[1]);
    assert!(lines[3].contains("\"lab::Grid<int>::inner, line 7\",a.cpp,7,"), "{}", lines[3]);
}

#[test]
fn text_has_what_a_person_asks_first() {
    let Some((report, _)) = report("txt", &["--adapt", "--narrow"]) else { return };
    for part in [
        "sh -c 'exit 3': ",
        "; pacman-pmu ",
        ", exit status 3, adapted for time\n",
        "libgomp, 2 threads on 2 contexts; 40 % of 10.0 s in 2 regions; observing took 500 ns",
        "4.00 s   40.0         100  40.0 ms        2       1.50     50.0  solver+0x20\n",
        "lab::Grid<int>::inner, line 7  a.cpp:7  nested\n",
        ">=1,000",
        "solver+0x20: 2 are best & <fast>\n",
        "-250 ms",
        "\nLLC_MISSES was not counted: no such counter here\n",
        "\nthe clock is steady\n",
        "regions of /no/such/solver are shown by offset: it is gone: ",
    ] {
        assert!(report.contains(part), "lacks {part:?}:\n{report}");
    }
}

#[test]
fn several_processes_have_sections_of_their_own() {
    let scratch = Scratch::new();
    let Some(library) = recorder(&scratch) else { return };
    let recording = recorded(&scratch, RECORDING);
    let run = |path: &Path| {
        let mut command = pacman_pmu(&["run", "-o"]);
        command.arg(path).args(["--", "sh", "-c", "/bin/true; /bin/true; exit 0"]);
        command.env("PACMAN_OMP_LIBRARY", &library).env("TEST_RECORDING", &recording);
        assert_eq!(command.output().expect("it runs").status.code(), Some(0));
        fs::read_to_string(path).expect("a report")
    };
    let document: Value = serde_json::from_str(&run(&scratch.path("r.json"))).expect("JSON");
    let processes = document["processes"].as_array().expect("a list");
    assert_eq!(processes.len(), 3, "the shell and two others");
    let text = run(&scratch.path("r.txt"));
    assert_eq!(text.matches("solver (process ").count(), 3, "{text}");
    let page = run(&scratch.path("r.html"));
    assert_eq!(page.matches("\"headline\"").count(), 4, "of the run and of each process");
}
