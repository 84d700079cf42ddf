//! The reader of a hybrid's groups on a kernel whose thread moves at any moment.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

use pacman_events::CpuModel;
use pacman_topology::CpuSet;
use parking_lot::Mutex;
use perf_event_open_sys::bindings::perf_event_attr;
use proptest::prelude::*;

use crate::backend::perf::{
    Errno, PerfBackend, PerfPermissions, PerfSys, RawCount, Register, Sharing,
};
use crate::backend::{Backend, Counters, Reading, Target};
use crate::event::Event;
use crate::platform::CoreTypePmu;
use pacman_events::ErrorKind;

const PMUS: [(&str, u32, &str); 2] =
    [("cpu_core", 4, "adl-goldencove"), ("cpu_atom", 10, "adl-gracemont")];
/// A core type whose PMU the kernel does not drive.
const NEITHER: usize = 2;

/// A kernel with a thread whose every event counts the nanoseconds that it runs.
#[derive(Clone, Default)]
struct Fake {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The core type that the thread is on.
    on: usize,
    ran: u64,
    files: BTreeMap<RawFd, File>,
    /// The moves and the nanoseconds at the begin of each call to come.
    steps: VecDeque<(usize, u64)>,
}

struct File {
    leader: RawFd,
    core_type: usize,
    enabled: bool,
    failed: bool,
    /// Enabled and running.
    times: [u64; 2],
}

impl State {
    fn pass(&mut self, time: u64) {
        self.ran += time;
        let on = self.on;
        for file in self.files.values_mut().filter(|file| file.enabled) {
            file.times[0] += time;
            file.times[1] += if file.core_type == on { time } else { 0 };
        }
    }
}

impl Fake {
    fn run(&self, on: usize, time: u64) {
        let mut state = self.state.lock();
        state.on = on;
        state.pass(time);
    }

    fn ran(&self) -> u64 {
        self.state.lock().ran
    }

    fn call(&self) -> parking_lot::MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if let Some((on, time)) = state.steps.pop_front() {
            state.on = on;
            state.pass(time);
        }
        state
    }
}

impl PerfSys for Fake {
    fn is_real(&self) -> bool {
        false
    }

    fn open(&self, attr: &mut perf_event_attr, _: Target, group: RawFd) -> Result<RawFd, Errno> {
        let mut state = self.call();
        let pmu = PMUS.iter().position(|pmu| pmu.1 == attr.type_);
        let fd = state.files.keys().last().map_or(100, |last| last + 1);
        let leader = if group < 0 { fd } else { group };
        let core_type = pmu.ok_or(Errno(libc::ENOENT))?;
        state
            .files
            .insert(fd, File { leader, core_type, enabled: false, failed: false, times: [0; 2] });
        Ok(fd)
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        Ok(fd as u64)
    }

    fn close(&self, fd: RawFd) {
        self.state.lock().files.remove(&fd);
    }

    fn enable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.call().files.get_mut(&leader).unwrap().enabled = true;
        Ok(())
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.call().files.get_mut(&leader).unwrap().enabled = false;
        Ok(())
    }

    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        let state = self.call();
        let file = &state.files[&leader];
        if file.failed {
            return Ok(0);
        }
        let members = state.files.values().filter(|file| file.leader == leader).count();
        into[..3].copy_from_slice(&[members as u64, file.times[0], file.times[1]]);
        into[3..3 + members].fill(file.times[1]);
        Ok(3 + members)
    }

    fn reserve(&self, _: usize) -> Result<NonNull<u8>, Errno> {
        unreachable!("a hybrid's counters are not read in user mode")
    }

    unsafe fn map(&self, _: RawFd, _: NonNull<u8>, _: usize) -> Result<(), Errno> {
        unreachable!()
    }

    unsafe fn release(&self, _: NonNull<u8>, _: usize) {
        unreachable!()
    }

    unsafe fn read_counter(&self, _: Register) -> RawCount {
        unreachable!()
    }
}

/// Counters of an event on both core types and of its parts.
fn counters(fake: &Fake, names: &[&str]) -> Box<dyn Counters> {
    let pmu = |(name, number, model): &(&str, u32, &str)| {
        CoreTypePmu::new(*name, *number, CpuModel::named(model).unwrap(), CpuSet::default())
    };
    let types: Vec<CoreTypePmu> = PMUS.iter().map(pmu).collect();
    let events = names.iter().map(|name| Event::on_core_types(&types, name).unwrap());
    let events = Event::with_parts(events.collect());
    let permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
    let backend =
        PerfBackend::with_sys(fake.clone(), &events, Sharing::Pinned, permissions).unwrap();
    backend.open(Target::Caller).unwrap()
}

fn steps() -> impl Strategy<Value = Vec<(usize, u64)>> {
    proptest::collection::vec((0..2usize, 0..50u64), 0..60)
}

