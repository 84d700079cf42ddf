//! `run`'s trace, metrics and form of TALP against its JSON, of the same run of a real program.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use pacman_suite::command::have;
use pacman_suite::skipped;
use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// The reports of one run with timed waits, in the forms of these endings.
fn reports<const N: usize>(endings: [&str; N]) -> Option<[String; N]> {
    let scratch = Scratch::new();
    let source = include_str!("page/lock.c");
    let program = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], source)?;
    let directory = scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    let mut command = std::process::Command::new(program);
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    command.env("PACMAN_OMP_WAITS", "1").env("PACMAN_OMP_EVENTS", "task-clock");
    command.env("OMP_NUM_THREADS", "2").stdout(Stdio::null());
    assert!(command.status().expect("it runs").success());
    Some(endings.map(|ending| {
        let path = scratch.path(&format!("report{ending}"));
        let mut read = pacman_pmu(&["run", "--read"]);
        let answer = read.arg(&directory).arg("-o").arg(&path).output().expect("it runs");
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        fs::read_to_string(path).expect("a report")
    }))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

/// Times of the JSON report end at nanoseconds.
const NANOSECOND: f64 = 1e-9;

fn is_near(one: f64, other: f64, distance: f64) -> bool {
    (one - other).abs() <= distance
}

#[test]
fn slices_of_a_trace_nest_and_agree_with_the_json_report() {
    let Some([trace, json]) = reports([".trace.json", ".json"]) else { return };
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    super::trace_format::tracks(&trace);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(trace["otherData"]["format"], "pacman-trace");
    let mut tracks: BTreeMap<(u64, u64), Vec<&Value>> = BTreeMap::new();
    let mut threads = BTreeMap::new();
    for event in list(&trace["traceEvents"]) {
        let id = |name: &str| event[name].as_u64().expect("a number");
        let track = (id("pid"), id("tid"));
        match event["ph"].as_str() {
            Some("X") => tracks.entry(track).or_default().push(event),
            Some("M") if event["name"] == "thread_name" => {
                assert!(threads.insert(track, event["args"]["name"].clone()).is_none());
            }
            Some("M" | "C" | "i") => {}
            _ => panic!("{event}"),
        }
    }
    for slices in tracks.values() {
        let mut open: Vec<f64> = Vec::new();
        for slice in slices {
            let (begin, end) = (number(&slice["ts"]), number(&slice["ts"]) + number(&slice["dur"]));
            while open.last().is_some_and(|last| *last <= begin + 1e-3) {
                open.pop();
            }
            assert!(open.last().is_none_or(|last| end <= last + 1e-3), "{slice} in {open:?}");
            open.push(end);
        }
    }
    let process = &json["processes"][0];
    let regions = list(&process["regions"]);
    assert_eq!(regions.len(), 2);
    for region in regions {
        let of_region = |category: &str| -> Vec<&Value> {
            let all = tracks.values().flatten().copied();
            all.filter(|one| one["cat"] == category && one["name"] == region["name"]).collect()
        };
        let inside: f64 =
            of_region("region").iter().map(|one| number(&one["args"]["time_s"])).sum();
        assert!(is_near(inside, number(&region["time_s"]), 1e-3), "{inside} s of {region}");
        let spans: f64 = of_region("region").iter().map(|one| number(&one["dur"]) * 1e-6).sum();
        assert!(spans >= inside - 1e-6, "{spans} s around {inside} s");
        let totals = of_region("total");
        assert_eq!(totals.len(), rows(&region["threads"]).len());
        for thread in &rows(&region["threads"]) {
            let name = format!("T{}", thread["thread"]);
            let (track, total) = tracks
                .iter()
                .flat_map(|(track, slices)| slices.iter().map(move |slice| (track, slice)))
                .find(|(track, slice)| {
                    threads[track] == name
                        && slice["name"] == region["name"]
                        && slice["cat"] == "total"
                })
                .expect("each thread has a total");
            let args = &total["args"];
            assert_eq!(args["executions"], thread["executions"]);
            assert!(is_near(number(&args["busy_s"]), number(&thread["busy_s"]), NANOSECOND));
            assert_eq!(args["task-clock [ns]"], thread["figures"]["counts"]["task-clock"]);
            let slices = tracks[track].iter();
            let after = slices.skip_while(|slice| *slice != total).skip(1);
            let own: Vec<_> = after.take_while(|slice| slice["cat"] != "total").collect();
            let parts = |category: &str| -> f64 {
                let of_category = own.iter().filter(|slice| slice["cat"] == category);
                of_category.map(|slice| number(&slice["args"]["time_s"])).sum()
            };
            let states = &thread["states"];
            let waits: f64 = waits(states).iter().map(|wait| number(&wait["time_s"])).sum();
            let waits = waits + number(&states["starting_s"]) + number(&states["end_s"]);
            assert!(is_near(parts("useful"), number(&states["useful_s"]), 1e-9));
            assert!(
                is_near(parts("wait"), waits, 4.0 * NANOSECOND),
                "{} s, not {waits} s",
                parts("wait")
            );
        }
    }
}

