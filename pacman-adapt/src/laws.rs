//! Laws of parallel programs, and how well each explains measured costs.
//!
//! By a law a part of the default's cost is serial, a part is divided among the threads, and a part grows
//! with their number. `k` threads on a core do `k^a` times the work of one. The prior is a grid of such
//! laws. The measured costs give the laws weights, with heavy tails, because no program
//! follows a law exactly.
//!
//! A decision evaluates all laws for many configurations while the program waits. So the numbers of laws are in
//! blocks that compilers turn into vector instructions, and blocks without weight are left out.

use std::array::from_fn;

/// The exponent `a` of the work of a core: from contexts as good as cores to contexts that evict each
/// other's data.
const CORE: [f64; 8] = [1.0, 0.6, 0.3, 0.0, -0.4, -0.8, -1.3, -2.0];
/// The exponent of the number of threads with which a part of the cost grows: barriers, locks, shared data.
const GROWTH: [f64; 3] = [0.5, 1.0, 2.0];
/// The steps of each part between none and all.
const STEPS: usize = 4;
/// The laws of a block: with fewer, LLVM 22 mixes vector instructions with branches, which takes twice as long.
const LANES: usize = 16;
/// The blocks of all laws: 189 laws of the grid of 360 differ.
const BLOCKS: usize = 12;
/// The error of a law, as a part of the cost: half of the distance between two of the grid.
const ERROR: f64 = 0.03;
/// The degrees of freedom of the errors' t distribution: the fewer, the heavier its tails.
const FREEDOM: f64 = 5.0;
/// The error where the threads of the default take turns: no law says how much that costs, and each law is
/// as likely.
const TURNS: f64 = 0.3;
/// The weight below which a law counts for nothing. Single precision hides less than all of these laws together.
const NEGLIGIBLE: f64 = 1e-10;

/// A number for each law of a block.
pub(super) type Block<T> = [T; LANES];

/// A law: its parts of the default's cost, and which exponents they have.
#[derive(Clone, Copy, Debug)]
struct Law {
    grows: f64,
    serial: f64,
    divided: f64,
    growth: usize,
    core: usize,
    /// The laws of the grid that are the same as this one.
    count: usize,
}

/// The laws for a set of candidates, with their prior weights.
#[derive(Debug)]
pub(super) struct LawGrid {
    laws: Vec<Law>,
    prior: Vec<Block<f64>>,
    oversubscribed: bool,
}

impl LawGrid {
    /// The laws for candidates that differ in their contexts of a core, or do not.
    pub(super) fn new(contexts_differ: bool, oversubscribed: bool) -> LawGrid {
        let cores = if contexts_differ { CORE.len() } else { 1 };
        let part = |steps: usize| steps as f64 / STEPS as f64;
        let mut laws = Vec::new();
        for grows in 0..=STEPS {
            for serial in 0..=STEPS - grows {
                let divided = STEPS - grows - serial;
                // Exponents of a part that is not there make no difference.
                let growths = if grows > 0 { GROWTH.len() } else { 1 };
                let cores_here = if divided > 0 { cores } else { 1 };
                let count = GROWTH.len() / growths * cores / cores_here;
                let [grows, serial, divided] = [grows, serial, divided].map(part);
                for growth in 0..growths {
                    for core in 0..cores_here {
                        laws.push(Law { grows, serial, divided, growth, core, count });
                    }
                }
            }
        }
        // Work that a program divides among threads is most often the larger part.
        let prior = |law: &Law| if oversubscribed { 1.0 } else { (0.25 + law.divided).powf(1.5) };
        let prior = blocks(laws.iter().map(|law| law.count as f64 * prior(law)), 0.0);
        LawGrid { laws, prior, oversubscribed }
    }

    /// The cost over the default's by each law, for a candidate with these multiples of the default's threads
    /// and of its contexts on each core. `share` replaces laws of cores if either has no number of contexts.
    /// Vector instructions take twice as many numbers of single precision.
    pub(super) fn ratios(
        &self,
        threads: f64,
        contexts: f64,
        share: Option<f64>,
    ) -> Vec<Block<f32>> {
        let growing = GROWTH.map(|growth| threads.powf(growth));
        let divided = CORE.map(|a| share.unwrap_or(contexts / threads * contexts.powf(-a)));
        let ratio = |law: &Law| {
            let grows = law.grows * growing[law.growth];
            (law.serial + grows + law.divided * divided[law.core]) as f32
        };
        blocks(self.laws.iter().map(ratio), 1.0)
    }

