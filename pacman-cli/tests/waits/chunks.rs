//! `run --waits` on a loop that hands out its iterations one by one.

use std::fs;
use std::path::Path;

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

/// One run of the program: its seconds with single iterations and with many at once, and its process in the report.
fn run(program: &Path, many: u64, scratch: &Scratch) -> ([f64; 2], Value) {
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "-o"]);
    command.arg(&path).arg("--").arg(program).arg(many.to_string());
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let printed = text(&answer.stdout);
    let mut known = printed.split_whitespace().map(|word| word.parse().expect("seconds"));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    ([(); 2].map(|()| known.next().expect("seconds")), report["processes"][0].clone())
}

/// The region of that loop with `schedule(dynamic`.
fn region(process: &Value, at: usize) -> &Value {
    let loops = SOURCE.lines().zip(1..).filter(|(line, _)| line.contains("schedule(dynamic"));
    let line = loops.map(|(_, number)| number).nth(at).expect("it is there");
    let is_its = |region: &&Value| region["line"].as_u64().is_some_and(|own| near(own, line));
    let regions = process["regions"].as_array().expect("a list");
    regions.iter().find(is_its).unwrap_or_else(|| panic!("no line {line} in {regions:#?}"))
}

/// A compiler gives a construct the line of its pragma or of the loop.
fn near(line: u64, pragma: u64) -> bool {
    (pragma..pragma + 3).contains(&line)
}

#[test]
fn each_request_for_a_chunk_counts_and_small_chunks_are_a_finding() {
    let _alone = alone();
    for (compiler, many) in MANY {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-g", "-O2", "-fopenmp"], SOURCE) else {
            continue;
        };
        // On a busy machine the one loop may get more of the processors than the other.
        let mut tries = Vec::new();
        let is_right = |tries: &mut Vec<String>| {
            let ([single, joined], process) = run(&program, many, &scratch);
            let sites = process["sites"].as_array().expect("a list");
            for (at, chunks) in [(0, many), (1, many / 1000)] {
                // The call that starts a loop may hand out a first chunk, and the last call of a thread gets none.
                let (count, seconds) = requests(region(&process, at), sites);
                assert!((chunks - 2..=chunks + 2).contains(&count), "{compiler}: {count}");
                assert!(0.0 < seconds && seconds <= 2.0 * [single, joined][at], "{seconds}");
            }
            let notes = process["notes"].to_string();
            assert!(notes.contains("requests for chunks of loops are counted"), "{notes}");
            let findings = process["findings"].as_array().expect("a list");
            let found = findings.iter().find(|finding| finding["kind"] == "chunks");
            let found = found.unwrap_or_else(|| panic!("{compiler}: {findings:#?}"));
            let place = found["place"].as_str().expect("a place");
            let line = place.rsplit(':').next().and_then(|line| line.parse().ok());
            let own = region(&process, 0)["line"].as_u64().expect("a line");
            assert!(line.is_some_and(|line| near(line, own) || near(own, line)), "{place}");
            let gain = found["gain_s"].as_f64().expect("seconds");
            // A request of libgomp takes as long as a few misses of the cache, which timing disturbs.
            let least = if compiler == "gcc" { 0.0 } else { 0.1 };
            let real = single - joined;
            tries.push(format!("{gain} of {real}"));
            least * real < gain && gain < 1.3 * real
        };
        assert!((0..5).any(|_| is_right(&mut tries)), "{compiler}: {tries:?}");
    }
}
