//! `pacman-pmu train`: a model from measured programs.

use std::io::{self, Write};
use std::path::PathBuf;

use pacman_adapt::predict::training::{self, Contender, Dataset, Evaluation, evaluate};
use pacman_adapt::predict::{Configuration, CrossValidation, Method, Model, Predictor, Target};
use pacman_events::shown::{line, shown, shown_path};
use serde::Serialize;

use super::contenders::{DataArgs, LearnArgs};
use super::file;
use super::help::TABLE;
use super::percent::percent;
use super::table::Table;
use crate::noise::Times;
use crate::progress::Progress;
use pacman_cli::counts::named;
use pacman_cli::error::{self, CliError, CliResult};
use pacman_core::atomic_write;
use pacman_report::document;

/// Train a model that predicts the time of a phase with other numbers of threads.
///
/// The model is for one machine and needs at least four programs or phases. The command also measures
/// the model's quality: it leaves each program out once, and predicts it by a model of the others.
/// Cross-validation also chooses the samples, the features and the penalty.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{TABLE}\n\n{JSON}"))]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The model's file
    #[arg(short, long, value_name = "MODEL.json")]
    output: PathBuf,

    /// ridge (on sampled times), mixture (earlier samples choose the next one) or linear (the 2006
    /// paper's, on events alone) [default: ridge for time, linear for ipc]
    #[arg(long, value_name = "METHOD", value_parser = ["ridge", "mixture", "linear"], hide_possible_values = true)]
    method: Option<String>,

    #[command(flatten)]
    learn: LearnArgs,

    /// Print a description of the model as JSON
    #[arg(long)]
    json: bool,
}

/// Trains a model, writes its file and prints its description.
pub(crate) fn train(args: &TrainArgs, out: &mut dyn Write) -> CliResult {
    let output = shown_path(&args.output);
    if atomic_write::is_same(&args.data.data, &args.output) {
        let why = format!("-o names the training data, {output}: the model would replace it");
        return Err(CliError::BadInput(why));
    }
    let contender = contender(args);
    args.learn.suits(&contender)?;
    let table = args.data.read()?;
    let machine = table.machine(args.data.measured_on.as_deref())?;
    let data = args.data.dataset(&table, machine)?;
    let model = fit(&data, &contender).map_err(|error| error.within(named(&args.data.data)))?;
    file::write(&args.output, &model)?;
    let accuracy = model.cross_validation.accuracy;
    if let Some(line) = noise(&table, machine) {
        error::complain(format!("{}: {line}", named(&args.data.data)));
    }
    if accuracy < 0.0 {
        error::complain(format!(
            "{output}: its times are off by {} on average: this model is of no use; measure more \
             programs",
            percent(1.0 - accuracy, 0)
        ));
    }
    if args.json {
        document::write(out, &summary(&model, data.configurations()))?;
    } else {
        describe(out, &model, data.configurations())?;
        writeln!(out, "written to {output}")?;
    }
    Ok(0)
}

/// A line if noise hides what a model can learn.
fn noise(table: &Table, machine: &str) -> Option<String> {
    let mut times = Times::default();
    for row in table.rows.iter().filter(|row| row.machine == machine && row.run.is_some()) {
        let phase = row.phase.as_deref().unwrap_or_default();
        let phase = format!("{} {phase}", row.program);
        times.add(&phase, row.sample.configuration(), row.sample.seconds());
    }
    times.line()
}

fn contender(args: &TrainArgs) -> Contender {
    match (args.method.as_deref(), args.learn.target) {
        (Some("mixture"), _) => args.learn.mixture(),
        (Some("linear"), _) | (None, Target::Ipc) => args.learn.linear(),
        _ => args.learn.ridge(),
    }
}

fn fit(data: &Dataset, contender: &Contender) -> CliResult<Model> {
    let progress = Progress::new(data.programs().len(), "training");
    let evaluation =
        evaluate(data, contender, &mut || progress.step()).map_err(CliError::bad_input)?;
    let cross_validation = evaluation.summary().ok_or_else(|| {
        CliError::BadInput(format!(
            "the model samples all {} configurations and predicts none, so nothing says how good it \
             is; take fewer --samples, or measure more configurations",
            data.configurations().len()
        ))
    })?;
    let method = method(data, contender, &evaluation).map_err(CliError::bad_input)?;
    Ok(Model {
        machine: data.machine().to_owned(),
        programs: data.programs().iter().map(|program| program.name.clone()).collect(),
        fingerprint: data.fingerprint(),
        cross_validation,
        method,
    })
}

