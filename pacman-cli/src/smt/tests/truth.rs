//! A thread idles one CPU by known amounts, beside whatever else runs on this machine.
//!
//! While the thread spins, its CPU is active, with any program on it. While it sleeps, only other
//! programs use the CPU. The kernel counts these tick by tick in fields that the command does not
//! read. The command must find the sum of spinning time and others' ticks.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pacman_core::{Binding, Topology};

use super::args;
use crate::smt::command::Watch;
use crate::smt::idle::{IdleClocks, IdleTimes, step};
use crate::smt::meter::Activity;
use crate::smt::run::{End, measure};
use pacman_report::exit::Exit;

/// One sleep: from when to when, and for how much of it others ran on the CPU.
struct Rest {
    begin: Instant,
    end: Instant,
    others: f64,
}

/// The result of one measurement, as parts of the time.
#[derive(Debug)]
struct Found {
    /// Active, by the command.
    shown: f64,
    /// The thread's own part.
    own: f64,
    /// The others' part while it slept.
    others: f64,
}

impl Found {
    /// Whether the command shows what the thread and others did, within 2 of 100.
    fn is_right(&self) -> bool {
        (self.shown - self.others - self.own).abs() <= 0.02
    }

    /// Whether others ran for no more than a tenth of the time that the thread left.
    fn is_quiet(&self) -> bool {
        self.others <= 0.1 * (1.0 - self.own)
    }
}

#[test]
fn a_cpu_that_idles_by_known_amounts_is_shown_right() {
    // Lengths that no tick divides, so that sleeps begin at every point between two ticks.
    for (spin, rest) in [(31, 94), (89, 33)] {
        let mut tries: Vec<Found> = Vec::new();
        // Others' ticks are samples, so a measurement with many of them may be wrong. If others
        // fill every sleep, the measurement shows little. So quiet times judge.
        while tries.len() < 4 {
            tries.push(measured(Duration::from_millis(spin), Duration::from_millis(rest)));
            let found = &tries[tries.len() - 1];
            if found.is_right() && found.is_quiet() {
                break;
            }
        }
        let quietest = tries.iter().min_by(|a, b| a.others.total_cmp(&b.others)).unwrap();
        let among_many = !quietest.is_quiet() && tries.iter().any(Found::is_right);
        assert!(quietest.is_right() || among_many, "{spin} ms of {}: {tries:?}", spin + rest);
        println!("{spin} ms of {}: {tries:?}", spin + rest);
    }
}

fn measured(spin: Duration, rest: Duration) -> Found {
    let topology = Topology::detect().unwrap();
    let cpu = quietest(&topology);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let idler = scope.spawn(|| idle_by_turns(&topology, cpu, spin, rest, &stop));
        let watched = args(&["sleep", "4"]);
        let mut source = IdleTimes::default();
        let ended = measure(
            &watched,
            &topology,
            &mut source,
            &mut Watch::new().unwrap(),
            &mut |_, _| Ok(()),
            &mut Vec::new(),
        );
        stop.store(true, Ordering::Relaxed);
        let rests = idler.join().unwrap();
        let (whole, end) = ended.unwrap();
        assert_eq!(end, End::Command(Exit::Status(0)));
        compare(&whole, cpu, &rests)
    })
}

fn compare(whole: &Activity, cpu: u32, rests: &[Rest]) -> Found {
    let core = whole.cores.iter().find(|core| core.cpus.contains(&cpu)).unwrap();
    let context = core.cpus.iter().position(|other| *other == cpu).unwrap();
    let shown = core.active[context];
    if core.cpus.len() == 1 {
        let split = &core.split;
        assert!((split.share(split.only[0]) - shown).abs() < 1e-9, "{split:?}");
    }
    let (begin, end) = whole.window;
    let (mut slept, mut others) = (0.0, 0.0);
    for rest in rests {
        let inside = rest.end.min(end).saturating_duration_since(rest.begin.max(begin));
        let part = inside.as_secs_f64();
        slept += part;
        others += rest.others * part / (rest.end - rest.begin).as_secs_f64();
    }
    let seconds = whole.seconds();
    Found { shown, own: 1.0 - slept / seconds, others: others / seconds }
}

/// Spins and sleeps on `cpu` until told to stop.
fn idle_by_turns(
    topology: &Topology,
    cpu: u32,
    spin: Duration,
    rest: Duration,
    stop: &AtomicBool,
) -> Vec<Rest> {
    let _binding = Binding::bind(topology, &topology.place(cpu).unwrap()).unwrap();
    let mut rests = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let awake = Instant::now();
        while awake.elapsed() < spin {
            std::hint::spin_loop();
        }
        let before = ticks()[&cpu];
        let begin = Instant::now();
        thread::sleep(rest);
        let end = Instant::now();
        rests.push(Rest { begin, end, others: (ticks()[&cpu] - before) * step() });
    }
    rests
}

/// The allowed CPU that is idle most.
fn quietest(topology: &Topology) -> u32 {
    let before = IdleClocks::read().unwrap();
    thread::sleep(Duration::from_millis(300));
    let after = IdleClocks::read().unwrap();
    let idle = |cpu: u32| after.contexts[&cpu].idle - before.contexts[&cpu].idle;
    let allowed = topology.contexts().iter().filter(|context| context.allowed);
    allowed.map(|context| context.cpu).max_by(|a, b| idle(*a).total_cmp(&idle(*b))).unwrap()
}

/// Ticks that found somebody running, or the hypervisor elsewhere, by CPU.
fn ticks() -> BTreeMap<u32, f64> {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let context = |line: &str| {
        let (cpu, fields) = line.strip_prefix("cpu")?.split_once(' ')?;
        let fields: Vec<f64> = fields.split(' ').filter_map(|field| field.parse().ok()).collect();
        // user, nice, system; irq, softirq, steal: all but idle and iowait.
        Some((cpu.parse().ok()?, fields[..3].iter().chain(&fields[5..8]).sum()))
    };
    text.lines().filter_map(context).collect()
}
