//! The law for the time of one execution.

use crate::predict::Configuration;

/// Cores and contexts of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmtMachine {
    /// Cores.
    pub cores: u32,
    /// Contexts of each.
    pub contexts: u32,
    /// NUMA nodes, with as many cores on each.
    pub nodes: u32,
}

impl SmtMachine {
    /// A machine with `cores` cores of `contexts` contexts each.
    pub fn new(cores: u32, contexts: u32) -> SmtMachine {
        SmtMachine { cores, contexts, nodes: 1 }
    }

    /// The same machine with its cores on `nodes` NUMA nodes, which must divide their number.
    pub fn with_nodes(self, nodes: u32) -> SmtMachine {
        SmtMachine { nodes, ..self }
    }

    /// A line for [`Topology::synthetic`](pacman_topology::Topology::synthetic).
    pub fn as_text(&self) -> String {
        let cores = self.cores / self.nodes;
        match self.nodes {
            1 => format!("{cores} cores, {} threads", self.contexts),
            nodes => format!("{nodes} nodes, {cores} cores, {} threads", self.contexts),
        }
    }

    /// Every core count with every number of contexts, on every number of nodes that can share them evenly.
    pub fn configurations(&self) -> impl Iterator<Item = Configuration> + use<> {
        let SmtMachine { cores, contexts, nodes } = *self;
        let rows =
            (1..=contexts).flat_map(move |per_core| (1..=cores).map(move |on| (on, per_core)));
        let all = rows.filter_map(|(on, per_core)| Configuration::on_cores(on, per_core).ok());
        all.flat_map(move |on| {
            let of = on.cores().unwrap_or(1);
            let holds = move |among: &u32| of % among == 0 && of / among <= cores / nodes;
            let has_choice = nodes > 1 && 1 < of && of < cores;
            let among = (1..=nodes).filter(move |among| has_choice && holds(among));
            let placed = among.filter_map(move |among| on.on_nodes(among).ok());
            let is_placed = has_choice && (1..=nodes).any(|among| holds(&among));
            placed.chain((!is_placed).then_some(on))
        })
    }
}

/// The law of one phase: seconds by configuration.
///
/// ```
/// use pacman_adapt::phases::SimPhase;
/// // A quarter serial, the rest perfectly parallel.
/// let phase = SimPhase { serial: 0.25, ..SimPhase::parallel() };
/// assert_eq!(phase.seconds("1x1".parse()?), 1.0);
/// assert_eq!(phase.seconds("3x1".parse()?), 0.5);
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimPhase {
    /// Seconds on one thread.
    pub single: f64,
    /// The serial part.
    pub serial: f64,
    /// σ: the part that threads do one after the other once there are several.
    pub contention: f64,
    /// κ: the cost of each further thread to all, as a part of the time on one thread.
    pub coherency: f64,
    /// The cost of a barrier for each doubling of threads, as a part of the time on one thread.
    pub barrier: f64,
    /// The part of a core's issue slots that one context can use.
    pub issue: f64,
    /// Each thread's data, as a part of its core's cache.
    pub data: f64,
    /// The increase of the work's cost for each cacheful of data that does not fit.
    pub miss: f64,
    /// The throughput that the memory supports, in multiples of one thread's.
    pub bandwidth: f64,
    /// NUMA nodes that have this bandwidth together.
    pub nodes: u32,
    /// The factor on contention, coherency and barriers once threads are on several nodes.
    pub remote: f64,
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
            nodes: 1,
            remote: 1.0,
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

    /// The parallel part, the serial part and the cost of sharing.
    pub(super) fn parts(&self, on: Configuration) -> (f64, f64, f64) {
        let contexts = f64::from(on.per_core().unwrap_or(1));
        let threads = f64::from(on.threads());
        let compute = threads / contexts * self.core(contexts) / self.core(1.0);
        // Smooth where both limits are near: queueing begins before the ceiling is reached.
        let work = (compute.powi(-4) + self.bandwidth_on(on).powi(-4)).powf(0.25);
        let parallel = 1.0 - self.serial;
        let waiting = parallel * self.contention * (1.0 - 1.0 / threads);
        let sharing = self.coherency * (threads - 1.0) + self.barrier * threads.log2();
        let remote = self.remote_on(on);
        (parallel * work, waiting * remote, sharing * remote)
    }

    /// The NUMA nodes with threads of `on`.
    fn nodes_on(&self, on: Configuration) -> u32 {
        let cores = on.cores().unwrap_or(on.threads());
        on.nodes().unwrap_or(self.nodes).min(cores)
    }

    /// The bandwidth of the nodes with threads. The threads of a node reach all memory, and not more of it
    /// at a time than one node has.
    pub(super) fn bandwidth_on(&self, on: Configuration) -> f64 {
        self.bandwidth * f64::from(self.nodes_on(on)) / f64::from(self.nodes)
    }

    /// The factor on the costs of sharing.
    pub(super) fn remote_on(&self, on: Configuration) -> f64 {
        if self.nodes_on(on) > 1 { self.remote } else { 1.0 }
    }

    /// The throughput of a core with `contexts` active contexts, in arbitrary units.
    fn core(&self, contexts: f64) -> f64 {
        let issued = if self.issue > 0.0 { contexts.min(1.0 / self.issue) } else { contexts };
        issued / self.misses(contexts)
    }

    /// The factor by which cache misses slow work down with `contexts` active contexts of a core.
    pub(super) fn misses(&self, contexts: f64) -> f64 {
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
