//! `pacman-pmu predict`: times at all configurations from few samples.

use pacman_events::plural::number;
use std::io::{self, Write};
use std::path::PathBuf;

use pacman_adapt::predict::training::{Row, machines};
use pacman_adapt::predict::{Configuration, Forecast, Predictor, Sample, Step, smt_levels};
use pacman_events::shown::{self, shown};
use serde::Serialize;

use super::file;
use super::help::TABLE;
use super::table::{Defaults, Table};
use pacman_cli::columns;
use pacman_cli::counts::named;
use pacman_cli::error::{self, CliError, CliResult};
use pacman_cli::terminal::Fitted;
use pacman_report::document;

/// Predict the time of a phase at every configuration, and name the next one to run.
///
/// Samples come from --sample, or from a table with the columns of the training data and one
/// execution on each line. The command names the samples that the model needs. With all contexts
/// sampled it also predicts from fewer samples, with wider intervals.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{TABLE}\n\n{CSV}\n\n{JSON}"))]
pub(crate) struct PredictArgs {
    /// The model, made by pacman-pmu train
    #[arg(long, value_name = "MODEL.json")]
    model: PathBuf,

    /// The samples, CSV in long form; - is standard input
    #[arg(value_name = "SAMPLES.csv")]
    samples: Option<PathBuf>,

    /// A sample: a configuration and its seconds; may be given several times
    #[arg(long, value_name = "CONFIG=S", value_parser = sample, conflicts_with = "samples")]
    sample: Vec<Sample>,

    /// The machine that was sampled, if the table does not name it
    #[arg(long, value_name = "NAME")]
    measured_on: Option<String>,

    /// Print a line for each configuration as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

/// The prediction for one program after its samples.
struct Answer {
    program: String,
    forecasts: Vec<Forecast>,
    next: Step,
}

/// Reads the model and the samples and writes forecasts.
pub(crate) fn predict(args: &PredictArgs, out: &mut dyn Write) -> CliResult {
    let model = file::read(&args.model)?;
    let rows = rows(args)?;
    if let Some(machine) = &args.measured_on {
        if let Some(other) = machines(&rows).into_iter().find(|&other| other != machine) {
            let why = format!("--measured-on {machine}: the samples are from {other}");
            return Err(CliError::BadInput(why));
        }
    }
    let mut answers = Vec::new();
    for machine in machines(&rows) {
        let predictor = model
            .on(machine)
            .map_err(|error| CliError::bad_input(error).within(named(&args.model)))?;
        let of_machine: Vec<&Row> = rows.iter().filter(|row| row.machine == machine).collect();
        known(predictor, &of_machine).map_err(|(line, why)| match &args.samples {
            Some(table) => CliError::BadInput(format!("{}: line {line}: {why}", named(table))),
            None => CliError::BadInput(format!("--sample: {why}")),
        })?;
        for program in programs(&of_machine) {
            answers.push(answer(predictor, &program, &of_machine).map_err(|error| {
                let inline = "; a table can give counts, or train with --events none";
                let hint = if error.to_string().contains("no count of") { inline } else { "" };
                match &args.samples {
                    Some(table) => {
                        CliError::BadInput(format!("{}: {program}: {error}{hint}", named(table)))
                    }
                    None => CliError::BadInput(format!("--sample: {error}{hint}")),
                }
            })?);
        }
    }
    if args.json {
        let programs = answers.iter().map(program).collect();
        document::write(out, &Document { machine: &model.machine, programs })?;
    } else if args.csv {
        write_csv(out, &model.machine, &answers)?;
    } else {
        let out = &mut Fitted::stdout(out);
        answers.iter().enumerate().try_for_each(|(index, answer)| {
            if index > 0 {
                writeln!(out)?;
            }
            write_table(out, &model.machine, answer)
        })?;
    }
    Ok(0)
}

fn rows(args: &PredictArgs) -> CliResult<Vec<Row>> {
    if let Some(samples) = &args.samples {
        let defaults = Defaults { machine: args.measured_on.as_deref(), program: Some(PHASE) };
        let table = Table::read(samples, &defaults)?;
        if !table.unused.is_empty() {
            let names = table.unused.join(", ");
            let samples = named(samples);
            error::complain(format!("{samples}: not used, because they are not numbers: {names}"));
        }
        return Ok(table.rows);
    }
    if args.sample.is_empty() {
        return Err(CliError::BadInput("no samples: give a table, or --sample 24=0.42".into()));
    }
    let Some(machine) = &args.measured_on else {
        return Err(CliError::BadInput(
            "--sample needs --measured-on: the model is for one machine only".into(),
        ));
    };
    let row = |(index, sample): (usize, &Sample)| Row {
        line: index as u64 + 1,
        machine: machine.clone(),
        program: PHASE.into(),
        phase: None,
        run: None,
        sample: sample.clone(),
    };
    Ok(args.sample.iter().enumerate().map(row).collect())
}

fn programs(rows: &[&Row]) -> Vec<String> {
    let mut programs: Vec<String> = Vec::new();
    for name in rows.iter().map(|row| row.name()) {
        if !programs.contains(&name) {
            programs.push(name);
        }
    }
    programs
}

/// Refuses samples at a configuration that the model's machine does not have, with their line.
fn known(predictor: &dyn Predictor, rows: &[&Row]) -> Result<(), (u64, String)> {
    let known = predictor.configurations();
    let foreign = rows.iter().find(|row| !known.contains(&row.sample.configuration()));
    foreign.map_or(Ok(()), |row| {
        let why = format!(
            "the model's machine has no configuration {}; it has {}",
            row.sample.configuration(),
            known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        );
        Err((row.line, why))
    })
}

fn answer(predictor: &dyn Predictor, program: &str, rows: &[&Row]) -> pacman_adapt::Result<Answer> {
    let mine = rows.iter().filter(|row| row.name() == program);
    let samples: Vec<Sample> = mine.map(|row| row.sample.clone()).collect();
    Ok(Answer {
        program: program.to_owned(),
        forecasts: predictor.forecast(&samples)?,
        next: predictor.step(&samples)?,
    })
}

/// The next step, in a word.
fn verb(step: &Step) -> &'static str {
    match step {
        Step::Sample { .. } => "sample",
        Step::Verify { .. } => "verify",
        Step::Decide { .. } => "decide",
    }
}

