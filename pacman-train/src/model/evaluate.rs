//! `pacman-pmu evaluate`: the quality of predictors on left-out programs.

use std::io::{self, Write};

use pacman_adapt::predict::Target;
use pacman_adapt::predict::training::{
    Baseline, Contender, Dataset, Evaluation, Score, evaluate as leave_one_out, machines,
};
use pacman_events::shown::shown;
use serde::Serialize;

use super::contenders::{DataArgs, LearnArgs};
use super::help::TABLE;
use super::percent::percent;
use crate::progress::Progress;
use pacman_cli::columns;
use pacman_cli::counts::named;
use pacman_cli::error::{CliError, CliResult};
use pacman_cli::terminal::Fitted;
use pacman_report::document;

/// Show how well predictors do on programs that they were not trained on.
///
/// Each program of a machine is left out once. The command trains models on the other programs, and
/// makes all choices of training anew. Then each model samples the left-out program's measured times
/// until it decides. The predictors are ridge regression, mixtures of known programs, the 2006 paper's
/// linear model on events, hill climbing, and "always all contexts".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{READING}\n\n{TABLE}\n\n{CSV}\n\n{JSON}"))]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    learn: LearnArgs,

    /// Print a line for each machine, predictor, program and configuration as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Results by machine.
    machines: Vec<Machine<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Machine<'a> {
    /// Name of the machine.
    machine: &'a str,
    /// Checksum of the data.
    fingerprint: String,
    /// Configurations.
    configurations: Vec<String>,
    /// Programs without enough data.
    left_out: &'a [String],
    /// Results by predictor.
    results: Vec<Judged<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Judged<'a> {
    Problem {
        /// Name of the predictor.
        predictor: &'a str,
        /// Reason for the lack of results.
        problem: String,
    },
    Evaluation {
        /// Name of the predictor.
        predictor: &'a str,
        /// Accuracy of predicted times: 1 minus the mean relative error.
        accuracy: Option<f64>,
        /// Accuracy of the worst program.
        worst_accuracy: Option<f64>,
        /// Part of the times that are within their 90 % intervals.
        coverage: Option<f64>,
        /// Time of the chosen configuration over the best one's, minus 1.
        regret: f64,
        /// Regret of the worst program.
        worst_regret: f64,
        /// Samples to a decision.
        samples: f64,
        /// Time of the samples, in executions at the best configuration.
        spent: f64,
        /// Results by program.
        programs: Vec<Program<'a>>,
    },
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Program<'a> {
    /// Name of the program.
    app: &'a str,
    /// Accuracy of predicted times.
    accuracy: Option<f64>,
    /// Part of the whole error.
    share_of_error: Option<f64>,
    /// Chosen configuration.
    decision: String,
    /// Best configuration.
    best: String,
    /// Time of the chosen configuration over the best one's, minus 1.
    regret: f64,
    /// Samples until the decision.
    samples: usize,
    /// Time of the samples, in executions at the best configuration.
    spent: f64,
}

/// The results on one machine.
struct Finding {
    data: Dataset,
    results: Vec<(Contender, pacman_adapt::Result<Evaluation>)>,
}

/// Evaluates every machine of the table and writes the results.
pub(crate) fn evaluate(args: &EvaluateArgs, out: &mut dyn Write) -> CliResult {
    let findings = find(args)?;
    if args.json {
        document::write(out, &Document { machines: findings.iter().map(machine).collect() })?;
    } else if args.csv {
        write_csv(out, &findings)?;
    } else {
        let out = &mut Fitted::stdout(out);
        findings.iter().enumerate().try_for_each(|(index, finding)| {
            if index > 0 {
                writeln!(out)?;
            }
            write_text(out, finding)
        })?;
    }
    Ok(0)
}

