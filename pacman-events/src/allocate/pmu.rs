//! The counters of a core, per context or per core, and the ones that others hold.

use crate::plural::number;
use std::fmt;

use super::EventConstraints;
use crate::CounterSet;

/// The performance monitoring unit of one core, for all its hardware contexts.
///
/// ```
/// use pacman_events::CounterSet;
/// use pacman_events::allocate::Pmu;
///
/// // Skylake with SMT on: four general and three fixed counters per context.
/// let pmu = Pmu::per_context("skl", 2, CounterSet::first(4)).with_fixed(CounterSet::first(3));
/// assert_eq!(pmu.contexts(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Pmu {
    pub(crate) name: String,
    pub(crate) contexts: u8,
    pub(crate) general: CounterSet,
    pub(crate) fixed: CounterSet,
    pub(crate) halves: Option<[CounterSet; 2]>,
    pub(crate) erratum: Option<SiblingErratum>,
    pub(crate) reservations: Vec<Reservation>,
    pub(crate) withheld: CounterSet,
    pub(crate) withheld_because: &'static str,
    /// Whether siblings were enabled at reset.
    pub(crate) smt: bool,
    pub(crate) general_smt_off: CounterSet,
}

/// An erratum that closes a counter to the siblings while some event uses it.
///
/// Sandy Bridge BJ122, Ivy Bridge BV98, Haswell HSD29: events D0 to D3 leak counts
/// into the sibling's counter of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiblingErratum {
    /// The erratum's number, for the reason of a refusal.
    pub name: &'static str,
    /// General counters that each context may use while such an event is placed anywhere on the
    /// core. The Linux workaround allows half of them, so that one sibling cannot starve the other.
    /// `None` if only the counter itself is closed.
    pub budget: Option<u8>,
}

/// A counter that is in use already and cannot be moved.
#[derive(Clone, Debug)]
pub(crate) struct Reservation {
    pub(crate) holder: String,
    pub(crate) remedy: String,
    pub(crate) context: u8,
    pub(crate) demand: EventConstraints,
}

/// The most contexts of a core on any known machine (POWER SMT8, Niagara).
pub(crate) const MAX_CONTEXTS: u8 = 8;

impl Pmu {
    /// A core whose `contexts` each have `general` counters of their own: Intel since
    /// Nehalem, AMD, POWER, Arm, Niagara.
    ///
    /// # Panics
    /// If `contexts` is 0 or more than 8.
    pub fn per_context(name: impl Into<String>, contexts: u8, general: CounterSet) -> Self {
        assert!((1..=MAX_CONTEXTS).contains(&contexts), "a core has 1 to 8 contexts");
        Pmu {
            name: name.into(),
            contexts,
            general,
            fixed: CounterSet::EMPTY,
            halves: None,
            erratum: None,
            reservations: Vec::new(),
            withheld: CounterSet::EMPTY,
            withheld_because: "",
            smt: contexts > 1,
            general_smt_off: general,
        }
    }

    /// A core whose contexts share one set of counters that divides into two halves:
    /// NetBurst.
    ///
    /// # Panics
    /// If `contexts` is 0 or more than 8.
    pub fn per_core(name: impl Into<String>, contexts: u8, halves: [CounterSet; 2]) -> Self {
        let mut pmu = Pmu::per_context(name, contexts, halves[0].or(halves[1]));
        pmu.halves = Some(halves);
        pmu
    }

    /// Plans `contexts` of them together, each with its own counters. These are the cores of a
    /// node, for the northbridge events of AMD K8 to family 14h.
    ///
    /// # Panics
    /// If `contexts` is 0 or more than 8, or the counters are shared.
    pub fn with_contexts(mut self, contexts: u8) -> Self {
        assert!((1..=MAX_CONTEXTS).contains(&contexts), "1 to 8 contexts are planned together");
        assert!(!self.shares_counters(), "the contexts of a shared core are what they are");
        self.contexts = contexts;
        self
    }

    /// Adds fixed counters to each context.
    pub fn with_fixed(mut self, fixed: CounterSet) -> Self {
        self.fixed = fixed;
        self
    }

    /// Sets the general counters that the core has with SMT off since reset: eight instead of four
    /// on twelve Intel families. Only advice uses it.
    pub fn with_smt_off(mut self, general: CounterSet) -> Self {
        self.general_smt_off = general;
        self
    }

    /// Adds the sibling erratum of Sandy Bridge, Ivy Bridge and Haswell.
    pub fn with_erratum(mut self, erratum: SiblingErratum) -> Self {
        self.erratum = Some(erratum);
        self
    }

    /// Excludes counters from every placement unless they are allowed again. A refusal that they
    /// could avoid gives the reason `because`.
    pub fn withholding(mut self, counters: CounterSet, because: &'static str) -> Self {
        self.withheld = counters;
        self.withheld_because = because;
        self
    }

    /// Lets placements use the counters that are withheld by default.
    pub fn allowing_all_counters(self) -> Self {
        self.withholding(CounterSet::EMPTY, "")
    }

    /// Reserves a counter on `context` for an event that is counted already, as by the NMI
    /// watchdog.
    ///
    /// A refusal names the holder and the way to free the counter.
    ///
    /// # Panics
    /// If the core has no such context.
    pub fn reserving(
        mut self,
        context: u8,
        held: EventConstraints,
        remedy: impl Into<String>,
    ) -> Self {
        assert!(context < self.contexts, "context {context} is not on this core");
        let holder = held.name().to_owned();
        self.reservations.push(Reservation {
            holder,
            remedy: remedy.into(),
            context,
            demand: held,
        });
        self
    }

    /// The name of the table or machine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hardware contexts of the core, numbered from 0.
    pub fn contexts(&self) -> u8 {
        self.contexts
    }

    /// General counters without the withheld ones: of each context, or of the whole core if they
    /// are shared.
    pub fn general(&self) -> CounterSet {
        self.general.minus(self.withheld)
    }

    /// Fixed counters of each context.
    pub fn fixed(&self) -> CounterSet {
        self.fixed
    }

    /// Whether all contexts count on one shared set of counters.
    pub fn shares_counters(&self) -> bool {
        self.halves.is_some()
    }

    /// The counters of each half, if the counters divide into halves.
    pub fn halves(&self) -> Option<[CounterSet; 2]> {
        self.halves
    }
}

/// The name, the counters and the contexts, in one line.
impl fmt::Display for Pmu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.shares_counters() { "core" } else { "context" };
        write!(f, "{}: counters {} per {whose}", self.name, self.general())?;
        if !self.fixed.is_empty() {
            write!(f, ", fixed {}", self.fixed)?;
        }
        write!(f, ", {}", number(self.contexts, "context"))
    }
}
