//! The doctor on real kernel PMU drivers: the command runs in the lab's guests.
//!
//! Without a lab these tests say so and pass. A boot takes some ten seconds.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// One guest at a time: an emulated machine takes a whole processor.
static GUEST: Mutex<()> = Mutex::new(());

/// The output of one run of the doctor in a guest.
struct Run {
    status: i64,
    diagnosis: Value,
}

impl Run {
    fn finding(&self, subject: &str) -> &Value {
        let findings = self.diagnosis["findings"].as_array().expect("a list");
        findings
            .iter()
            .find(|finding| finding["subject"] == subject)
            .unwrap_or_else(|| panic!("nothing about {subject} in {:#}", self.diagnosis))
    }

    fn says(&self, subject: &str, outcome: &str, cause: Option<&str>) {
        let finding = self.finding(subject);
        assert_eq!(
            (finding["outcome"].as_str(), finding["cause"].as_str()),
            (Some(outcome), cause),
            "{finding:#}"
        );
    }
}

/// Boots a guest with `cpu` and runs each of `settings` followed by the doctor;
/// `DOCTOR` in a setting stands for the doctor run by somebody else than root.
/// `None` without a lab.
fn boot(cpu: &str, settings: &[&str]) -> Option<Vec<Run>> {
    if !pacman_suite::lab::is_there() {
        return None;
    }
    let lab = pacman_suite::lab::command()?;
    let doctor = "/t/pacman-pmu doctor --json; echo \"STATUS $?\"";
    let mut script = String::from("set +e\n");
    for setting in settings {
        match setting.split_once("DOCTOR") {
            Some((before, after)) => script += &format!("{before}{doctor}{after}\n"),
            None => script += &format!("{setting}\n{doctor}\n"),
        }
    }
    let _one = GUEST.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = Command::new(lab)
        .args(["--cpu", cpu, "--", &script, env!("CARGO_BIN_EXE_pacman-pmu")])
        .output()
        .expect("the lab runs");
    let said = String::from_utf8_lossy(&answer.stdout);
    let mut runs = Vec::new();
    let mut rest = &*said;
    while let Some((json, after)) = rest.split_once("STATUS ") {
        let (status, after) = after.split_once('\n').unwrap_or((after, ""));
        runs.push(Run {
            status: status.trim().parse().unwrap_or_else(|e| panic!("{status:?}: {e}\n{said}")),
            diagnosis: serde_json::from_str(json).unwrap_or_else(|e| panic!("{e} in\n{said}")),
        });
        rest = after;
    }
    let errors = String::from_utf8_lossy(&answer.stderr);
    assert_eq!(runs.len(), settings.len(), "in the guest:\n{said}\n{errors}");
    Some(runs)
}

/// The guest is root alone; this makes somebody else, who may reach the command.
const NOBODY: &str = "chmod 755 / /t; mkdir -p /etc; echo root:x:0:0::/:/bin/sh >/etc/passwd; \
                      echo nobody:x:65534:65534::/tmp:/bin/sh >>/etc/passwd; \
                      su -s /bin/sh nobody -c '";

#[test]
fn hardware_counts_and_each_obstacle_is_named() {
    let as_nobody = |first: &str| format!("{first}; {NOBODY}DOCTOR'");
    let paranoid_3 = as_nobody("echo 3 >/proc/sys/kernel/perf_event_paranoid");
    let paranoid_2 = as_nobody("echo 2 >/proc/sys/kernel/perf_event_paranoid");
    let no_pages = as_nobody("echo 0 >/proc/sys/kernel/perf_event_mlock_kb; ulimit -l 0");
    let settings = [
        ":",
        "echo 0 >/sys/bus/event_source/devices/cpu/rdpmc",
        "echo 1 >/sys/bus/event_source/devices/cpu/rdpmc",
        &paranoid_3,
        &paranoid_2,
        &no_pages,
    ];
    let Some(runs) = boot("core", &settings) else { return };
    let [usual, rdpmc_off, rdpmc_on, paranoid_3, paranoid_2, no_pages] = &runs[..] else {
        panic!("{} runs", runs.len())
    };

    assert_eq!((usual.status, usual.diagnosis["verdict"].as_str()), (0, Some("hardware")));
    usual.says("system-call", "works", None);
    usual.says("hardware-group", "works", None);
    usual.says("kernel-mode", "works", None);
    usual.says("user-reads", "works", None);
    usual.says("virtual-machine", "noted", None);
    assert_eq!(
        usual.finding("user-reads")["text"],
        "RDPMC reads 48-bit counters without a system call"
    );

    assert_eq!(rdpmc_off.status, 0);
    rdpmc_off.says("user-reads", "in-the-way", Some("rdpmc-off"));
    rdpmc_on.says("user-reads", "works", None);

    assert_eq!(
        (paranoid_3.status, paranoid_3.diagnosis["cause"].as_str()),
        (3, Some("paranoid")),
        "{:#}",
        paranoid_3.diagnosis
    );
    paranoid_3.says("hardware-events", "in-the-way", Some("paranoid"));
    assert_eq!(
        paranoid_3.finding("hardware-events")["help"][0]["command"],
        "sudo sysctl kernel.perf_event_paranoid=2"
    );

    assert_eq!(paranoid_2.status, 0);
    paranoid_2.says("kernel-mode", "in-the-way", Some("paranoid"));
    paranoid_2.says("user-reads", "works", None);

    assert_eq!(no_pages.status, 0);
    no_pages.says("user-reads", "in-the-way", Some("locked-memory"));
    no_pages.says("locked-memory", "in-the-way", Some("locked-memory"));
}

#[test]
fn a_guest_without_a_pmu_is_told_so() {
    let Some(runs) = boot("none", &[":"]) else { return };
    let run = &runs[0];
    assert_eq!(
        (run.status, run.diagnosis["verdict"].as_str(), run.diagnosis["cause"].as_str()),
        (3, Some("software-only"), Some("no-pmu-in-vm")),
        "{:#}",
        run.diagnosis
    );
    run.says("software-events", "works", None);
    assert_eq!(run.finding("hardware-events")["help"][0]["setting"], "-cpu host,pmu=on");
}

#[test]
fn a_pentium_4_counts() {
    let Some(runs) = boot("p4", &[":"]) else { return };
    let run = &runs[0];
    assert_eq!(
        (run.status, run.diagnosis["verdict"].as_str()),
        (0, Some("hardware")),
        "{:#}",
        run.diagnosis
    );
    for (subject, text) in [
        ("hardware-events", "all 7 count"),
        (
            // Both kinds of branches want the same event selector.
            "hardware-group",
            "only 3 of 4 count at once: no counter is left that can take the next one",
        ),
        ("user-reads", "RDPMC reads 40-bit counters without a system call"),
    ] {
        assert_eq!(run.finding(subject)["text"], text);
    }
    let driver = run.finding("driver");
    assert!(driver["text"].as_str().unwrap().starts_with("not trusted: Linux's driver"));
    assert_eq!(driver["help"][0]["command"], "sudo modprobe msr");
}
