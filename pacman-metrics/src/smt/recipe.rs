//! The events to count on the contexts of a core, and the meaning of their counts.

use pacman_events::{AnyThread, CpuModel, resolve};

use super::counters::{ContextReading, CoreReading, any_thread, distributed, one_thread_active};
use super::scale::{Clocks, Scale, XCLK};
use super::split::{Method, Split};
use crate::not_computable::not_computable;
use pacman_events::{Error, Result};

/// One way to split the activity of a core by its counters.
///
/// All events are counted in both rings and on whole contexts, for every program there. That
/// requires CAP_PERFMON or a `perf_event_paranoid` of 0 or less.
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
    /// The event of the context's own reference cycles.
    own: &'static str,
    /// Ticks of the TSC for one count of `own`.
    own_ticks: f64,
    /// The event that counts for the whole core.
    core: Option<String>,
}

impl Recipe {
    /// The recipes of a model, the best first.
    ///
    /// AnyThread or `REF_DISTRIBUTED` comes first. Then come counts of one active context, which
    /// some hypervisors pass on although they hide AnyThread.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) as for [`Scale::of`].
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
            // Only the fixed counter has the AnyThread bit. So a general counter counts the
            // context's own cycles, in ticks of the bus.
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

    /// The method that computes the split.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The scale of the counts for the whole core.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The events to count on a context, separated by commas.
    ///
    /// `context` is the context's position on its core, from 0. The first event counts its own
    /// reference cycles. If [`tells_of_core`](Recipe::tells_of_core), a second counts for the core.
    pub fn events(&self, context: usize) -> String {
        let Counted { own, core, .. } = self.of(context);
        core.as_ref().map_or_else(|| own.to_string(), |core| format!("{own},{core}"))
    }

    /// Whether a context has a second event, which counts for the whole core.
    pub fn tells_of_core(&self, context: usize) -> bool {
        self.of(context).core.is_some()
    }

    /// Ticks of the TSC for one count of a context's first event.
    pub fn own_ticks(&self, context: usize) -> f64 {
        self.of(context).own_ticks
    }

    /// Computes the split from the counts of all contexts.
    ///
    /// The `reference` of each reading is the raw count of the context's first event. `core` has
    /// the counts of the second event, in order of the contexts that have one.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) as for [`any_thread`],
    /// [`one_thread_active`] and [`distributed`], and if `core` has another number of counts.
    pub fn split(&self, contexts: &[ContextReading], core: &[u64]) -> Result<Split> {
        let mut contexts = contexts.to_vec();
        for (place, context) in contexts.iter_mut().enumerate() {
            // A wrapped count saturates here, and the method refuses it.
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
