//! The form of TALP-Pages: its members are those of TALP's files, and its times give its efficiencies.

use std::collections::BTreeSet;

use serde_json::Value;

use super::tests::made::{ThreadSpec, recording, report, timed, wide};
use super::{Extent, Form};

/// The members of a region in files of DLB 3.6.0 (github.com/bsc-pm/dlb, commit
/// 9d67ac94f8edf1ac241bb6f006e463a14e57455b, talp-pages/tests/jsons/unit-tests/dlb_3_6_0.json).
const MEMBERS: &str = "numCpus numMpiRanks numNodes avgCpus numGpus cycles instructions numMeasurements numMpiCalls \
    numOmpParallels numOmpTasks numGpuRuntimeCalls elapsedTime usefulTime mpiTime ompLoadImbalanceTime \
    ompSchedulingTime ompSerializationTime gpuRuntimeTime minMpiNormdProc minMpiNormdNode gpuUsefulTime \
    gpuCommunicationTime maxGpuUsefulTime maxGpuActiveTime parallelEfficiency mpiParallelEfficiency \
    mpiCommunicationEfficiency mpiLoadBalance mpiLoadBalanceIn mpiLoadBalanceOut ompParallelEfficiency \
    ompLoadBalance ompSchedulingEfficiency ompSerializationEfficiency deviceOffloadEfficiency \
    gpuParallelEfficiency gpuLoadBalance gpuCommunicationEfficiency gpuOrchestrationEfficiency";

/// The members that TALP-Pages 3.8.0 needs in each region.
const NEEDED: [&str; 4] = ["cycles", "instructions", "numCpus", "elapsedTime"];

fn file(recordings: &[pacman_regions::Recording]) -> Value {
    let text = Form::Talp.bytes(&report(recordings), Extent::default(), 0);
    serde_json::from_slice(&text).expect("JSON")
}

fn regions(file: &Value) -> Vec<(&String, &Value)> {
    file["Application"].as_object().expect("regions").iter().collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Thread 1 waits for 2 s inside and ends 1 s early; thread 0 works.
fn uneven() -> pacman_regions::Recording {
    let thread = |busy, waits, cpu| ThreadSpec { busy, start: 0.0, waits, cpu };
    timed(&[thread(8.0, 0.0, 0), thread(7.0, 2.0, 2)], "critical")
}

#[test]
fn each_member_is_one_of_talps() {
    let file = file(&[uneven(), wide(4, 3, &["CYCLES", "INSTRUCTIONS"])]);
    let known: BTreeSet<&str> = MEMBERS.split_whitespace().collect();
    let regions = regions(&file);
    assert_eq!(regions[0].0, "Global");
    assert_eq!(regions.len(), 5);
    for (name, region) in regions {
        let members = region.as_object().expect("members");
        for member in members.keys() {
            assert!(known.contains(member.as_str()), "{member} of {name}");
        }
        for member in NEEDED {
            assert!(members[member].is_u64(), "{member} of {name}: {region}");
        }
    }
    assert!(file["dlbVersion"].as_str().expect("text").starts_with("3.6."));
    // Python 3.9 reads no Z.
    assert_eq!(file["timestamp"].as_str().map(str::len), Some("2025-09-18T17:41:03".len()));
    let resources = serde_json::json!({"numCpus": 6, "numNodes": 1, "numMpiRanks": 0});
    assert_eq!(file["resources"], resources);
}

#[test]
fn the_times_are_those_of_all_threads_and_give_dlbs_efficiencies() {
    let file = file(&[uneven()]);
    let whole = &file["Application"]["Global"];
    let time = |member: &str| number(&whole[member]) * 1e-9;
    // Outside of the region thread 0 works for 0.5 s, and thread 1 has nothing to do.
    let expected = [
        ("usefulTime", 8.5 + 5.0),
        ("mpiTime", 0.0),
        ("ompLoadImbalanceTime", 3.0),
        ("ompSchedulingTime", 0.0),
        ("ompSerializationTime", 0.5),
        ("elapsedTime", 8.5),
    ];
    for (member, seconds) in expected {
        assert!((time(member) - seconds).abs() < 1e-9, "{member}: {}, {seconds}", time(member));
    }
    let expected = [
        ("parallelEfficiency", 13.5 / 17.0),
        ("ompParallelEfficiency", 13.5 / 17.0),
        ("ompLoadBalance", 14.0 / 17.0),
        ("ompSchedulingEfficiency", 1.0),
        ("ompSerializationEfficiency", 13.5 / 14.0),
        ("mpiParallelEfficiency", 1.0),
    ];
    for (member, part) in expected {
        let ours = number(&whole[member]);
        assert!((ours - part).abs() <= 5e-5, "{member}: {ours}, {part}");
    }
}

#[test]
fn what_is_not_measured_is_left_out() {
    let untimed = file(&[recording(2)]);
    for (name, region) in regions(&untimed) {
        for member in
            ["usefulTime", "ompLoadImbalanceTime", "parallelEfficiency", "avgCpus", "numOmpTasks"]
        {
            assert_eq!(region.get(member), None, "{name}");
        }
    }
    let notes = untimed["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains("--waits"))));
}

#[test]
fn counts_are_of_useful_time_in_regions_alone() {
    let file = file(&[wide(2, 1, &["CYCLES", "INSTRUCTIONS"])]);
    for (name, region) in regions(&file) {
        assert_eq!(region["cycles"] == 0, name == "Global", "{name}: {region}");
        assert_eq!(region["instructions"] == 0, name == "Global", "{name}: {region}");
    }
}
