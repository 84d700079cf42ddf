//! A Pentium 4's two threads, counted at the same time through the registers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Barrier;

use pacman_core::backend::msr::{CpuMap, DevMsr, MsrBackend, MsrIo};
use pacman_core::backend::{Backend, Counters, Reading, Target};
use pacman_core::{Binding, Result, Topology};
use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::Rings;
use pacman_events::partition::Partition;
use pacman_events::{CpuModel, Encoding};

use crate::doorbell::{known_loop, retired, ring, tsc};

const PHASES: u64 = 200;
const USER: Rings = Rings { user: true, kernel: false };

/// The counts of both threads in the phases: instructions, cycles, two doorbell events.
const PHASE: [&str; 4] = [
    "instr_retired:NBOGUSNTAG",
    "global_power_events:RUNNING",
    "uop_queue_writes:FROM_TC_BUILD",
    "memory_cancel:64K_CONF",
];
/// Nine events that fill one half: 2 + 2 + 2 + 3.
const NINE: [&str; 9] = [
    "instr_retired:NBOGUSNTAG",
    "global_power_events:RUNNING",
    "BSQ_cache_reference:RD_2ndL_MISS",
    "uop_queue_writes:FROM_TC_BUILD",
    "retired_branch_type:CONDITIONAL",
    "memory_cancel:64K_CONF",
    "memory_complete:LSC",
    "branch_retired:MMNP",
    "resource_stall:SBFULL",
];
/// More of one group than a half has.
const LOPSIDED: [&str; 4] = [
    "instr_retired:NBOGUSNTAG",
    "BSQ_cache_reference:RD_2ndL_MISS",
    "ITLB_reference:MISS",
    "BPU_fetch_request:TCMISS",
];

/// The job: every part prints lines that begin with its name.
pub(crate) fn run() -> Result<()> {
    let io = DevMsr::new();
    println!("rdpmc before {}", io.user_rdpmc());
    io.allow_user_rdpmc().expect("the lab's guest is root");
    let machine = Machine::detect()?;
    machine.phases()?;
    machine.split_in_halves()?;
    machine.split_by_demand()?;
    machine.clockticks()?;
    machine.costs()?;
    machine.by_device()?;
    machine.registers_come_back(&io)?;
    machine.refusals(&io)?;
    machine.ended_by_signal(&io, libc::SIGINT);
    machine.ended_by_signal(&io, libc::SIGTERM);
    Ok(())
}

/// The child of [`Machine::ended_by_signal`]: holds counters until it is killed.
pub(crate) fn hold() -> Result<()> {
    let machine = Machine::detect()?;
    let backend = machine.backend(Partition::Even, [&PHASE, &PHASE]);
    let _bound = machine.bind(0)?;
    let _counters = backend.open(Target::Caller)?;
    println!("holding");
    loop {
        std::thread::park();
    }
}

struct Machine {
    topology: Topology,
    cpu: CpuModel,
    /// The CPU of logical processors 0 and 1.
    cpus: [u32; 2],
}

impl Machine {
    fn detect() -> Result<Machine> {
        let (topology, contexts) = (Topology::detect()?, CpuMap::detect()?);
        let cpu = CpuModel::detect(contexts.processor().expect("x86")).expect("a Pentium 4");
        let of = |logical: u8| {
            let mut cpus = topology.cores()[0].cpus.iter();
            let is = |cpu: &&u32| contexts.site(**cpu).is_some_and(|s| s.context == logical);
            *cpus.find(is).expect("two logical processors")
        };
        let cpus = [of(0), of(1)];
        println!("machine {cpu} cpus {cpus:?}");
        Ok(Machine { topology, cpu, cpus })
    }

    fn bind(&self, logical: usize) -> Result<Binding> {
        Binding::bind(&self.topology, &self.topology.place(self.cpus[logical])?)
    }

    fn encode(&self, names: &[&str]) -> Vec<Encoding> {
        let resolve = |name: &&str| pacman_events::resolve(self.cpu, name).expect("a P4 event");
        let one = |name| resolve(name).encoding().expect("a single event").clone();
        names.iter().map(one).collect()
    }

