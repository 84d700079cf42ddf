//! The real driver of registers, unchanged, over the simulated ones.

use std::cell::Cell;
use std::sync::Arc;

use parking_lot::Mutex;

use super::*;
use pacman_core::ErrorKind;
use pacman_core::backend::msr::{CpuMap, Errno, MsrBackend, MsrIo};
use pacman_core::backend::{Backend, Counters, Reading, Target};
use pacman_topology::Topology;

thread_local! {
    /// The context that the test's thread is said to run on.
    static CPU: Cell<u32> = const { Cell::new(0) };
}

/// One core as a machine; a fault is the `EIO` of Linux's device.
#[derive(Clone, Debug)]
struct Machine(Arc<Mutex<CorePmu>>);

impl MsrIo for Machine {
    fn is_real(&self) -> bool {
        false
    }

    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno> {
        self.0.lock().read(cpu as u8, msr).map_err(|_| Errno(libc::EIO))
    }

    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno> {
        self.0.lock().write(cpu as u8, msr, value).map_err(|_| Errno(libc::EIO))
    }

    unsafe fn rdpmc(&self, index: u32) -> (u64, u64) {
        let value = self.0.lock().rdpmc(CPU.get() as u8, index).expect("no SIGSEGV");
        (value & 0xffff_ffff, value >> 32)
    }

    fn cpu(&self) -> u32 {
        CPU.get()
    }

    fn user_rdpmc(&self) -> bool {
        true
    }

    fn watchdog(&self) -> bool {
        false
    }

    fn machine(&self) -> u64 {
        Arc::as_ptr(&self.0) as u64
    }
}

/// Two contexts of one core, with the events of each.
struct Pair {
    machine: Machine,
    counters: [Box<dyn Counters>; 2],
    events: [Vec<Encoding>; 2],
}

impl Pair {
    fn open(table: &str, lists: [&[&str]; 2]) -> Pair {
        let cpu = model(table);
        let machine = Machine(Arc::new(Mutex::new(core(table))));
        let events = lists.map(|list| list.iter().map(|name| encoding(cpu, name)).collect());
        let plan = plan(cpu, &events).expect("fits");
        let contexts = CpuMap::of(&Topology::synthetic("1 core, 2 threads").unwrap());
        let backend =
            MsrBackend::with_io(machine.clone(), contexts, plan.contexts(), &events, USER).unwrap();
        let counters = [0, 1].map(|cpu| {
            CPU.set(cpu);
            backend.open(Target::Caller).unwrap()
        });
        Pair { machine, counters, events }
    }

    fn signal(&self, context: usize, event: usize) -> Signal {
        Signal::of(&self.events[context][event]).unwrap()
    }

    fn pass(&self, slices: [Slice<'_>; 2]) {
        self.machine.0.lock().pass(&slices.map(Activity::Active));
    }

    fn read(&mut self, context: usize) -> Vec<u64> {
        CPU.set(context as u32);
        let mut reading = Reading::EMPTY;
        self.counters[context].read(&mut reading).unwrap();
        (0..self.events[context].len()).map(|event| reading.counts[event]).collect()
    }

    /// Gives the counters back; nothing is left of them.
    fn close(self) {
        drop(self.counters);
        assert_eq!(self.machine.0.lock().changed(), []);
    }
}

fn run(instructions: u64, cycles: u64) -> Slice<'static> {
    Slice { instructions, ..Slice::of(Ring::User, cycles) }
}

#[test]
fn counts_both_threads_of_a_pentium_4() {
    let names =
        ["instr_retired:NBOGUSNTAG", "1stL_cache_load_miss_retired", "global_power_events:RUNNING"];
    let mut pair = Pair::open("p4", [&names, &names]);
    let [first, second] = [0, 1].map(|context| [(pair.signal(context, 1), 100 + context as u64)]);
    for _ in 0..3 {
        let slices = [
            Slice { signals: &first, ..run(1000, 4000) },
            Slice { signals: &second, ..run(2000, 3000) },
        ];
        pair.pass(slices);
        pair.pass(slices.map(|slice| Slice { ring: Ring::Kernel, ..slice }));
    }
    assert_eq!(pair.read(0), [3000, 300, 12_000]);
    assert_eq!(pair.read(1), [6000, 303, 9000]);
    pair.close();
}

#[test]
fn counts_tagged_events_of_a_pentium_4() {
    let mut pair = Pair::open("p4", [&["scalar_DP_retired"], &["memory_stores"]]);
    let [double, store] = [pair.signal(0, 0), pair.signal(1, 0)];
    let first = [(double, 40), (store, 5)];
    let second = [(double, 70), (store, 8)];
    pair.pass([Slice { signals: &first, ..run(0, 9) }, Slice { signals: &second, ..run(0, 9) }]);
    assert_eq!((pair.read(0), pair.read(1)), (vec![40], vec![8]));
    pair.close();
}

