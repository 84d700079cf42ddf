//! AMD: `PERF_CTLx` and `PERF_CTRx`, six of them with the core extension.
//!
//! Version 2 of AMD's performance monitoring adds a global enable (PPR,
//! `PerfCntrGlobalCtl`). Linux keeps it at 0 while nothing counts.

use crate::CpuModel;
use crate::allocate::{Counter, CounterUse};
use crate::encode::Rings;
use crate::error::Result;

use super::data::{
    Control, CounterSlot, CycleCounting, ENABLE, Planned, RegisterGuard, RegisterProbe,
    RegisterProgram, RegisterSharing, WhenAbsent, selector,
};

pub(super) fn program(
    mut program: RegisterProgram,
    cpu: CpuModel,
    planned: &[Planned<'_>],
    rings: Rings,
) -> Result<RegisterProgram> {
    // The extension came with the fifth and sixth counter; its numbers alternate.
    let extended = cpu.facts().general.len() > 4;
    let registers = move |n: u8| match (extended, u32::from(n)) {
        (true, n) => (CTL_EXTENDED + 2 * n, CTR_EXTENDED + 2 * n),
        (false, n) => (CTL + n, CTR + n),
    };
    let mut global = 0;
    let (mut controls, mut merging) = (Vec::new(), Vec::new());
    for planned in planned {
        let Some(Counter::General(n)) = planned.placement.counter() else { continue };
        let (control, msr) = registers(n);
        global |= 1u64 << n;
        program.guards.push(guard(control, n, planned.placement.name()));
        program.slots.push(CounterSlot {
            place: planned.placement.event(),
            index: u32::from(n),
            msr,
        });
        controls.push(Control {
            msr: control,
            value: selector(planned, rings),
            sharing: RegisterSharing::Sole,
        });
        if planned.placement.counter_use() == CounterUse::Pair {
            let (control, msr) = registers(n + 1);
            global |= 2u64 << n;
            program.guards.push(guard(control, n + 1, planned.placement.name()));
            merging.push((control, msr));
        }
    }
    write(&mut program, &controls, &merging, global);
    program.probes.push(RegisterProbe {
        msr: GLOBAL_CTL,
        bits: 0,
        otherwise: WhenAbsent::Skip(GLOBAL_CTL),
    });
    Ok(program)
}

fn guard(control: u32, n: u8, event: &str) -> RegisterGuard {
    RegisterGuard {
        msr: control,
        mask: ENABLE,
        pattern: ENABLE,
        counter: Counter::General(n),
        event: event.to_owned(),
        cycles: CycleCounting::Select(CORE_CYCLES),
    }
}

/// Appends the register writes in order.
fn write(program: &mut RegisterProgram, controls: &[Control], merging: &[(u32, u32)], global: u64) {
    let both = controls.iter().map(|it| it.msr).chain(merging.iter().map(|(control, _)| *control));
    for control in both {
        program.push(control, 0, RegisterSharing::Sole);
    }
    let counters: Vec<u32> = program.slots.iter().map(|slot| slot.msr).collect();
    for counter in counters.into_iter().chain(merging.iter().map(|(_, counter)| *counter)) {
        program.push(counter, 0, RegisterSharing::Sole);
    }
    // The odd counter merges before the even one counts.
    for (control, _) in merging {
        program.push(*control, MERGE | ENABLE, RegisterSharing::Sole);
    }
    for control in controls {
        program.push(control.msr, control.value, control.sharing);
    }
    program.push(GLOBAL_CTL, global, RegisterSharing::Bits(global));
}

const CTL: u32 = 0xc001_0000;
const CTR: u32 = 0xc001_0004;
const CTL_EXTENDED: u32 = 0xc001_0200;
const CTR_EXTENDED: u32 = 0xc001_0201;
const GLOBAL_CTL: u32 = 0xc000_0301;
/// Event FFFh, which adds the carry of the even counter below.
const MERGE: u64 = 0xf_0000_00ff;
/// `CycleCounting not in Halt`, event 76h.
const CORE_CYCLES: u64 = 0x0076;
