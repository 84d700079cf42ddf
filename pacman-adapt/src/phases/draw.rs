//! Random phases.

use super::phase::{SimPhase, SmtMachine};

/// Reproducible pseudo-random numbers: one seed gives the same numbers everywhere.
///
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number, from 0 to 1 without 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between two others, uniformly distributed.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A number between two positive ones, with a uniformly distributed logarithm.
    pub fn factor(&mut self, low: f64, high: f64) -> f64 {
        (self.between(low.ln(), high.ln())).exp()
    }
}

/// The limit of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One of the other kinds, with equal probability.
    Any,
    /// Arithmetic: more contexts help, to a varying degree.
    Compute,
    /// The core's cache: contexts evict each other's data.
    Cache,
    /// Memory: the bandwidth is reached before the last core.
    Memory,
    /// A lock or a shared line.
    Lock,
    /// Short, with barriers.
    Barrier,
    /// A large serial part.
    Serial,
}

impl Kind {
    /// All kinds that [`Any`](Kind::Any) draws from.
    pub const ALL: [Kind; 6] =
        [Kind::Compute, Kind::Cache, Kind::Memory, Kind::Lock, Kind::Barrier, Kind::Serial];

    /// A phase of this kind for a machine of that size.
    ///
    /// The costs of a further thread depend on the machine's size: a cost that slows 128 threads
    /// would not be visible on 4.
    pub fn draw(self, random: &mut Random, machine: SmtMachine) -> SimPhase {
        let kind = match self {
            Kind::Any => Kind::ALL[(random.unit() * Kind::ALL.len() as f64) as usize],
            kind => kind,
        };
        let cores = f64::from(machine.cores);
        let threads = cores * f64::from(machine.contexts);
        let mut phase = SimPhase {
            single: random.factor(0.01, 10.0),
            serial: random.factor(1e-4, 0.02),
            contention: random.factor(1e-4, 0.01),
            coherency: random.factor(0.001, 0.1) / (threads * threads),
            barrier: random.factor(1e-4, 0.01) / threads,
            issue: random.between(0.3, 0.9),
            data: random.between(0.0, 0.5),
            miss: random.between(0.0, 0.5),
            bandwidth: cores * random.factor(2.0, 8.0),
            nodes: machine.nodes,
            remote: 1.0,
        };
        match kind {
            Kind::Any | Kind::Compute => {}
            Kind::Cache => {
                phase.data = random.between(0.4, 1.2);
                phase.miss = random.between(0.5, 3.0);
            }
            Kind::Memory => {
                phase.bandwidth = cores * random.factor(0.15, 1.0);
                phase.coherency = random.factor(0.05, 0.5) / (threads * threads);
            }
            Kind::Lock => {
                phase.contention = random.factor(0.01, 0.3);
                phase.coherency = random.factor(0.3, 10.0) / (threads * threads);
            }
            Kind::Barrier => phase.barrier = random.factor(0.02, 1.0) / threads,
            Kind::Serial => phase.serial = random.between(0.05, 0.6),
        }
        if machine.nodes > 1 {
            phase.remote = random.factor(1.0, 4.0);
        }
        phase
    }
}