proptest! {
    /// Whenever the thread moves, also in the midst of a read, the reading is between the counts at
    /// its begin and at its end, and no reading is refused.
    #[test]
    fn a_move_at_any_call_loses_nothing(at_open in steps(), later in steps(), work in steps()) {
        let fake = Fake::default();
        fake.state.lock().steps = at_open.into();
        let counters = counters(&fake, &["INSTRUCTIONS"]);
        fake.state.lock().steps = later.into();
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        for (on, time) in work {
            fake.run(on, time);
            let (mut reading, begin) = (Reading::EMPTY, fake.ran());
            counters.read(&mut reading).unwrap();
            let [total, core, atom] = [0, 1, 2].map(|event| reading.counts[event]);
            prop_assert_eq!(total, core + atom);
            // The first reading is at some moment of it; each later one is as far from there as the
            // thread ran, up to the length of both.
            let offset = |ran: u64| total as i64 - ran as i64;
            least = least.max(offset(fake.ran()));
            most = most.min(offset(begin));
            prop_assert!(least <= most, "{} beyond {}", least, most);
        }
    }

    /// Time where no group counts is told, unless it is shorter than a read.
    #[test]
    fn time_on_neither_core_type_is_told(at_open in steps(), work in steps(), lost in 1..5000u64) {
        let fake = Fake::default();
        fake.state.lock().steps = at_open.into();
        let counters = counters(&fake, &["INSTRUCTIONS"]);
        // The steps that were not taken would make reads as long as they like.
        fake.state.lock().steps.clear();
        let mut reading = Reading::EMPTY;
        for (on, time) in work {
            fake.run(on, time);
            counters.read(&mut reading).unwrap();
        }
        let bound = 2 * 50;
        fake.run(NEITHER, lost);
        fake.run(0, 10);
        match counters.read(&mut reading) {
            Ok(()) => prop_assert!(lost <= bound, "{lost} ns went unnoticed"),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::NotScheduled);
                prop_assert!(error.to_string().contains("where none of cpu_core, cpu_atom counts"));
                prop_assert!(counters.read(&mut reading).is_err(), "it stays lost");
            }
        }
    }
}

#[test]
fn a_single_nanosecond_is_told_between_reads_that_take_no_time() {
    let fake = Fake::default();
    let counters = counters(&fake, &["INSTRUCTIONS"]);
    let mut reading = Reading::EMPTY;
    for on in [0, 1, 0, 1] {
        fake.run(on, 100);
        counters.read(&mut reading).unwrap();
        assert_eq!((reading.enabled_ns, reading.running_ns), (fake.ran(), fake.ran()));
    }
    fake.run(NEITHER, 1);
    let error = counters.read(&mut reading).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read cpu_core/INSTRUCTIONS/, cpu_atom/INSTRUCTIONS/: this thread ran for 1 ns where \
         none of cpu_core, cpu_atom counts; bind it to the cores in \
         /sys/bus/event_source/devices/*/cpus of these"
    );
}

#[test]
fn a_pinned_group_in_error_is_told_on_either_core_type() {
    for lost in 0..2 {
        for now in [0, 1, NEITHER] {
            let fake = Fake::default();
            let counters = counters(&fake, &["INSTRUCTIONS", "CYCLES"]);
            fake.run(now, 100);
            let failed = |file: &mut File| file.failed = file.core_type == lost;
            fake.state.lock().files.values_mut().for_each(failed);
            let error = counters.read(&mut Reading::EMPTY.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotScheduled);
            assert!(error.to_string().contains("another profiler holds the counters"), "{error}");
        }
    }
}

#[test]
fn counters_that_stood_by_have_no_hole() {
    let fake = Fake::default();
    let mut counters = counters(&fake, &["INSTRUCTIONS"]);
    let mut reading = Reading::EMPTY;
    for on in [0, 1, 0, 1, 1, 0] {
        counters.read(&mut reading).unwrap();
        // The thread moves and runs between the switches of both groups.
        fake.state.lock().steps = [(on, 7), (1 - on, 9)].into();
        assert!(counters.stand_by().unwrap());
        fake.run(NEITHER, 1000);
        fake.state.lock().steps = [(1 - on, 11), (on, 50)].into();
        counters.resume().unwrap();
        counters.read(&mut reading).unwrap();
        fake.run(on, 100);
        let before = reading.counts[0];
        counters.read(&mut reading).unwrap();
        assert_eq!(reading.counts[0] - before, 100);
    }
}

#[test]
fn parts_alone_count_where_they_are_asked_for() {
    let fake = Fake::default();
    let pmu = |(name, number, model): &(&str, u32, &str)| {
        CoreTypePmu::new(*name, *number, CpuModel::named(model).unwrap(), CpuSet::default())
    };
    let types: Vec<CoreTypePmu> = PMUS.iter().map(pmu).collect();
    let whole = Event::on_core_types(&types, "INSTRUCTIONS").unwrap();
    let permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
    let backend =
        PerfBackend::with_sys(fake.clone(), &whole.parts()[1..], Sharing::Pinned, permissions);
    let counters = backend.unwrap().open(Target::Caller).unwrap();
    let mut reading = Reading::EMPTY;
    for (on, counted) in [(0, 0), (1, 100), (NEITHER, 100), (1, 200)] {
        fake.run(on, 100);
        counters.read(&mut reading).unwrap();
        assert_eq!(reading.counts[0], counted);
    }
}
