//! AMD, with merged counters and the global enable.

use std::sync::LazyLock;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_on_amd(
        selectors in prop::collection::vec(any::<u64>(), 12),
        global in prop::collection::vec(any::<u64>(), 2),
        doings in prop::collection::vec(doing(), 2),
    ) {
        let known = &*AMD;
        let mut core = known.core.clone();
        for context in 0..2u8 {
            for n in 0..6 {
                let random = selectors[usize::from(context) * 6 + n];
                let selector = match random >> 56 {
                    0..40 => 0xf_0040_00ff,
                    _ => near(random, &known.events, false),
                };
                core.write(context, 0xc001_0200 + 2 * n as u32, selector).unwrap();
            }
            core.write(context, 0xc000_0301, global[usize::from(context)] & 0x3f | 0xf).unwrap();
        }
        let signals = perform(&mut core, &known.signals, &doings);
        for context in 0..2u8 {
            let doing = &doings[usize::from(context)];
            for n in 0..6 {
                let selector = |n: u32| core.read(context, 0xc001_0200 + 2 * n).unwrap();
                let enabled = |n: u32| {
                    core.read(context, 0xc000_0301).unwrap() >> n & selector(n) >> 22 & 1 == 1
                };
                let own = selector(n);
                let ring = match doing.ring {
                    Some(Ring::User) => own >> 16 & 1,
                    Some(Ring::Kernel) => own >> 17 & 1,
                    None => 0,
                };
                let merging = n % 2 == 0 && enabled(n + 1) && selector(n + 1) & 0xf_0000_00ff == 0xf_0000_00ff;
                let identity = own & 0xf_ff84_ffff;
                let expected: u64 = match identity {
                    _ if ring == 0 || !enabled(n) => 0,
                    it if it & !0xff00 == 0xc0 => doing.instructions,
                    it if it & !0xff00 == 0x76 => doing.cycles,
                    _ => signals[usize::from(context)].iter().filter(|(signal, _)| {
                        let (of, _, _) = known.events.iter().find(|(_, _, it)| it == signal).unwrap();
                        let masks = identity & of & 0xff00 != 0 || (identity ^ of) & 0xff00 == 0;
                        (identity ^ of) & 0xf_ff84_00ff == 0
                            && masks
                            && (of & 0xff != 0x03 || merging)
                    }).map(|(_, times)| times).sum(),
                };
                prop_assert_eq!(core.rdpmc(context, n).unwrap(), expected, "{} of {}", n, context);
            }
        }
    }
}

static AMD: LazyLock<Known> = LazyLock::new(|| {
    known(
        "zen4",
        &[
            "RETIRED_SSE_AVX_FLOPS:ANY",
            "RETIRED_BRANCH_INSTRUCTIONS",
            "RETIRED_OPS",
            "DISPATCH_STALLS_1:SMT_CONTENTION",
            "LS_DISPATCH:LD_DISPATCH",
            "LS_DISPATCH:STORE_DISPATCH",
        ],
    )
});