fn find(args: &EvaluateArgs) -> CliResult<Vec<Finding>> {
    let table = args.data.read()?;
    let chosen: Vec<&str> = match args.data.measured_on.as_deref() {
        Some(machine) => vec![machine],
        None => machines(&table.rows),
    };
    let data: CliResult<Vec<Dataset>> =
        chosen.iter().map(|machine| args.data.dataset(&table, machine)).collect();
    let learn = &args.learn;
    let mut contenders = vec![learn.ridge(), learn.mixture(), learn.linear()];
    contenders.extend([Contender::Search, Contender::None]);
    // A mixture predicts only times.
    contenders.retain(|one| learn.target == Target::Time || !matches!(one, Contender::Mixture(_)));
    let mut findings = Vec::new();
    for data in data? {
        let steps = contenders.len() * data.programs().len();
        let progress = Progress::new(steps, data.machine());
        let run = |contender: &Contender| {
            (contender.clone(), leave_one_out(&data, contender, &mut || progress.step()))
        };
        let results: Vec<_> = contenders.iter().map(run).collect();
        // If the paper's model does not suit the data, that is a result. If ridge does not, the data
        // do not suit the command.
        if let (Contender::Ridge(_), Err(error)) = &results[0] {
            return Err(CliError::BadInput(format!("{}: {error}", named(&args.data.data))));
        }
        drop(progress);
        findings.push(Finding { data, results });
    }
    Ok(findings)
}

fn write_text(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let Finding { data, results } = finding;
    let on = data.configurations();
    writeln!(
        out,
        "{}: {} programs, {} configurations ({} to {}), leaving one program out",
        shown(data.machine()),
        data.programs().len(),
        on.len(),
        on[0],
        on[on.len() - 1]
    )?;
    let evaluated = || results.iter().filter_map(|(who, got)| Some((who, got.as_ref().ok()?)));
    let rows: Vec<[String; 8]> = evaluated()
        .map(|(contender, found)| {
            [
                contender.name().into(),
                share(found.accuracy(), 1),
                share(found.worst_accuracy(), 1),
                share(found.coverage(), 1),
                percent(found.regret(), 2),
                percent(found.worst_regret(), 2),
                format!("{:.2}", found.samples()),
                format!("{:.2}", found.spent()),
            ]
        })
        .collect();
    let header =
        ["predictor", "accuracy", "worst", "90 % coverage", "regret", "worst", "samples", "spent"];
    columns::figures(out, header, &rows)?;
    for (contender, found) in results {
        if let Err(error) = found {
            writeln!(out, "{}: not possible: {error}", contender.name())?;
        }
    }
    for (contender, found) in evaluated().filter(|(contender, _)| contender.predicts()) {
        writeln!(out, "\n{} on {}, program by program", contender.name(), shown(data.machine()))?;
        let rows: Vec<[String; 8]> =
            found.scores.iter().map(|score| program_row(found, score)).collect();
        let header =
            ["app", "accuracy", "of error", "decided", "best", "regret", "samples", "spent"];
        columns::figures(out, header, &rows)?;
    }
    Ok(())
}

fn program_row(found: &Evaluation, score: &Score) -> [String; 8] {
    [
        score.program.clone(),
        share(score.error.map(|error| 1.0 - error), 1),
        share(found.share(score), 1),
        score.decision.to_string(),
        score.best.to_string(),
        percent(score.regret, 2),
        score.samples.to_string(),
        format!("{:.2}", score.spent),
    ]
}

fn share(share: Option<f64>, digits: usize) -> String {
    share.map_or("-".into(), |share| percent(share, digits))
}

fn write_csv(out: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(HEADER).map_err(io::Error::from)?;
    for Finding { data, results } in findings {
        for (contender, found) in results {
            let Ok(found) = found else { continue };
            for score in &found.scores {
                for one in &score.times {
                    let record = record(data.machine(), contender, found, score, one);
                    csv.write_record(record).map_err(io::Error::from)?;
                }
            }
        }
    }
    csv.flush()
}

