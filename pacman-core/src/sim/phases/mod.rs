//! Phases whose time at every configuration is known: what adaptation is measured on.
//!
//! A [`SimPhase`] is a law for the time of one execution on so many cores with so many contexts
//! each; its parameters are drawn at random ([`Kind::draw`]). Its terms have published forms:
//!
//! | term | form | source |
//! |---|---|---|
//! | serial part | a part of the work that one thread does | Amdahl, AFIPS 1967 |
//! | contention, coherency | σ and κ(k − 1) | Gunther's Universal Scalability Law, 2007 |
//! | issue slots | a core does at most what its width allows, one context u of it | Tullsen et al., ISCA 1995 |
//! | a core's cache | work is dearer by what all contexts' data exceed it | Agarwal, TPDS 1992, in outline |
//! | bandwidth | throughput saturates at a ceiling | Williams et al., roofline, CACM 2009 |
//! | barrier | a tree: log2 k steps | Mellor-Crummey and Scott, TOCS 1991 |
//!
//! The parameters are nobody's measurement: they are ranges wide enough that the best
//! configuration may be anywhere from one thread to all contexts.

mod counts;
mod draw;
mod noise;

pub use draw::{Kind, Random};
pub use noise::Noise;

use crate::predict::Configuration;

/// Cores and contexts of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmtMachine {
    /// Cores.
    pub cores: u32,
    /// Contexts of each.
    pub contexts: u32,
}

impl SmtMachine {
    /// So many cores with so many contexts each.
    pub fn new(cores: u32, contexts: u32) -> SmtMachine {
        SmtMachine { cores, contexts }
    }

    /// A line for [`Topology::synthetic`](crate::Topology::synthetic).
    pub fn as_text(&self) -> String {
        format!("{} cores, {} threads", self.cores, self.contexts)
    }

    /// Every core count with every number of contexts.
    pub fn configurations(&self) -> impl Iterator<Item = Configuration> + use<> {
        let SmtMachine { cores, contexts } = *self;
        let rows =
            (1..=contexts).flat_map(move |per_core| (1..=cores).map(move |on| (on, per_core)));
        rows.filter_map(|(on, per_core)| Configuration::on_cores(on, per_core).ok())
    }
}

/// The law of one phase: seconds by configuration.
///
/// ```
/// use pacman_core::sim::phases::SimPhase;
/// // A quarter serial, the rest perfectly parallel.
/// let phase = SimPhase { serial: 0.25, ..SimPhase::parallel() };
/// assert_eq!(phase.seconds("1x1".parse()?), 1.0);
/// assert_eq!(phase.seconds("3x1".parse()?), 0.5);
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimPhase {
    /// Seconds on one thread.
    pub single: f64,
    /// The serial part.
    pub serial: f64,
    /// σ: the part that threads do one after the other once there are several.
    pub contention: f64,
    /// κ: what each further thread costs all, as a part of the time on one thread.
    pub coherency: f64,
    /// What a barrier costs for each doubling of threads, as a part of the time on one thread.
    pub barrier: f64,
    /// The part of a core's issue slots that one context can use.
    pub issue: f64,
    /// Each thread's data, as a part of its core's cache.
    pub data: f64,
    /// How much dearer work becomes for each cacheful that does not fit.
    pub miss: f64,
    /// How many times one thread's throughput the memory carries.
    pub bandwidth: f64,
}

impl SimPhase {
    /// A phase of one second that has none of all this: every context is worth a core.
    pub fn parallel() -> SimPhase {
        SimPhase {
            single: 1.0,
            serial: 0.0,
            contention: 0.0,
            coherency: 0.0,
            barrier: 0.0,
            issue: 0.0,
            data: 0.0,
            miss: 0.0,
            bandwidth: f64::INFINITY,
        }
    }

    /// Seconds of one execution, without noise; threads without cores have one each.
    pub fn seconds(&self, on: Configuration) -> f64 {
        let (work, waiting, sharing) = self.parts(on);
        self.single * (self.serial + work + waiting + sharing)
    }

