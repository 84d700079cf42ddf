//! Splits against schedules of known truth.

use pacman_events::CpuModel;
use pacman_metrics::ErrorKind;
use pacman_metrics::smt::{
    Bounds, Clocks, ContextReading, CoreReading, Crystal, Method, Scale, Split, alone_shares,
    any_thread, distributed, idle_periods, idle_times, one_thread_active,
};
use proptest::prelude::*;

fn scale(cpu: &str, base_hz: f64) -> Scale {
    Scale::of(CpuModel::named(cpu).unwrap(), Clocks { base_hz, crystal: None }).unwrap()
}

/// Reference cycles over the same `tsc` ticks on every context.
fn contexts(tsc: u64, reference: &[u64]) -> Vec<ContextReading> {
    reference
        .iter()
        .map(|&reference| ContextReading { begin: 7, end: 7 + tsc, slack: 0, reference })
        .collect()
}

fn sum(split: &Split) -> f64 {
    split.idle + split.only.iter().sum::<f64>() + split.shared
}

fn refusal(result: pacman_metrics::Result<Split>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotComputable);
    error.to_string()
}

/// A second at 2.7 GHz on Sandy Bridge: neither 40 %, only 0 30 %, only 1 10 %, both 20 %.
/// REF_XCLK counts 60 % of 100 million ticks, each worth 27 of the TSC.
#[test]
fn four_states_of_a_sandy_bridge_second() {
    let second = 2_700_000_000;
    let read = contexts(second, &[1_350_000_000, 810_000_000]);
    let reading = CoreReading { contexts: &read, scale: scale("jkt", 2.7e9) };
    let split = any_thread(&reading, 60_000_000).unwrap();
    let tsc = second as f64;
    assert_eq!((split.idle, split.shared), (0.4 * tsc, 0.2 * tsc));
    assert_eq!(split.only, [0.3 * tsc, 0.1 * tsc]);
    assert_eq!(sum(&split), tsc);
    assert!(split.is_decided());
    // The last line as printed in the article is the negative of this.
    let printed = 60_000_000.0 * 27.0 - 1.35e9 - 0.81e9;
    assert_eq!(printed, -split.shared);
    assert_ne!(split.idle + split.only[0] + split.only[1] + printed, tsc);

    // The other methods agree: each context's count of running alone, in the same ticks.
    let alone = one_thread_active(&reading, [30_000_000, 10_000_000]).unwrap();
    assert_eq!((alone.idle, &alone.only, alone.shared), (split.idle, &split.only, split.shared));
    // Shared out: the 20 % together go half to each.
    let shared_out = distributed(&reading, &[40_000_000, 20_000_000]).unwrap();
    assert_eq!((shared_out.idle, shared_out.only), (split.idle, split.only));
}

/// Half load each: the article's three stories, which only the core-wide count tells apart.
#[test]
fn half_load_may_be_together_apart_or_between() {
    let read = contexts(2_100_000_000, &[1_050_000_000; 2]);
    let reading = CoreReading { contexts: &read, scale: scale("skx", 2.1e9) };
    // 25 million ticks of the crystal are the whole second.
    for (any, idle, only, both) in
        [(12_500_000, 0.5, 0.0, 0.5), (25_000_000, 0.0, 0.5, 0.0), (18_750_000, 0.25, 0.25, 0.25)]
    {
        let split = any_thread(&reading, any).unwrap();
        let shares = [split.idle, split.only[0], split.only[1], split.shared];
        assert_eq!(shares.map(|state| split.share(state)), [idle, only, only, both]);
        assert_eq!(split.share(split.active()), 1.0 - idle);
    }
}

/// Ice Lake at 2.3 GHz, a crystal of 25 MHz (184 / 2 times it): half of a second both, an eighth
/// each alone. Shared out, the half goes to each as a quarter.
#[test]
fn ice_lake_sums_what_is_shared_out() {
    let clocks =
        Clocks { base_hz: 2.3e9, crystal: Some(Crystal { numerator: 184, denominator: 2 }) };
    let scale = Scale::of(CpuModel::named("icx").unwrap(), clocks).unwrap();
    let read = contexts(2_300_000_000, &[1_437_500_000; 2]);
    let reading = CoreReading { contexts: &read, scale };
    let split = distributed(&reading, &[9_375_000; 2]).unwrap();
    let shares = [split.idle, split.only[0], split.only[1], split.shared];
    assert_eq!(shares.map(|state| split.share(state)), [0.25, 0.125, 0.125, 0.5]);
    assert_eq!(split.method, Method::Distributed);
}

