//! Whole contexts of simulated machines, which follow a timetable.

use pacman_core::Session;
use pacman_core::topology::CpuSet;

use crate::program::machine;

/// Every context is active for as long as the timetable has it, and counts as much.
pub(crate) fn contexts_follow_their_timetable(name: &str) {
    let machine = machine(name);
    let topology = machine.topology();
    let cpus: CpuSet = topology.cores()[..2].iter().flat_map(|core| core.cpus.clone()).collect();
    let mut all = Session::builder(format!("wide {name}"))
        .on(&machine)
        .events("CYCLES,INSTRUCTIONS,task-clock")
        .system_wide(&cpus)
        .unwrap();
    let phase = all.phase("all").unwrap();
    all.begin(phase).unwrap();
    machine.advance(123_456_789);
    all.end(phase).unwrap();
    let report = all.report();
    for (at, cpu) in cpus.iter().enumerate() {
        let context = topology.context(cpu).unwrap();
        let core = machine.core_activity(context.core as usize);
        assert_eq!(core.total, 123_456_789);
        let row = &report.threads[at].phases[0];
        let [cycles, instructions] = [0, 1].map(|event| row.counts[event].raw.sum);
        assert!(cycles > 0 && instructions > 0, "{name}, cpu {cpu}: {row:?}");
        let siblings = &topology.cores()[context.core as usize].cpus;
        let alone = core.alone[context.sibling as usize];
        assert!(alone <= core.total - core.neither);
        if siblings.len() == 2 {
            let active = alone + core.together;
            let per_second = cycles as f64 / (active as f64 / 1e9);
            let other = report.threads[0].phases[0].counts[0].raw.sum as f64;
            let first = machine.core_activity(0);
            let clock = other / ((first.alone[0] + first.together) as f64 / 1e9);
            assert!((per_second / clock - 1.0).abs() < 1e-4, "{per_second} and {clock} Hz");
        }
    }
}