    /// CPU seconds of all threads, which sleep while they wait for one that is alone at work.
    pub fn busy(&self, on: Configuration) -> f64 {
        let (work, waiting, sharing) = self.parts(on);
        let threads = f64::from(on.threads());
        self.single * (self.serial + threads * (work + sharing) + waiting)
    }

    /// What all threads do at a time, what they do one after the other, and what sharing costs.
    fn parts(&self, on: Configuration) -> (f64, f64, f64) {
        let contexts = f64::from(on.per_core().unwrap_or(1));
        let threads = f64::from(on.threads());
        let compute = threads / contexts * self.core(contexts) / self.core(1.0);
        // Smooth where both limits are near: queueing begins before the ceiling is reached.
        let work = (compute.powi(-4) + self.bandwidth.powi(-4)).powf(0.25);
        let parallel = 1.0 - self.serial;
        let waiting = parallel * self.contention * (1.0 - 1.0 / threads);
        let sharing = self.coherency * (threads - 1.0) + self.barrier * threads.log2();
        (parallel * work, waiting, sharing)
    }

    /// What a core with so many contexts at work does, in arbitrary units.
    fn core(&self, contexts: f64) -> f64 {
        let issued = if self.issue > 0.0 { contexts.min(1.0 / self.issue) } else { contexts };
        issued / self.misses(contexts)
    }

    /// How much dearer its misses make work with so many contexts of a core.
    fn misses(&self, contexts: f64) -> f64 {
        1.0 + self.miss * (contexts * self.data - 1.0).max(0.0)
    }

    /// The quickest of some configurations, and its seconds.
    pub fn best(
        &self,
        among: impl IntoIterator<Item = Configuration>,
    ) -> Option<(Configuration, f64)> {
        let timed = among.into_iter().map(|on| (on, self.seconds(on)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(phase: SimPhase, on: &str) -> f64 {
        phase.seconds(on.parse().unwrap())
    }

    #[test]
    fn each_term_has_its_published_form() {
        let parallel = SimPhase::parallel();
        // Amdahl: 5 % serial on 20 threads.
        let amdahl = seconds(SimPhase { serial: 0.05, ..parallel }, "20");
        assert!((1.0 / amdahl - 20.0 / (1.0 + 0.05 * 19.0)).abs() < 1e-12);
        // The Universal Scalability Law: C(N) = N / (1 + σ(N − 1) + κN(N − 1)).
        let usl = SimPhase { contention: 0.03, coherency: 0.0005, ..parallel };
        let law = 1.0 + 0.03 * 31.0 + 0.0005 * 32.0 * 31.0;
        assert!((1.0 / seconds(usl, "32") - 32.0 / law).abs() < 1e-12);
        // A context that uses 80 % of a core's slots leaves the second a quarter of itself.
        let issue = SimPhase { issue: 0.8, ..parallel };
        assert!((seconds(issue, "4x1") / seconds(issue, "4x2") - 1.25).abs() < 1e-12);
        // Roofline: far above the ceiling nothing helps.
        let bound = SimPhase { bandwidth: 4.0, ..parallel };
        assert!((seconds(bound, "64") - 0.25).abs() < 1e-4);
        let barrier = SimPhase { barrier: 0.01, ..parallel };
        assert!((seconds(barrier, "8") - (0.125 + 0.03)).abs() < 1e-12);
        // Two contexts with half a cache too much between them.
        let thrash = SimPhase { data: 0.75, miss: 2.0, ..parallel };
        assert!((seconds(thrash, "1x2") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn fewer_threads_never_take_more_than_their_share() {
        let mut random = Random::new(7);
        let machine = SmtMachine::new(16, 8);
        for _ in 0..300 {
            let phase = Kind::Any.draw(&mut random, machine);
            let all = phase.seconds("16x8".parse().unwrap());
            for on in machine.configurations() {
                let share = 128.0 / f64::from(on.threads());
                assert!(phase.seconds(on) <= all * share * (1.0 + 1e-9), "{phase:?} on {on}");
            }
        }
    }
}