#[test]
fn skew_and_steps_bound_what_is_believed() {
    let mut read = contexts(1_000_000, &[500_000, 500_000]);
    read[1].begin += 300;
    read[1].end += 700;
    let reading = CoreReading { contexts: &read, scale: scale("jkt", 2.7e9) };
    let split = any_thread(&reading, 37_000).unwrap();
    // Readings 300 and 700 ticks apart, and for each context a step of 27 and a count of 27.
    assert_eq!(split.uncertainty, 1_000.0 + 2.0 * (27.0 + 27.0));
    assert_eq!(split.skew, 1_000.0);
    // A reading that took 60 ticks and another that took 40: half of each on either side.
    read[0].slack = 50;
    let reading = CoreReading { contexts: &read, scale: scale("jkt", 2.7e9) };
    let split = any_thread(&reading, 37_000).unwrap();
    assert_eq!((split.skew, split.uncertainty), (1_050.0, 1_050.0 + 108.0));
    // One tick of XCLK above the contexts' sum is within that, and is not below zero together.
    let read = contexts(1_000_000, &[100_000, 53_900]);
    let reading = CoreReading { contexts: &read, scale: scale("jkt", 2.7e9) };
    let split = any_thread(&reading, 5_702).unwrap();
    assert_eq!((split.shared, sum(&split)), (0.0, 1_000_000.0));
    assert!(split.only.iter().all(|only| *only >= 0.0));
    // Four are not.
    let words = refusal(any_thread(&reading, 5_706));
    assert!(words.contains("active for -162 ticks"), "{words}");
}

#[test]
fn contradictions_are_named() {
    let scale = scale("jkt", 2.7e9);
    let ask = |read: &[ContextReading], any| {
        refusal(any_thread(&CoreReading { contexts: read, scale }, any))
    };
    for (read, any, why) in [
        (vec![], 1, "no context was read"),
        (contexts(0, &[0, 0]), 0, "no time passed between the two readings"),
        (contexts(1_000_000, &[1 << 47, 0]), 10, "the counter wrapped"),
        (contexts(1_000_000, &[500_000, 500_000]), 40_000, "the core was active for 1080000 of"),
        (contexts(1_000_000, &[500_000, 100_000]), 10_000, "active for 270000 ticks and one of"),
    ] {
        let words = ask(&read, any);
        assert!(words.starts_with("the activity of the core's contexts is not computable because"));
        assert!(words.contains(why), "{words}");
    }
    // Four steps of 27 are half of the time.
    assert!(any_thread(&CoreReading { contexts: &contexts(216, &[0, 0]), scale }, 0).is_ok());
    let words = ask(&contexts(215, &[0, 0]), 0);
    assert!(words.contains("215 ticks is too short") && words.contains("by 108;"), "{words}");
    let mut apart = contexts(1_000_000, &[1, 1]);
    apart[1].end += 200_000;
    assert!(ask(&apart, 1).contains("intervals that differ by 200000 of"));

    let read = contexts(2_700_000, &[2_000_000, 2_000_000]);
    let reading = CoreReading { contexts: &read, scale };
    let words = refusal(one_thread_active(&reading, [30_000, 10_000]));
    assert!(
        words.contains("ran 1190000 ticks together with the other, which ran 1730000"),
        "{words}"
    );
    assert!(
        refusal(distributed(&reading, &[1])).contains("one distributed count for every context")
    );
    let three = contexts(2_700_000, &[1, 1, 1]);
    let three = CoreReading { contexts: &three, scale };
    assert!(refusal(one_thread_active(&three, [0, 0])).contains("cores of two contexts"));
}

#[test]
fn intervals_add_up_and_decide_more() {
    // EventSetRotation: each idles while the other runs. One interval cannot tell, two can.
    let whole = idle_times(20.0, &[10.0, 10.0], 0.0).unwrap();
    assert_eq!(whole.shared_bounds, Bounds { low: 0.0, high: 10.0 });
    assert!(!whole.is_decided());
    let mut turns = idle_times(10.0, &[0.0, 10.0], 0.0).unwrap();
    turns.extend(&idle_times(10.0, &[10.0, 0.0], 0.0).unwrap()).unwrap();
    assert!(turns.is_decided());
    assert_eq!((turns.only.as_slice(), turns.shared, turns.idle), (&[10.0, 10.0][..], 0.0, 0.0));
    let other = idle_times(10.0, &[1.0], 0.0).unwrap();
    assert!(turns.extend(&other).unwrap_err().to_string().contains("differ in contexts"));
}

