//! NetBurst: counter, CCCR and ESCR of each event, tagging ESCRs, replay registers.
//!
//! The program disables a CCCR before it changes a register that feeds it, and enables it last. If
//! an ESCR changed under a running counter, the count would mix both events (SDM Vol. 3,
//! "Performance monitoring (processors based on Intel NetBurst microarchitecture)", setting up
//! counting).

use crate::CounterSet;
use crate::allocate::{Assignment, Claim, Counter, RegisterKind};
use crate::encode::NetBurst;

use super::data::{
    CounterSlot, CycleCounting, Planned, RegisterGuard, RegisterProgram, RegisterSharing,
};
use crate::error::{Error, ErrorKind, Result};

pub(super) fn program(
    mut program: RegisterProgram,
    assignment: &Assignment,
    core: &[Assignment],
    planned: &[Planned<'_>],
) -> Result<RegisterProgram> {
    program.sticky = u64::from(OVERFLOW);
    let mut controls: Vec<(u8, u32)> = Vec::new();
    for Planned { placement, encoding } in planned {
        let event = encoding.netburst.as_ref().ok_or_else(|| not_netburst(placement.name()))?;
        if let Some(Counter::General(counter)) = placement.counter() {
            controls.push((counter, event.cccr()));
            program.slots.push(CounterSlot {
                place: placement.event(),
                index: u32::from(counter),
                msr: COUNTER + u32::from(counter),
            });
        }
    }
    let own = assignment.general();
    for Planned { placement, encoding } in planned {
        let (Some(Counter::General(awake)), Some(event)) = (placement.awake(), &encoding.netburst)
        else {
            continue;
        };
        if own.contains(awake) || controls.iter().any(|(counter, _)| *counter == awake) {
            continue;
        }
        if core.iter().any(|other| other.general().contains(awake)) {
            program.relies.push(enabled(awake, placement.name()));
            continue;
        }
        // The tagging ESCR works only while this counter is enabled. Nothing reads the count.
        let select = event.companion.map_or(event.escr_select, |tagger| tagger.escr_select);
        let cccr = event.cccr() & !SELECT & !FILTER | u32::from(select) << 13;
        // The tagging counter starts before the counters that need its tags.
        controls.insert(0, (awake, cccr));
    }
    for (counter, _) in &controls {
        let event = planned.iter().find(|p| {
            let wanted = Some(Counter::General(*counter));
            p.placement.counter() == wanted || p.placement.awake() == wanted
        });
        let name = event.map_or("", |p| p.placement.name());
        program.guards.push(enabled(*counter, name));
    }
    let ours: CounterSet = controls.iter().map(|(counter, _)| *counter).collect();
    for planned in planned {
        guard_escrs(&mut program, planned, ours);
    }
    write(&mut program, planned, &controls);
    Ok(program)
}

/// Appends the register writes in order.
fn write(program: &mut RegisterProgram, planned: &[Planned<'_>], controls: &[(u8, u32)]) {
    for (counter, _) in controls {
        program.push(CCCR + u32::from(*counter), 0, RegisterSharing::Sole);
    }
    for Claim { register, value } in planned.iter().flat_map(|p| p.placement.claims()) {
        let Some(msr) = register.number() else { continue };
        // Both contexts may count the same replay metric, but an ESCR holds the T bits of
        // only one of them.
        let replay = register.kind() == RegisterKind::Replay;
        program.once(
            msr,
            *value,
            if replay { RegisterSharing::Alike } else { RegisterSharing::Sole },
        );
    }
    for (counter, _) in controls {
        // Erratum N15: the first write may not reach the upper bits, so there are two.
        program.push(COUNTER + u32::from(*counter), 0, RegisterSharing::Sole);
        program.push(COUNTER + u32::from(*counter), 0, RegisterSharing::Sole);
    }
    for (counter, cccr) in controls {
        // Clears the overflow flag while the counter is still disabled.
        program.push(CCCR + u32::from(*counter), u64::from(cccr & !ENABLE), RegisterSharing::Sole);
    }
    for (counter, cccr) in controls {
        program.push(CCCR + u32::from(*counter), u64::from(*cccr), RegisterSharing::Sole);
    }
}

/// Adds guards for other users' counters on an ESCR of this program.
fn guard_escrs(program: &mut RegisterProgram, planned: &Planned<'_>, ours: CounterSet) {
    let Some(event) = &planned.encoding.netburst else { return };
    let escrs =
        planned.placement.claims().iter().filter(|c| c.register.kind() == RegisterKind::Escr);
    for claim in escrs {
        let Some((wired, select)) = wiring(event, claim.register.number()) else { continue };
        for counter in wired.minus(ours).iter() {
            let pattern = u64::from(ENABLE | u32::from(select) << 13);
            let mask = u64::from(ENABLE | SELECT);
            let guard = enabled(counter, planned.placement.name());
            program.guards.push(RegisterGuard { mask, pattern, ..guard });
        }
    }
}

/// The counters wired to the event's ESCR number `msr`, and the CCCR's select value for it.
fn wiring(event: &NetBurst, msr: Option<u32>) -> Option<(CounterSet, u8)> {
    let of = |halves: [Option<crate::encode::EscrChoice>; 2]| {
        halves.into_iter().flatten().find(|choice| Some(choice.escr.msr()) == msr)
    };
    if let Some(choice) = of(event.halves) {
        return Some((choice.counters, event.escr_select));
    }
    let companion = event.companion?;
    of(companion.halves).map(|choice| (choice.counters, companion.escr_select))
}

fn enabled(counter: u8, event: &str) -> RegisterGuard {
    debug_assert!(counter < 18, "a NetBurst core has 18 counters");
    RegisterGuard {
        msr: CCCR + u32::from(counter),
        mask: u64::from(ENABLE),
        pattern: u64::from(ENABLE),
        counter: Counter::General(counter),
        event: event.to_owned(),
        // Linux counts cycles by global_power_events on 0 or 2, or by its alias execution_event
        // on the first counter of the IQ group (arch/x86/events/intel/p4.c).
        cycles: CycleCounting::Counter(matches!(counter, 0 | 2 | 12 | 14)),
    }
}

#[cold]
fn not_netburst(name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot program {name}: it is not an event of the Pentium 4 that the others belong \
             to; resolve all events for one processor"
        ),
    )
}

/// `MSR_BPU_COUNTER0` and `MSR_BPU_CCCR0`; the other seventeen follow in order.
const COUNTER: u32 = 0x300;
const CCCR: u32 = 0x360;
/// CCCR bits: enable 12, ESCR select 15:13, filter 24:18, overflow 31.
const ENABLE: u32 = 1 << 12;
const SELECT: u32 = 7 << 13;
const FILTER: u32 = 0x7f << 18;
const OVERFLOW: u32 = 1 << 31;
