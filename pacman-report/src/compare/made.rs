//! Made-up reports of runs, and their pages in a real browser.

use pacman_suite::browser;
use serde_json::{Value, json};

/// A report with these regions: line, seconds, and the part of the threads' time at a lock.
pub(super) fn report(seconds: f64, regions: &[(u32, f64, f64)]) -> Value {
    let region = |(line, time, lock): &(u32, f64, f64)| {
        json!({
            "name": format!("solve, line {line}"), "file": "/src/a.c", "line": line, "executions": 100,
            "time_s": time, "shortest_s": 0.0099 * time, "longest_s": 0.0101 * time, "share": time / seconds,
            "figures": {"counts": {}, "complete": true}, "teams": [{"threads": 2}],
            "threads": {
                "thread": [0, 1],
                "states": {
                    "useful_s": [time * (1.0 - lock), time * (1.0 - lock)], "starting_s": 0.0, "end_s": 0.0, "late_tasks_s": 0.0, "dropped": 0, "unseen_tasks": 0,
                    "waits": {"0": {"count": [5, 5], "time_s": [time * lock, time * lock], "tasks_s": 0.0}},
                },
            },
        })
    };
    json!({
        "format": "pacman-run", "version": 3, "command": ["./app"], "label": null, "time_s": seconds,
        "provenance": {"host": "h", "processor": "P", "began": "2026-11-29T09:00:00Z"},
        "processes": [{
            "lacks_processors": false, "processor_share": 1.0, "sites": [{"cause": "lock"}],
            "efficiency": {
                "parallel": 0.8, "mpi": 1.0, "serialization": 0.9, "load_balance": 0.95, "scheduling": 0.94,
            },
            "regions": regions.iter().map(region).collect::<Vec<_>>(),
        }],
    })
}

pub(super) const WIDTHS: [(u32, u32); 2] = [(390, 844), (1280, 800)];

pub(super) fn open(page: &str, size: (u32, u32), probe: &str) -> Option<Value> {
    let probe = format!(
        "const count = name => document.querySelectorAll(name).length;
         seen.text = document.getElementById('main').innerText;
         seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
         seen.drawn = Number(document.documentElement.dataset.drawn);
         {probe}"
    );
    browser::open(page, size, "document.documentElement.dataset.ready", &probe)
}
