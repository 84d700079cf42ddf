//! Scales and steps by generation.

use pacman_events::{CpuModel, Resolver};
use pacman_metrics::ErrorKind;
use pacman_metrics::smt::{Clocks, Crystal, Scale};

fn of(cpu: &str, base_hz: f64, crystal: Option<Crystal>) -> pacman_metrics::Result<Scale> {
    Scale::of(CpuModel::named(cpu).unwrap(), Clocks { base_hz, crystal })
}

/// A crystal of 24 or 25 MHz under a TSC of `numerator / denominator` times it.
fn crystal(numerator: u32, denominator: u32) -> Option<Crystal> {
    Some(Crystal { numerator, denominator })
}

/// The article's two processors, and one of every other generation.
#[test]
fn scales_and_steps_follow_the_generation() {
    for (cpu, base_hz, crystal, ticks, step, step_ns) in [
        // Xeon E5-2680: 27 every 10 ns. Xeon Platinum 8160: 84 every 40 ns.
        ("jkt", 2.7e9, None, 27.0, 27.0, 10.0),
        ("skx", 2.1e9, None, 84.0, 84.0, 40.0),
        // CPUID says the same: 168 / 2 times 25 MHz.
        ("skx", 2.1e9, crystal(168, 2), 84.0, 84.0, 40.0),
        // Xeon X5560, 2.8 GHz: 21 times 133 MHz, and counts at the rate of the TSC.
        ("nhm-ep", 2.8e9, None, 1.0, 21.0, 7.5),
        ("wsm-ep-dp", 3.2e9, None, 1.0, 24.0, 7.5),
        ("hsx", 2.3e9, None, 23.0, 23.0, 10.0),
        ("bdx", 2.2e9, None, 22.0, 22.0, 10.0),
        ("skl", 3.0e9, crystal(250, 2), 125.0, 125.0, 125.0 / 3.0),
        ("icx", 2.3e9, crystal(184, 2), 92.0, 92.0, 40.0),
        ("spr", 2.0e9, crystal(160, 2), 80.0, 80.0, 40.0),
        ("knl", 1.4e9, None, 1.0, 14.0, 10.0),
    ] {
        let scale = of(cpu, base_hz, crystal).unwrap();
        assert_eq!((scale.ticks, scale.step), (ticks, step), "{cpu}");
        assert!((scale.step_ns() - step_ns).abs() < 1e-9, "{cpu}: {} ns", scale.step_ns());
    }
    assert_eq!(Scale::tsc(1e9).step_ns(), 0.0);
}

/// Where there is a scale, the model's own table knows the event.
#[test]
fn every_scaled_event_exists_on_its_model() {
    let mut found = 0;
    for cpu in CpuModel::all() {
        let clocks = Clocks { base_hz: 2e9, crystal: crystal(160, 2) };
        if let Ok(scale) = Scale::of(cpu, clocks) {
            let resolved = Resolver::new(cpu).resolve(scale.event);
            assert!(resolved.is_ok(), "{cpu}: {} {:?}", scale.event, resolved.err());
            found += 1;
        }
    }
    assert!(found >= 20, "{found} models");
}

#[test]
fn models_without_a_core_wide_count_say_why() {
    for (cpu, base_hz, why) in [
        ("p4", 2.8e9, "NetBurst has no AnyThread count"),
        ("zen4", 3.0e9, "only Intel"),
        ("niagara1", 1.2e9, "only Intel"),
        ("bnl", 1.6e9, "bus clocks"),
        ("skl", 3.0e9, "CPUID leaf 15H"),
        ("icx", 2.3e9, "CPUID leaf 15H"),
        ("lnl-lioncove", 2.8e9, "one context"),
        ("jkt", 2.7, "nominal frequency"),
        ("jkt", f64::NAN, "nominal frequency"),
    ] {
        let error = of(cpu, base_hz, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable, "{cpu}");
        assert!(error.to_string().contains(why), "{cpu}: {error}");
    }
}
