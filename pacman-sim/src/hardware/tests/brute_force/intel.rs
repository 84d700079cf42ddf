//! Architectural Intel, over four generations.

use std::sync::LazyLock;

use super::*;
use crate::hardware::Select;

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_on_intel((table, selectors, others, doings) in intel_case()) {
        let known = &INTEL[table];
        let any_thread = known.model.name() != "icx";
        let mut core = known.core.clone();
        for context in 0..2u8 {
            let of = |n: usize| usize::from(context) * 4 + n;
            for n in 0..4 {
                let selector = near(selectors[of(n)], &known.events, any_thread);
                core.write(context, 0x186 + n as u32, selector).unwrap();
            }
            let any = if any_thread { 0xfff } else { 0xbbb };
            core.write(context, 0x38d, others[of(0)] & any).unwrap();
            core.write(context, 0x38f, others[of(1)] & 0x7_0000_000f | 0x3).unwrap();
            let offcore = known.signals.iter().find_map(|signal| match signal {
                Signal::Select(it) => it.extra,
                _ => None,
            });
            // With a bit more or less than the event needs, now and then.
            let response = offcore.unwrap_or(0) ^ (others[of(2)] & others[of(3)] & 0x4);
            core.write(context, 0x1a6, response).unwrap();
            if known.model.name() != "nhm-ep" {
                core.write(context, 0x1a7, response).unwrap();
            }
        }
        let signals = perform(&mut core, &known.signals, &doings);
        for context in 0..2u8 {
            for n in 0..4 {
                let mut expected = intel_general(&core, known, &doings, &signals, context, n);
                let sibling = core.read(1 - context, 0x186 + n).unwrap() & 0xff;
                let own = core.read(context, 0x186 + n).unwrap();
                let enabled = core.read(context, 0x38f).unwrap() >> n & 1 & own >> 22 == 1;
                if known.model.name() == "snb" && (0xd0..0xd4).contains(&sibling) && enabled {
                    expected += intel_general(&core, known, &doings, &signals, 1 - context, n);
                }
                prop_assert_eq!(core.rdpmc(context, n).unwrap(), expected, "{} of {}", n, context);
            }
            for n in 0..3 {
                let control = core.read(context, 0x38d).unwrap() >> (4 * n);
                let enabled = core.read(context, 0x38f).unwrap() >> (32 + n) & 1 == 1;
                let heard = doings.iter().enumerate().filter(|(it, doing)| {
                    let own = *it == usize::from(context) || control & 4 != 0;
                    own && match doing.ring {
                        Some(Ring::Kernel) => control & 1 != 0,
                        Some(Ring::User) => control & 2 != 0,
                        None => false,
                    }
                });
                let expected = match n {
                    _ if !enabled => 0,
                    0 => heard.map(|(_, it)| it.instructions).sum(),
                    1 => heard.map(|(_, it)| it.cycles).max().unwrap_or(0),
                    _ => heard.map(|(_, it)| it.cycles / 2).max().unwrap_or(0),
                };
                prop_assert_eq!(core.rdpmc(context, 1 << 30 | n).unwrap(), expected, "fixed {}", n);
            }
        }
    }
}

