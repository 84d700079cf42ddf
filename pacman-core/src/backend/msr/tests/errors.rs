//! Tests of each refusal: its kind and its one line.

use super::*;
use crate::backend::msr::CpuLocation;
use pacman_events::ErrorKind;

const RETIRED: &str = "instr_retired:NBOGUSNTAG";

fn retired(io: &Fake) -> MsrBackend<Fake> {
    backend(io, "p4", [&[RETIRED], &[]]).unwrap()
}

fn check(error: &Error, kind: ErrorKind, reason: &str) {
    let line = format!("cannot count {RETIRED} on cpu 0: {reason}");
    assert_eq!((error.kind(), error.to_string()), (kind, line));
}

#[test]
fn what_the_device_refuses() {
    for (errno, kind, reason) in [
        (
            libc::ENOENT,
            ErrorKind::Unsupported,
            "there is no /dev/cpu/*/msr; load the kernel's module with modprobe msr (a container \
             needs --device /dev/cpu/N/msr as well)",
        ),
        (
            libc::EACCES,
            ErrorKind::Permission,
            "/dev/cpu/0/msr is not for this user; run as root, or give the program CAP_SYS_RAWIO \
             and its user the device",
        ),
        (
            libc::EPERM,
            ErrorKind::Permission,
            "the kernel refuses /dev/cpu/0/msr; it needs CAP_SYS_RAWIO, in a container --cap-add \
             SYS_RAWIO, and a kernel that is not locked down",
        ),
        (
            libc::ENXIO,
            ErrorKind::PlaceNotAllowed,
            "the context is offline; write 1 to /sys/devices/system/cpu/cpu0/online, or bind to \
             another one",
        ),
        (
            libc::EIO,
            ErrorKind::Unsupported,
            "the processor faults on reading MSR 0x36c: this model lacks it, or a hypervisor keeps \
             it; check with pacman-pmu doctor",
        ),
        (
            libc::EMFILE,
            ErrorKind::NoDescriptors,
            "no descriptor is left for /dev/cpu/0/msr; raise ulimit -n",
        ),
        (
            libc::ENOMEM,
            ErrorKind::System,
            "/dev/cpu/0/msr says Cannot allocate memory (os error 12) at MSR 0x36c; use the perf \
             backend",
        ),
    ] {
        let io = Fake::shared();
        io.fail_every_access(errno);
        let error = refusal(&io, &retired(&io), 0);
        check(&error, kind, reason);
        assert_eq!(error.errno(), Some(errno));
    }
}

#[test]
fn writes_that_are_refused() {
    for (errno, kind, reason) in [
        (
            libc::EIO,
            ErrorKind::Unsupported,
            "the processor faults on writing 0x4000204 to MSR 0x3b8: this model lacks the register \
             or a bit; leave out the event that needs it",
        ),
        (
            libc::EPERM,
            ErrorKind::Permission,
            "the kernel refuses to write MSR 0x3b8; boot without lockdown and with \
             msr.allow_writes=on",
        ),
    ] {
        let io = Fake::shared();
        io.fail(true, 0x3b8, errno);
        check(&refusal(&io, &retired(&io), 0), kind, reason);
    }
}

#[test]
fn counters_that_others_have_enabled() {
    let io = Fake::shared();
    io.set(0, 0x36c, 0x3_9000);
    check(
        &refusal(&io, &retired(&io), 0),
        ErrorKind::Conflict,
        "instr_retired:NBOGUSNTAG needs counter 12, and MSR 0x36c = 0x39000 is enabled by somebody \
         unknown; end other profilers, or count other events",
    );
    let io = Fake::shared().with_watchdog();
    io.set(0, 0x36c, 0x3_9000);
    check(
        &refusal(&io, &retired(&io), 0),
        ErrorKind::Conflict,
        "instr_retired:NBOGUSNTAG needs counter 12, and MSR 0x36c = 0x39000 is enabled by the \
         kernel's NMI watchdog; write 0 to /proc/sys/kernel/nmi_watchdog",
    );
    let io = Fake::separate().with_watchdog();
    io.set(0, 0x38d, 0xb0);
    let cycles = backend(&io, "skl", [&["CPU_CLK_UNHALTED.THREAD"], &[]]).unwrap();
    let error = refusal(&io, &cycles, 0);
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(
        error.to_string().contains(
            "needs fixed counter 1, and MSR 0x38d = 0xb0 is enabled by the kernel's NMI watchdog"
        ),
        "{error}"
    );
}

