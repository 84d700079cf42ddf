//! The best SMT level, from the counts of one execution at the default.
//!
//! `cargo bench -p pacman-adapt --features training --bench smt_level` trains a ridge model on simulated
//! phases of three machines, with 2, 4 and 8 contexts a core. It then predicts 2,000 other phases of each
//! machine from one execution with all contexts, and prints how often the predicted level is the best.
//! `-- 1000` trains on 1,000 phases instead of 200. `-- neighbours 100000` takes the nearest of 100,000 phases
//! instead of a model. Times and counts have noise of 1 %.

mod neighbours;

use neighbours::Neighbours;
use pacman_adapt::Result;
use pacman_adapt::phases::{Kind, Noise, Random, SimPhase, SmtMachine};
use pacman_adapt::predict::training::{Dataset, Plan, RidgeOptions, Row, Terms, ridge};
use pacman_adapt::predict::{Configuration, Predictor, Ridge, Sample, smt_levels};

const CORES: u32 = 8;
const TESTED: usize = 2000;
const SPREAD: f64 = 0.01;
/// Levels that cost at most so much more than the best count as equally good.
const SAME: f64 = 1.01;
/// Of the phases that the model learns from; those it is tested on have small seeds.
const SEED: u64 = 0x736d_745f_6c65_7665;

fn main() -> Result<()> {
    // `cargo bench` passes `--bench`.
    let given = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let trained: usize = given.unwrap_or(200);
    let asks_neighbours = std::env::args().any(|argument| argument == "neighbours");
    println!("{trained} phases for training, {TESTED} others for the test, noise of 1 %");
    for levels in [&[1, 2][..], &[1, 2, 4], &[1, 2, 4, 8]] {
        print(levels, trained, asks_neighbours)?;
    }
    Ok(())
}

/// The index of the predicted level.
type Predict = Box<dyn Fn(&Sample) -> Result<usize>>;

/// The confusion table of a machine with these numbers of contexts on each core.
fn print(levels: &[u32], trained: usize, asks_neighbours: bool) -> Result<()> {
    let most = *levels.last().expect("a level");
    let machine = SmtMachine::new(CORES, most);
    let on: Result<Vec<Configuration>> =
        levels.iter().map(|&level| Configuration::on_cores(CORES, level)).collect();
    let on = on?;
    let predict: Predict = if asks_neighbours {
        let neighbours = Neighbours::of(machine, &on, trained)?;
        Box::new(move |sample| neighbours.predict(sample))
    } else {
        let (model, on) = (train(machine, &on, trained)?, on.clone());
        Box::new(move |sample| {
            let levels = smt_levels(&model.forecast(std::slice::from_ref(sample))?);
            let place = |of| on.iter().position(|&one| one == of).expect("a level of the machine");
            Ok(place(levels[0].configuration))
        })
    };
    let mut table = vec![vec![0_usize; levels.len()]; levels.len()];
    let (mut as_good, mut cost, mut at_default) = (0, 0.0, 0.0);
    let mut random = Random::new(u64::from(most));
    let mut noise = Noise::new(u64::from(most) << 8, SPREAD);
    for _ in 0..TESTED {
        let phase = Kind::Any.draw(&mut random, machine);
        let default = *on.last().expect("a level");
        let predicted = predict(&counted(&phase, default, &mut noise)?)?;
        let seconds: Vec<f64> = on.iter().map(|&one| phase.seconds(one)).collect();
        let best = (0..on.len()).min_by(|&a, &b| seconds[a].total_cmp(&seconds[b]));
        let best = best.expect("a level");
        table[best][predicted] += 1;
        as_good += usize::from(seconds[predicted] <= seconds[best] * SAME);
        cost += seconds[predicted] / seconds[best] - 1.0;
        at_default += seconds[on.len() - 1] / seconds[best] - 1.0;
    }
    let share = |count: usize| 100.0 * count as f64 / TESTED as f64;
    let right: usize = (0..levels.len()).map(|at| table[at][at]).sum();
    println!("\n{CORES} cores, {most} contexts each");
    print!("{:<12}", "best");
    levels.iter().for_each(|level| print!("{:>12}", format!("predicted {level}")));
    println!("   of all");
    for (level, row) in levels.iter().zip(&table) {
        print!("{level:<12}");
        row.iter().for_each(|&count| print!("{:>10.1} %", share(count)));
        println!(" {:>6.1} %", share(row.iter().sum()));
    }
    println!(
        "the best {:.1} %, the best or within 1 % of it {:.1} %; \
         mean cost over the best {:.2} %, with all contexts {:.1} %",
        share(right),
        share(as_good),
        100.0 * cost / TESTED as f64,
        100.0 * at_default / TESTED as f64
    );
    Ok(())
}

fn train(machine: SmtMachine, on: &[Configuration], phases: usize) -> Result<Ridge> {
    let mut random = Random::new(SEED);
    let mut noise = Noise::new(!SEED, SPREAD);
    let mut rows = Vec::new();
    for program in 0..phases {
        let phase = Kind::Any.draw(&mut random, machine);
        for &on in on {
            rows.push(Row {
                line: rows.len() as u64 + 1,
                machine: "simulated".into(),
                program: program.to_string(),
                phase: None,
                run: None,
                sample: counted(&phase, on, &mut noise)?,
            });
        }
    }
    let default = *on.last().expect("a level");
    let mut options = RidgeOptions { plan: Plan::At(vec![default]), ..RidgeOptions::default() };
    options.terms = Terms::Products;
    ridge(&Dataset::of("simulated", &rows, None)?, &options)
}

/// One execution with its counts, each with noise of its own.
fn counted(phase: &SimPhase, on: Configuration, noise: &mut Noise) -> Result<Sample> {
    let exact = phase.counted(on).expect("a time above 0");
    let sample = Sample::new(on, phase.seconds(on) * noise.factor())?;
    exact
        .counts()
        .try_fold(sample, |sample, (event, count)| sample.with(event, count * noise.factor()))
}
