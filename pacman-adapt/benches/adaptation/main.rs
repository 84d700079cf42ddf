//! The costs and gains of adaptation.
//!
//! `cargo bench -p pacman-adapt --features training --bench adaptation` prints what a decision costs
//! here, and the regret on simulated phases. `-- decisions` prints the cost only; `-- 4 5 6` takes these seeds,
//! `-- worth=0.45` an assumption of what a further context of a core is worth at most, and `-- counters` predicts
//! from event counts. `-- nodes=2` divides the cores of each machine among NUMA nodes. `-- bursts` lets another
//! process take a processor for a tenth of the time. The last columns are the regret of rules that know every
//! cost.
//! `docs/research/adaptation.md` has the protocol.

mod bursts;
mod decisions;
mod floor;
mod trained;

use bursts::Bursts;
use floor::Floor;
use pacman_adapt::Result;
use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::Configuration;
use pacman_adapt::{Candidates, Controller, RegretLimits, Rules};
use pacman_topology::Topology;

const MACHINES: [(u32, u32); 6] = [(8, 2), (64, 2), (4, 4), (16, 4), (4, 8), (16, 8)];
const PHASES: usize = 200;
const EXECUTIONS: usize = 100;
/// Phases that a predictor learns from.
const TRAINING: usize = 1000;

fn main() -> Result<()> {
    // `cargo bench` passes `--bench`.
    let given: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let seeds = if given.is_empty() { vec![1, 2, 3] } else { given };
    let mut rules = Rules::default();
    let worth = std::env::args().find_map(|argument| argument.strip_prefix("worth=")?.parse().ok());
    rules.max_smt_gain = worth.unwrap_or(rules.max_smt_gain);
    let counters = std::env::args().any(|argument| argument == "counters");
    let rules_on = |machine: SmtMachine, spread: f64| match counters {
        true => trained::rules(machine, TRAINING, spread),
        false => Ok(rules.clone()),
    };
    let disturbed = std::env::args().any(|argument| argument == "bursts");
    let nodes = std::env::args().find_map(|argument| argument.strip_prefix("nodes=")?.parse().ok());
    let machines = MACHINES
        .map(|(cores, contexts)| SmtMachine::new(cores, contexts).with_nodes(nodes.unwrap_or(1)));
    println!("one more context is taken to be worth {} of a core's first", rules.max_smt_gain);
    decisions::held()?;
    decisions::bare()?;
    decisions::searches()?;
    if std::env::args().any(|argument| argument == "decisions") {
        return Ok(());
    }
    for spread in [0.0, 0.01] {
        println!("\n{PHASES} phases a machine and seed, {EXECUTIONS} executions, noise {spread}");
        println!(
            "machine  seed  regret   worst  default  candidates  ended  samples  above bound: all, where B holds, most, lost; floor, within budget"
        );
        for machine in machines {
            let rules = rules_on(machine, spread)?;
            for &seed in &seeds {
                row(machine, &rules, seed, (spread, disturbed))?;
            }
        }
    }
    by_kind(&machines, &rules_on, &seeds, disturbed)
}

/// The result of one phase.
struct Outcome {
    regret: f64,
    default: f64,
    candidates: f64,
    ended: f64,
    /// The total over that without adaptation, less 1.
    lost: f64,
    samples: usize,
    above: f64,
    b_holds: bool,
    /// The regret of rules that know every cost: without the budget, and within it.
    floors: [f64; 2],
}

fn play(
    machine: SmtMachine,
    rules: &Rules,
    law: &SimPhase,
    seed: u64,
    (spread, disturbed): (f64, bool),
) -> Result<Outcome> {
    let topology = Topology::synthetic(&machine.as_text())?;
    let candidates = Candidates::of(&topology, None)?;
    let default = candidates.default();
    let mut bursts = Bursts::new(!seed, if disturbed { default.threads() } else { u32::MAX });
    let mean = |on| law.seconds(on) * bursts.mean_factor(on, disturbed);
    let least = |all: &mut dyn Iterator<Item = Configuration>| {
        all.min_by(|&a, &b| mean(a).total_cmp(&mean(b))).expect("a configuration")
    };
    let best_on = least(&mut machine.configurations());
    let best = law.seconds(best_on);
    let nearest = mean(least(&mut candidates.all().iter().copied()));
    let all = candidates.all().to_vec();
    let of_candidates = least(&mut all.iter().copied());
    let mut floor = Floor::new(all, default, of_candidates, law, rules);
    let mut controller = Controller::new(candidates, rules.clone());
    let mut noise = Noise::new(seed, spread);
    let (mut total, mut at_best, mut at_default, mut above) = (0.0, 0.0, 0.0, 0.0f64);
    let mut places = Vec::new();
    let mut counters = Noise::new(!seed, spread);
    for number in 1..=EXECUTIONS {
        let (on, factor) = (controller.next(), noise.factor());
        places.push(on);
        bursts.step();
        let burst = |on| if disturbed { bursts.factor(on) } else { 1.0 };
        let seconds = law.seconds(on) * factor * burst(on);
        if !controller.wanted().is_empty() {
            controller.counted(trained::counted(law, on, seconds, &mut counters)?);
        }
        controller.finished(on, seconds, seconds)?;
        floor.step(|on| law.seconds(on) * factor * burst(on));
        total += seconds;
        at_best += best * factor * burst(best_on);
        at_default += law.seconds(default) * factor * burst(default);
        let RegretLimits { initial, steady, after_executions } = rules.bound;
        let bound = 1.0 + if (number as u64) < after_executions { initial } else { steady };
        above = above.max(total / (at_default * bound) - 1.0);
    }
    let best = best * bursts.mean_factor(best_on, disturbed);
    let ended = law.seconds(controller.next()) * bursts.mean_factor(controller.next(), disturbed)
        / best
        - 1.0;
    places.sort_unstable();
    places.dedup();
    Ok(Outcome {
        regret: total / at_best - 1.0,
        default: at_default / at_best - 1.0,
        candidates: nearest / best - 1.0,
        ended,
        lost: total / at_default - 1.0,
        samples: places.len(),
        above,
        b_holds: b_holds(machine, rules, law),
        floors: floor.totals.map(|total| total / at_best - 1.0),
    })
}

