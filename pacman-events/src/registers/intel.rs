//! Architectural Intel: `IA32_PERFEVTSELx`, the fixed counters, the global enable.
//!
//! A counter counts when its own enable and its bit in `IA32_PERF_GLOBAL_CTRL` are both set
//! (SDM Vol. 3, "Architectural performance monitoring", version 2 and later).

use crate::CpuModel;
use crate::allocate::Counter;
use crate::encode::{Rings, Scope};
use crate::error::Result;

use super::data::{
    COUNTERS, Control, CounterSlot, CycleCounting, ENABLE, Planned, RegisterGuard, RegisterProbe,
    RegisterProgram, RegisterSharing, WhenAbsent, bit, selector,
};

pub(super) fn program(
    mut program: RegisterProgram,
    cpu: CpuModel,
    planned: &[Planned<'_>],
    rings: Rings,
) -> Result<RegisterProgram> {
    let (mut global, mut controls) = (0, Vec::new());
    for planned in planned {
        let Some(counter) = planned.placement.counter() else { continue };
        global |= 1u64 << counter.number();
        controls.push(match counter {
            Counter::General(n) => general(&mut program, planned, n, rings),
            Counter::Fixed(n) => fixed(&mut program, planned, n, rings),
        });
    }
    guard_extras(&mut program, cpu, planned, rings);
    write(&mut program, planned, &controls, global);
    if program.slots.iter().any(|slot| (FULL..FULL + COUNTERS).contains(&slot.msr)) {
        // A write by the old number reaches only 32 bits of a counter.
        program.probes.push(RegisterProbe {
            msr: PERF_CAPABILITIES,
            bits: FULL_WIDTH,
            otherwise: WhenAbsent::Renumber { from: FULL, to: PMC },
        });
    }
    Ok(program)
}

fn general(program: &mut RegisterProgram, planned: &Planned<'_>, n: u8, rings: Rings) -> Control {
    let control = EVTSEL + u32::from(n);
    program.slots.push(CounterSlot {
        place: planned.placement.event(),
        index: u32::from(n),
        msr: FULL + u32::from(n),
    });
    program.guards.push(RegisterGuard {
        msr: control,
        mask: ENABLE,
        pattern: ENABLE,
        counter: Counter::General(n),
        event: planned.placement.name().to_owned(),
        cycles: CycleCounting::Select(CORE_CYCLES),
    });
    Control { msr: control, value: selector(planned, rings), sharing: RegisterSharing::Sole }
}

fn fixed(program: &mut RegisterProgram, planned: &Planned<'_>, n: u8, rings: Rings) -> Control {
    let encoding = planned.encoding;
    let rings = if encoding.rings == Rings::default() { rings } else { encoding.rings };
    // Four bits for each counter: OS, USR, AnyThread, interrupt.
    let any_thread = encoding.limits.counts == Scope::Core;
    let field = bit(1, rings.kernel) | bit(2, rings.user) | bit(4, any_thread);
    program.slots.push(CounterSlot {
        place: planned.placement.event(),
        index: FIXED_INDEX | u32::from(n),
        msr: FIXED + u32::from(n),
    });
    for ring in [1, 2] {
        program.guards.push(RegisterGuard {
            msr: FIXED_CTRL,
            mask: ring << (4 * n),
            pattern: ring << (4 * n),
            counter: Counter::Fixed(n),
            event: planned.placement.name().to_owned(),
            cycles: CycleCounting::Counter(n == 1),
        });
    }
    // All fixed counters share this register.
    Control {
        msr: FIXED_CTRL,
        value: field << (4 * n),
        sharing: RegisterSharing::Bits(0xf << (4 * n)),
    }
}

/// Adds guards for other users' counters that depend on an extra register of this program.
fn guard_extras(
    program: &mut RegisterProgram,
    cpu: CpuModel,
    planned: &[Planned<'_>],
    rings: Rings,
) {
    let taken: Vec<Counter> = planned.iter().filter_map(|p| p.placement.counter()).collect();
    for planned in planned.iter().filter(|p| p.placement.registers().next().is_some()) {
        let select = selector(planned, rings) & 0xffff;
        for n in cpu.facts().general.iter() {
            if !taken.contains(&Counter::General(n)) {
                program.guards.push(RegisterGuard {
                    msr: EVTSEL + u32::from(n),
                    mask: ENABLE | 0xffff,
                    pattern: ENABLE | select,
                    counter: Counter::General(n),
                    event: planned.placement.name().to_owned(),
                    cycles: CycleCounting::Counter(false),
                });
            }
        }
    }
}

/// Appends the register writes in order.
fn write(
    program: &mut RegisterProgram,
    planned: &[Planned<'_>],
    controls: &[Control],
    global: u64,
) {
    for control in controls {
        program.push(control.msr, 0, control.sharing);
    }
    for claim in planned.iter().flat_map(|p| p.placement.claims()) {
        if let Some(msr) = claim.register.number() {
            let shared = claim.register.is_shared();
            program.once(
                msr,
                claim.value,
                if shared { RegisterSharing::Alike } else { RegisterSharing::Sole },
            );
        }
    }
    let counters: Vec<u32> = program.slots.iter().map(|slot| slot.msr).collect();
    for counter in counters {
        program.push(counter, 0, RegisterSharing::Sole);
    }
    for control in controls {
        program.push(control.msr, control.value, control.sharing);
    }
    program.push(GLOBAL_CTRL, global, RegisterSharing::Bits(global));
}

const EVTSEL: u32 = 0x186;
const PMC: u32 = 0xc1;
/// `IA32_A_PMCx`: the counters at full width.
const FULL: u32 = 0x4c1;
const PERF_CAPABILITIES: u32 = 0x345;
/// `IA32_PERF_CAPABILITIES.FW_WRITE`.
const FULL_WIDTH: u64 = 1 << 13;
const FIXED: u32 = 0x309;
const FIXED_CTRL: u32 = 0x38d;
const FIXED_INDEX: u32 = 1 << 30;
const GLOBAL_CTRL: u32 = 0x38f;
/// `CPU_CLK_UNHALTED.THREAD`.
const CORE_CYCLES: u64 = 0x003c;
