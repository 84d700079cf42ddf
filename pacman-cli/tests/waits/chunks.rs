//! `run --waits` on a loop that hands out its iterations one by one.

use std::fs;

use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{alone, pacman_pmu, text};

const SOURCE: &str = include_str!("chunks.c");
/// The iterations of the loops: a request takes ten times as long under libomp.
const MANY: [(&str, u64); 2] = [("gcc", 6_000_000), ("clang", 600_000)];

/// The chunks that a region's threads asked for, and the seconds of the requests.
fn requests(region: &Value, sites: &[Value]) -> (u64, f64) {
    let mut all = (0, 0.0);
    for thread in &rows(&region["threads"]) {
        for wait in waits(&thread["states"]) {
            let site = &sites[wait["site"].as_u64().expect("an index") as usize];
            if site["cause"] == "chunks" {
                all.0 += wait["count"].as_u64().expect("a number");
                all.1 += wait["time_s"].as_f64().expect("seconds");
            }
        }
    }
    all
}

#[test]
fn each_request_for_a_chunk_counts_and_small_chunks_are_a_finding() {
    let _alone = alone();
    for (compiler, many) in MANY {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-g", "-O2", "-fopenmp"], SOURCE) else {
            continue;
        };
        let path = scratch.path("report.json");
        let mut command = pacman_pmu(&["run", "--waits", "-o"]);
        let answer = command
            .arg(&path)
            .arg("--")
            .arg(&program)
            .arg(many.to_string())
            .output()
            .expect("it runs");
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        let printed = text(&answer.stdout);
        let mut known =
            printed.split_whitespace().map(|word| word.parse::<f64>().expect("seconds"));
        let [single, joined] = [(); 2].map(|()| known.next().expect("seconds"));
        let report: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("a report")).expect("JSON");
        let process = &report["processes"][0];
        let sites = process["sites"].as_array().expect("a list");
        let regions = process["regions"].as_array().expect("a list");
        let region = |at: usize| {
            let dynamic =
                SOURCE.lines().zip(1..).filter(|(line, _)| line.contains("schedule(dynamic"));
            let line = dynamic.map(|(_, number)| number).nth(at).expect("it is there");
            let near = |region: &&Value| {
                region["line"].as_u64().is_some_and(|own| (line..line + 4).contains(&own))
            };
            regions.iter().find(near).unwrap_or_else(|| panic!("{compiler}: {regions:#?}"))
        };
        let (small, large) = (region(0), region(1));
        // The call that starts a loop may hand out a first chunk, and the last call of a thread gets none.
        let (count, seconds) = requests(small, sites);
        assert!((many - 2..=many + 2).contains(&count), "{compiler}: {count}");
        assert!(0.0 < seconds && seconds <= 2.0 * single, "{compiler}: {seconds} of {single}");
        let (count, _) = requests(large, sites);
        assert!((many / 1000 - 2..=many / 1000 + 2).contains(&count), "{compiler}: {count}");

        let findings = process["findings"].as_array().expect("a list");
        let found = findings.iter().find(|finding| finding["kind"] == "chunks");
        let found = found.unwrap_or_else(|| panic!("{compiler}: {findings:#?}"));
        let gain = found["gain_s"].as_f64().expect("seconds");
        // A request of libgomp takes as long as a few misses of the cache, which timing disturbs.
        let least = if compiler == "gcc" { 0.0 } else { 0.1 };
        let real = single - joined;
        assert!(least * real < gain && gain < 1.3 * real, "{compiler}: {gain} of {real}");
        let line =
            SOURCE.lines().position(|line| line.contains("dynamic, 1)")).expect("it is there");
        let place = found["place"].as_str().expect("a place");
        let near = |line: usize| place.ends_with(&format!(".c:{line}"));
        assert!((line + 1..line + 4).any(near), "{compiler}: {place}");
    }
}
