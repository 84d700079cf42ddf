//! The guesses about a program: a known one, a law, or a mixture of two.

use super::covariance::cores;
use crate::predict::Configuration;

/// The most mixtures. Single shapes are not limited.
const MOST: usize = 4096;

/// A guess about a program.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::predict) struct Guess {
    /// ln of time over the reference's, by configuration.
    pub(in crate::predict) logs: Vec<f64>,
    /// The two parts of the mixture; equal for a single shape. Known shapes have their index, then
    /// the laws follow.
    #[cfg(any(test, feature = "training"))]
    pub(in crate::predict) parts: [usize; 2],
}

impl Guess {
    #[cfg_attr(not(any(test, feature = "training")), expect(unused_variables))]
    fn new(times: impl Iterator<Item = f64>, parts: [usize; 2]) -> Guess {
        Guess {
            logs: times.map(f64::ln).collect(),
            #[cfg(any(test, feature = "training"))]
            parts,
        }
    }
}

/// All shapes and laws, and their mixtures.
///
/// Times of a program's parts add up, so any two shapes have mixtures. One shape gets a quarter, a
/// half or three quarters of the reference's time, the other the rest. With many shapes there are
/// only halves. With very many there are none, because the shapes themselves are enough.
pub(in crate::predict) fn guesses(
    configurations: &[Configuration],
    shapes: &[Vec<f64>],
) -> Vec<Guess> {
    let relative = |shape: &Vec<f64>| shape.iter().map(|log| log.exp()).collect();
    let mut times: Vec<Vec<f64>> = shapes.iter().map(relative).collect();
    for law in laws(configurations) {
        if !times.iter().any(|known| is_same(known, &law)) {
            times.push(law);
        }
    }
    let count = times.len();
    let pairs = count * (count - 1) / 2;
    let shares: &[f64] = if pairs * 3 <= MOST {
        &[0.25, 0.5, 0.75]
    } else if pairs <= MOST {
        &[0.5]
    } else {
        &[]
    };
    let alone = |(index, times): (usize, &Vec<f64>)| Guess::new(times.iter().copied(), [index; 2]);
    let mut guesses: Vec<Guess> = times.iter().enumerate().map(alone).collect();
    for (index, one) in times.iter().enumerate() {
        for (further, other) in times.iter().enumerate().skip(index + 1) {
            for &share in shares {
                let mix = one.iter().zip(other).map(|(a, b)| share * a + (1.0 - share) * b);
                guesses.push(Guess::new(mix, [index, further]));
            }
        }
    }
    guesses
}

/// The laws that parts of all programs follow: times over the reference's time.
fn laws(configurations: &[Configuration]) -> Vec<Vec<f64>> {
    let Some(reference) = configurations.last() else { return Vec::new() };
    let all = f64::from(reference.threads());
    let threads = |on: &Configuration| f64::from(on.threads());
    let saturates = |at: f64| move |on: &Configuration| 1.0 / f64::from(on.threads()).min(at);
    let laws: [&dyn Fn(&Configuration) -> f64; 7] = [
        // One thread works and the others wait.
        &|_| 1.0,
        // All work.
        &|on| 1.0 / threads(on),
        // All work, and a core's contexts share the throughput of one.
        &|on| 1.0 / f64::from(cores(*on).0),
        // Each thread slows the others down.
        &threads,
        // A shared resource serves only a limited number of threads.
        &saturates(all / 8.0),
        &saturates(all / 4.0),
        &saturates(all / 2.0),
    ];
    let relative = |law: &&dyn Fn(&Configuration) -> f64| {
        configurations.iter().map(|on| law(on) / law(reference)).collect()
    };
    laws.iter().map(relative).collect()
}

fn is_same(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| (a / b - 1.0).abs() < 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(texts: &[&str]) -> Vec<Configuration> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn laws_that_are_the_same_here_count_once() {
        // On 4 threads: nothing saturates at half a thread; at 1 it is the serial law.
        let threads = on(&["1", "2", "4"]);
        let alone = guesses(&threads, &[]);
        // serial, ideal, contended, saturated at 2; six pairs at three shares.
        assert_eq!(alone.len(), 4 + 6 * 3);
        assert!(alone.iter().all(|guess| guess.logs[2] == 0.0), "{alone:?}");
        // With contexts, cores are a law of their own.
        assert_eq!(guesses(&on(&["1x1", "1x2", "2x2"]), &[]).len(), 5 + 10 * 3);
    }

    /// Amdahl's law is a mixture: a serial half and an ideal one at the reference.
    #[test]
    fn mixtures_are_of_times() {
        let threads = on(&["1", "2", "4"]);
        let amdahl: Vec<f64> =
            [1.0, 2.0, 4.0].iter().map(|n: &f64| (0.5 + 0.5 * 4.0 / n).ln()).collect();
        let guesses = guesses(&threads, &[]);
        let is_near =
            |guess: &&Guess| guess.logs.iter().zip(&amdahl).all(|(a, b)| (a - b).abs() < 1e-12);
        let near: Vec<&Guess> = guesses.iter().filter(is_near).collect();
        assert_eq!(near.len(), 1, "{guesses:?}");
        assert_eq!(near[0].parts, [0, 1]);
    }

    #[test]
    fn many_shapes_are_not_mixed_without_end() {
        let threads = on(&["1", "2", "4"]);
        let shapes = |count: usize| -> Vec<Vec<f64>> {
            (0..count).map(|index| vec![1.0 + index as f64 / 1e3, 0.3, 0.0]).collect()
        };
        let mixed = |count: usize| guesses(&threads, &shapes(count)).len();
        assert_eq!(mixed(48), 52 + 52 * 51 / 2 * 3);
        assert_eq!(mixed(60), 64 + 64 * 63 / 2);
        assert_eq!(mixed(1000), 1004);
    }
}
