//! Adaptation on phases whose truth is known.

mod bad_input;
mod bound;
mod choices;
mod disturbed;
mod nodes;
mod noise;
mod packing;
mod predicted;
mod recalled;
mod stays;
mod teams;
mod verdict;

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Candidates, Controller, Rules};
use pacman_topology::Topology;

fn on(text: &str) -> Configuration {
    text.parse().expect("a configuration")
}

fn machine(text: &str) -> Topology {
    Topology::synthetic(text).expect("a machine")
}

fn controller(text: &str, rules: Rules) -> Controller {
    Controller::new(Candidates::of(&machine(text), None).expect("candidates"), rules)
}

/// Rules by which fewer contexts of a core are sampled early.
fn bold() -> Rules {
    let mut rules = Rules::default();
    rules.max_smt_gain = 0.45;
    rules
}

/// Runs `executions` of a phase that takes `seconds`; where each ran.
fn run(
    controller: &mut Controller,
    executions: usize,
    mut seconds: impl FnMut(Configuration) -> f64,
) -> Vec<Configuration> {
    let run = |_| {
        let on = controller.next();
        let took = seconds(on);
        controller.finished(on, took, took).expect("a valid execution");
        assert!(!controller.why().contains('\n'));
        on
    };
    (0..executions).map(run).collect()
}