/// Whether a context is nowhere worth more than the rules assume.
fn b_holds(machine: SmtMachine, rules: &Rules, law: &SimPhase) -> bool {
    let capacity = |contexts: u32| 1.0 + rules.max_smt_gain * f64::from(contexts - 1);
    machine.configurations().all(|on| {
        let (Some(cores), Some(contexts)) = (on.cores(), on.per_core()) else { return true };
        (1..contexts).all(|fewer| {
            let small = Configuration::on_cores(cores, fewer).expect("fits");
            let small = on.nodes().map_or(small, |nodes| small.on_nodes(nodes).expect("as before"));
            law.seconds(small)
                <= law.seconds(on) * capacity(contexts) / capacity(fewer) * (1.0 + 1e-9)
        })
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / count
}

fn row(machine: SmtMachine, rules: &Rules, seed: u64, noise: (f64, bool)) -> Result<()> {
    let mut random = Random::new(seed);
    let outcomes: Result<Vec<Outcome>> = (0..PHASES as u64)
        .map(|number| {
            play(machine, rules, &Kind::Any.draw(&mut random, machine), seed << 32 | number, noise)
        })
        .collect();
    let outcomes = outcomes?;
    let above = outcomes.iter().filter(|one| one.above > 1e-9);
    let with_b = above.clone().filter(|one| one.b_holds).count();
    println!(
        "{:>4}x{:<2} {seed:>5} {:>6.2} % {:>5.1} % {:>6.1} % {:>9.2} % {:>5.2} % {:>7.1}  {:>4} {:>4} {:>7.2} % {:>6.2} %  {:>5.2} % {:>5.2} %",
        machine.cores,
        machine.contexts,
        100.0 * mean(outcomes.iter().map(|one| one.regret)),
        100.0 * outcomes.iter().map(|one| one.regret).fold(0.0, f64::max),
        100.0 * mean(outcomes.iter().map(|one| one.default)),
        100.0 * mean(outcomes.iter().map(|one| one.candidates)),
        100.0 * mean(outcomes.iter().map(|one| one.ended)),
        mean(outcomes.iter().map(|one| one.samples as f64)),
        above.clone().count(),
        with_b,
        100.0 * above.map(|one| one.above).fold(0.0, f64::max),
        100.0 * outcomes.iter().map(|one| one.lost).fold(f64::NEG_INFINITY, f64::max),
        100.0 * mean(outcomes.iter().map(|one| one.floors[0])),
        100.0 * mean(outcomes.iter().map(|one| one.floors[1])),
    );
    Ok(())
}

/// Where the regret is, by what limits a phase.
fn by_kind(
    machines: &[SmtMachine],
    rules_on: &dyn Fn(SmtMachine, f64) -> Result<Rules>,
    seeds: &[u64],
    disturbed: bool,
) -> Result<()> {
    println!("\nregret by kind, noise 0.01, all seeds; in brackets that of the default");
    print!("machine");
    Kind::ALL.iter().for_each(|kind| print!(" {:>17}", format!("{kind:?}")));
    println!();
    for &machine in machines {
        let rules = rules_on(machine, 0.01)?;
        print!("{:>4}x{:<2}", machine.cores, machine.contexts);
        for kind in Kind::ALL {
            let mut outcomes = Vec::new();
            for &seed in seeds {
                let mut random = Random::new(seed);
                for number in 0..50 {
                    let law = kind.draw(&mut random, machine);
                    outcomes.push(play(
                        machine,
                        &rules,
                        &law,
                        seed << 32 | number,
                        (0.01, disturbed),
                    )?);
                }
            }
            let regret = 100.0 * mean(outcomes.iter().map(|one| one.regret));
            let default = 100.0 * mean(outcomes.iter().map(|one| one.default));
            print!(" {:>17}", format!("{regret:.2} ({default:.1}) %"));
        }
        println!();
    }
    Ok(())
}
