//! Whole answers, for a kernel that refuses everything in one way.

use std::os::fd::RawFd;
use std::path::Path;
use std::ptr::NonNull;

use crate::doctor::checks::{Check, Diagnosis, Limits, Verdict};
use pacman_core::backend::Target;
use pacman_core::backend::perf::{Errno, PerfPermissions, PerfSys, RawCount, Register};
use pacman_report::document;
use perf_event_open_sys::bindings::perf_event_attr;

use super::style::Style;
use super::{json, text};
use crate::tests::snapshot::snapshot;

/// Refuses every open with its `errno`; nothing else is ever asked of it.
#[derive(Clone)]
struct Refusing(i32);

impl PerfSys for Refusing {
    fn is_real(&self) -> bool {
        false
    }

    fn open(&self, _: &mut perf_event_attr, _: Target, _: RawFd) -> Result<RawFd, Errno> {
        Err(Errno(self.0))
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        unreachable!("{fd} was never opened");
    }

    fn close(&self, fd: RawFd) {
        unreachable!("{fd} was never opened");
    }

    fn enable_group(&self, fd: RawFd) -> Result<(), Errno> {
        unreachable!("{fd} was never opened");
    }

    fn disable_group(&self, fd: RawFd) -> Result<(), Errno> {
        unreachable!("{fd} was never opened");
    }

    fn read(&self, fd: RawFd, _: &mut [u64]) -> Result<usize, Errno> {
        unreachable!("{fd} was never opened");
    }

    fn reserve(&self, _: usize) -> Result<NonNull<u8>, Errno> {
        unreachable!("no page was ever asked for");
    }

    unsafe fn map(&self, fd: RawFd, _: NonNull<u8>, _: usize) -> Result<(), Errno> {
        unreachable!("{fd} was never opened");
    }

    unsafe fn release(&self, _: NonNull<u8>, _: usize) {
        unreachable!("no page was ever reserved");
    }

    unsafe fn read_counter(&self, _: Register) -> RawCount {
        unreachable!("no page was ever mapped");
    }
}

/// Root in a Docker container that has the capability and its own filter.
fn filtered() -> Diagnosis {
    let nowhere = Path::new("/nonexistent");
    let mut permissions = PerfPermissions::read_under(nowhere);
    permissions.paranoid = Some(2);
    permissions.capability = Some("CAP_PERFMON");
    permissions.seccomp = 2;
    permissions.container = Some("docker");
    let surroundings = Limits::read_under(nowhere);
    let mut diagnosis = Diagnosis::examine_with(Refusing(libc::EPERM), &permissions, &surroundings);
    // The kernel's accounting of every thread is real, here as everywhere.
    diagnosis.findings.retain(|finding| finding.subject != Check::Ledgers);
    diagnosis
}

const PLAIN: Style = Style { unicode: false, colour: false, width: 90 };

#[test]
fn a_remedy_is_said_once_and_lines_are_broken_between_words() {
    snapshot("doctor-filtered.txt", &text::diagnosis(&filtered(), &PLAIN));
}

#[test]
fn a_terminal_gets_marks_and_colours_in_the_same_columns() {
    let plain = text::diagnosis(&filtered(), &PLAIN);
    let fine = text::diagnosis(&filtered(), &Style { unicode: true, colour: true, ..PLAIN });
    assert!(fine.starts_with("\x1b[31m✗\x1b[0m perf_event_open  in the way: "), "{fine}");
    let stripped: String = fine
        .replace("\x1b[31m✗\x1b[0m", "x")
        .replace("\x1b[33m✗\x1b[0m", "x")
        .replace("\x1b[32m✓\x1b[0m", "+")
        .replace("\x1b[36m·\x1b[0m", "-");
    assert_eq!(stripped, plain);
}

#[test]
fn json_carries_every_part_of_a_finding() {
    let diagnosis = filtered();
    assert_eq!(diagnosis.verdict.exit_status(), 3);
    assert_eq!(Verdict::Nothing.exit_status(), 1);
    assert_eq!(Verdict::Hardware.exit_status(), 0);
    let mut value = document::value(&json::diagnosis(&diagnosis));
    let findings = value["findings"].take();
    assert_eq!(
        format!("{value:#}"),
        r#"{
  "verdict": "software-only",
  "exit_status": 3,
  "cause": "seccomp",
  "text": "only software events work: a seccomp filter of docker refuses perf_event_open before the kernel sees it",
  "findings": null
}"#
    );
    assert_eq!(findings.as_array().map(Vec::len), Some(diagnosis.findings.len()));
    assert_eq!(
        format!("{:#}", findings[0]),
        r#"{
  "subject": "system-call",
  "tried": "called perf_event_open with a request too short to be one",
  "outcome": "in-the-way",
  "text": "a seccomp filter of docker refuses perf_event_open before the kernel sees it",
  "cause": "seccomp",
  "help": [
    {
      "when": "the engine's own profile",
      "command": "docker run --cap-add=PERFMON IMAGE",
      "setting": null,
      "advice": null
    },
    {
      "when": "a profile that allows perf_event_open",
      "command": "docker run --security-opt seccomp=PROFILE.json IMAGE",
      "setting": null,
      "advice": null
    }
  ]
}"#
    );
}