fn method(
    data: &Dataset,
    contender: &Contender,
    evaluation: &Evaluation,
) -> pacman_adapt::Result<Method> {
    Ok(match contender {
        Contender::Linear(options) => Method::Linear(training::linear(data, options)?),
        Contender::Mixture(options) => {
            Method::Mixture(training::mixture(data, *options)?.widened(evaluation.calibration()))
        }
        Contender::Ridge(options) => {
            Method::Ridge(training::ridge(data, options)?.widened(evaluation.calibration()))
        }
        Contender::None | Contender::Search => unreachable!("the command trains models only"),
    })
}

/// The samples of the model, in words.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Summary<'a> {
    /// Method of the model.
    method: &'a str,
    /// Quantity that it predicts.
    target: String,
    /// Machine of the training data.
    machine: &'a str,
    /// Programs of the training data.
    programs: &'a [String],
    /// Configurations of the training data.
    configurations: Vec<String>,
    /// Checksum of the training data.
    fingerprint: &'a str,
    /// Configurations to sample, in order.
    samples: Vec<String>,
    /// Inputs of the model.
    features: Vec<String>,
    /// Quality of the model, by nested cross-validation that leaves one program out.
    #[cfg_attr(test, schemars(with = "crate::tests::schemas::CrossValidation"))]
    cross_validation: &'a CrossValidation,
}

fn plan(model: &Model) -> Vec<String> {
    match &model.method {
        Method::Ridge(ridge) => ridge.plan().iter().map(ToString::to_string).collect(),
        Method::Mixture(mixture) => {
            let all = mixture.reference().into_iter().map(|on| on.to_string());
            let others = (1..mixture.samples()).map(|_| "one of its choice".to_owned());
            all.chain(others).collect()
        }
        Method::Linear(linear) => linear
            .event_sets()
            .iter()
            .map(|set| format!("all contexts with {}", set.join(", ")))
            .collect(),
        _ => Vec::new(),
    }
}

fn features(model: &Model) -> Vec<String> {
    match &model.method {
        Method::Mixture(_) => vec!["ratios of all samples".into()],
        Method::Ridge(ridge) => ridge.features().map(ToString::to_string).collect(),
        Method::Linear(linear) => {
            let events = linear.event_sets().iter().flatten();
            std::iter::once("instruction rate".to_owned())
                .chain(events.map(|event| format!("{event} rate")))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn name(model: &Model) -> &'static str {
    match &model.method {
        Method::Ridge(_) => "ridge",
        Method::Mixture(_) => "mixture",
        Method::Linear(_) => "linear",
        _ => "other",
    }
}

fn describe(out: &mut dyn Write, model: &Model, on: &[Configuration]) -> io::Result<()> {
    let cv = model.cross_validation;
    writeln!(
        out,
        "{} of {} for {}: {} programs, {} configurations, data {}",
        name(model),
        model.target(),
        shown(&model.machine),
        model.programs.len(),
        on.len(),
        model.fingerprint
    )?;
    writeln!(out, "samples   {}", line(&plan(model).join("; ")))?;
    let features = features(model);
    let features = if features.is_empty() { "none".into() } else { features.join(", ") };
    writeln!(out, "features  {}", line(&features))?;
    writeln!(
        out,
        "leaving one program out: accuracy {} (worst {}), regret {} (worst {}), \
         {:.2} samples, {} in their 90 % intervals",
        percent(cv.accuracy, 1),
        percent(cv.worst_accuracy, 1),
        percent(cv.regret, 2),
        percent(cv.worst_regret, 2),
        cv.samples,
        percent(cv.coverage, 1)
    )
}

fn summary<'a>(model: &'a Model, on: &[Configuration]) -> Summary<'a> {
    Summary {
        method: name(model),
        target: model.target().to_string(),
        machine: &model.machine,
        programs: &model.programs,
        configurations: on.iter().map(ToString::to_string).collect(),
        fingerprint: &model.fingerprint,
        samples: plan(model),
        features: features(model),
        cross_validation: &model.cross_validation,
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu train measured.csv -o model.json
  pacman-pmu train measured.csv --method mixture -o model.json
  pacman-pmu train two-machines.csv --measured-on Keystone --events none -o model.json
  pacman-pmu train measured.csv --at 24,12,1 -o model.json
  pacman-pmu train counted.csv --target ipc -o model.json     the 2006 paper's model

Exit status:
  0  done
  1  the model's file could not be written
  2  bad input: one line on standard error gives the place and the reason
  4  the answer could not be written";

const JSON: &str = include_str!("../help/train.txt");
