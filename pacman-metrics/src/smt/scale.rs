//! The ticks of the TSC per count, and the step of the fixed counter.

use pacman_events::{AnyThread, CpuModel, Family};

use crate::not_computable::not_computable;
use pacman_events::Result;

/// The clocks of one processor, from its name and CPUID.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocks {
    /// The nominal frequency in Hz; the TSC runs at it.
    pub base_hz: f64,
    /// The crystal, if CPUID reports its ratio to the TSC.
    pub crystal: Option<Crystal>,
}

impl Clocks {
    /// Whole ticks of the TSC per tick of a bus clock.
    pub(super) fn ticks_per(self, bus_hz: f64) -> f64 {
        (self.base_hz / bus_hz).round()
    }
}

/// CPUID leaf 15H: the TSC runs at `numerator / denominator` times the crystal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crystal {
    /// EBX.
    pub numerator: u32,
    /// EAX.
    pub denominator: u32,
}

/// The ratio of a generation's reference counts and the TSC.
///
/// ```
/// use pacman_metrics::smt::{Clocks, Scale};
/// use pacman_events::CpuModel;
///
/// // Xeon Platinum 8160, 2.1 GHz: the counter goes up by 84 every 40 ns.
/// let skylake = CpuModel::named("skx").unwrap();
/// let scale = Scale::of(skylake, Clocks { base_hz: 2.1e9, crystal: None })?;
/// assert_eq!((scale.ticks, scale.step, scale.step_ns()), (84.0, 84.0, 40.0));
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scale {
    /// Ticks of the TSC for one count of the core-wide event.
    pub ticks: f64,
    /// Ticks of the TSC by which the fixed counter of reference cycles grows in one step.
    pub step: f64,
    /// The frequency of the TSC in Hz.
    pub base_hz: f64,
    /// The event that counts this, by its name in the vendor's tables.
    pub event: &'static str,
}

impl Scale {
    /// The scale of a generation.
    ///
    /// Nehalem and Westmere count `REF_P` at the rate of the TSC, according to the article and the
    /// manual. The vendor's event file says 133 MHz instead. With a wrong scale the core seems less
    /// active than its contexts, and the split is refused.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) on models without such a count
    /// for the core, and if CPUID should report the crystal but does not.
    pub fn of(cpu: CpuModel, clocks: Clocks) -> Result<Scale> {
        let refuse = |because: &str| {
            let what = format!("the core-wide activity of {}", cpu.title());
            Err(not_computable(&what, because))
        };
        if !(clocks.base_hz.is_finite() && clocks.base_hz >= SLOWEST_BASE) {
            return refuse("its nominal frequency is not known");
        }
        let facts = cpu.facts();
        if facts.family == Family::NetBurst {
            return refuse(
                "NetBurst has no AnyThread count; its clockticks have metrics of their own",
            );
        }
        if facts.family != Family::Intel {
            return refuse("only Intel counts reference cycles for a core as a whole");
        }
        if facts.smt_ways < 2 {
            return refuse("its cores have one context, whose own reference cycles say it all");
        }
        let ratio = |bus: f64| clocks.ticks_per(bus);
        let crystal =
            clocks.crystal.filter(|crystal| crystal.numerator > 0 && crystal.denominator > 0);
        let crystal = crystal.map(|it| f64::from(it.numerator) / f64::from(it.denominator));
        let (ticks, step, event) = match (cpu.name(), facts.any_thread) {
            ("bnl", _) => return refuse("its event counts bus clocks, whose rate is the board's"),
            (name, AnyThread::Yes) if name.starts_with("nhm") || name.starts_with("wsm") => {
                (1.0, ratio(NEHALEM_BUS), "CPU_CLK_UNHALTED.REF_P")
            }
            ("skx" | "clx", AnyThread::Yes) => {
                let ticks = crystal.unwrap_or(4.0 * ratio(XCLK));
                (ticks, ticks, "CPU_CLK_UNHALTED.REF_XCLK_ANY")
            }
            ("skl", AnyThread::Yes) => match crystal {
                Some(ticks) => (ticks, ticks, "CPU_CLK_UNHALTED.REF_XCLK_ANY"),
                None => return refuse(NO_CRYSTAL),
            },
            (_, AnyThread::Yes) => {
                (ratio(XCLK), ratio(XCLK), "CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY")
            }
            // The fixed counter with the AnyThread bit, at the rate of the TSC. No document has its
            // step; this assumes the step of other cores of that time.
            (_, AnyThread::Fixed) => (1.0, ratio(XCLK), "CPU_CLK_UNHALTED.REF_TSC"),
            (_, AnyThread::No) => match crystal {
                Some(ticks) => (ticks, ticks, "CPU_CLK_UNHALTED.REF_DISTRIBUTED"),
                None => return refuse(NO_CRYSTAL),
            },
        };
        Ok(Scale { ticks, step, base_hz: clocks.base_hz, event })
    }

    /// A scale for counts that are ticks of the TSC already, without steps.
    pub fn tsc(base_hz: f64) -> Scale {
        Scale { ticks: 1.0, step: 0.0, base_hz, event: "TSC" }
    }

    /// The time between two steps of the fixed counter, in nanoseconds.
    pub fn step_ns(&self) -> f64 {
        self.step / self.base_hz * 1e9
    }
}

const NO_CRYSTAL: &str = "it counts ticks of the crystal, and CPUID leaf 15H tells no ratio to it";

/// No processor with these counters is slower. Refuses values in MHz or GHz.
const SLOWEST_BASE: f64 = 1e8;

/// The clock that defines frequencies from Sandy Bridge on.
pub(super) const XCLK: f64 = 1e8;

/// The same clock before Sandy Bridge.
const NEHALEM_BUS: f64 = 1e9 / 7.5;