static INTEL: LazyLock<[Known; 4]> = LazyLock::new(|| {
    [
        known(
            "nhm",
            &[
                "L2_RQSTS.LD_HIT",
                "L2_RQSTS.LD_MISS",
                "L2_RQSTS.LOADS",
                "UOPS_ISSUED.ANY",
                "L1D.REPL",
                OFFCORE_NHM,
            ],
        ),
        known(
            "snb",
            &[
                "L1D_PEND_MISS.PENDING",
                "UOPS_ISSUED.ANY",
                "UOPS_ISSUED.STALL_CYCLES",
                "MEM_LOAD_UOPS_RETIRED.L1_HIT",
                "MEM_LOAD_UOPS_RETIRED.L2_HIT",
                "MEM_UOPS_RETIRED.ALL_LOADS",
            ],
        ),
        known(
            "skl",
            &[
                "L1D_PEND_MISS.PENDING",
                "UOPS_ISSUED.ANY",
                "UOPS_ISSUED.STALL_CYCLES",
                OFFCORE_SKL,
                "MEM_LOAD_RETIRED.L1_HIT",
                "CYCLE_ACTIVITY.STALLS_TOTAL",
            ],
        ),
        known(
            "icx",
            &[
                "L1D_PEND_MISS.PENDING",
                "UOPS_ISSUED.ANY",
                "UOPS_ISSUED.STALL_CYCLES",
                "MEM_LOAD_RETIRED.L1_HIT",
                "MEM_LOAD_RETIRED.L2_HIT",
                "EXE_ACTIVITY.1_PORTS_UTIL",
            ],
        ),
    ]
});
const OFFCORE_NHM: &str = "OFFCORE_RESPONSE_0.DEMAND_DATA_RD.ANY_LLC_MISS";
const OFFCORE_SKL: &str = "OFFCORE_RESPONSE.DEMAND_CODE_RD.ANY_RESPONSE";

/// The count of general counter `n` by the rule, erratum and all, from nothing but bits.
fn intel_general(
    core: &CorePmu,
    known: &Known,
    doings: &[Doing],
    signals: &[Vec<(Signal, u64)>],
    context: u8,
    n: u32,
) -> u64 {
    let selector = core.read(context, 0x186 + n).unwrap();
    let enabled = core.read(context, 0x38f).unwrap() >> n & 1 == 1 && selector >> 22 & 1 == 1;
    if !enabled {
        return 0;
    }
    let in_ring = |doing: &Doing| match doing.ring {
        Some(Ring::User) => selector >> 16 & 1 == 1,
        Some(Ring::Kernel) => selector >> 17 & 1 == 1,
        None => false,
    };
    let any = selector >> 21 & 1 == 1;
    let heard: Vec<usize> = (0..doings.len())
        .filter(|it| (any || *it == usize::from(context)) && in_ring(&doings[*it]))
        .collect();
    match selector & 0xff84_ffff {
        // On Nehalem both are retired instructions.
        it if it == 0xc0 || it == 0x1c0 && known.model.name() == "nhm-ep" => {
            return heard.iter().map(|it| doings[*it].instructions).sum();
        }
        0x3c => return heard.iter().map(|it| doings[*it].cycles).max().unwrap_or(0),
        _ => {}
    }
    let mut sum = 0;
    for it in heard {
        for (signal, times) in &signals[it] {
            let (of, counters, _) = known.events.iter().find(|(_, _, it)| it == signal).unwrap();
            let same = |mask: u64| selector & mask == of & mask;
            let offcore = [0xb7, 0xbb].contains(&(of & 0xff));
            let selected = if offcore {
                let response = match selector & 0xffff {
                    0x1b7 => core.read(context, 0x1a6).unwrap(),
                    0x1bb if known.model.name() != "nhm-ep" => core.read(context, 0x1a7).unwrap(),
                    _ => 0,
                };
                let Signal::Select(Select { extra: Some(value), .. }) = signal else { panic!() };
                response & value == *value
            } else {
                let takes_register = [0x1b7, 0x1bb].contains(&(selector & 0xffff));
                same(0xff) && selector & of & 0xff00 != 0 && !takes_register
            };
            if selected && same(0xff84_0000) && counters >> n & 1 == 1 {
                sum += times;
            }
        }
    }
    sum
}

fn intel_case() -> impl Strategy<Value = (usize, Vec<u64>, Vec<u64>, Vec<Doing>)> {
    let contexts = 2;
    (
        0..4usize,
        prop::collection::vec(any::<u64>(), 4 * contexts),
        prop::collection::vec(any::<u64>(), 4 * contexts),
        prop::collection::vec(doing(), contexts),
    )
}
