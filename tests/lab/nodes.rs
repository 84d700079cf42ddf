//! Adapted teams on the packages of a machine with two, where the kernel places what is not bound.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::boots::{self, TWO_PACKAGES};
use super::omp;

const EXECUTIONS: u32 = 300;

/// The program's file; `None`, and said, where no compiler makes one.
pub(crate) fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| omp::compiled("nodes.c", "lab-nodes")).as_deref()
}

/// The command on that program, adapted.
pub(crate) fn line(kind: &str) -> String {
    format!(
        "export OMP_WAIT_POLICY=passive; /t/pacman-pmu run --adapt --no-memory -o /tmp/nodes.json \
         -- /t/lab-nodes {EXECUTIONS} {kind}; cat /tmp/nodes.json"
    )
}

fn chooses(kind: &str, packages: u32) {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(TWO_PACKAGES, &line(kind)) else { return };
    assert_eq!(*status, 0, "{text}");
    let json = text.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("a report");
    let report: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let regions = report["processes"][0]["regions"].as_array().expect("a list");
    let region = regions.iter().find(|region| region["executions"] == EXECUTIONS);
    let adapted = &region.unwrap_or_else(|| panic!("{text}"))["adaptation"];
    println!("lab nodes: {kind}: {} ({})", adapted["configuration"], adapted["why"]);
    assert_eq!(adapted["configuration"], format!("2x1/{packages}"), "{region:#?}");
    assert!(text.contains(&format!("last {packages} 2\n")), "where the threads ran: {text}");
}

#[test]
fn threads_that_share_are_put_on_one_package() {
    chooses("near", 1);
}

#[test]
fn threads_that_need_memory_are_put_on_both_packages() {
    chooses("far", 2);
}
