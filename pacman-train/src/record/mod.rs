//! `pacman-pmu record`: training data, by running a program on the configurations of this machine.

mod child;
mod phases;
mod regions;
mod schedule;

use pacman_events::plural::number;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use pacman_adapt::predict::{Configuration, machine_name};
use pacman_adapt::{Candidates, places};
use pacman_core::{Event, Placement, Topology, platform};
use pacman_events::shown::{shown, shown_path};
use pacman_regions::Scheduling;

use crate::noise::Times;
use crate::progress::Progress;
use child::{Ended, Run};
use pacman_cli::error::{self, CliError, CliResult};
use pacman_cli::recording::{Directory, Memory, find_library, named_twice};
use pacman_cli::signals::Signals;
use pacman_cli::training_csv::{self, Measurement};
use pacman_core::atomic_write;
use pacman_report::exit::INTERRUPTED;
use phases::{Found, Phase, Said};

/// Record the times of a program's phases on the configurations of this machine.
///
/// COMMAND runs several times at each configuration, bound to the hardware contexts of the
/// configuration. OMP_NUM_THREADS and PACMAN_THREADS give it the number of threads. Its phases are
/// those that it marks through PACMAN: its sessions write reports to PACMAN_REPORT_DIR. With
/// --regions the phases are the parallel regions of any OpenMP program. The rows are training data
/// for train and evaluate. COMMAND's standard input is empty.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{COLUMNS}"))]
pub(crate) struct RecordArgs {
    /// The file of training data, CSV in long form
    #[arg(short, long, value_name = "DATA.csv")]
    output: PathBuf,

    /// Append to the file if it exists
    #[arg(long)]
    append: bool,

    /// The number of runs at each configuration
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    runs: u64,

    /// Skip configurations with more than N threads
    #[arg(long, value_name = "N", conflicts_with = "configurations",
          value_parser = clap::value_parser!(u32).range(1..))]
    max_threads: Option<u32>,

    /// Use these configurations, such as 1x1,2x1,4x2/2: cores x threads on each, on 2 NUMA nodes
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    configurations: Option<Vec<Configuration>>,

    /// Events to count in addition to the program's own, separated by commas. If they do not fit at
    /// once, event sets rotate
    #[arg(short, long, value_name = "EVENTS")]
    events: Option<String>,

    /// Take the parallel regions of an OpenMP program as its phases
    #[arg(long)]
    regions: bool,

    /// The name of the program in the data [default: the name of its file]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    app: Option<String>,

    /// The name of this machine in the data [default: its processor, cores and contexts]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    measured_on: Option<String>,

    /// Drop the program's output
    #[arg(short, long)]
    quiet: bool,

    /// The program, with its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND", required = true)]
    command: Vec<OsString>,
}

/// Runs the program at every configuration and writes the rows after each run.
pub(crate) fn record(args: &RecordArgs, out: &mut dyn Write) -> CliResult {
    let plan = Plan::new(args)?;
    if args.output.exists() && !args.append {
        return Err(CliError::BadInput(format!(
            "{} is there already: --append adds to it, another -o leaves it alone",
            shown_path(&args.output)
        )));
    }
    atomic_write::check(&args.output)
        .map_err(|error| CliError::unwritable(&args.output, &error))?;
    let before = training_csv::runs(&args.output, &plan.machine, &plan.app)?;
    // To the end: a signal that comes late must not take the summary away.
    let signals = ManuallyDrop::new(Signals::hold()?);
    let mut recorder = Recorder {
        args,
        plan,
        before,
        rows: 0,
        said: Said::default(),
        failed: BTreeSet::new(),
        phases: BTreeSet::new(),
        times: Times::default(),
        runs: 0,
        busy: 0,
    };
    let status = recorder.all(&signals)?;
    recorder.sum_up(out)?;
    Ok(status)
}

/// The runs, and their configurations.
struct Plan {
    machine: String,
    app: String,
    /// With the logical CPUs of each.
    configurations: Vec<(Configuration, Vec<u32>)>,
    /// With --regions.
    library: Option<PathBuf>,
}

