//! Simulated phases, whose time at every configuration is known, to evaluate adaptation.
//!
//! A [`SimPhase`] is a law for the time of one execution, by the number of cores and of contexts
//! per core. Its parameters are random ([`Kind::draw`]). Its terms have published forms:
//!
//! | term | form | source |
//! |---|---|---|
//! | serial part | a part of the work that one thread does | Amdahl, AFIPS 1967 |
//! | contention, coherency | σ and κ(k − 1) | Gunther's Universal Scalability Law, 2007 |
//! | issue slots | a core does at most what its width allows, one context u of it | Tullsen et al., ISCA 1995 |
//! | a core's cache | the cost of work grows with the data beyond the cache's size | Agarwal, TPDS 1992, in outline |
//! | bandwidth | throughput saturates at a ceiling | Williams et al., roofline, CACM 2009 |
//! | NUMA nodes | a node has its share of the bandwidth; sharing between nodes costs more | Molka et al., ICPP 2015, in outline |
//! | barrier | a tree: log2 k steps | Mellor-Crummey and Scott, TOCS 1991 |
//!
//! The ranges of the parameters are not measured. They are wide enough that the best configuration
//! may be anywhere from one thread to all contexts.

mod counts;
mod draw;
mod noise;
mod phase;

pub use draw::{Kind, Random};
pub use noise::Noise;
pub use phase::{SimPhase, SmtMachine};

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
        // One of two nodes has half of the bandwidth, and no thread at a distance.
        let nodes = SimPhase { nodes: 2, ..bound };
        assert_eq!(
            seconds(nodes, "64x1/1"),
            seconds(SimPhase { bandwidth: 2.0, ..parallel }, "64")
        );
        assert_eq!(seconds(nodes, "64x1/2"), seconds(bound, "64"));
        let far = SimPhase { nodes: 2, remote: 3.0, ..barrier };
        assert!((seconds(far, "8x1/2") - (0.125 + 0.09)).abs() < 1e-12);
        assert_eq!(seconds(far, "8x1/1"), seconds(barrier, "8"));
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