fn record(
    machine: &str,
    contender: &Contender,
    found: &Evaluation,
    score: &Score,
    one: &Baseline,
) -> [String; HEADER.len()] {
    let figure = |figure: Option<f64>| {
        figure.filter(|figure| figure.is_finite()).map_or(String::new(), |it| it.to_string())
    };
    let forecast = one.forecast;
    let predicts = contender.predicts();
    [
        machine.into(),
        contender.name().into(),
        score.program.clone(),
        one.configuration.to_string(),
        one.measured.to_string(),
        figure(forecast.map(|forecast| forecast.seconds)),
        figure(forecast.map(|forecast| forecast.low)),
        figure(forecast.map(|forecast| forecast.high)),
        forecast.is_some_and(|forecast| forecast.measured).to_string(),
        figure(one.error().filter(|_| predicts)),
        figure(score.error),
        figure(found.share(score)),
        score.decision.to_string(),
        score.best.to_string(),
        score.regret.to_string(),
        score.samples.to_string(),
        score.spent.to_string(),
    ]
}

fn machine(finding: &Finding) -> Machine<'_> {
    let Finding { data, results } = finding;
    Machine {
        machine: data.machine(),
        fingerprint: data.fingerprint(),
        configurations: data.configurations().iter().map(ToString::to_string).collect(),
        left_out: data.left_out(),
        results: results.iter().map(|(contender, found)| result(contender, found)).collect(),
    }
}

fn result<'a>(contender: &'a Contender, found: &'a pacman_adapt::Result<Evaluation>) -> Judged<'a> {
    let predictor = contender.name();
    match found {
        Err(error) => Judged::Problem { predictor, problem: error.to_string() },
        Ok(found) => Judged::Evaluation {
            predictor,
            accuracy: found.accuracy(),
            worst_accuracy: found.worst_accuracy(),
            coverage: found.coverage(),
            regret: found.regret(),
            worst_regret: found.worst_regret(),
            samples: found.samples(),
            spent: found.spent(),
            programs: found.scores.iter().map(|score| program(found, score)).collect(),
        },
    }
}

fn program<'a>(found: &Evaluation, score: &'a Score) -> Program<'a> {
    Program {
        app: &score.program,
        accuracy: score.error.map(|error| 1.0 - error),
        share_of_error: found.share(score),
        decision: score.decision.to_string(),
        best: score.best.to_string(),
        regret: score.regret,
        samples: score.samples,
        spent: score.spent,
    }
}

const HEADER: [&str; 17] = [
    "machine",
    "predictor",
    "app",
    "threads",
    "measured_s",
    "predicted_s",
    "low_s",
    "high_s",
    "sampled",
    "error",
    "app_error",
    "share_of_error",
    "decision",
    "best",
    "regret",
    "samples",
    "spent",
];

const EXAMPLES: &str = "\
Examples:
  pacman-pmu evaluate measured.csv
  pacman-pmu evaluate two-machines.csv --measured-on Keystone --at 8,4,1
  pacman-pmu evaluate measured.csv --csv > long.csv

Exit status:
  0  done
  2  bad input: one line on standard error gives the place and the reason
  4  the answer could not be written";

const READING: &str = "\
Reading the table:
  accuracy   1 minus the mean relative error of times at configurations that were not sampled;
             a mean over programs, in which a missing prediction counts as 0
  90 % coverage  the part of these times that is inside the 90 % intervals
  regret     the time at the chosen configuration divided by that at the best one, minus 1
  samples    executions until the decision, with verification
  spent      the time of the samples, in executions at the best configuration
  of error   the program's part of the error of all programs";

const CSV: &str = "\
CSV:
  machine, predictor, app, threads; measured_s, predicted_s, low_s, high_s; sampled (true or
  false), error (of this time; blank where sampled), app_error and share_of_error (of this app);
  decision, best, regret, samples, spent (of this app)";

const JSON: &str = include_str!("../help/evaluate.txt");