impl Plan {
    fn new(args: &RecordArgs) -> CliResult<Plan> {
        if let Some(machine) = platform::current().simulation() {
            return Err(CliError::BadInput(format!(
                "cannot record on simulated machine {}: times would be those of this one",
                machine.name
            )));
        }
        if let Some(events) = &args.events {
            let events = Event::parse_list(events).map_err(CliError::bad_input)?;
            named_twice(&events)?;
        }
        let topology = Topology::detect().map_err(CliError::bad_input)?;
        topology.caveats().iter().for_each(error::complain);
        let mut all = match &args.configurations {
            Some(listed) => listed.clone(),
            None => {
                let most = args.max_threads.map(|threads| threads as usize);
                Candidates::of(&topology, most).map_err(CliError::bad_input)?.all().to_vec()
            }
        };
        all.sort_unstable();
        all.dedup();
        let cpus = |on: Configuration| {
            let places = places(&topology, on, &Placement::Compact).map_err(|error| {
                CliError::BadInput(format!("this machine has no configuration {on}: {error}"))
            })?;
            Ok((on, places.iter().map(|place| place.cpu()).collect()))
        };
        let needed = |error: CliError| error.within("--regions needs the library");
        let configurations: CliResult<_> = all.into_iter().map(cpus).collect();
        Ok(Plan {
            machine: args.measured_on.clone().unwrap_or_else(|| machine_name(&topology)),
            app: args.app.clone().unwrap_or_else(|| child::name(&args.command[0])),
            configurations: configurations?,
            library: args.regions.then(find_library).transpose().map_err(needed)?,
        })
    }

    fn cpus(&self, on: Configuration) -> &[u32] {
        let known = self.configurations.iter().find(|(other, _)| *other == on);
        known.map_or(&[], |(_, cpus)| cpus)
    }
}

/// The recording under way.
struct Recorder<'a> {
    args: &'a RecordArgs,
    plan: Plan,
    /// Runs that the file had already.
    before: u64,
    /// Written by now.
    rows: usize,
    said: Said,
    /// Configurations that are not tried again.
    failed: BTreeSet<Configuration>,
    phases: BTreeSet<String>,
    times: Times,
    runs: usize,
    /// Runs whose program got clearly less than a processor for a thread.
    busy: usize,
}

