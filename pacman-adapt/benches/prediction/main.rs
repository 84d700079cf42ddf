//! How good predictors are on programs of made-up machines.
//!
//! `cargo bench -p pacman-adapt --features training --bench prediction` draws 24 machines with 15
//! programs each, evaluates every predictor on each as `pacman-pmu evaluate` does, and prints
//! means over the machines; `-- 7 8 9` draws these machines instead. `docs/research/prediction.md` has the
//! protocol.

mod drawn;

use pacman_adapt::Result;
use pacman_adapt::predict::training::{
    Contender, Dataset, Evaluation, MixtureOptions, RidgeOptions, evaluate,
};

fn main() -> Result<()> {
    // `cargo bench` passes `--bench`.
    let given: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let seeds = if given.is_empty() { (1..=24).collect() } else { given };
    let contenders = [
        Contender::Ridge(RidgeOptions::default()),
        Contender::Mixture(MixtureOptions::default()),
        Contender::Search,
        Contender::None,
    ];
    let mut found: Vec<Vec<Evaluation>> = vec![Vec::new(); contenders.len()];
    for seed in &seeds {
        let rows = drawn::machine(*seed)?;
        let data = Dataset::of(&rows[0].machine, &rows, None)?;
        for (contender, found) in contenders.iter().zip(&mut found) {
            found.push(evaluate(&data, contender, &mut || ())?);
        }
        let (ridge, mixture) = (&found[0], &found[1]);
        let regret = |of: &[Evaluation]| of.last().map_or(0.0, Evaluation::regret);
        eprintln!(
            "machine {seed}: {} configurations, regret of ridge {:.2} %, of mixture {:.2} %",
            data.configurations().len(),
            1e2 * regret(ridge),
            1e2 * regret(mixture)
        );
    }
    println!(
        "{} machines of 15 programs, leaving one program out; means over machines",
        seeds.len()
    );
    println!("predictor  accuracy   worst  90 % covered  regret   worst  samples  spent");
    for (contender, found) in contenders.iter().zip(&found) {
        let mean = |of: &dyn Fn(&Evaluation) -> f64| {
            found.iter().map(of).sum::<f64>() / found.len() as f64
        };
        let share = |of: &dyn Fn(&Evaluation) -> Option<f64>, width: usize| {
            let some = found.iter().map(of).collect::<Option<Vec<f64>>>();
            some.map_or(format!("{:>width$}", "-"), |all| {
                let mean = 1e2 * all.iter().sum::<f64>() / all.len() as f64;
                format!("{mean:>0$.1} %", width - 2)
            })
        };
        println!(
            "{:<9}  {}  {}  {}  {:>4.2} %  {:>4.1} %  {:>7.2}  {:>5.2}",
            contender.name(),
            share(&Evaluation::accuracy, 8),
            share(&Evaluation::worst_accuracy, 6),
            share(&Evaluation::coverage, 9),
            1e2 * mean(&Evaluation::regret),
            1e2 * mean(&Evaluation::worst_regret),
            mean(&Evaluation::samples),
            mean(&Evaluation::spent),
        );
    }
    Ok(())
}
