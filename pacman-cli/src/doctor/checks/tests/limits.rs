//! Descriptors, locked memory, and facts that only explain.

use pacman_core::CpuModel;
use pacman_core::platform::CoreTypePmu;
use pacman_topology::CpuSet;

use super::*;

#[test]
fn a_process_out_of_descriptors_is_told_so_whatever_it_opens() {
    let mut told = told("a process out of descriptors is told so whatever it opens");
    for (errno, cause) in
        [(libc::EMFILE, Cause::DescriptorLimit), (libc::ENFILE, Cause::SystemDescriptors)]
    {
        // Room for one descriptor: a session's own group, and no thread's.
        let fake =
            Fake::counting().refusing(move |ask| (!ask.void && ask.open >= 1).then_some(errno));
        let mut facts = permissions();
        facts.capability = Some("CAP_PERFMON");
        let diagnosis = diagnose(&fake, &facts);
        assert_eq!(diagnosis.verdict, Verdict::Nothing);
        for subject in [Check::HardwareEvents, Check::SoftwareEvents] {
            let found = finding(&diagnosis, subject);
            assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(cause)));
            told.found(found);
        }
        assert_eq!(fake.left_open(), 0);
    }
}

#[test]
fn too_few_descriptors_for_every_context_are_foreseen() {
    let mut told = told("too few descriptors for every context are foreseen");
    let around = Limits { contexts: 256, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &permissions(), &around);
    let found = finding(&diagnosis, Check::Descriptors);
    assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(Cause::DescriptorLimit)));
    told.found(found);
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
    let mut told = told("a hybrid s threads need descriptors for each core type");
    told.found(finding(&diagnosis, Check::Descriptors));
    told.found(finding(&diagnosis, Check::Hybrid));
    assert_eq!(diagnosis.finding(Check::LockedMemory), None, "no page is mapped");
    assert_eq!(finding(&diagnosis, Check::UserReads).cause, Some(Cause::HybridCores));
}

#[test]
fn unlimited_descriptors_are_not_a_number() {
    let mut told = told("unlimited descriptors are not a number");
    let mut facts = permissions();
    facts.descriptors = u64::MAX;
    let diagnosis = diagnose(&Fake::counting(), &facts);
    told.found(finding(&diagnosis, Check::Descriptors));
}

#[test]
fn too_little_locked_memory_is_foreseen() {
    let mut told = told("too little locked memory is foreseen");
    let around =
        Limits { page_allowance_kb: Some(8), locked_memory: Some(16 << 10), ..surroundings() };
    let diagnosis = Diagnosis::examine_with(Fake::counting(), &permissions(), &around);
    let found = finding(&diagnosis, Check::LockedMemory);
    assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(Cause::LockedMemory)));
    told.found(found);
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
    let notes = diagnosis.findings.iter().filter(|finding| finding.outcome == Outcome::Noted);
    let usual = CLOCK_SOURCE.unwrap_or("the usual");
    let mut told = told("facts explain and do not change the verdict");
    notes.for_each(|note| told.add(line(note).replace(usual, "the usual")));
}