impl Recorder<'_> {
    /// Runs all; returns the exit status, or the error that prevents recording.
    fn all(&mut self, signals: &Signals) -> CliResult {
        let configurations: Vec<Configuration> =
            self.plan.configurations.iter().map(|(on, _)| *on).collect();
        let order = schedule::rounds(&configurations, self.args.runs);
        let progress = Progress::new(order.len(), &self.plan.app);
        for (round, on) in order {
            if !self.failed.contains(&on) {
                let place = match self.plan.library {
                    Some(_) => Place::Memory(Memory::new()?),
                    None => Place::Directory(Directory::new()?),
                };
                let (ended, scheduling) = self.run(on, &place, signals)?;
                self.runs += 1;
                self.busy +=
                    usize::from(scheduling.is_some_and(|account| account.lacks_processors()));
                let complete = match &ended {
                    Ended::Well | Ended::Stopped { well: true } => true,
                    Ended::Stopped { well: false } => false,
                    Ended::Badly(why) => {
                        self.fail(on, why);
                        false
                    }
                };
                if complete {
                    self.keep(round, on, &place)?;
                }
                if let Ended::Stopped { .. } = ended {
                    return Ok(INTERRUPTED);
                }
            }
            progress.step();
        }
        Ok(if self.failed.is_empty() { 0 } else { 1 })
    }

    fn run(
        &self,
        on: Configuration,
        place: &Place,
        signals: &Signals,
    ) -> CliResult<(Ended, Option<Scheduling>)> {
        let events = self.args.events.as_deref().unwrap_or_default();
        let environment = match (place, &self.plan.library) {
            (Place::Memory(memory), Some(library)) => regions::environment(library, memory, events),
            (Place::Memory(_), None) => Vec::new(),
            (Place::Directory(directory), _) => vec![
                ("PACMAN_REPORT_DIR", directory.path().into()),
                ("PACMAN_REPORT_EVENTS", events.into()),
            ],
        };
        let (command, cpus) = (&self.args.command[..], self.plan.cpus(on));
        let run = Run { command, cpus, environment: &environment, quiet: self.args.quiet };
        run.run(signals).map_err(|error| CliError::refused(CliError::not_run(&command[0], &error)))
    }

    /// Takes the results of a run. A run without results makes the configuration fail.
    fn keep(&mut self, round: u64, on: Configuration, from: &Place) -> CliResult<()> {
        let found = match from {
            Place::Directory(directory) => phases::found_in(directory.path()),
            Place::Memory(memory) => regions::of(memory.found(), on.threads()),
        };
        let Found { phases, wrong } = match found {
            Ok(found) => found,
            // Nothing of it was ever usable: the same everywhere, and said once.
            Err(why) if self.phases.is_empty() && self.failed.is_empty() => {
                return Err(why.within(&self.plan.app));
            }
            Err(why) => {
                self.fail(on, &why.to_string());
                return Ok(());
            }
        };
        for line in wrong {
            if self.said.first(&line) {
                error::complain(format!("{}: {line}", self.plan.app));
            }
        }
        for phase in &phases {
            self.times.add(&phase.name, on, phase.seconds);
        }
        self.phases.extend(phases.iter().map(|phase| phase.name.clone()));
        let row = |phase: Phase| Measurement {
            machine: self.plan.machine.clone(),
            program: self.plan.app.clone(),
            phase: phase.name,
            configuration: on,
            run: self.before + round + 1,
            seconds: phase.seconds,
            executions: phase.executions,
            counts: phase.counts,
        };
        let rows: Vec<Measurement> = phases.into_iter().map(row).collect();
        self.rows += rows.len();
        training_csv::append(&self.args.output, &rows)
    }

    fn fail(&mut self, on: Configuration, why: &str) {
        self.failed.insert(on);
        error::complain(format!("{} at {on}: {why}; not run there again", self.plan.app));
    }

    fn sum_up(&self, out: &mut dyn Write) -> io::Result<()> {
        let (rows, phases) = (self.rows, self.phases.len());
        if rows == 0 {
            let file = shown_path(&self.args.output);
            error::complain(format!(
                "{}: no run has ended well: {file} is as it was",
                self.plan.app
            ));
            return Ok(());
        }
        writeln!(
            out,
            "{}: {} of {} on {}, in {}",
            shown(&self.plan.app),
            number(rows, "row"),
            number(phases, "phase"),
            shown(&self.plan.machine),
            shown_path(&self.args.output)
        )?;
        if self.busy > 0 {
            writeln!(
                out,
                "in {} of {} the first thread had a processor in less than 95 % of the time in \
                 which it could run: their times are in part those of a busy machine; record again \
                 on an idle one",
                self.busy,
                number(self.runs, "run")
            )?;
        }
        match self.times.line() {
            Some(line) => writeln!(out, "{line}"),
            None => Ok(()),
        }
    }
}

/// The place where a run leaves its results.
enum Place {
    /// Reports of sessions.
    Directory(Directory),
    /// Regions.
    Memory(Memory),
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu record -o data.csv -- ./solver input     a program that marks phases
  pacman-pmu record -o data.csv --append --app solver-large -- ./solver large
  pacman-pmu record -o regions.csv --regions --quiet -- ./lulesh -s 30
                                   an unmodified OpenMP program
  pacman-pmu record -o chosen.csv --configurations 1x1,2x1 --runs 5 \\
      -e INSTRUCTIONS,L2_MISSES -- ./solver input
  pacman-pmu train data.csv -o model.json             train a model on the data

Exit status:
  0    done
  1    the program failed at a configuration, or marks no phases: one line gives the reason. The
       file keeps the rows of other configurations
  2    bad input
  4    the answer could not be written
  130  interrupted: the file has the rows of all runs that had ended";

const COLUMNS: &str = "\
Columns, a row for each phase, configuration and run:
  machine, app, phase, threads (2x1: 2 cores with 1 thread each), run
  time_s      seconds of one execution, a mean over the run. If several threads mark the phase,
              the value is that of the thread with the longest time in it
  executions  the number of executions in the mean
  others      counts of one execution, summed over threads; the column is the event's name in
              lower case. A blank was not counted
Runs alternate between configurations, so that a slow drift of the machine affects all equally.
Module and address name a region, so names are comparable for one binary only.";
