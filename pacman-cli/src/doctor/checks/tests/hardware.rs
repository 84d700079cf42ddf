//! Causes that lie in the PMU, its driver, or who else uses it.

use pacman_events::CpuModel;
use perf_event_open_sys::bindings as abi;

use super::*;

/// Refuses all hardware events with one `errno`.
fn no_hardware(errno: i32) -> Fake {
    Fake::counting().refusing(move |ask| ask.hardware.then_some(errno).filter(|_| !ask.void))
}

#[test]
fn no_pmu_in_a_virtual_machine() {
    let mut told = told("no pmu in a virtual machine");
    let mut facts = permissions();
    facts.pmus.clear();
    facts.virtual_machine = true;
    let diagnosis = diagnose(&no_hardware(libc::ENOENT), &facts);
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly);
    told.add(lines(&diagnosis));
    let reason = diagnosis.reason().unwrap();
    assert_eq!(reason.subject, Check::HardwareEvents);
    assert_eq!(remedies(reason)[0], "-cpu host,pmu=on");
    // A script may run each command; none of these is one.
    assert!(reason.help.iter().all(|help| help.command.is_none()), "{:?}", reason.help);
}

#[test]
fn a_pmu_that_the_kernel_does_not_drive() {
    let mut told = told("a pmu that the kernel does not drive");
    let mut facts = permissions();
    facts.pmus.clear();
    let diagnosis = diagnose(&no_hardware(libc::EOPNOTSUPP), &facts);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!((found.outcome, found.cause), (Outcome::Missing, Some(Cause::PmuNotDriven)));
    told.found(found);
}

#[test]
fn one_event_that_the_driver_lacks_does_not_spoil_the_rest() {
    let mut told = told("one event that the driver lacks does not spoil the rest");
    let fake = Fake::counting().refusing(|ask| {
        let lacks = ask.config == u64::from(abi::PERF_COUNT_HW_REF_CPU_CYCLES);
        (ask.hardware && lacks).then_some(libc::ENOENT)
    });
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(diagnosis.verdict, Verdict::Hardware);
    assert_eq!(found.outcome, Outcome::Works);
    told.found(found);
}

/// Linux 6.1 on a Neoverse N1, whose PMU has BR_RETIRED and no PC_WRITE_RETIRED.
#[test]
fn an_event_that_only_the_processor_has() {
    let fake = || {
        Fake::counting().refusing(|ask| {
            let generic = u64::from(abi::PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
            (ask.hardware && ask.config == generic).then_some(libc::ENOENT)
        })
    };
    let on = |model| {
        let around = Limits { model, ..surroundings() };
        let diagnosis = Diagnosis::examine_with(fake(), &permissions(), &around);
        finding(&diagnosis, Check::HardwareEvents).text.clone()
    };
    let lacks = "6 of 7 count; not BRANCHES: the PMU driver does not offer it";
    assert_eq!(on(None), lacks);
    assert_eq!(on(CpuModel::named("neoverse-n1")), "all 7 count");
    // A processor without a counter of branches.
    assert_eq!(on(CpuModel::named("niagara1")), lacks);
}

#[test]
fn counters_that_open_and_stay_at_zero_do_not_count_as_counting() {
    let mut told = told("counters that open and stay at zero do not count as counting");
    let diagnosis = diagnose(&Fake::counting().silent(), &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly);
    assert_eq!((found.outcome, found.cause), (Outcome::Missing, Some(Cause::SilentPmu)));
    told.found(found);
}

#[test]
fn fewer_counters_than_events() {
    let mut told = told("fewer counters than events");
    let fake =
        Fake::counting().refusing(|ask| (ask.hardware && ask.group >= 2).then_some(libc::EINVAL));
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareGroup);
    assert_eq!((found.outcome, found.cause), (Outcome::Missing, Some(Cause::TooFewCounters)));
    told.found(found);
    let reads = finding(&diagnosis, Check::UserReads);
    assert_eq!(reads.outcome, Outcome::Works, "what fits is read without a call: {reads:?}");
}

