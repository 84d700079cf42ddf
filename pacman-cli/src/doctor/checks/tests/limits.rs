//! Descriptors, locked memory, and facts that only explain.

use pacman_core::CpuModel;
use pacman_core::platform::CoreTypePmu;
use pacman_topology::CpuSet;

use super::*;

#[test]
fn a_process_out_of_descriptors_is_told_so_whatever_it_opens() {
    for (errno, cause, text) in [
        (libc::EMFILE, Cause::DescriptorLimit, "this process is at its limit of 1024 open files"),
        (libc::ENFILE, Cause::SystemDescriptors, "the whole system is out of file descriptors"),
    ] {
        // Room for one descriptor: a session's own group, and no thread's.
        let fake =
            Fake::counting().refusing(move |ask| (!ask.void && ask.open >= 1).then_some(errno));
        let mut facts = permissions();
        facts.capability = Some("CAP_PERFMON");
        let diagnosis = diagnose(&fake, &facts);
        assert_eq!(diagnosis.verdict, Verdict::Nothing);
        for subject in [Check::HardwareEvents, Check::SoftwareEvents] {
            let found = finding(&diagnosis, subject);
            assert_eq!(
                (found.outcome, found.cause, found.text.as_str()),
                (Outcome::InTheWay, Some(cause), text)
            );
        }
        assert_eq!(fake.left_open(), 0);
    }
}

#[test]
fn too_few_descriptors_for_every_context_are_foreseen() {
    let around = Limits { contexts: 256, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &permissions(), &around);
    let found = finding(&diagnosis, Check::Descriptors);
    assert_eq!(
        (found.outcome, found.cause, found.text.as_str()),
        (
            Outcome::InTheWay,
            Some(Cause::DescriptorLimit),
            "1024 allowed, 4 open: room for 254 threads of 4 events, but 256 contexts can run threads"
        )
    );
    assert_eq!(remedies(found), ["ulimit -n 4096"]);
    assert_eq!(diagnosis.verdict, Verdict::Hardware, "one thread counts all the same");
}

#[test]
fn a_hybrid_s_threads_need_descriptors_for_each_core_type() {
    let pmu = |name: &str, number| {
        let cpus = CpuSet::from_list("0-1").expect("a list");
        CoreTypePmu::new(name, number, CpuModel::generic(), cpus)
    };
    let core_types = vec![pmu("cpu_core", 4), pmu("cpu_atom", 10)];
    let around = Limits { contexts: 126, core_types, ..surroundings() };
    let mut facts = permissions();
    facts.pmus = vec!["cpu_atom".into(), "cpu_core".into()];
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &facts, &around);
    let text = |check: Check| finding(&diagnosis, check).text.as_str();
    assert_eq!(text(Check::Descriptors), "1024 allowed, 4 open: room for 126 threads of 4 events");
    assert_eq!(
        text(Check::Hybrid),
        "cpu_atom, cpu_core: sessions count on each core type and tell the counts apart, by a \
         system call for each"
    );
    assert_eq!(diagnosis.finding(Check::LockedMemory), None, "no page is mapped");
    assert_eq!(finding(&diagnosis, Check::UserReads).cause, Some(Cause::HybridCores));
}

#[test]
fn unlimited_descriptors_are_not_a_number() {
    let mut facts = permissions();
    facts.descriptors = u64::MAX;
    let diagnosis = diagnose(&Fake::counting(), &facts);
    assert_eq!(finding(&diagnosis, Check::Descriptors).text, "open files are not limited");
}

#[test]
fn too_little_locked_memory_is_foreseen() {
    let around =
        Limits { page_allowance_kb: Some(8), locked_memory: Some(16 << 10), ..surroundings() };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &permissions(), &around);
    let found = finding(&diagnosis, Check::LockedMemory);
    assert_eq!(
        (found.outcome, found.cause, found.text.as_str()),
        (
            Outcome::InTheWay,
            Some(Cause::LockedMemory),
            "room for 20 counter pages: 5 threads of 4 events; further threads read with a system call"
        )
    );
    assert_eq!(
        remedies(found),
        ["sudo sysctl kernel.perf_event_mlock_kb=2048", "ulimit -l unlimited"]
    );
}

#[test]
fn locked_memory_is_no_matter_where_it_is_not_limited() {
    let free = Limits { ipc_lock: true, page_allowance_kb: Some(0), ..surroundings() };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &permissions(), &free);
    assert_eq!(diagnosis.finding(Check::LockedMemory), None);
    let mut facts = permissions();
    facts.paranoid = Some(-1);
    let diagnosis = diagnose(&Fake::counting(), &facts);
    assert_eq!(diagnosis.finding(Check::LockedMemory), None);
}

#[test]
fn facts_explain_and_do_not_change_the_verdict() {
    let mut facts = permissions();
    facts.watchdog = true;
    facts.virtual_machine = true;
    facts.container = Some("podman");
    facts.pmus = vec!["cpu_atom".into(), "cpu_core".into()];
    facts.driver_doubt = Some("it jumps");
    let around = Limits {
        clock_source: Some("hpet".into()),
        cpu_limits: vec!["the affinity mask leaves 2 of 8 contexts".into()],
        ..surroundings()
    };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &facts, &around);
    assert_eq!(diagnosis.verdict, Verdict::Hardware);
    let text = lines(&diagnosis);
    let notes: Vec<&str> = text.lines().filter(|line| line.contains(" noted: ")).collect();
    let usual = CLOCK_SOURCE.map(|usual| format!(", not {usual}")).unwrap_or_default();
    assert_eq!(
        notes,
        [
            "driver noted: not trusted: it jumps; sessions count by registers instead, which takes root and the msr module, and bind their threads",
            "watchdog noted: on: it holds one hardware counter of every context",
            "hybrid noted: cpu_atom, cpu_core: a count holds only while its thread is on one core type",
            "virtual-machine noted: counters belong to a hypervisor, which may emulate or share them",
            "container noted: this process runs in podman",
            "cpu-limits noted: the affinity mask leaves 2 of 8 contexts",
            &format!(
                "clock-source noted: hpet{usual}: the time of a phase's edge takes a system clock read"
            ),
        ]
    );
}
