//! The events to count on the contexts of a core, and the meaning of their counts.

use pacman_events::{AnyThread, CpuModel, resolve};

use super::counters::{ContextReading, CoreReading, any_thread, distributed, one_thread_active};
use super::scale::{Clocks, Scale, XCLK};
use super::split::{Method, Split};
use crate::error::{Error, Result, not_computable};

/// One way to split the activity of a core by its counters.
///
/// Everything is counted in both rings and on whole contexts, whoever runs there; that takes
/// CAP_PERFMON or a `perf_event_paranoid` of 0 or less.
///
/// ```
/// use pacman_metrics::smt::{Clocks, ContextReading, Recipe};
/// use pacman_events::CpuModel;
///
/// // A Xeon E5-2680 at 2.7 GHz.
/// let clocks = Clocks { base_hz: 2.7e9, crystal: None };
/// let recipe = &Recipe::all(CpuModel::named("jkt").unwrap(), clocks)?[0];
/// assert_eq!(recipe.events(0), "REF_CYCLES:uk,CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY:uk");
/// assert_eq!(recipe.events(1), "REF_CYCLES:uk");
/// // One second: the siblings ran half of it each, together.
/// let half =
///     ContextReading { begin: 0, end: 2_700_000_000, slack: 0, reference: 1_350_000_000 };
/// let split = recipe.split(&[half, half], &[50_000_000])?;
/// assert_eq!((split.idle, split.shared), (1.35e9, 1.35e9));
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    method: Method,
    scale: Scale,
    first: Counted,
    others: Counted,
}

/// The events of one context.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    /// Its own reference cycles.
    own: &'static str,
    /// Ticks of the TSC for one count of those.
    own_ticks: f64,
    /// The event that tells of the core.
    core: Option<String>,
}

impl Recipe {
    /// The ways that a model has, the one to prefer first: AnyThread or shared-out counts, then
    /// counts of one active context, which some hypervisors leave where they hide AnyThread.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) as for [`Scale::of`].
    pub fn all(cpu: CpuModel, clocks: Clocks) -> Result<Vec<Recipe>> {
        let scale = Scale::of(cpu, clocks)?;
        let counts = |core: Option<String>| Counted { own: OWN, own_ticks: 1.0, core };
        let event = format!("{}:uk", scale.event);
        let preferred = match cpu.facts().any_thread {
            AnyThread::No => Recipe {
                method: Method::Distributed,
                scale,
                first: counts(Some(event.clone())),
                others: counts(Some(event)),
            },
            // One counter alone has the bit, and the context's own cycles are not left without
            // one: a general counter has them in ticks of the bus.
            AnyThread::Fixed => Recipe {
                method: Method::AnyThread,
                scale,
                first: Counted {
                    own: "CPU_CLK_UNHALTED.REF:uk",
                    own_ticks: clocks.ticks_per(XCLK),
                    core: Some(event + ":any"),
                },
                others: counts(None),
            },
            AnyThread::Yes => {
                let any = if scale.event.ends_with("_ANY") { "" } else { ":any" };
                Recipe {
                    method: Method::AnyThread,
                    scale,
                    first: counts(Some(event + any)),
                    others: counts(None),
                }
            }
        };
        let mut recipes = vec![preferred];
        if cpu.facts().smt_ways == 2 && resolve(cpu, ALONE).is_ok() {
            let alone = counts(Some(format!("{ALONE}:uk")));
            recipes.push(Recipe {
                method: Method::OneThreadActive,
                scale: Scale { event: ALONE, ..scale },
                first: alone.clone(),
                others: alone,
            });
        }
        Ok(recipes)
    }

    /// How the counts are made a split.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The meaning of the counts.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The events of a core's context, by its place among the siblings: its own reference
    /// cycles, then, where [`tells_of_core`](Recipe::tells_of_core) is so, what tells of all.
    pub fn events(&self, context: usize) -> String {
        let Counted { own, core, .. } = self.of(context);
        core.as_ref().map_or_else(|| own.to_string(), |core| format!("{own},{core}"))
    }

    /// Whether a context has a second event.
    pub fn tells_of_core(&self, context: usize) -> bool {
        self.of(context).core.is_some()
    }

    /// Ticks of the TSC for one count of a context's first event.
    pub fn own_ticks(&self, context: usize) -> f64 {
        self.of(context).own_ticks
    }

    /// The split, from what the contexts counted: `reference` is the count of the first event,
    /// as it was read, and `core` has the counts of the second, of the contexts that have it.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](crate::ErrorKind::NotComputable) as for [`any_thread`] and
    /// its siblings, and if there are more or fewer counts in `core`.
    pub fn split(&self, contexts: &[ContextReading], core: &[u64]) -> Result<Split> {
        let mut contexts = contexts.to_vec();
        for (place, context) in contexts.iter_mut().enumerate() {
            // Saturates, where a count that wrapped is refused as one.
            context.reference = (context.reference as f64 * self.own_ticks(place)) as u64;
        }
        let reading = CoreReading { contexts: &contexts, scale: self.scale };
        match (self.method, core) {
            (Method::AnyThread, [any]) => any_thread(&reading, *any),
            (Method::OneThreadActive, [one, other]) => one_thread_active(&reading, [*one, *other]),
            (Method::Distributed, counts) => distributed(&reading, counts),
            _ => Err(miscounted(self.method, contexts.len(), core.len())),
        }
    }

    fn of(&self, context: usize) -> &Counted {
        if context == 0 { &self.first } else { &self.others }
    }
}

#[cold]
fn miscounted(method: Method, contexts: usize, counts: usize) -> Error {
    not_computable(
        "the activity of the core's contexts",
        format_args!("{counts} counts do not make {method} of {contexts} contexts"),
    )
}

/// A context's own reference cycles, at the rate of the TSC.
const OWN: &str = "REF_CYCLES:uk";

const ALONE: &str = "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE";
