//! Software events and the counts that the kernel keeps anyway.

use perf_event_open_sys::bindings as abi;

use super::*;

#[test]
fn software_events_that_a_kernel_lacks_are_named() {
    let fake = Fake::counting().refusing(|ask| {
        let lacks = ask.config == u64::from(abi::PERF_COUNT_SW_CGROUP_SWITCHES);
        (!ask.hardware && lacks).then_some(libc::EINVAL)
    });
    let mut facts = permissions();
    facts.capability = Some("CAP_PERFMON");
    let diagnosis = diagnose(&fake, &facts);
    let found = finding(&diagnosis, Check::SoftwareEvents);
    assert_eq!(
        (found.outcome, found.text.as_str()),
        (Outcome::Works, "9 of 10 count; not cgroup-switches: this kernel does not offer it")
    );
}

#[test]
fn what_cannot_be_explained_is_said_as_the_kernel_said_it() {
    let fake = Fake::counting().refusing(|ask| (ask.call == 1).then_some(libc::EIO));
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(
        (found.cause, found.text.as_str()),
        (
            Some(Cause::Unexplained(libc::EIO)),
            "6 of 7 count; not INSTRUCTIONS: the kernel said Input/output error (os error 5)"
        )
    );
}

#[test]
fn several_causes_at_once_are_listed_one_by_one() {
    let fake = Fake::counting().refusing(|ask| match (ask.hardware, ask.config) {
        (true, 0) => Some(libc::EBUSY),
        (true, 1) => Some(libc::ENOENT),
        (true, _) => Some(libc::ENOENT),
        _ => None,
    });
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(
        found.text,
        "none counts; not INSTRUCTIONS, BRANCHES, BRANCH_MISSES, CACHE_REFERENCES, CACHE_MISSES, REF_CYCLES: the PMU driver does not offer it; not CYCLES: another profiler holds the counters"
    );
    assert_eq!(found.outcome, Outcome::Missing);
}