    /// All 18 counters, number 1 as well.
    fn pmu(&self) -> Pmu {
        Pmu::of(self.cpu, true).allowing_all_counters()
    }

    fn demands(&self, names: &[&str]) -> Vec<EventConstraints> {
        self.encode(names).iter().map(|it| EventConstraints::of(it, &self.pmu(), USER)).collect()
    }

    fn backend(&self, partition: Partition, lists: [&[&str]; 2]) -> MsrBackend {
        let demands = lists.map(|names| self.demands(names));
        let plan = partition.plan(&self.pmu(), &demands).expect("a legal plan");
        let events = lists.map(|names| self.encode(names));
        MsrBackend::new(plan.contexts(), &events, USER).expect("a P4")
    }

    /// Runs `work` on both siblings at once, each with its counters open.
    fn on_both(
        &self,
        backend: &MsrBackend,
        work: impl Fn(usize, &mut dyn Counters, &Barrier) -> Result<()> + Sync,
    ) -> Result<()> {
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            let threads = [0, 1].map(|logical| {
                let (work, together) = (&work, &together);
                scope.spawn(move || -> Result<()> {
                    let _bound = self.bind(logical)?;
                    let mut counters = backend.open(Target::Caller)?;
                    work(logical, &mut *counters, together)
                })
            });
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
    }

    /// Both threads in known phases; a line for each.
    fn phases(&self) -> Result<()> {
        let backend = self.backend(Partition::Even, [&PHASE, &PHASE]);
        let bells = self.encode(&PHASE[2..]).iter().map(selector).collect::<Vec<_>>();
        self.on_both(&backend, |logical, counters, together| {
            println!("reads {logical} {:?}", counters.caps().read_path);
            let mut lines = Vec::new();
            for phase in 0..PHASES {
                let rings = [phase + 1, 1000 * (logical as u64 + 1) + phase];
                let iterations = 20_000 + 100 * phase + 5_000 * logical as u64;
                let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
                together.wait();
                let begin = tsc();
                counters.read(&mut before)?;
                known_loop(iterations);
                ring(bells[0], rings[0]);
                ring(bells[1], rings[1]);
                counters.read(&mut after)?;
                lines.push((phase, iterations, rings, before, after, begin, tsc()));
            }
            for (phase, iterations, rings, before, after, begin, end) in lines {
                let counted = |event| after.count_since(&before, event);
                println!(
                    "phase {logical} {phase} {} {} {} {} {} {} {} {begin} {end}",
                    counted(0),
                    2 * iterations,
                    counted(1),
                    counted(2),
                    rings[0],
                    counted(3),
                    rings[1]
                );
            }
            Ok(())
        })
    }

    /// Nine events on each thread, rung a different number of times.
    fn split_in_halves(&self) -> Result<()> {
        let backend = self.backend(Partition::Even, [&NINE, &NINE]);
        self.rung("even", &backend, [&NINE, &NINE])
    }

    /// Three events of one group on one thread, which a half has no room for.
    fn split_by_demand(&self) -> Result<()> {
        let lists: [&[&str]; 2] = [&LOPSIDED, &LOPSIDED[..2]];
        let refusal = Partition::Even.plan(&self.pmu(), &lists.map(|names| self.demands(names)));
        println!("even refuses {}", refusal.is_err());
        self.rung("demand", &self.backend(Partition::ByDemand, lists), lists)
    }

    /// Rings for every event but the first two of [`NINE`], which count by themselves.
    fn rung(&self, name: &str, backend: &MsrBackend, lists: [&[&str]; 2]) -> Result<()> {
        self.on_both(backend, |logical, counters, together| {
            let names = lists[logical];
            let encodings = self.encode(names);
            let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
            together.wait();
            counters.read(&mut before)?;
            for (event, encoding) in encodings.iter().enumerate() {
                ring(selector(encoding), times(logical, event));
            }
            known_loop(10_000);
            counters.read(&mut after)?;
            together.wait();
            for (event, asked) in names.iter().enumerate() {
                let counted = after.count_since(&before, event);
                println!("{name} {logical} {asked} {counted} {}", times(logical, event));
            }
            Ok(())
        })
    }

