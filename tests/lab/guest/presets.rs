//! Every preset of this processor, through the kernel's driver, on both siblings at once.
//!
//! The rung events come from `selectors.tsv`, which knows nothing of the library's
//! resolver: a preset that is encoded otherwise does not hear it.

use std::sync::atomic::{AtomicUsize, Ordering};

use pacman_core::event::machine;
use pacman_core::{Attached, Phase, Placement, Result, Session, Topology};
use pacman_events::{Preset, resolve};

use crate::doorbell::{known_loop, ring};
use crate::siblings::THREADS;

/// Executions of a phase in which the preset's own selectors are rung.
const RUNG: u64 = 3;

/// The expected count of a preset in the lab.
enum Known {
    /// Happens by itself: `instructions`, `cycles`, `branches`, `alone`, `reference`, `reference-of-core`.
    ByItself(&'static str),
    /// The rung events: a coefficient and a selector a term.
    Rung(Vec<(i64, u64)>),
}

/// Prints a line a preset that is refused, and a line an execution of the others.
pub(crate) fn run() -> Result<()> {
    println!("model {}", machine::model());
    let here = Topology::detect()?;
    for preset in Preset::all() {
        let name = preset.name();
        // The doorbell does not ring slots: `topdown` has them.
        if name == "SLOTS" || name.starts_with("TOPDOWN_") {
            continue;
        }
        if let Err(refusal) = resolve(machine::model(), name) {
            println!("refused {name} {:?}: {refusal}", refusal.kind());
            continue;
        }
        let Some(known) = known(name) else {
            println!("unknown {name}");
            continue;
        };
        if let Err(error) = on_both(&here, name, &known) {
            println!("failed {name} {:?}: {error}", error.kind());
        }
    }
    Ok(())
}

/// The row of `selectors.tsv` about a preset on this processor.
fn known(preset: &str) -> Option<Known> {
    let model = machine::model().name();
    let row = include_str!("selectors.tsv").lines().find_map(|line| {
        let mut fields = line.split('\t');
        let of_model = fields.next()?.split(',').any(|name| name == model);
        (of_model && fields.next()? == preset).then(|| fields.next())?
    })?;
    let term = |text: &str| {
        let (coefficient, selector) = text.split_once('*').unwrap_or(("1", text));
        let number = u64::from_str_radix(selector, 16).ok()?;
        Some((coefficient.parse().ok()?, number))
    };
    let terms: Option<Vec<(i64, u64)>> = row.split(' ').map(term).collect();
    Some(terms.map_or(Known::ByItself(row), Known::Rung))
}

/// Counts one preset on both siblings, each with its own work.
fn on_both(here: &Topology, name: &str, known: &Known) -> Result<()> {
    let session = Session::builder(name)
        .events(name)
        .placement(here.clone(), Placement::Compact)
        .log(2 * RUNG as usize)
        .start()?;
    let phase = session.phase("work")?;
    let together = Together::new(THREADS);
    let expected: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let member = || {
            let thread = session.attach()?;
            let cpu = u64::from(thread.place().expect("a placement binds").cpu());
            let work = |execution| match known {
                Known::ByItself(what) => by_itself(&thread, phase, what, cpu, execution),
                Known::Rung(terms) => rung(&thread, phase, terms, cpu, execution, &together),
            };
            println!("reads {cpu} {name} {:?}", thread.caps().read_path);
            let done = (0..=RUNG).map(work).collect::<Result<_>>()?;
            // No instruction shows the registers of Arm's PMU to a program.
            #[cfg(target_arch = "x86_64")]
            if let Known::Rung(terms) = known {
                let mut wanted: Vec<u64> = terms.iter().map(|term| term.1).collect();
                wanted.sort_unstable();
                let programmed = programmed(cpu as u32);
                println!("programmed {cpu} {name} {} {programmed:x?}", programmed == wanted);
            }
            Ok((thread.number(), done))
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(member)).collect();
        let done = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        done.collect::<Result<_>>()
    })?;
    for thread in &session.report().threads {
        let cpu = thread.place.expect("bound").cpu;
        let own = expected.iter().find(|(number, _)| *number == thread.number).expect("attached");
        for (sample, expected) in thread.log.iter().zip(&own.1) {
            println!("counted {cpu} {name} {} {expected}", sample.counts[0] as i64);
        }
    }
    Ok(())
}

/// One execution of known work; answers the kind of event and the instructions.
fn by_itself(
    thread: &Attached,
    phase: Phase,
    what: &str,
    cpu: u64,
    execution: u64,
) -> Result<String> {
    let iterations = 20_000 + 3_000 * execution + 500 * cpu;
    thread.begin(phase)?;
    known_loop(iterations);
    thread.end(phase)?;
    Ok(format!("{what} {}", 2 * iterations + 1))
}

