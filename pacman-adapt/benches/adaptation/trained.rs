//! A model of what event counts at the default say of times elsewhere, from phases of its own.

use std::sync::Arc;

use pacman_adapt::Result;
use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::training::{Dataset, Plan, RidgeOptions, Row, Terms, ridge};
use pacman_adapt::predict::{Configuration, Sample};
use pacman_adapt::{Candidates, Rules};
use pacman_topology::Topology;

/// Of the phases that it learns from; those it is measured on have small seeds.
const SEED: u64 = 0x7472_6169_6e65_6400;

/// How many times as wide as what holds 90 % of left-out phases its intervals are.
const WIDENED: f64 = 1.5;

/// Rules whose predictor was trained on `phases` phases of `machine`, with noise of `spread`.
pub(super) fn rules(machine: SmtMachine, phases: usize, spread: f64) -> Result<Rules> {
    let candidates = Candidates::of(&Topology::synthetic(&machine.as_text())?, None)?;
    let mut random = Random::new(SEED);
    let mut noise = Noise::new(!SEED, spread);
    let mut rows = Vec::new();
    for program in 0..phases {
        let law = Kind::Any.draw(&mut random, machine);
        for &on in candidates.all() {
            rows.push(Row {
                line: rows.len() as u64 + 1,
                machine: "simulated".into(),
                program: program.to_string(),
                phase: None,
                run: None,
                sample: counted(&law, on, law.seconds(on) * noise.factor(), &mut noise)?,
            });
        }
    }
    let data = Dataset::of("simulated", &rows, None)?;
    let plan = Plan::At(vec![candidates.default()]);
    let mut options = RidgeOptions { plan, ..RidgeOptions::default() };
    options.terms = Terms::Products;
    let model = ridge(&data, &options)?.widened(WIDENED);
    let mut rules = Rules::default();
    rules.predictor = Some(Arc::new(model));
    Ok(rules)
}

/// One execution that took `seconds`, with its counts, each with noise of its own.
pub(super) fn counted(
    law: &SimPhase,
    on: Configuration,
    seconds: f64,
    noise: &mut Noise,
) -> Result<Sample> {
    let exact = law.counted(on).expect("a time above 0");
    let sample = Sample::new(on, seconds)?;
    exact
        .counts()
        .try_fold(sample, |sample, (event, count)| sample.with(event, count * noise.factor()))
}