    /// Non-halted and non-sleep clockticks and the two CPIs of the manual.
    fn clockticks(&self) -> Result<()> {
        let names: [&[&str]; 2] = [
            &["instr_retired:NBOGUSNTAG", "global_power_events:RUNNING", "NON_SLEEP_CLOCKTICKS"],
            &[],
        ];
        let backend = self.backend(Partition::Even, names);
        let _bound = self.bind(0)?;
        let counters = backend.open(Target::Caller)?;
        let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
        let begin = tsc();
        counters.read(&mut before)?;
        known_loop(1_000_000);
        counters.read(&mut after)?;
        let ticks = tsc() - begin;
        let [retired, running, powered] = [0, 1, 2].map(|event| after.count_since(&before, event));
        let per_instruction = |count: u64| count as f64 / retired as f64;
        println!("clockticks {retired} {running} {powered} {ticks}");
        println!("cpi {:.4} {:.4}", per_instruction(running), per_instruction(ticks));
        Ok(())
    }

    /// Instructions that reading four events takes.
    fn costs(&self) -> Result<()> {
        let backend = self.backend(Partition::Even, [&PHASE, &[]]);
        let _bound = self.bind(0)?;
        let counters = backend.open(Target::Caller)?;
        let mut reading = Reading::EMPTY;
        let none = cheapest(|| {});
        let many = cheapest(|| counters.read(&mut reading).expect("still bound"));
        println!("cost user {:.1}", (many.0 - none.0) as f64 / 1000.0);
        println!("cost kernel {:.1}", many.1.saturating_sub(none.1) as f64 / 1000.0);
        Ok(())
    }

    /// The same counts through the device, when RDPMC is not for everyone.
    fn by_device(&self) -> Result<()> {
        std::fs::write("/sys/bus/event_source/devices/cpu/rdpmc", "1").expect("the guest is root");
        let backend = self.backend(Partition::Even, [&PHASE, &PHASE]);
        DevMsr::new().allow_user_rdpmc().expect("the guest is root");
        let bell = selector(&self.encode(&PHASE[2..3])[0]);
        self.on_both(&backend, |logical, counters, together| {
            let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
            together.wait();
            counters.read(&mut before)?;
            ring(bell, 77 + logical as u64);
            // Past the turn of a 40-bit counter.
            for _ in 0..3 {
                ring(bell, 1 << 39);
                counters.read(&mut after)?;
            }
            let counted = after.count_since(&before, 2);
            println!("device {logical} {:?} {counted}", counters.caps().read_path);
            Ok(())
        })
    }