#[test]
fn metrics_agree_with_the_json_report() {
    let Some([metrics, json]) = reports([".prom", ".json"]) else { return };
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let process = &json["processes"][0];
    assert!(metrics.ends_with("\n# EOF\n"), "{metrics}");
    let value = |name: &str, labels: &[String]| -> f64 {
        let has_labels = |line: &&str| labels.iter().all(|label| line.contains(label.as_str()));
        let name = format!("{name}{{");
        let of_name = metrics.lines().filter(|line| line.starts_with(&name));
        let lines: Vec<&str> = of_name.filter(has_labels).collect();
        let [line] = lines[..] else { panic!("{name} {labels:?}: {lines:?}") };
        line.rsplit_once(' ').expect("a value").1.parse().expect("a number")
    };
    let label = |name: &str, value: &Value| match value.as_str() {
        Some(text) => format!("{name}=\"{text}\""),
        None => format!("{name}=\"{value}\""),
    };
    let regions = list(&process["regions"]);
    assert_eq!(regions.len(), 2);
    for region in regions {
        let own = [
            label("pid", &process["pid"]),
            label("region", &region["name"]),
            label("line", &region["line"]),
        ];
        assert_eq!(value("pacman_region_executions_total", &own), number(&region["executions"]));
        let time = value("pacman_region_seconds_total", &own);
        assert!(is_near(time, number(&region["time_s"]), NANOSECOND), "{time} s: {region}");
        for thread in &rows(&region["threads"]) {
            let own = [own.to_vec(), vec![label("thread", &thread["thread"])]].concat();
            let busy = value("pacman_region_thread_busy_seconds_total", &own);
            assert!(is_near(busy, number(&thread["busy_s"]), NANOSECOND), "{busy} s: {thread}");
            let useful = [own.clone(), vec!["state=\"useful\"".into()]].concat();
            let useful = value("pacman_region_thread_state_seconds_total", &useful);
            let own_useful = number(&thread["states"]["useful_s"]);
            assert!(is_near(useful, own_useful, NANOSECOND), "{useful} s: {thread}");
            let event = [own, vec!["event=\"task-clock\"".into()]].concat();
            let count = value("pacman_region_thread_events_total", &event);
            assert_eq!(count, number(&thread["figures"]["counts"]["task-clock"]));
        }
    }
}

#[test]
fn the_form_of_talp_has_the_times_and_efficiencies_of_the_json_report() {
    let Some([talp, json]) = reports([".talp.json", ".json"]) else { return };
    let talp: Value = serde_json::from_str(&talp).expect("JSON");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let process = &json["processes"][0];
    let whole = &talp["Application"]["Global"];
    let parallel = number(&process["efficiency"]["parallel"]);
    assert!(is_near(number(&whole["parallelEfficiency"]), parallel, 1e-4), "{whole}, {parallel}");
    let times = ["useful", "ompLoadImbalance", "ompScheduling", "ompSerialization", "mpi"];
    let all: f64 = times.iter().map(|name| number(&whole[format!("{name}Time")])).sum();
    let threads = number(&process["efficiency"]["threads"]) * number(&process["time_s"]);
    assert!(is_near(all * 1e-9, threads, 1e-6), "{all} ns of {threads} s");
    for region in list(&process["regions"]) {
        let name = region["name"].as_str().expect("text");
        let own = &talp["Application"][name];
        let efficiency = number(&region["efficiency"]["parallel"]);
        assert!(is_near(number(&own["parallelEfficiency"]), efficiency, 1e-4), "{own}, {region}");
        assert!(is_near(number(&own["elapsedTime"]) * 1e-9, number(&region["time_s"]), 1e-8));
    }
}

#[test]
fn talp_pages_makes_its_pages_of_two_runs() {
    if !have("talp") {
        return skipped("no talp (pip install talp-pages)");
    }
    let scratch = Scratch::new();
    let runs = scratch.path("runs/lock");
    fs::create_dir_all(&runs).expect("a directory");
    for name in ["one", "two"] {
        let Some([report]) = reports([".talp.json"]) else { return };
        fs::write(runs.join(format!("{name}.talp.json")), report).expect("a file");
    }
    let pages = scratch.path("pages");
    let mut talp = std::process::Command::new("talp");
    talp.args(["ci-report", "--no-badge", "-i"]).arg(scratch.path("runs")).arg("-o").arg(&pages);
    let answer = talp.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let scaling = fs::read_to_string(pages.join("lock/scaling.html")).expect("a page");
    assert!(scaling.contains("2xOpenMP"), "no run of two threads in {} bytes", scaling.len());
    assert!(pages.join("index.html").exists());
}