/// Neither 25 %, only the first 35 %, only the second 20 %, both 20 %.
#[test]
fn cycles_alone_decide_what_idle_times_bound() {
    let (idle, alone) = ([45.0, 60.0], [35.0 / 55.0, 0.5]);
    let split = alone_shares(100.0, &idle, &alone, 0.5).unwrap();
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{split:?}");
    close(split.idle, 25.0);
    close(split.only[0], 35.0);
    close(split.only[1], 20.0);
    close(split.shared, 20.0);
    close(split.uncertainty, 0.5);
    assert!(split.is_decided() && !idle_times(100.0, &idle, 0.5).unwrap().is_decided());
    // Where the two differ, the mean holds, and half of the difference is not certain.
    let split = alone_shares(100.0, &idle, &[35.0 / 55.0, 0.6], 0.5).unwrap();
    assert!((split.shared - 18.0).abs() < 1e-9 && (split.uncertainty - 2.5).abs() < 1e-9);
    // Two contexts that are busy all the time run together, whatever the counts say.
    assert_eq!(alone_shares(10.0, &[0.0, 0.0], &[1.0, 1.0], 0.0).unwrap().shared, 10.0);
    assert!(refusal(alone_shares(10.0, &[1.0], &[1.0], 0.0)).contains("two contexts"));
}

#[test]
fn impossible_idle_times_are_refused() {
    for (elapsed, idle, why) in [
        (0.0, &[0.0][..], "no time passed"),
        (f64::NAN, &[0.0], "no time passed"),
        (1.0, &[], "no context"),
        (1.0, &[1.2], "idle for 1.2 of 1"),
        (1.0, &[-0.2], "idle for -0.2 of 1"),
    ] {
        assert!(refusal(idle_times(elapsed, idle, 0.1)).contains(why));
    }
    // Within the uncertainty it is a whole interval.
    assert_eq!(idle_times(1.0, &[1.05], 0.1).unwrap().idle, 1.0);
    let backwards: &[_] = &[0.5..0.4];
    assert!(refusal(idle_periods(0.0..1.0, &[backwards])).contains("run backwards"));
    let overlapping: &[_] = &[0.1..0.4, 0.3..0.5];
    assert!(refusal(idle_periods(0.0..1.0, &[overlapping])).contains("overlap"));
}

/// One bit per context and slot: whether it is active.
fn schedules() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (1usize..=4).prop_flat_map(|count| (Just(count), prop::collection::vec(0u8..1 << count, 1..60)))
}

proptest! {
    /// Every method against the same schedule: idle periods give it back, and what the others
    /// decide is the truth, what they bound contains it.
    #[test]
    fn every_method_keeps_to_the_truth((count, slots) in schedules()) {
        const SLOT: u64 = 27_000;
        let tsc = SLOT * slots.len() as u64;
        let time = |wanted: &dyn Fn(u8) -> bool| {
            (slots.iter().filter(|&&slot| wanted(slot)).count() as u64 * SLOT) as f64
        };
        let idle = time(&|slot| slot == 0);
        let only: Vec<f64> = (0..count).map(|context| time(&|slot| slot == 1 << context)).collect();
        let shared = time(&|slot| slot.count_ones() > 1);
        let own: Vec<f64> =
            (0..count).map(|context| time(&|slot| slot & 1 << context != 0)).collect();

        let periods: Vec<Vec<_>> = (0..count)
            .map(|context| {
                let resting = slots.iter().enumerate().filter(|slot| slot.1 & 1 << context == 0);
                let start = |at: usize| (at as u64 * SLOT) as f64;
                resting.map(|slot| start(slot.0)..start(slot.0 + 1)).collect()
            })
            .collect();
        let periods: Vec<&[_]> = periods.iter().map(Vec::as_slice).collect();
        let split = idle_periods(0.0..tsc as f64, &periods).unwrap();
        prop_assert_eq!((split.idle, &split.only, split.shared), (idle, &only, shared));

        let reference: Vec<u64> = own.iter().map(|own| *own as u64).collect();
        let read = contexts(tsc, &reference);
        let reading = CoreReading { contexts: &read, scale: scale("jkt", 2.7e9) };
        let by_count = any_thread(&reading, (tsc - idle as u64) / 27).unwrap();
        let resting: Vec<f64> = own.iter().map(|own| tsc as f64 - own).collect();
        let by_time = idle_times(tsc as f64, &resting, 0.0).unwrap();
        prop_assert_eq!(by_count.idle, idle);
        prop_assert!(count > 2 || by_count.is_decided());
        prop_assert!(count > 1 || by_time.is_decided());
        for split in [by_count, by_time] {
            prop_assert!((sum(&split) - tsc as f64).abs() < 1e-6 * tsc as f64);
            let states = split.only_bounds.iter().zip(&split.only).zip(&only);
            let mut states: Vec<_> = states.map(|((bounds, shown), truth)| (*bounds, *shown, *truth)).collect();
            states.push((split.idle_bounds, split.idle, idle));
            states.push((split.shared_bounds, split.shared, shared));
            for (bounds, shown, truth) in states {
                let near = 1e-6 * tsc as f64;
                let within = bounds.low - near..=bounds.high + near;
                prop_assert!(within.contains(&truth), "{truth} not in {bounds:?}");
                prop_assert!(within.contains(&shown), "{shown} not in {bounds:?}");
            }
        }
    }
}