#[test]
fn another_counter_that_runs_off_the_same_escr() {
    let io = Fake::shared();
    // Counter 13 is not ours, but it selects ESCR 4 of our half: CRU_ESCR0.
    io.set(0, 0x36d, 0x3_9000);
    let error = refusal(&io, &retired(&io), 0);
    assert!(error.to_string().contains("needs counter 13, and MSR 0x36d"), "{error}");
    // With another ESCR the counter does not conflict.
    io.set(0, 0x36d, 0x3_b000);
    assert!(open(&io, &retired(&io), 0).is_ok());
}

#[test]
fn registers_that_pacman_holds_elsewhere() {
    let io = Fake::shared();
    io.claimed_by(0x30c, 4711);
    check(
        &refusal(&io, &retired(&io), 0),
        ErrorKind::Conflict,
        "process 4711 holds MSR 0x30c through PACMAN; wait for it, or count other events",
    );
    let io = Fake::shared();
    let _first = open(&io, &retired(&io), 0).unwrap();
    check(
        &refusal(&io, &retired(&io), 0),
        ErrorKind::Conflict,
        "another session of this process holds MSR 0x36c; end it, or plan both together",
    );
}

#[test]
fn a_thread_that_was_moved() {
    for io in [Fake::shared(), Fake::shared().without_rdpmc()] {
        let mut counters = open(&io, &retired(&io), 0).unwrap();
        io.run_on(1);
        check(
            &read(&mut *counters).unwrap_err(),
            ErrorKind::PlaceNotAllowed,
            "the thread was moved to cpu 1, and its counts stayed behind; bind it and attach again",
        );
        io.run_on(0);
        assert!(read(&mut *counters).is_ok());
    }
}

#[test]
fn a_context_that_goes_offline_while_it_counts() {
    let io = Fake::shared().without_rdpmc();
    let mut counters = open(&io, &retired(&io), 0).unwrap();
    io.fail_every_access(libc::ENXIO);
    check(
        &read(&mut *counters).unwrap_err(),
        ErrorKind::PlaceNotAllowed,
        "the context is offline; write 1 to /sys/devices/system/cpu/cpu0/online, or bind to \
         another one",
    );
    // Nothing can be restored, and nothing is held any more.
    drop(counters);
    assert_eq!(refusal(&io, &retired(&io), 0).errno(), Some(libc::ENXIO));
}

#[test]
fn counters_that_somebody_reprograms() {
    let stolen = "somebody else has written MSR 0x36c meanwhile, so the counts are not ours; end \
                  other profilers and attach again";
    let io = Fake::shared().without_rdpmc();
    let mut counters = open(&io, &retired(&io), 0).unwrap();
    // The hardware may set the overflow flag.
    io.set(0, 0x36c, 0x8003_9000);
    assert!(read(&mut *counters).is_ok());
    io.set(0, 0x36c, 0x3_b000);
    check(&read(&mut *counters).unwrap_err(), ErrorKind::NotScheduled, stolen);
    drop(counters);

    // An ESCR into which the sibling's bits were written.
    let mut counters = open(&io, &retired(&io), 0).unwrap();
    io.set(0, 0x3b8, 0x0400_0205);
    assert!(read(&mut *counters).unwrap_err().to_string().contains("written MSR 0x3b8"));
    drop(counters);

    // The kernel's driver has stopped all counters of the context.
    let io = Fake::separate().without_rdpmc();
    let fixed = backend(&io, "hsw", [&["INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD"], &[]]);
    let mut counters = open(&io, &fixed.unwrap(), 0).unwrap();
    assert!(read(&mut *counters).is_ok());
    io.set(0, 0x38f, 0);
    assert!(read(&mut *counters).unwrap_err().to_string().contains("written MSR 0x38f"));

    let io = Fake::shared();
    let mut counters = open(&io, &retired(&io), 0).unwrap();
    io.set(0, 0x36c, 0);
    io.set(0, 0x30c, 1 << 32);
    check(&read(&mut *counters).unwrap_err(), ErrorKind::NotScheduled, stolen);
}

#[test]
fn a_tag_that_waits_for_the_sibling() {
    // Both counters wired to FIRM_ESCR0 are the sibling's, so one of them must keep the tagging
    // ESCR of context 0 awake.
    let io = Fake::shared();
    let lists: [&[&str]; 2] = [
        &["scalar_DP_retired"],
        &[
            "memory_cancel:64K_CONF",
            "memory_complete:LSC",
            "memory_cancel:ST_RB_FULL",
            "memory_complete:SSC",
        ],
    ];
    let both = backend(&io, "p4", lists).unwrap();
    let error = refusal(&io, &both, 0);
    assert_eq!(error.kind(), ErrorKind::NotScheduled);
    assert!(
        error
            .to_string()
            .ends_with(", which the plan gives to the sibling; attach the sibling's thread first"),
        "{error}"
    );
    let _sibling = open(&io, &both, 1).unwrap();
    assert!(open(&io, &both, 0).is_ok());
}