#[test]
fn counts_beyond_the_width_of_a_pentium_4() {
    let mut pair =
        Pair::open("p4", [&["instr_retired:NBOGUSNTAG"], &["global_power_events:RUNNING"]]);
    let mut total = 0;
    for _ in 0..5 {
        let step = (1 << 39) + 12_345;
        pair.pass([run(step, 1), run(0, step)]);
        total += step;
        assert_eq!((pair.read(0), pair.read(1)), (vec![total], vec![total]));
    }
    drop(pair.counters);
    // The overflow flags are gone as well, and the upper bits of the counters (erratum N15).
    assert_eq!(pair.machine.0.lock().changed(), []);
}

#[test]
fn counts_both_threads_of_a_haswell() {
    let offcore = "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_MISS.ANY_RESPONSE";
    let lists: [&[&str]; 2] = [
        &["INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD", offcore, "UOPS_ISSUED.ANY:k"],
        &["CPU_CLK_UNHALTED.THREAD_ANY", offcore, "UOPS_ISSUED.ANY:c=2"],
    ];
    let mut pair = Pair::open("hsw", lists);
    let [uops, pairs, missed] = [pair.signal(0, 3), pair.signal(1, 2), pair.signal(0, 2)];
    let first = [(uops, 500), (pairs, 60), (missed, 7)];
    let second = [(uops, 900), (pairs, 80), (missed, 11)];
    let slices = [
        Slice { signals: &first, ..run(1000, 4000) },
        Slice { signals: &second, ..run(2000, 3000) },
    ];
    pair.pass(slices);
    pair.pass([Slice { ring: Ring::Kernel, ..slices[0] }, slices[1]]);
    assert_eq!(pair.read(0), [1000, 4000, 7, 500]);
    assert_eq!(pair.read(1), [7000, 22, 160]);
    pair.close();
}

#[test]
fn counts_both_threads_of_a_zen_4() {
    let names: &[&str] =
        &["RETIRED_INSTRUCTIONS", "CYCLES_NOT_IN_HALT", "RETIRED_SSE_AVX_FLOPS:ANY"];
    let mut pair = Pair::open("zen4", [names, names]);
    let flops = pair.signal(0, 2);
    let [first, second] = [[(flops, 640)], [(flops, 320)]];
    pair.pass([
        Slice { signals: &first, ..run(100, 400) },
        Slice { signals: &second, ..run(200, 300) },
    ]);
    assert_eq!(pair.read(0), [100, 400, 640]);
    assert_eq!(pair.read(1), [200, 300, 320]);
    pair.close();
}

#[test]
fn what_the_register_held_before_comes_back() {
    let machine = Machine(Arc::new(Mutex::new(core("hsw"))));
    for (msr, value) in [(0x186, 0x1_00c0), (0x4c1, 77), (0x38f, 0x2)] {
        machine.write(0, msr, value).unwrap();
    }
    let before = machine.0.lock().changed();
    let events = [vec![encoding(model("hsw"), "UOPS_ISSUED.ANY")], vec![]];
    let plan = plan(model("hsw"), &events).unwrap();
    let contexts = CpuMap::of(&Topology::synthetic("1 core, 2 threads").unwrap());
    let backend =
        MsrBackend::with_io(machine.clone(), contexts, plan.contexts(), &events, USER).unwrap();
    CPU.set(0);
    let counters = backend.open(Target::Caller).unwrap();
    assert_ne!(machine.0.lock().changed(), before);
    drop(counters);
    assert_eq!(machine.0.lock().changed(), before);
}

#[test]
fn a_register_that_the_processor_lacks_is_an_error_and_changes_nothing() {
    // A plan for eight counters of a context, on a core whose sibling is enabled.
    let hsw = model("hsw");
    let names = ["UOPS_ISSUED.ANY", "UOPS_ISSUED.ANY:c=1", "UOPS_ISSUED.ANY:c=2"];
    let more = ["UOPS_ISSUED.ANY:c=3", "UOPS_ISSUED.ANY:c=4"];
    let list: Vec<Encoding> = names.iter().chain(&more).map(|it| encoding(hsw, it)).collect();
    let pmu = Pmu::of(hsw, false);
    let demands = list.iter().map(|it| EventConstraints::of(it, &pmu, USER)).collect();
    let plan = Partition::ByDemand.plan(&pmu, &[demands]).unwrap();
    let machine = Machine(Arc::new(Mutex::new(core("hsw"))));
    let contexts = CpuMap::of(&Topology::synthetic("1 core, 2 threads").unwrap());
    let backend =
        MsrBackend::with_io(machine.clone(), contexts, plan.contexts(), &[list], USER).unwrap();
    CPU.set(0);
    let error = backend.open(Target::Caller).err().expect("the fifth counter is not there");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(machine.0.lock().changed(), []);
}