/// One execution in which every term is rung as often as no other, or, in the last one,
/// only what lies beside the terms; answers what the preset should have counted.
fn rung(
    thread: &Attached,
    phase: Phase,
    terms: &[(i64, u64)],
    cpu: u64,
    execution: u64,
    together: &Together,
) -> Result<String> {
    // Both siblings ring while both count.
    together.wait();
    thread.begin(phase)?;
    together.wait();
    let mut expected = 0;
    // A difference below 0 is impossible, and its execution would be left out: what is subtracted is
    // rung least often, each further term twice as often as the one before.
    let mut ordered: Vec<&(i64, u64)> = terms.iter().collect();
    ordered.sort_by_key(|term| term.0);
    for (number, (_, selector)) in (0..).zip(ordered) {
        if execution == RUNG {
            for beside in neighbours(*selector, terms) {
                ring(beside, 1_000 + cpu);
            }
            continue;
        }
        let times = ([1, 37, 4_096][execution as usize] + 5 * cpu) << number;
        ring(*selector, times);
        let hears = |term: &&(i64, u64)| hears(term.1, *selector);
        let coefficients = terms.iter().filter(hears).map(|term| term.0);
        expected += coefficients.sum::<i64>() * times as i64;
    }
    together.wait();
    thread.end(phase)?;
    Ok(format!("{} {expected}", if execution == RUNG { "beside" } else { "rung" }))
}

#[cfg(target_arch = "x86_64")]
const UMASK: u64 = 0xff00;

/// The lab's rule: all but the unit masks agree, and those share a bit; so nothing rings
/// for an event without a unit mask.
#[cfg(target_arch = "x86_64")]
pub(crate) fn hears(counter: u64, rung: u64) -> bool {
    counter & !UMASK == rung & !UMASK && counter & rung & UMASK != 0
}

/// An event of Arm's is one number of 16 bits.
#[cfg(target_arch = "aarch64")]
pub(crate) fn hears(counter: u64, rung: u64) -> bool {
    counter == rung
}

/// Selectors that differ from `selector` in one field each, and are none of `terms`.
#[cfg(target_arch = "x86_64")]
fn neighbours(selector: u64, terms: &[(i64, u64)]) -> impl Iterator<Item = u64> {
    let umasks = (8..16).map(move |bit| selector & !UMASK | 1 << bit);
    let others = [selector ^ 1, selector ^ 1 << 18, selector ^ 1 << 24];
    umasks.chain(others).filter(|beside| !terms.iter().any(|term| hears(term.1, *beside)))
}

/// Events that differ from `event` in one bit each, and are none of `terms`.
#[cfg(target_arch = "aarch64")]
fn neighbours(event: u64, terms: &[(i64, u64)]) -> impl Iterator<Item = u64> {
    let others = (0..16).map(move |bit| event ^ 1 << bit);
    others.filter(|beside| !terms.iter().any(|term| hears(term.1, *beside)))
}

/// The selectors of the general counters that count user mode on `cpu` now, as the
/// registers themselves hold them, in ascending order.
#[cfg(target_arch = "x86_64")]
fn programmed(cpu: u32) -> Vec<u64> {
    use pacman_core::backend::msr::{DevMsr, MsrIo};
    use pacman_events::Family;

    const ENABLED_IN_USER_MODE: u64 = 1 << 22 | 1 << 16;
    /// Everything of a selector but rings, interrupt, AnyThread and enable.
    const SELECTOR: u64 = !0x0073_0000;
    let (first, step, counters) = match machine::model().facts().family {
        Family::Amd => (0xc001_0200, 2, 6),
        _ => (0x186, 1, machine::model().facts().general.len()),
    };
    let io = DevMsr::new();
    let registers = (0..counters).filter_map(|counter| io.read(cpu, first + step * counter).ok());
    let counting = registers.filter(|value| value & ENABLED_IN_USER_MODE == ENABLED_IN_USER_MODE);
    let mut selectors: Vec<u64> = counting.map(|value| value & SELECTOR).collect();
    selectors.sort_unstable();
    selectors
}

/// A barrier whose threads never sleep, so that their counters stay where they are.
pub(crate) struct Together {
    members: usize,
    arrived: AtomicUsize,
}

impl Together {
    pub(crate) fn new(members: usize) -> Together {
        Together { members, arrived: AtomicUsize::new(0) }
    }

    pub(crate) fn wait(&self) {
        // ATOMICS: what was written before the barrier is seen behind it.
        let turn = self.arrived.fetch_add(1, Ordering::AcqRel) / self.members + 1;
        while self.arrived.load(Ordering::Acquire) < turn * self.members {
            std::hint::spin_loop();
        }
    }
}
