//! Pictures line by line, and the command's answers.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use pacman_core::Topology;

use super::details::Details;
use super::picture::{Style, draw};
use super::{TopoArgs, topo};
use crate::error::CliError;
use crate::tests::snapshot::snapshot;
use pacman_report::document;

fn picture(text: &str, width: usize, unicode: bool, unfold: bool) -> String {
    draw(
        &Topology::synthetic(text).unwrap(),
        &Details::default(),
        &Style { width, unicode, unfold },
    )
}

/// A picture without its last line, which names a directory of this run.
fn without_place(drawn: &str) -> &str {
    drawn.rsplit_once("not this system").expect("it is another one").0
}

/// A little `/sys` in a temporary directory: 2 cores of 2 contexts, one CPU offline, in a container.
fn container() -> PathBuf {
    let root = std::env::temp_dir().join(format!("pacman-topo-{}", std::process::id()));
    let file = |path: &str, content: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    file("proc/cpuinfo", "model name\t: Small CPU\n");
    file("proc/self/cgroup", "0::/box\n");
    file("sys/fs/cgroup/box/cpuset.cpus.effective", "0-1\n");
    file("sys/fs/cgroup/box/cpu.max", "150000 100000\n");
    file("sys/devices/system/cpu/present", "0-3\n");
    file("sys/devices/system/cpu/online", "0-2\n");
    for (cpu, siblings) in [(0, "0,2"), (1, "1"), (2, "0,2")] {
        file(&format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), siblings);
    }
    root
}

#[test]
fn kinds_of_core_are_labelled() {
    snapshot("topo-kinds.txt", &picture("2 p-cores, 2 threads, 2 e-cores", 40, true, false));
}

#[test]
fn packages_nodes_and_dies_are_told_apart_in_ascii() {
    snapshot("topo-ascii.txt", &picture("2 packages, 2 nodes, 1 core", 40, false, false));
    assert!(picture("2 dies, 1 core", 40, false, false).contains("| die 1  "));
}

