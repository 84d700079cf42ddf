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
    let mut facts = permissions();
    facts.pmus.clear();
    facts.virtual_machine = true;
    let diagnosis = diagnose(&no_hardware(libc::ENOENT), &facts);
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly);
    assert_eq!(
        lines(&diagnosis),
        "\
system-call works: the system call reaches the kernel
hardware-events missing (no-pmu-in-vm): this virtual machine has no PMU
hardware-group missing (not-tried): no hardware event counts
kernel-mode missing (not-tried): no hardware event counts
user-reads missing (not-tried): no hardware event counts
software-events works: all 10 count
ledgers works: context switches, migrations and faults are known for every thread
descriptors works: 1024 allowed, 4 open: room for 254 threads of 4 events
"
    );
    let reason = diagnosis.reason().unwrap();
    assert_eq!(reason.subject, Check::HardwareEvents);
    assert_eq!(remedies(reason)[0], "-cpu host,pmu=on");
    // A script may run each command; none of these is one.
    assert!(reason.help.iter().all(|help| help.command.is_none()), "{:?}", reason.help);
}

#[test]
fn a_pmu_that_the_kernel_does_not_drive() {
    let mut facts = permissions();
    facts.pmus.clear();
    let diagnosis = diagnose(&no_hardware(libc::EOPNOTSUPP), &facts);
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(
        (found.outcome, found.cause, found.text.as_str()),
        (Outcome::Missing, Some(Cause::PmuNotDriven), "the kernel drives no PMU on this machine")
    );
    assert_eq!(remedies(found), ["sudo dmesg | grep -i -A8 'performance events'"]);
}

#[test]
fn one_event_that_the_driver_lacks_does_not_spoil_the_rest() {
    let fake = Fake::counting().refusing(|ask| {
        let lacks = ask.config == u64::from(abi::PERF_COUNT_HW_REF_CPU_CYCLES);
        (ask.hardware && lacks).then_some(libc::ENOENT)
    });
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(diagnosis.verdict, Verdict::Hardware);
    assert_eq!(
        (found.outcome, found.text.as_str()),
        (Outcome::Works, "6 of 7 count; not REF_CYCLES: the PMU driver does not offer it")
    );
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
    let diagnosis = diagnose(&Fake::counting().silent(), &permissions());
    let found = finding(&diagnosis, Check::HardwareEvents);
    assert_eq!(diagnosis.verdict, Verdict::SoftwareOnly);
    assert_eq!(
        (found.outcome, found.cause, found.text.as_str()),
        (Outcome::Missing, Some(Cause::SilentPmu), "the counters open but stay at zero")
    );
}

#[test]
fn fewer_counters_than_events() {
    let fake =
        Fake::counting().refusing(|ask| (ask.hardware && ask.group >= 2).then_some(libc::EINVAL));
    let diagnosis = diagnose(&fake, &permissions());
    let found = finding(&diagnosis, Check::HardwareGroup);
    assert_eq!(
        (found.outcome, found.cause, found.text.as_str()),
        (
            Outcome::Missing,
            Some(Cause::TooFewCounters),
            "only 2 of 4 count at once: no counter is left that can take the next one"
        )
    );
    assert_eq!(remedies(found), ["count fewer events at a time, over several runs"]);
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
    for (facts, cause, text, command) in [
        (
            &permissions(),
            Cause::CountersTaken,
            "only 3 of 4 count at once: another profiler holds the counters",
            "ps -C perf,toplev,pcm,likwid-perfctr,vtune",
        ),
        (
            &watched,
            Cause::Watchdog,
            "only 3 of 4 count at once: the NMI watchdog holds a counter",
            "sudo sysctl kernel.nmi_watchdog=0",
        ),
        (
            &hybrid,
            Cause::HybridCores,
            "only 3 of 4 count at once: each core type has counters of its own (cpu_atom, cpu_core)",
            "taskset -c \"$(cat /sys/bus/event_source/devices/cpu_core/cpus)\" PROGRAM",
        ),
    ] {
        let diagnosis = diagnose(&fake, facts);
        let found = finding(&diagnosis, Check::HardwareGroup);
        assert_eq!(found.outcome, Outcome::InTheWay);
        assert_eq!((found.cause, found.text.as_str()), (Some(cause), text));
        assert_eq!(remedies(found)[0], command);
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
    for (fake, facts, outcome, cause, text) in [
        (
            &quiet,
            &off,
            Outcome::InTheWay,
            Cause::RdpmcOff,
            "every read takes a system call: the kernel has it switched off (rdpmc is 0)",
        ),
        (
            &quiet,
            &permissions(),
            Outcome::Missing,
            Cause::NotOffered,
            "every read takes a system call: the PMU driver does not offer it",
        ),
        (
            &Fake::counting(),
            &hybrid,
            Outcome::Missing,
            Cause::HybridCores,
            "every read takes a system call: each core type has counters of its own (cpu_atom, cpu_core)",
        ),
        (
            &Fake::counting(),
            &unseen,
            Outcome::Missing,
            Cause::HybridCores,
            "every read takes a system call: each core type has counters of its own (a hybrid processor by CPUID)",
        ),
        (
            &Fake::counting().unmappable(libc::EPERM),
            &permissions(),
            Outcome::InTheWay,
            Cause::LockedMemory,
            "every read takes a system call: the limits on locked memory leave no room for counter pages",
        ),
        (
            &Fake::counting().hiding_counters(),
            &permissions(),
            Outcome::InTheWay,
            Cause::HiddenCounters,
            "every read takes a system call: RDPMC does not read the counts that the kernel has (the processor may hide counters from user mode)",
        ),
        (
            &Fake::counting(),
            &elsewhere,
            Outcome::Missing,
            Cause::UnsupportedArchitecture,
            "every read takes a system call: user-mode reads are made for x86-64, and for AArch64 from Linux 5.17 on",
        ),
        (
            &Fake::counting(),
            &arm,
            Outcome::InTheWay,
            Cause::UserAccessOff,
            "every read takes a system call: kernel.perf_user_access is 0",
        ),
        (
            &Fake::counting(),
            &big_little,
            Outcome::Missing,
            Cause::HybridCores,
            "every read takes a system call: each core type has counters of its own (armv8_cortex_a53, armv8_cortex_a72)",
        ),
        (
            &Fake::counting().unmappable(libc::ENODEV),
            &permissions(),
            Outcome::InTheWay,
            Cause::Unexplained(libc::ENODEV),
            "every read takes a system call: the kernel said No such device (os error 19)",
        ),
    ] {
        let diagnosis = diagnose(fake, facts);
        let found = finding(&diagnosis, Check::UserReads);
        assert_eq!((found.outcome, found.cause, found.text.as_str()), (outcome, Some(cause), text));
        assert_eq!(diagnosis.verdict, Verdict::Hardware);
    }
}

#[test]
fn reads_on_arm_are_switched_on_by_a_setting() {
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
    assert_eq!(
        (found.outcome, found.text.as_str()),
        (Outcome::Works, "MRS reads 48-bit counters without a system call")
    );
}

#[test]
fn counters_open_to_everybody_are_mentioned() {
    let mut facts = permissions();
    facts.rdpmc = Some(2);
    let diagnosis = diagnose(&Fake::counting(), &facts);
    let found = finding(&diagnosis, Check::UserReads);
    assert_eq!(
        found.text,
        "RDPMC reads 48-bit counters without a system call; every process may read every counter (rdpmc is 2)"
    );
    assert_eq!(remedies(found), ["echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc"]);
}