#[test]
fn places_without_a_plan() {
    let io = Fake::shared();
    let error = refusal(&io, &retired(&io), 1);
    assert_eq!(error.kind(), ErrorKind::NoSuchPlace);
    assert_eq!(
        error.to_string(),
        "cannot count instr_retired:NBOGUSNTAG on cpu 1: the plan has nothing for context 1 of a \
         core; bind the thread to a context that it plans for"
    );
}

#[test]
fn events_and_processors_that_have_no_such_registers() {
    let io = Fake::separate();
    let refused = |table: &str, name: &str| backend(&io, table, [&[name], &[]]).unwrap_err();
    let error = refused("skl", "page-faults");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot program page-faults: the operating system counts it, no register does; count it \
         through the perf backend"
    );
    let error = refused("niagara2", "TLB_miss");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("only the registers of NetBurst, of Intel since Nehalem and of AMD are known; use the perf backend"), "{error}");
    assert_eq!(backend(&io, "p4", [&[], &[]]).unwrap_err().kind(), ErrorKind::Empty);
}

#[test]
fn a_plan_for_another_processor() {
    let topology = Topology::synthetic("1 core, 2 threads").unwrap();
    let cpuinfo = |vendor: &str, family: u32, model: u32| {
        let block = |cpu: u32, apic: u32| {
            format!(
                "processor\t: {cpu}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
                 stepping\t: 1\napicid\t\t: {apic}\ninitial apicid\t: {apic}\n"
            )
        };
        // The second CPU is logical processor 0.
        [block(0, 1), block(1, 0)].join("\n")
    };
    let haswell = CpuMap::read(&topology, &cpuinfo("GenuineIntel", 6, 0x3c));
    assert_eq!(haswell.site(1), Some(CpuLocation { cpu: 1, core: 0, context: 1 }));
    let cpu = CpuModel::named("p4").unwrap();
    let pmu = Pmu::of(cpu, true);
    let encoding = pacman_events::resolve(cpu, RETIRED).unwrap().encoding().unwrap().clone();
    let plan =
        Partition::Even.plan(&pmu, &[vec![EventConstraints::of(&encoding, &pmu, USER)]]).unwrap();
    let events = [vec![encoding]];
    let over =
        |contexts| MsrBackend::with_io(Fake::shared(), contexts, plan.contexts(), &events, USER);
    let error = over(haswell).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot program instr_retired:NBOGUSNTAG: it was planned for p4-prescott, and this is \
         GenuineIntel family 6 model 0x3c; plan for this processor"
    );
    // On NetBurst the APIC ID tells the contexts apart.
    let prescott = CpuMap::read(&topology, &cpuinfo("GenuineIntel", 15, 4));
    assert_eq!(prescott.site(0), Some(CpuLocation { cpu: 0, core: 0, context: 1 }));
    assert_eq!(prescott.site(1), Some(CpuLocation { cpu: 1, core: 0, context: 0 }));
    assert!(over(prescott).is_ok());
}

#[test]
fn this_machine_without_the_module() {
    let io = crate::backend::msr::DevMsr::new();
    use crate::backend::msr::MsrIo;
    // A CPU number that no machine has, beyond the table of devices.
    assert_eq!(io.read(1 << 20, 0x10).unwrap_err().0, libc::ENXIO);
    let cpu = io.cpu();
    assert!(cpu < 1 << 20);
    if !std::path::Path::new("/dev/cpu/0/msr").exists() {
        assert_eq!(io.read(0, 0x10).unwrap_err().0, libc::ENOENT);
        assert_eq!(io.descriptor(0), None);
    }
}

#[test]
fn a_context_is_counted_from_outside_and_a_thread_is_not() {
    let io = Fake::shared();
    let backend = retired(&io);
    io.run_on(1);
    let mut counters = backend.open(Target::Context(0)).unwrap();
    assert_eq!(counters.caps().read_path, crate::backend::ReadPath::ReadCall);
    read(&mut *counters).unwrap();
    let error = backend.open(Target::Thread(7)).err().expect("a refusal");
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (
            ErrorKind::Unsupported,
            "cannot count thread 7 by registers: they count a hardware context, whoever runs there; use the kernel's counters"
        )
    );
}
