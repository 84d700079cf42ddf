//! Adapted teams on the packages of a machine with two, where the kernel places what is not bound.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
        "export OMP_WAIT_POLICY=passive; /t/pacman-pmu run --adapt --narrow --no-memory -o /tmp/nodes.json \
         -- /t/lab-nodes {EXECUTIONS} {kind}; cat /tmp/nodes.json"
    )
}

fn chooses(kind: &str, packages: u32) {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(TWO_PACKAGES, &line(kind)) else { return };
    assert_eq!(*status, 0, "{text}");
    let numbers = |line: &str| -> Vec<u32> {
        line.split(' ').map(|word| word.parse().expect("a number")).collect()
    };
    let ran = text.lines().filter_map(|line| line.strip_prefix("ran ")).map(numbers);
    let most = ran.max_by_key(|ran| ran[2]).unwrap_or_else(|| panic!("{text}"));
    println!(
        "lab nodes: {kind}: {} executions of {} threads on {} packages",
        most[2], most[1], most[0]
    );
    assert!(most[2] > EXECUTIONS / 2, "{text}");
    assert_eq!(most[..2], [packages, 2], "where most executions ran: {text}");
    assert!(text.contains(&format!("2x1/{packages}: ")), "the report has it: {text}");
}

#[test]
fn threads_that_share_are_put_on_one_package() {
    chooses("near", 1);
}

#[test]
fn threads_that_need_memory_are_put_on_both_packages() {
    chooses("far", 2);
}
