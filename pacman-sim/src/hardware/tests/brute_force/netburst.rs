//! NetBurst, tagging aside.

use std::sync::LazyLock;

use pacman_events::encode::NetBurst;

use super::*;
use crate::hardware::NetBurstSignal;

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_on_netburst(
        escrs in prop::collection::vec((any::<u64>(), any::<u16>()), 12),
        cccrs in prop::collection::vec(any::<u64>(), 18),
        doings in prop::collection::vec(doing(), 2),
    ) {
        let known = &*NETBURST;
        let mut core = core("p4");
        // ESCR value by number, of ESCRs that the events know.
        let mut written = Vec::new();
        for (random, mask) in &escrs {
            let event = &known[*random as usize % known.len()];
            let Some(choice) = event.halves[(random >> 20) as usize & 1] else { continue };
            let mask = u64::from(event.event_mask ^ (mask & mask >> 4 & mask >> 8));
            let select = u64::from(event.event_select) ^ u64::from(random >> 30 & 7 == 0);
            let value = select << 25 | mask << 9 | random >> 40 & 0xf;
            core.write(0, choice.escr.msr(), value).unwrap();
            written.push((choice, event.escr_select, value));
        }
        for (n, random) in cccrs.iter().enumerate() {
            // Towards an ESCR that it is wired to, mostly.
            let fits: Vec<_> = written.iter().filter(|it| it.0.counters.contains(n as u8)).collect();
            let select = match fits.get(*random as usize % fits.len().max(1)) {
                Some((_, select, _)) if random >> 20 & 7 != 0 => u64::from(*select),
                _ => random >> 24 & 7,
            };
            let filters = [0, 0, 0, 1 << 18, 0xc << 16, 0xfc << 16, 0x14 << 20];
            let filter = filters[(random >> 30) as usize % filters.len()];
            let active = if random >> 40 & 1 == 0 { 3 } else { random >> 41 & 3 };
            let enable = u64::from(random >> 45 & 3 != 0);
            core.write(0, 0x360 + n as u32, enable << 12 | select << 13 | active << 16 | filter).unwrap();
        }
        let list: Vec<Signal> = known
            .iter()
            .flat_map(|it| [0, 1 << 18].map(|filter| (it, filter)))
            .map(|(it, filter)| Signal::NetBurst(NetBurstSignal {
                unit: it.halves.iter().flatten().next().unwrap().escr.msr() & !1,
                event: it.event_select,
                mask: it.event_mask,
                filter,
                upstream: None,
                replay: None,
            }))
            .collect();
        let signals = perform(&mut core, &list, &doings);
        let active = doings.iter().filter(|it| it.ring.is_some()).count() as u64;
        for n in 0..18u32 {
            let cccr = core.read(0, 0x360 + n).unwrap();
            let expected = netburst_counter(&core, &doings, &signals, active, n as u8, cccr);
            prop_assert_eq!(core.rdpmc(0, n).unwrap(), expected, "counter {}", n);
        }
    }
}

static NETBURST: LazyLock<Vec<NetBurst>> = LazyLock::new(|| {
    [
        "branch_retired:MMTP",
        "uops_retired:NBOGUS",
        "page_walk_type:DTMISS",
        "BSQ_cache_reference:RD_2ndL_MISS",
        "ITLB_reference:MISS",
        "memory_cancel:ST_RB_FULL",
        "packed_SP_uop:ALL",
        "WC_Buffer:WCB_EVICTS",
        "tc_ms_xfer:CISC",
        "TC_deliver_mode:DD",
        "retired_branch_type:CALL",
        "resource_stall:SBFULL",
    ]
    .map(|name| encoding(model("p4"), name).netburst.unwrap())
    .to_vec()
});

/// The rule for one counter. Which ESCR it listens to comes from the tables of events.
fn netburst_counter(
    core: &CorePmu,
    doings: &[Doing],
    signals: &[Vec<(Signal, u64)>],
    active: u64,
    n: u8,
    cccr: u64,
) -> u64 {
    let time = match cccr >> 16 & 3 {
        3 => active > 0,
        field => active == field,
    };
    if cccr >> 12 & 1 == 0 || !time {
        return 0;
    }
    let listens = |it: &&NetBurst| {
        u64::from(it.escr_select) == cccr >> 13 & 7
            && it.halves.iter().flatten().any(|choice| choice.counters.contains(n))
    };
    // An ESCR without an event in the list was never written.
    let Some(unit) = NETBURST.iter().find(listens) else { return 0 };
    let choice = unit.halves.iter().flatten().find(|it| it.counters.contains(n)).unwrap();
    let escr = core.read(0, choice.escr.msr()).unwrap();
    let event = escr >> 25 & 0x3f;
    let filter = if cccr >> 18 & 1 == 0 { 0 } else { cccr >> 18 & 0x7f };
    if filter == 0x3f {
        let cycles = doings.iter().filter(|it| it.ring.is_some()).map(|it| it.cycles);
        return if event == 0 { 0 } else { cycles.max().unwrap_or(0) };
    }
    let independent = match choice.escr.msr() & !1 {
        0x3a4 => true,
        0x3ac | 0x3c4 => event == 1,
        0x3a8 => event == 5,
        _ => false,
    };
    let mut sum = 0;
    for (lp, (doing, signals)) in doings.iter().zip(signals).enumerate() {
        let bits = match (independent, lp) {
            (true, _) => escr & 3 | escr >> 2 & 3,
            (_, 0) => escr >> 2 & 3,
            _ => escr & 3,
        };
        let sees = match doing.ring {
            Some(Ring::Kernel) => bits & 2 != 0,
            Some(Ring::User) => bits & 1 != 0,
            None => false,
        };
        for (signal, times) in signals {
            let Signal::NetBurst(it) = signal else { panic!("of NetBurst") };
            let same = it.unit == choice.escr.msr() & !1
                && u64::from(it.event) == event
                && u64::from(it.filter) >> 18 == filter
                && u64::from(it.mask) & escr >> 9 & 0xffff != 0;
            if sees && same {
                sum += times;
            }
        }
    }
    sum
}