#[test]
fn limits_and_offline_contexts_are_marked() {
    let root = container();
    let machine = Topology::from_sysfs(&root).unwrap();
    let details = Details::of(&machine).unwrap();
    let drawn = draw(&machine, &details, &Style { width: 100, unicode: true, unfold: false });
    snapshot("topo-limits.txt", without_place(&drawn));
    let facts = document::value(&super::json::facts(&machine, &details));
    assert_eq!(facts["offline"], serde_json::json!([3]));
    assert_eq!(facts["allowed"], serde_json::json!([0, 1]));
    assert_eq!(facts["quota"]["cpus"], 1.5);
    assert_eq!(facts["effective_contexts"], 2);
    let file = "/sys/fs/cgroup/box/cpuset.cpus.effective";
    assert_eq!(facts["restrictions"][0]["file"], file);
    assert_eq!(facts["packages"][0]["cores"][0]["contexts"][1]["allowed"], false);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn caches_and_clocks_are_shown_by_core_type() {
    let root = tempfile::tempdir().unwrap();
    let cpus = root.path().join("sys/devices/system/cpu");
    let file = |path: String, content: &str| {
        let path = cpus.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    file("online".into(), "0-5");
    for (cpu, capacity, core, data) in [
        (0, "1024", "0-1", "48K"),
        (1, "1024", "0-1", "48K"),
        (2, "1024", "2-3", "48K"),
        (3, "1024", "2-3", "48K"),
        (4, "400", "4", "32K"),
        (5, "400", "5", "32K"),
    ] {
        file(format!("cpu{cpu}/cpu_capacity"), capacity);
        file(format!("cpu{cpu}/topology/core_cpus_list"), core);
        let last =
            [("level", "3"), ("type", "Unified"), ("size", "12M"), ("shared_cpu_list", "0-5")];
        let first = [("level", "1"), ("type", "Data"), ("size", data), ("shared_cpu_list", core)];
        for (index, cache) in [first, last].iter().enumerate() {
            for (name, content) in cache {
                file(format!("cpu{cpu}/cache/index{index}/{name}"), content);
            }
        }
        let highest = if cpu < 4 { "5100000" } else { "3800000" };
        file(format!("cpu{cpu}/cpufreq/cpuinfo_max_freq"), highest);
    }
    let machine = Topology::from_sysfs(root.path()).unwrap();
    let details = Details::of(&machine).unwrap();
    let drawn = draw(&machine, &details, &Style { width: 100, unicode: false, unfold: false });
    snapshot("topo-caches.txt", without_place(&drawn));
    let facts = document::value(&super::json::facts(&machine, &details));
    let caches = facts["caches"].as_array().unwrap();
    assert_eq!(caches.len(), 5, "{facts:#}");
    let last = serde_json::json!({
        "level": 3, "kind": "unified", "bytes": 12 << 20, "cpus": [0, 1, 2, 3, 4, 5]
    });
    assert_eq!(caches[4], last);
    let slower = serde_json::json!({
        "cpus": [4, 5], "min_hz": null, "base_hz": null, "max_hz": 3_800_000_000_u64
    });
    assert_eq!(facts["clocks"][1], slower);
    file("cpu4/cache/index1/size".into(), "twelve");
    file("cpu0/cache/index1/shared_cpu_list".into(), "0-3");
    assert!(Details::of(&machine).is_err(), "a size is a number");
}

#[test]
fn big_machines_are_folded_unless_asked() {
    let folded = picture("2 packages, 64 cores, 2 threads", 60, true, false);
    snapshot("topo-folded.txt", &folded);
    let whole = picture("2 packages, 64 cores, 2 threads", 60, true, true);
    assert!(whole.contains("core 127") && whole.lines().count() > 60);
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for text in [
        "1 core",
        "4 packages, 2 nodes, 2 dies, 16 cores, 8 threads",
        "100 p-cores, 9 threads, 300 e-cores, 8 lp-cores",
        "16 packages, 64 nodes, 2 cores",
    ] {
        for (width, unfold) in [(40, false), (40, true), (80, false), (80, true), (133, true)] {
            let drawn = picture(text, width, true, unfold);
            for line in drawn.lines() {
                assert!(line.chars().count() <= width, "{width} {text}: {line}");
            }
        }
    }
}

fn run(args: &TopoArgs) -> (u8, String) {
    let mut out = Vec::new();
    let status = topo(args, &mut out).unwrap_or_else(|error| error.status());
    (status, String::from_utf8(out).unwrap())
}

#[test]
fn this_machine_is_shown() {
    let (status, text) = run(&TopoArgs { unfold: true, ..TopoArgs::default() });
    assert_eq!(status, 0);
    let here = Topology::detect().unwrap();
    for core in here.cores() {
        assert!(text.contains(&format!("core {}", core.core)), "{text}");
    }
    let (status, text) = run(&TopoArgs { json: true, ..TopoArgs::default() });
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &facts["this_system"]), (0, &serde_json::Value::Bool(true)));
    assert_eq!(facts["contexts"], here.contexts().len());
}

#[test]
fn a_bad_request_ends_with_status_2_and_prints_nothing() {
    let synthetic = TopoArgs { synthetic: Some("2 sockets".to_owned()), ..TopoArgs::default() };
    assert_eq!(run(&synthetic), (2, String::new()));
    let sysfs = TopoArgs { sysfs: Some("/nonexistent".into()), ..TopoArgs::default() };
    assert_eq!(run(&sysfs), (2, String::new()));
}

#[test]
fn a_closed_output_is_reported_to_the_caller() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for json in [false, true] {
        let args = TopoArgs { json, ..TopoArgs::default() };
        assert!(matches!(topo(&args, &mut Closed), Err(CliError::Unwritable(_))));
    }
}
