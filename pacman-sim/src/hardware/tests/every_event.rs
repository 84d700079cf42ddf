//! For every event of every simulated table: once it is placed by the allocator and programmed, it
//! counts its own signal and not its neighbours'.

use super::*;
use crate::hardware::{NetBurstSignal, Select, Upstream};
use pacman_events::catalog;

/// Not a multiple of anything.
const TIMES: u64 = 1237;

/// Occurrences that differ from `signal` in one respect that a counter can detect.
fn neighbours(signal: Signal) -> Vec<Signal> {
    match signal {
        Signal::Instructions => vec![Signal::Clock(Clock::Core), Signal::Clock(Clock::Reference)],
        Signal::Clock(Clock::Core | Clock::CoreShare | Clock::NonSleep) => {
            vec![Signal::Instructions, Signal::Clock(Clock::Reference)]
        }
        Signal::Clock(_) => vec![Signal::Instructions, Signal::Clock(Clock::Core)],
        Signal::Fixed(n) => vec![Signal::Fixed(n + 1), Signal::Instructions],
        // No counter of its own: `topdown` in the drivers' tests has these.
        Signal::TopDown(_) => vec![],
        Signal::Select(it) => {
            let mut all = vec![
                Select { event: it.event ^ 0x10, ..it },
                Select { umask: !it.umask & 0xff, ..it },
                Select { cmask: it.cmask ^ 3, ..it },
                Select { inv: !it.inv, ..it },
                Select { edge: !it.edge, ..it },
            ];
            match it.extra {
                // A bit more than the register holds.
                Some(value) => {
                    all.push(Select { extra: Some(value | 1 << (!value).trailing_zeros()), ..it });
                    all.push(Select { extra: None, ..it });
                }
                None => all.push(Select { extra: Some(1), ..it }),
            }
            all.into_iter().map(Signal::Select).collect()
        }
        Signal::NetBurst(it) => {
            // The masks of execution_event name tags: the other half is the bogus uops.
            let execution = (it.unit, it.event) == (0x3cc, 0x0c);
            let mask = if execution { it.mask << 4 | it.mask >> 4 } else { !it.mask };
            let mut all = vec![
                NetBurstSignal { unit: it.unit ^ 4, ..it },
                NetBurstSignal { event: it.event ^ 8, ..it },
                NetBurstSignal { mask, ..it },
                NetBurstSignal { filter: it.filter ^ (1 << 18 | 5 << 20), ..it },
            ];
            if let Some(upstream) = it.upstream {
                let other = Upstream { event: upstream.event ^ 8, ..upstream };
                all.push(NetBurstSignal { upstream: Some(other), ..it });
                let other = Upstream { mask: !upstream.mask, ..upstream };
                all.push(NetBurstSignal { upstream: Some(other), ..it });
            }
            if let Some((enable, matrix)) = it.replay {
                let other = !enable & 0x1ffff | 1 << 24;
                all.push(NetBurstSignal { replay: Some((other, matrix)), ..it });
                all.push(NetBurstSignal { replay: Some((enable, !matrix & 0x1fff)), ..it });
            }
            all.into_iter().map(Signal::NetBurst).collect()
        }
    }
}

/// Checks one event; says whether there was something to check.
fn check(fresh: &CorePmu, encoding: &Encoding) -> bool {
    let what = format!("{} {}", encoding.cpu, encoding.name);
    let Some(signal) = Signal::of(encoding) else { return false };
    let Some((core, index)) = listening(fresh, encoding) else { return false };
    let counted = |signal, ring, context| {
        let mut room = [(signal, 0)];
        count(&core, index, context, happening(signal, TIMES, ring, &mut room))
    };
    let plain = signal == Signal::Clock(Clock::Bus) && counts_tsc(encoding.cpu);
    // Haswell's table also has the bare selector, whose register selects nothing. Broadwell-DE's has
    // it alone, and its model no such register.
    let untold = encoding.name.to_string() == "OFFCORE_RESPONSE"
        && events(encoding.cpu).filter_map(|event| event.extra).any(|register| {
            register.choices().iter().any(|choice| u64::from(choice.select) == encoding.evtsel)
        });
    let expected = match () {
        () if untold => 0,
        () if plain => TIMES * RATIO,
        () => TIMES,
    };
    let rings = if encoding.rings == Rings::default() { USER } else { encoding.rings };
    let [inside, outside] =
        if rings.user { [Ring::User, Ring::Kernel] } else { [Ring::Kernel, Ring::User] };
    assert_eq!(counted(signal, inside, 0), expected, "{what}: {signal:x?}");
    let everywhere = signal == Signal::Clock(Clock::NonSleep);
    if rings.user != rings.kernel {
        let elsewhere = if everywhere { expected } else { 0 };
        assert_eq!(counted(signal, outside, 0), elsewhere, "{what}: in the other ring");
    }
    if core.contexts() > 1 {
        let sibling = if encoding.limits.counts == Scope::Core { expected } else { 0 };
        assert_eq!(counted(signal, inside, 1), sibling, "{what}: on the sibling");
    }
    for neighbour in neighbours(signal) {
        assert_eq!(counted(neighbour, inside, 0), 0, "{what}: {neighbour:x?}");
    }
    true
}

/// The events of a table: its own and the terms of its presets.
fn events(model: CpuModel) -> impl Iterator<Item = Encoding> {
    catalog(model).filter_map(move |entry| resolve(model, &entry.name).ok()).flat_map(|resolved| {
        let terms: Vec<Encoding> = resolved.terms().map(|term| term.encoding.clone()).collect();
        terms
    })
}

/// Checks the events of all tables of a family: all of `thorough` ones, every seventh of
/// the others.
fn sweep(family: Family, thorough: &[&str], at_least: usize) {
    let mut checked = 0;
    for model in CpuModel::all().filter(|model| model.facts().family == family) {
        let contexts = model.facts().smt_ways;
        let fresh = CorePmu::new(model, contexts).unwrap().with_bus_ratio(RATIO);
        let step = if thorough.contains(&model.name()) { 1 } else { 7 };
        checked += events(model).step_by(step).filter(|it| check(&fresh, it)).count();
    }
    assert!(checked >= at_least, "{checked} events");
}

#[test]
fn of_netburst() {
    sweep(Family::NetBurst, &["p4-prescott", "p4-northwood"], 500);
}

#[test]
fn of_intel() {
    let thorough = ["nhm-ep", "snb", "hsw", "skl", "skx", "icx", "spr", "knl"];
    sweep(Family::Intel, &thorough, 6000);
}

#[test]
fn of_amd() {
    sweep(Family::Amd, &["zen2", "zen4", "fam15h"], 1100);
}

#[test]
fn modifiers_select_signals_of_their_own() {
    for (table, names) in [
        ("hsw", ["UOPS_ISSUED.ANY:c=2", "UOPS_ISSUED.ANY:c=2:i", "UOPS_ISSUED.ANY:c=1:e"]),
        ("hsw", ["UOPS_ISSUED.ANY:k", "UOPS_ISSUED.ANY:u:k", "UOPS_ISSUED.ANY:any"]),
        ("zen4", ["CYCLES_NOT_IN_HALT:c=1", "RETIRED_INSTRUCTIONS:e", "CYCLES_NOT_IN_HALT:k"]),
        (
            "p4",
            [
                "uops_retired:NBOGUS:thr=2",
                "uops_retired:NBOGUS:thr=2:cmpl",
                "machine_clear:CLEAR:e",
            ],
        ),
    ] {
        let fresh = core(table);
        for name in names {
            assert!(check(&fresh, &encoding(model(table), name)), "{table} {name}");
        }
    }
}
