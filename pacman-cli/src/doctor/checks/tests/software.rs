//! Software events and the counts that the kernel keeps anyway.

use perf_event_open_sys::bindings as abi;

use super::*;

#[test]
fn software_events_that_a_kernel_lacks_are_named() {
    let mut told = told("software events that a kernel lacks are named");
    let fake = Fake::counting().refusing(|ask| {
        let lacks = ask.config == u64::from(abi::PERF_COUNT_SW_CGROUP_SWITCHES);
        (!ask.hardware && lacks).then_some(libc::EINVAL)
    });
    let mut facts = permissions();
    facts.capability = Some("CAP_PERFMON");
    let diagnosis = diagnose(&fake, &facts);
    let found = finding(&diagnosis, Check::SoftwareEvents);
    assert_eq!(found.outcome, Outcome::Works);
    told.found(found);
}

#[test]
fn what_cannot_be_explained_is_said_as_the_kernel_said_it() {
    let mut told = told("what cannot be explained is said as the kernel said it");
    let fake = Fake::counting().refusing(|ask| (ask.call == 1).then_some(libc::EIO));
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(found.cause, Some(Cause::Unexplained(libc::EIO)));
    told.found(found);
}

#[test]
fn several_causes_at_once_are_listed_one_by_one() {
    let mut told = told("several causes at once are listed one by one");
    let fake = Fake::counting().refusing(|ask| match (ask.hardware, ask.config) {
        (true, 0) => Some(libc::EBUSY),
        (true, 1) => Some(libc::ENOENT),
        (true, _) => Some(libc::ENOENT),
        _ => None,
    });
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    told.found(found);
    assert_eq!(found.outcome, Outcome::Missing);
}
