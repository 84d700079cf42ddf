//! A second implementation of the matching rule, from raw register bits. The tests compare both for
//! every counter, context and signal, over random contents of the registers.

mod amd;
mod intel;
mod netburst;

use proptest::prelude::*;

use super::*;

/// The events on one context: ring or halted, instructions, cycles, and the number of each known
/// signal.
#[derive(Clone, Debug)]
struct Doing {
    ring: Option<Ring>,
    instructions: u64,
    cycles: u64,
    signals: Vec<(usize, u64)>,
}

fn doing() -> impl Strategy<Value = Doing> {
    let ring = prop_oneof![Just(Some(Ring::User)), Just(Some(Ring::Kernel)), Just(None)];
    let signals = prop::collection::vec((any::<usize>(), 1..1000u64), 0..12);
    (ring, 0..5000u64, 0..5000u64, signals).prop_map(|(ring, instructions, cycles, signals)| {
        Doing { ring, instructions, cycles, signals }
    })
}

/// Lets a core do it, and gives the signals of each context.
fn perform(core: &mut CorePmu, known: &[Signal], doings: &[Doing]) -> Vec<Vec<(Signal, u64)>> {
    let signals: Vec<Vec<(Signal, u64)>> = doings
        .iter()
        .map(|it| it.signals.iter().map(|(n, times)| (known[n % known.len()], *times)).collect())
        .collect();
    let activity: Vec<Activity<'_>> = doings
        .iter()
        .zip(&signals)
        .map(|(it, signals)| match it.ring {
            None => Activity::Halted { reference: 5000 },
            Some(ring) => Activity::Active(Slice {
                instructions: it.instructions,
                core_cycles: it.cycles,
                reference_cycles: it.cycles / 2,
                signals,
                ..Slice::of(ring, 5000)
            }),
        })
        .collect();
    core.pass(&activity);
    signals
}

/// A table's events as selectors and signals. Few, so that random ones meet.
struct Known {
    model: CpuModel,
    /// Selector, the counters that can see it, and its signal.
    events: Vec<(u64, u64, Signal)>,
    signals: Vec<Signal>,
    /// A core after reset.
    core: CorePmu,
}

fn known(table: &str, names: &[&str]) -> Known {
    let model = model(table);
    let events: Vec<_> = names
        .iter()
        .map(|name| {
            let encoding = encoding(model, name);
            (encoding.evtsel, encoding.counters.bits(), Signal::of(&encoding).unwrap())
        })
        .collect();
    let signals = events.iter().map(|(_, _, signal)| *signal).collect();
    Known { model, events, signals, core: core(table) }
}

/// A selector near an event of the table: some other rings, filters, unit masks.
fn near(random: u64, events: &[(u64, u64, Signal)], any_thread: bool) -> u64 {
    let plain = [0xc0, 0x3c, 0x1bb];
    let at = random as usize % (events.len() + plain.len());
    let event = events.get(at).map_or_else(|| plain[at - events.len()], |it| it.0);
    // The slow clocks have tests of their own.
    let masks = if event == 0x3c { [0; 3] } else { [0x100, 0x200, 0x1000] };
    let flips = [&[0, 0, 0, 0x4_0000, 0x80_0000, 0x100_0000], &masks[..]].concat();
    let any = if any_thread { random >> 40 & 1 } else { 0 };
    let rings = random >> 50 & 3;
    let enable = u64::from(random >> 52 & 7 != 0);
    (event & !(1 << 21) ^ flips[(random >> 16) as usize % flips.len()])
        | rings << 16
        | any << 21
        | enable << 22
}

/// Random cores of each family.
const CASES: u32 = 3000;