fn events(step: &Step) -> &[String] {
    match step {
        Step::Sample { events, .. } => events,
        Step::Verify { .. } | Step::Decide { .. } => &[],
    }
}

fn write_table(out: &mut dyn Write, machine: &str, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{} on {}", shown(&answer.program), shown(machine))?;
    let fastest = answer.forecasts.iter().map(|one| one.seconds).fold(f64::INFINITY, f64::min);
    let rows: Vec<[String; 6]> = answer
        .forecasts
        .iter()
        .map(|one| {
            let end = |seconds: f64| match (one.measured, seconds.is_finite()) {
                (true, _) => "-".to_owned(),
                (false, true) => digits(seconds),
                (false, false) => "none".into(),
            };
            [
                one.configuration.to_string(),
                digits(one.seconds),
                end(one.low),
                end(one.high),
                format!("{:.2}", one.seconds / fastest),
                if one.measured { "measured" } else { "predicted" }.into(),
            ]
        })
        .collect();
    columns::figures(out, ["threads", "time s", "90 % from", "to", "x best", "source"], &rows)?;
    if let Some(level) = smt_level(&answer.forecasts) {
        let SmtLevel { contexts_per_core, of, time_ratio, .. } = level;
        write!(out, "SMT: {contexts_per_core} of {} of each core", number(of, "context"))?;
        match contexts_per_core == of {
            true => writeln!(out)?,
            false => writeln!(out, ", {time_ratio:.2} of the time with all")?,
        }
    }
    let next = &answer.next;
    write!(out, "next: {} {}", verb(next), next.configuration())?;
    if !events(next).is_empty() {
        write!(out, ", counting {}", shown::line(&events(next).join(", ")))?;
    }
    writeln!(out, " ({})", shown::line(next.why()))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Machine of the model.
    machine: &'a str,
    /// Forecasts by program.
    programs: Vec<Program<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Program<'a> {
    /// Name of the program.
    app: &'a str,
    /// Times by configuration.
    forecasts: Vec<PredictedTime>,
    /// The quickest number of contexts of each core; null if configurations name no cores.
    smt_level: Option<SmtLevel>,
    /// Next execution to make.
    next: Next<'a>,
}