    /// The posterior of the laws, from the logarithms of the laws' ratios and of the measured one for each
    /// configuration. Executions vary by `noise`.
    pub(super) fn posterior<'a>(
        &self,
        noise: f64,
        measured: impl Iterator<Item = (&'a [Block<f32>], f64)>,
    ) -> LawWeights {
        let error = if self.oversubscribed { TURNS } else { ERROR.hypot(noise) };
        let scale = 1.0 / (error * FREEDOM.sqrt());
        let mut squares = [[1.0f64; LANES]; BLOCKS];
        for (laws, log) in measured {
            for (squares, laws) in squares.iter_mut().zip(laws) {
                for (square, &law) in squares.iter_mut().zip(laws) {
                    let off = (f64::from(law) - log) * scale;
                    *square *= 1.0 + off * off;
                }
            }
        }
        let mut sum = [0.0; LANES];
        for (squares, prior) in squares.iter_mut().zip(&self.prior) {
            for number in 0..LANES {
                // The power is that of the t distribution's density: -(FREEDOM + 1) / 2.
                squares[number] = prior[number] / squares[number].powi(3);
                sum[number] += squares[number];
            }
        }
        let scale = 1.0 / sum.iter().sum::<f64>();
        let mut posterior =
            LawWeights { weights: [[0.0; LANES]; BLOCKS], places: [0; BLOCKS], count: 0 };
        for (place, squares) in squares[..self.prior.len()].iter().enumerate() {
            let mut weights = [0.0; LANES];
            let mut counts = false;
            for (weight, square) in weights.iter_mut().zip(squares) {
                let of_law = square * scale;
                // Subnormal numbers would be slow.
                *weight = if of_law <= NEGLIGIBLE { 0.0 } else { of_law as f32 };
                counts |= *weight != 0.0;
            }
            if counts {
                let count = posterior.count;
                (posterior.weights[count], posterior.places[count]) = (weights, place as u8);
                posterior.count += 1;
            }
        }
        posterior
    }
}

/// `numbers` in blocks; `rest` fills the last one.
fn blocks<T: Copy>(numbers: impl Iterator<Item = T>, rest: T) -> Vec<Block<T>> {
    let numbers: Vec<T> = numbers.collect();
    let block = |some: &[T]| from_fn(|at| some.get(at).copied().unwrap_or(rest));
    numbers.chunks(LANES).map(block).collect()
}

/// The probabilities of the laws. Only blocks that count have a place here.
#[derive(Debug)]
pub(super) struct LawWeights {
    weights: [Block<f32>; BLOCKS],
    /// The places of these blocks among all.
    places: [u8; BLOCKS],
    count: usize,
}

