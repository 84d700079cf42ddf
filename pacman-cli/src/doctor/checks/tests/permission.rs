//! Causes that lie in the permissions of this process.

use super::*;

/// Answers as Linux does at `level`, for a process without the capability:
/// above 2, distributions close the system call before looking at the request.
fn paranoid(level: i32) -> Fake {
    Fake::counting().refusing(move |ask| {
        (level > 2 || (level > 1 && ask.kernel && !ask.void)).then_some(libc::EACCES)
    })
}

fn at(level: i32) -> PerfPermissions {
    let mut facts = permissions();
    facts.paranoid = Some(level);
    facts
}

#[test]
fn level_2_forbids_the_kernel_only() {
    let mut told = told("level 2 forbids the kernel only");
    let diagnosis = diagnose(&paranoid(2), &at(2));
    assert_eq!(diagnosis.verdict, Verdict::Hardware);
    let found = finding(&diagnosis, Check::KernelMode);
    assert_eq!((found.outcome, found.cause), (Outcome::InTheWay, Some(Cause::Paranoid)));
    told.found(found);
    told.found(finding(&diagnosis, Check::SoftwareEvents));
}

#[test]
fn levels_above_2_close_the_system_call() {
    let diagnosis = diagnose(&paranoid(4), &at(4));
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly, "{}", lines(&diagnosis));
    let mut told = told("levels above 2 close the system call");
    for subject in [Check::SystemCall, Check::HardwareEvents] {
        let found = finding(&diagnosis, subject);
        assert_eq!(found.cause, Some(Cause::Paranoid));
        told.found(found);
    }
    // The ledgers still count.
    told.found(finding(&diagnosis, Check::SoftwareEvents));
}

#[test]
fn the_same_refusal_in_a_container_asks_for_a_capability() {
    let mut told = told("the same refusal in a container asks for a capability");
    let mut facts = at(4);
    facts.container = Some("docker");
    let around = Limits { root: true, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(paranoid(4), &facts, &around);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.cause, Some(Cause::Capability));
    told.found(found);
}

#[test]
fn a_container_that_has_the_capability_may_have_a_user_who_has_not() {
    let mut facts = at(4);
    facts.container = Some("podman");
    let around = Limits { may_gain_capability: true, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(paranoid(4), &facts, &around);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.help[0].when, "for one program, as root in the container");
    assert_eq!(
        remedies(found)[..2],
        ["setcap cap_perfmon+ep PROGRAM", "podman run --cap-add=PERFMON IMAGE"]
    );
}

#[test]
fn root_without_the_capability_is_a_service_with_a_bounding_set() {
    let mut told = told("root without the capability is a service with a bounding set");
    let around = Limits { root: true, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(paranoid(3), &at(3), &around);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.cause, Some(Cause::Capability));
    told.found(found);
    assert_eq!(found.help[0].when, "a systemd service");
}

#[test]
fn a_capability_in_a_user_namespace_is_worth_nothing() {
    let mut told = told("a capability in a user namespace is worth nothing");
    let around =
        Limits { root: true, user_namespace: true, holds_capability: true, ..surroundings() };
    let diagnosis = Diagnosis::examine_with(paranoid(4), &at(4), &around);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.cause, Some(Cause::UserNamespace));
    told.found(found);
}

#[test]
fn a_filter_answers_before_the_kernel_looks() {
    let mut told = told("a filter answers before the kernel looks");
    for (errno, container) in
        [(libc::EPERM, Some("docker")), (libc::EACCES, None), (libc::ENOSYS, None)]
    {
        let mut facts = permissions();
        facts.seccomp = 2;
        facts.container = container;
        let fake = Fake::counting().refusing(move |_| Some(errno));
        let diagnosis = diagnose(&fake, &facts);
        for subject in [Check::SystemCall, Check::HardwareEvents] {
            let found = finding(&diagnosis, subject);
            assert_eq!(found.cause, Some(Cause::Seccomp));
            told.found(found);
        }
        assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly, "the ledgers need no perf events");
    }
}

#[test]
fn ledgers_still_count_for_a_privileged_process_behind_a_filter() {
    let mut facts = permissions();
    facts.seccomp = 2;
    facts.capability = Some("CAP_PERFMON");
    let fake = Fake::counting().refusing(|_| Some(libc::EPERM));
    let diagnosis = diagnose(&fake, &facts);
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly);
    assert_eq!(diagnosis.reason().unwrap().cause, Some(Cause::Seccomp));
    let software = finding(&diagnosis, Check::SoftwareEvents);
    assert_eq!((software.outcome, software.cause), (Outcome::Works, Some(Cause::Seccomp)));
}

#[test]
fn a_filter_that_lets_the_call_through_is_not_blamed() {
    // A void request reaches the kernel, so the refusal of a good one is not the
    // filter's: it cannot look into the request.
    let mut facts = at(1);
    facts.seccomp = 2;
    let fake = Fake::counting().refusing(|ask| (!ask.void).then_some(libc::EPERM));
    let diagnosis = diagnose(&fake, &facts);
    assert_eq!(finding(&diagnosis, Check::SystemCall).outcome, Outcome::Works);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.cause, Some(Cause::SecurityModule));
}

#[test]
fn security_modules_are_named() {
    let mut told = told("security modules are named");
    let fake = Fake::counting().refusing(|ask| (!ask.void).then_some(libc::EACCES));
    let around =
        Limits { security_modules: vec!["selinux".into(), "bpf".into()], ..surroundings() };
    let diagnosis = Diagnosis::examine_with(fake, &at(1), &around);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.outcome, Outcome::InTheWay);
    told.found(found);
}

#[test]
fn a_kernel_without_perf_events() {
    let mut told = told("a kernel without perf events");
    let mut facts = permissions();
    facts.paranoid = None;
    facts.pmus.clear();
    let fake = Fake::counting().refusing(|_| Some(libc::ENOSYS));
    let diagnosis = diagnose(&fake, &facts);
    for subject in [Check::SystemCall, Check::HardwareEvents] {
        let found = finding(&diagnosis, subject);
        assert_eq!((found.outcome, found.cause), (Outcome::Missing, Some(Cause::NoPerfEvents)));
        told.found(found);
    }
}