    /// Every counter, CCCR, ESCR and replay register as it was, also after a panic.
    fn registers_come_back(&self, io: &DevMsr) -> Result<()> {
        // Something to find again.
        for (msr, value) in [(0x300, 0x12_3456), (0x3a2, 0x2600_0400), (0x3f2, 0x2)] {
            io.write(self.cpus[0], msr, value).expect("a register");
        }
        let before = self.registers(io);
        let lists: [&[&str]; 2] =
            [&["1stL_cache_load_miss_retired", PHASE[1]], &["1stL_cache_load_miss_retired"]];
        let backend = self.backend(Partition::Even, lists);
        let replay = || [0x3f1, 0x3f2].map(|msr| io.read(self.cpus[0], msr).expect("a register"));
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            for logical in [0, 1] {
                let (backend, together) = (&backend, &together);
                scope.spawn(move || {
                    let _bound = self.bind(logical).expect("a place");
                    let counters = backend.open(Target::Caller).expect("free counters");
                    together.wait();
                    if logical == 0 {
                        drop(counters);
                        together.wait();
                    } else {
                        together.wait();
                        println!("replay while one still counts {:x?}", replay());
                        drop(counters);
                    }
                });
            }
        });
        println!("restored after drop {}", before == self.registers(io));
        std::panic::set_hook(Box::new(|_| {}));
        let panicked = std::thread::scope(|scope| {
            let died = scope.spawn(|| {
                let _bound = self.bind(0).expect("a place");
                let _counters = backend.open(Target::Caller).expect("free counters");
                println!("programmed {}", before != self.registers(io));
                panic!("as a program would");
            });
            died.join().is_err()
        });
        let _ = std::panic::take_hook();
        println!("restored after panic {}", panicked && before == self.registers(io));
        Ok(())
    }

    /// Counters that others have, and a thread that was moved.
    fn refusals(&self, io: &DevMsr) -> Result<()> {
        let backend = self.backend(Partition::Even, [&PHASE, &[]]);
        let bound = self.bind(0)?;
        io.write(self.cpus[0], 0x36c, 0x3_9000).expect("a register");
        println!("refused {}", backend.open(Target::Caller).err().expect("it is enabled"));
        io.write(self.cpus[0], 0x36c, 0).expect("a register");
        let counters = backend.open(Target::Caller)?;
        println!("refused {}", backend.open(Target::Caller).err().expect("it is open"));
        let moved = self.bind(1)?;
        println!("refused {}", counters.read(&mut Reading::EMPTY.clone()).expect_err("moved"));
        println!(
            "refused {}",
            backend.open(Target::Caller).err().expect("nothing is planned there")
        );
        drop((moved, counters, bound));
        Ok(())
    }

    /// A process that is told to end while it counts.
    fn ended_by_signal(&self, io: &DevMsr, signal: i32) {
        let before = self.registers(io);
        let program = std::env::current_exe().expect("a path");
        let mut child = Command::new(program)
            .arg("netburst-hold")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let held = output.lines().map_while(|line| line.ok()).any(|line| line == "holding");
        let meanwhile = self.registers(io);
        let backend = self.backend(Partition::Even, [&PHASE, &[]]);
        let bound = self.bind(0).expect("a place");
        let refused = backend.open(Target::Caller).err().expect("the child has it").to_string();
        drop(bound);
        println!("claim {}", refused.replace(&child.id().to_string(), "CHILD"));
        // SAFETY: the process is our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().expect("it ends");
        let restored = before == self.registers(io);
        println!("signal {signal} {held} {} {restored} {status}", before != meanwhile);
        std::io::stdout().flush().expect("a console");
    }

    fn registers(&self, io: &DevMsr) -> Vec<(u32, u64)> {
        let all = (0x300..=0x311).chain(0x360..=0x371).chain(0x3a0..=0x3be).chain(0x3c0..=0x3c5);
        let all = all.chain(0x3c8..=0x3cd).chain([0x3e0, 0x3e1, 0x3f1, 0x3f2]);
        all.filter_map(|msr| Some((msr, io.read(self.cpus[0], msr).ok()?))).collect()
    }
}

/// User and kernel instructions of a thousand calls; the least of twenty tries, because
/// one that the timer interrupted has more.
fn cheapest(mut act: impl FnMut()) -> (u64, u64) {
    let tries = (0..20).map(|_| {
        let before = retired();
        for round in 0..1000 {
            std::hint::black_box(round);
            act();
        }
        let after = retired();
        (after.0 - before.0, after.1 - before.1)
    });
    tries.min().expect("twenty tries")
}

/// How often an event is rung for: different for each thread and event.
fn times(logical: usize, event: usize) -> u64 {
    1 + 10 * event as u64 + 1000 * (logical as u64 + 1)
}

/// The doorbell's name for an event: ESCR event select, CCCR select, event mask.
fn selector(encoding: &Encoding) -> u64 {
    let event = encoding.netburst.expect("a P4 event");
    u64::from(event.event_select)
        | u64::from(event.escr_select) << 6
        | u64::from(event.event_mask) << 16
}