#[test]
fn who_keeps_a_group_off_its_counters() {
    let fake = Fake::counting().scheduling_at_most(3);
    let mut watched = permissions();
    watched.watchdog = true;
    let mut hybrid = permissions();
    hybrid.pmus = vec!["cpu_atom".into(), "cpu_core".into()];
    let mut told = told("who keeps a group off its counters");
    for (facts, cause) in [
        (&permissions(), Cause::CountersTaken),
        (&watched, Cause::Watchdog),
        (&hybrid, Cause::HybridCores),
    ] {
        let diagnosis = diagnose(&fake, facts);
        let found = finding(&diagnosis, Check::HardwareGroup);
        assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(cause)));
        told.found(found);
    }
}

#[test]
fn a_pmu_that_somebody_holds_for_himself() {
    let diagnosis = diagnose(&no_hardware(libc::EBUSY), &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(Cause::CountersTaken)));
}

#[test]
fn why_a_read_takes_a_system_call() {
    let mut off = permissions();
    off.rdpmc = Some(0);
    let mut hybrid = permissions();
    hybrid.pmus = vec!["cpu_atom".into(), "cpu_core".into()];
    let mut unseen = permissions();
    unseen.hybrid = true;
    let mut elsewhere = permissions();
    elsewhere.user_reads = UserReads::Missing;
    let mut arm = permissions();
    arm.user_reads = UserReads::SwitchedOff;
    let mut big_little = arm.clone();
    big_little.pmus = vec!["armv8_cortex_a53".into(), "armv8_cortex_a72".into()];
    let quiet = Fake::counting().without_rdpmc();
    let mut told = told("why a read takes a system call");
    for (fake, facts, outcome, cause) in [
        (&quiet, &off, Outcome::InTheWay, Cause::RdpmcOff),
        (&quiet, &permissions(), Outcome::Missing, Cause::NotOffered),
        (&Fake::counting(), &hybrid, Outcome::Missing, Cause::HybridCores),
        (&Fake::counting(), &unseen, Outcome::Missing, Cause::HybridCores),
        (
            &Fake::counting().unmappable(libc::EPERM),
            &permissions(),
            Outcome::InTheWay,
            Cause::LockedMemory,
        ),
        (
            &Fake::counting().hiding_counters(),
            &permissions(),
            Outcome::InTheWay,
            Cause::HiddenCounters,
        ),
        (&Fake::counting(), &elsewhere, Outcome::Missing, Cause::UnsupportedArchitecture),
        (&Fake::counting(), &arm, Outcome::InTheWay, Cause::UserAccessOff),
        (&Fake::counting(), &big_little, Outcome::Missing, Cause::HybridCores),
        (
            &Fake::counting().unmappable(libc::ENODEV),
            &permissions(),
            Outcome::InTheWay,
            Cause::Unexplained(libc::ENODEV),
        ),
    ] {
        let diagnosis = diagnose(fake, facts);
        let found = finding(&diagnosis, Check::UserReads);
        assert_eq!((found.outcome, found.cause), (outcome, Some(cause)));
        told.found(found);
        assert_eq!(diagnosis.verdict, Verdict::Hardware);
    }
}

#[test]
fn reads_on_arm_are_switched_on_by_a_setting() {
    let mut told = told("reads on arm are switched on by a setting");
    let mut facts = permissions();
    facts.user_reads = UserReads::SwitchedOff;
    assert_eq!(
        remedies(finding(&diagnose(&Fake::counting(), &facts), Check::UserReads)),
        [
            "sudo sysctl kernel.perf_user_access=1",
            "echo kernel.perf_user_access=1 | sudo tee /etc/sysctl.d/50-perf-user.conf",
        ]
    );
    facts.user_reads = UserReads::OnRequest;
    let diagnosis = diagnose(&Fake::counting(), &facts);
    let found = finding(&diagnosis, Check::UserReads);
    assert_eq!(found.outcome, Outcome::Works);
    told.found(found);
}

#[test]
fn counters_open_to_everybody_are_mentioned() {
    let mut told = told("counters open to everybody are mentioned");
    let mut facts = permissions();
    facts.rdpmc = Some(2);
    let diagnosis = diagnose(&Fake::counting(), &facts);
    let found = finding(&diagnosis, Check::UserReads);
    told.found(found);
}