impl LawWeights {
    /// The mean of the cost on the way from one candidate to another, its mean shortfall below `best`,
    /// and the probability of one. The unit is the cost of the former.
    /// No cost is above `ceiling`. Costs grow with time to the power of `exponent`.
    pub(super) fn expectation(
        &self,
        from: &[Block<f32>],
        to: &[Block<f32>],
        (best, ceiling): (f64, f64),
        exponent: i32,
    ) -> [f64; 3] {
        let (best, ceiling) = (best as f32, ceiling as f32);
        let [mut cost, mut gain, mut chance] = [[0.0f32; LANES]; 3];
        for (weights, &place) in self.weights[..self.count].iter().zip(&self.places) {
            let (from, to) = (&from[usize::from(place)], &to[usize::from(place)]);
            let ratios: Block<f32> = from_fn(|number| to[number] / from[number]);
            let mut powers = ratios;
            for _ in 1..exponent {
                powers = from_fn(|number| powers[number] * ratios[number]);
            }
            for number in 0..LANES {
                // This is one instruction for several laws; `min` also treats NaN.
                let of_law = if powers[number] < ceiling { powers[number] } else { ceiling };
                let below = best - of_law;
                cost[number] += weights[number] * of_law;
                gain[number] += weights[number] * below.max(0.0);
                chance[number] += if below > 0.0 { weights[number] } else { 0.0 };
            }
        }
        let sum = |sums: Block<f32>| f64::from(sums.iter().sum::<f32>());
        [sum(cost), sum(gain), sum(chance)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 360 laws of the grid: the weight of the prior, the parts and the exponents.
    fn grid() -> Vec<(f64, [f64; 3], f64, f64)> {
        let mut all = Vec::new();
        for (core, growth) in CORE.iter().flat_map(|&core| GROWTH.map(|growth| (core, growth))) {
            for grows in 0..=STEPS {
                for serial in 0..=STEPS - grows {
                    let parts = [serial, grows, STEPS - grows - serial];
                    let parts = parts.map(|part| part as f64 / STEPS as f64);
                    all.push(((0.25 + parts[2]).powf(1.5), parts, growth, core));
                }
            }
        }
        all
    }

    #[test]
    fn merged_laws_expect_what_all_laws_of_the_grid_do() {
        let ratio = |(_, [serial, grows, divided], growth, core): (f64, [f64; 3], f64, f64),
                     threads: f64,
                     contexts: f64| {
            let divides = contexts / threads * contexts.powf(-core);
            serial + grows * threads.powf(growth) + divided * divides
        };
        let (noise, best, ceiling) = (0.01, 0.9, 3.0);
        for contexts_differ in [false, true] {
            let contexts = if contexts_differ { 0.5 } else { 1.0 };
            let laws = LawGrid::new(contexts_differ, false);
            let count: usize = laws.laws.iter().map(|law| law.count).sum();
            assert_eq!(count, if contexts_differ { 360 } else { 45 });
            // Two measured candidates, from one of which a third is expected.
            let measured = [(0.5, contexts, 0.8), (0.25, 1.0, 1.1)];
            let logs = measured.map(|(threads, contexts, _)| {
                let ratios = laws.ratios(threads, contexts, None);
                ratios.iter().map(|ratios| ratios.map(f32::ln)).collect::<Vec<_>>()
            });
            let known =
                logs.iter().zip(measured).map(|(logs, (.., cost))| (&logs[..], f64::ln(cost)));
            let weights = laws.posterior(noise, known);
            let [from, to] = [(0.5, contexts), (0.125, 1.0)]
                .map(|(threads, contexts)| laws.ratios(threads, contexts, None));
            for exponent in [1, 3] {
                let found = weights.expectation(&from, &to, (best, ceiling), exponent);
                let (mut sum, mut expected) = (0.0, [0.0; 3]);
                for law in grid() {
                    let off = measured.map(|(threads, contexts, cost)| {
                        (ratio(law, threads, contexts) / cost).ln() / ERROR.hypot(noise)
                    });
                    let weight = off
                        .iter()
                        .fold(law.0, |weight, off| weight * (1.0 + off * off / FREEDOM).powi(-3));
                    let steps = ratio(law, 0.125, 1.0) / ratio(law, 0.5, contexts);
                    let cost = steps.powi(exponent).min(ceiling);
                    let here = [cost, (best - cost).max(0.0), f64::from(u8::from(cost < best))];
                    sum += weight;
                    expected.iter_mut().zip(here).for_each(|(sum, of)| *sum += weight * of);
                }
                for (found, expected) in found.into_iter().zip(expected) {
                    let expected = expected / sum;
                    assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
                }
            }
        }
    }

    /// The time on the cores of a machine with four threads a core, from those with one and with two.
    fn with_four_threads_a_core(one: f64, two: f64) -> f64 {
        let laws = LawGrid::new(true, false);
        let [alone, both, all] =
            [1.0, 2.0, 4.0].map(|contexts| laws.ratios(contexts, contexts, None));
        let logs = |ratios: &[Block<f32>]| -> Vec<Block<f32>> {
            ratios.iter().map(|laws| laws.map(f32::ln)).collect()
        };
        let (alone, known) = (logs(&alone), logs(&both));
        let measured = [(&alone[..], 0.0), (&known[..], (two / one).ln())];
        let weights = laws.posterior(0.002, measured.into_iter());
        two * weights.expectation(&both, &all, (1.0, 16.0), 1)[0]
    }

    /// Measured on a real machine: `smt_scaling.tsv` has the source, docs/measurements.md all predictions.
    #[test]
    fn four_threads_a_core_are_predicted_from_one_and_two() {
        let mut lines =
            include_str!("smt_scaling.tsv").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.next(), Some("cores\tone\ttwo\tfour"));
        let page = include_str!("../../docs/measurements.md");
        let (mut accuracies, mut lacking) = (Vec::new(), Vec::new());
        for line in lines {
            let cells: Vec<f64> = line.split('\t').map(|cell| cell.parse().unwrap()).collect();
            let [cores, one, two, four] = cells[..] else { panic!("4 columns: {line}") };
            let predicted = with_four_threads_a_core(one, two);
            let accuracy = 1.0 - (predicted - four).abs() / four;
            let row = format!(
                "| {cores} | {one:.2} | {two:.2} | {four:.2} | {predicted:.0} | {:.1} % |",
                100.0 * accuracy
            );
            if !page.contains(&row) {
                lacking.push(row);
            }
            accuracies.push(accuracy);
        }
        assert!(lacking.is_empty(), "docs/measurements.md lacks\n{}", lacking.join("\n"));
        assert_eq!(accuracies.len(), 18);
        let mean = accuracies.iter().sum::<f64>() / accuracies.len() as f64;
        let worst = accuracies.iter().copied().fold(f64::INFINITY, f64::min);
        let found = format!("{:.1} %, the worst {:.1} %", 100.0 * mean, 100.0 * worst);
        assert!(page.contains(&found), "{found}");
    }
}