/// The best number of contexts of each core, with all cores.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SmtLevel {
    /// Contexts of each core.
    contexts_per_core: u32,
    /// Contexts that each core has.
    of: u32,
    /// Time over that with all contexts.
    time_ratio: f64,
    /// Whether its time was measured.
    measured: bool,
}

fn smt_level(forecasts: &[Forecast]) -> Option<SmtLevel> {
    let levels = smt_levels(forecasts);
    let best = levels.first()?;
    let all = levels.iter().max_by_key(|level| level.configuration)?;
    Some(SmtLevel {
        contexts_per_core: best.configuration.per_core()?,
        of: all.configuration.per_core()?,
        time_ratio: best.seconds / all.seconds,
        measured: best.measured,
    })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PredictedTime {
    /// Configuration.
    configuration: String,
    /// Seconds of an execution.
    time_s: f64,
    /// Lower end of the 90 % interval.
    low_s: f64,
    /// Upper end of the 90 % interval; null if it is unbounded.
    high_s: Option<f64>,
    /// Whether the time was measured.
    measured: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Next<'a> {
    /// Purpose of the execution.
    #[cfg_attr(test, schemars(extend("enum" = ["sample", "verify", "decide"])))]
    step: &'a str,
    /// Configuration to run.
    configuration: String,
    /// Events to count.
    events: &'a [String],
    /// Reason for it.
    why: &'a str,
}

fn write_csv(out: &mut dyn Write, machine: &str, answers: &[Answer]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let header = ["machine", "app", "threads", "time_s", "low_s", "high_s", "source", "next"];
    csv.write_record(header).map_err(io::Error::from)?;
    for answer in answers {
        for one in &answer.forecasts {
            let here = answer.next.configuration() == one.configuration;
            csv.write_record([
                machine,
                &answer.program,
                &one.configuration.to_string(),
                &one.seconds.to_string(),
                &one.low.to_string(),
                &finite(one.high).map_or(String::new(), |high| high.to_string()),
                if one.measured { "measured" } else { "predicted" },
                if here { verb(&answer.next) } else { "" },
            ])
            .map_err(io::Error::from)?;
        }
    }
    csv.flush()
}

fn program(answer: &Answer) -> Program<'_> {
    let forecasts = answer.forecasts.iter().map(|one| PredictedTime {
        configuration: one.configuration.to_string(),
        time_s: one.seconds,
        low_s: one.low,
        high_s: finite(one.high),
        measured: one.measured,
    });
    Program {
        app: &answer.program,
        forecasts: forecasts.collect(),
        smt_level: smt_level(&answer.forecasts),
        next: Next {
            step: verb(&answer.next),
            configuration: answer.next.configuration().to_string(),
            events: events(&answer.next),
            why: answer.next.why(),
        },
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Four significant digits, without an exponent where a person can do without.
fn digits(seconds: f64) -> String {
    if !(1e-4..1e6).contains(&seconds) {
        return format!("{seconds:.3e}");
    }
    let places = (3 - seconds.log10().floor() as i32).clamp(0, 8) as usize;
    format!("{seconds:.places$}")
}

fn sample(text: &str) -> CliResult<Sample> {
    let Some((on, seconds)) = text.split_once('=') else {
        return Err(CliError::bad_input("a configuration and seconds are needed, such as 24=0.42"));
    };
    let on: Configuration =
        on.parse().map_err(|error: pacman_adapt::Error| CliError::bad_input(error))?;
    let seconds: f64 = seconds
        .parse()
        .map_err(|_| CliError::BadInput(format!("{seconds:?} is not a number of seconds")))?;
    Sample::new(on, seconds).map_err(CliError::bad_input)
}

/// The phase of samples without a name.
const PHASE: &str = "phase";

const EXAMPLES: &str = "\
Examples (--sample gives only a time, so it needs a model trained with --events none):
  pacman-pmu predict --model model.json --measured-on Keystone --sample 8=2.07
  pacman-pmu predict --model model.json --measured-on Keystone --sample 8=2.07 --sample 4=2.70
  pacman-pmu predict --model model.json samples.csv --csv

Exit status:
  0  done
  2  bad input: another machine's model, a damaged model or invalid samples
  4  the answer could not be written";

const CSV: &str = "\
CSV:
  machine, app, threads, time_s, low_s and high_s (90 % interval; high_s blank if unbounded),
  source (measured or predicted), next (sample, verify or decide, on one line)";

const JSON: &str = include_str!("../help/predict.txt");
