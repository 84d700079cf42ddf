//! `pacman-pmu run`: an unmodified OpenMP program, its regions observed or adapted.

mod csv;
mod destination;
pub(crate) mod directory;
mod elf;
mod html;
mod json;
mod launch;
pub(crate) mod library;
mod names;
mod program;
mod report;
mod text;
mod training;
pub(crate) mod wishes;

use std::ffi::OsString;
use std::io;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use pacman_core::{Topology, sim};
use pacman_regions::{Guard, Objective, Waiting};

use crate::refusal::{self, BAD_INPUT, UNWRITTEN};
use crate::stat::{Refusal, Signals};
use crate::whole;
use destination::{Destination, Form};
use directory::{Directory, Found};
use launch::Environment;
use report::{Report, Run};
use training::Training;

/// Run an OpenMP program and say what its parallel regions did; with --adapt, run each region
/// with the number of threads that suits it.
///
/// COMMAND runs unmodified, with libpacman_omp.so preloaded into it: GCC's and LLVM's runtimes
/// are known, and every process that COMMAND starts is observed too. Standard input, output and
/// error are COMMAND's; the report follows on standard error, or goes to the file of -o. Times are
/// wall time; counts are of user mode, by thread.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{FORMS}"))]
pub(crate) struct RunArgs {
    /// Events to count in every region, separated by commas; else only times are taken
    #[arg(short, long, value_name = "EVENTS")]
    events: Option<String>,

    /// Write the report to FILE, in the form of its ending: .txt, .csv, .json or .html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Add the run's regions to this file as training data, for train and evaluate: run again at other
    /// numbers of threads for more
    #[arg(long, value_name = "DATA.csv", conflicts_with = "adapt")]
    record: Option<PathBuf>,

    /// Choose the threads of each region by trying
    #[arg(long)]
    adapt: bool,

    /// What adaptation makes less: time, energy, edp (energy x time) or ed2p
    #[arg(long, value_name = "WHAT", requires = "adapt")]
    objective: Option<Objective>,

    /// Predict from samples by this model (pacman-pmu train) in place of searching
    #[arg(long, value_name = "FILE", requires = "adapt")]
    model: Option<PathBuf>,

    /// Give no region more than N threads
    #[arg(long, value_name = "N", requires = "adapt",
          value_parser = clap::value_parser!(u32).range(1..))]
    max_threads: Option<u32>,

    #[arg(long, value_name = "GUARDS", value_delimiter = ',', requires = "adapt", help = lift())]
    lift: Vec<Guard>,

    /// How idle threads wait: auto (no spinning beside a narrowed region), keep (as the runtime
    /// does) or block (at once, from the start)
    #[arg(long, value_name = "HOW", requires = "adapt")]
    waiting: Option<Waiting>,

    /// Do not run COMMAND if anything asked for is not possible; else it runs in any case. What only
    /// the run shows (no region seen, a model that knows no team of that size) is said after it
    #[arg(long)]
    strict: bool,

    /// The program to run, with its arguments; its exit status becomes this one's
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn lift() -> String {
    let words: Vec<_> = Guard::ALL.iter().map(|guard| guard.word()).collect();
    format!("Adapt in spite of these guards, separated by commas: {}", words.join(", "))
}

/// Runs the program and reports; the exit status is the program's.
pub(crate) fn run(args: &RunArgs) -> io::Result<u8> {
    // From before the directory for recordings is there until after it is gone. They stay held
    // to the end: a Ctrl-C reaches this process as late as the program may have ended by it.
    let signals = ManuallyDrop::new(Signals::hold()?);
    let done = prepare(args).and_then(|prepared| prepared.run(args, &signals));
    Ok(done.unwrap_or_else(|Refusal { problem, status }| {
        refusal::complain(&problem);
        status
    }))
}

/// All that is made before the program starts.
struct Prepared {
    destination: Destination,
    /// Without a library nothing is recorded.
    directory: Option<Directory>,
    environment: Environment,
    training: Option<Training>,
    /// What is known to keep the program's regions from being seen.
    blind: Option<String>,
    /// A file that was asked for will not be written.
    unwritable: bool,
}

fn prepare(args: &RunArgs) -> Result<Prepared, Refusal> {
    let form = args.output.as_deref().map(Form::of).transpose().map_err(bad_input)?;
    if let (Some(report), Some(data)) = (&args.output, &args.record) {
        if whole::is_same(report, data) {
            return Err(bad_input(format!(
                "-o and --record name one file, {}: the report would replace the training data",
                data.display()
            )));
        }
    }
    let mut in_the_way: Vec<String> = Vec::new();
    let library = library::find().map_err(|why| in_the_way.push(why)).ok();
    let obstacles = program::examine(&args.command[0]);
    in_the_way.extend(obstacles.lines);
    let directory = match &library {
        Some(_) => Directory::new().map_err(|why| in_the_way.push(why)).ok(),
        None => None,
    };
    let blind = in_the_way.first().cloned();
    in_the_way.extend(wishes::odd_events(args));
    in_the_way.extend(match args.strict {
        true => wishes::impossible(args),
        false => wishes::no_model(args).into_iter().collect(),
    });
    let before_files = in_the_way.len();
    let destination = match args.output.as_deref().zip(form) {
        Some((path, form)) => Destination::file(path, form).unwrap_or_else(|why| {
            // With --strict nothing goes anywhere.
            in_the_way.push(match args.strict {
                true => format!("{why}; name a file in a directory that can be written"),
                false => format!("{why}; it goes to standard error"),
            });
            Destination::standard_error()
        }),
        None => Destination::standard_error(),
    };
    let training = args.record.as_deref().and_then(|path| {
        let begun = Training::begin(path, &args.command[0]);
        begun.map_err(|why| in_the_way.push(why)).ok()
    });
    let unwritable = in_the_way.len() > before_files;
    if let (true, [before @ .., last]) = (args.strict, in_the_way.as_slice()) {
        before.iter().for_each(|line| refusal::complain(line));
        return Err(Refusal { problem: format!("{last}; not run"), status: BAD_INPUT });
    }
    in_the_way.iter().for_each(|line| refusal::complain(line));
    let usable = library.filter(|_| !obstacles.refuses_library).zip(directory);
    let (environment, directory) = match usable {
        Some((library, directory)) => {
            (wishes::environment(args, &library, directory.path()), Some(directory))
        }
        None => (Environment::default(), None),
    };
    Ok(Prepared { destination, directory, environment, training, blind, unwritable })
}

impl Prepared {
    fn run(self, args: &RunArgs, signals: &Signals) -> Result<u8, Refusal> {
        let ended = launch::run(&args.command, self.environment, signals)?;
        let status = ended.status;
        let found = self.directory.map_or_else(Found::default, |directory| {
            directory.found().unwrap_or_else(|error| Found {
                wrong: vec![format!("{}: {error}", directory.path().display())],
                ..Found::default()
            })
        });
        for line in &found.wrong {
            refusal::complain(&format!("a recording is left out: {line}"));
        }
        let words = args.command.iter().map(|word| word.to_string_lossy().into_owned());
        let run = Run {
            command: words.collect(),
            ended,
            objective: args.adapt.then(|| args.objective.unwrap_or_default().to_string()),
            simulated: sim::current().ok().flatten().map(|machine| machine.title().to_owned()),
        };
        let topology = Topology::detect().ok();
        let report = Report::of(run, &found.recordings, topology.as_ref());
        let seen = report.parallel().next().is_some();
        if !seen {
            refusal::complain(&nothing_seen(&report, self.blind.as_deref()));
        }
        // Who looks at a file later, or has a program read it, should know now.
        if !self.destination.is_standard_error() {
            report.uncounted().iter().for_each(|line| refusal::complain(line));
        }
        let recorded = self.training.map_or(Ok(Vec::new()), |training| training.add(&report));
        let written = match seen || !self.destination.is_standard_error() {
            true => self.destination.write(&report),
            // All that it would say is said.
            false => Ok(()),
        };
        for line in recorded.as_ref().into_iter().flatten() {
            refusal::complain(line);
        }
        for why in recorded.as_ref().err().into_iter().chain(written.as_ref().err()) {
            refusal::complain(why);
        }
        let failed = self.unwritable || recorded.is_err() || written.is_err();
        Ok(if failed && status == 0 { UNWRITTEN } else { status })
    }
}

/// Why there is nothing to report, as far as that is known.
fn nothing_seen(report: &Report, blind: Option<&str>) -> String {
    let program = report.command.first().map_or("?", String::as_str);
    let why = match (report.processes.as_slice(), blind, report.ended.signal) {
        (_, Some(_), _) => "why is said above, before it ran".to_owned(),
        ([], _, Some(signal)) => {
            format!("no process left a recording: it was ended by signal {signal}")
        }
        ([], ..) => "no process left a recording: the library was not loaded, or the process \
                     was killed"
            .to_owned(),
        (processes, ..) if processes.iter().all(|process| process.runtimes.is_empty()) => {
            "it called no OpenMP runtime that is known (libgomp, libomp), or none was linked \
             dynamically"
                .to_owned()
        }
        _ => "an OpenMP runtime was there, but no parallel region was started".to_owned(),
    };
    format!("no OpenMP region was seen in {program}: {why}")
}

fn bad_input(problem: String) -> Refusal {
    Refusal { problem, status: BAD_INPUT }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu run -- ./program 4                        times, balance and waiting by region
  pacman-pmu run -e CYCLES,INSTRUCTIONS -- ./program   with counts
  pacman-pmu run -o report.html -- ./program           a page for the browser
  pacman-pmu run --adapt -- ./program                  threads chosen by region, for time
  pacman-pmu run --adapt --objective edp --waiting block -- ./program
  pacman-pmu run --adapt --lift query -o report.json -- ./program
  pacman-pmu run -o ranks.csv -- mpirun -n 4 ./program
  for n in 1 2 4; do OMP_NUM_THREADS=$n pacman-pmu run --record data.csv -- ./program; done
                                                       training data, for pacman-pmu train

Exit status:
  COMMAND's own, or 128 and the number of the signal that ended it; and
  2    bad input, or with --strict something that is not possible; COMMAND did not run
  4    COMMAND ended well, but the report or --record's file could not be written
  126  COMMAND could not be run
  127  COMMAND was not found

What cannot be seen: static programs, set-user-ID programs, other architectures, processes that
are killed or end by a bare system call, and regions that run on one thread because the compiler
made them so.";

const FORMS: &str = "\
CSV, a row a thread of a region:
  pid,parent,program,region,name,file,line,module,address,entry,runtime,executions,nested,
  region_seconds,share,imbalance,waiting,threads_chosen,thread,thread_executions,busy_seconds,
  cpu,package,core,sibling,beside,moves,counted
  and a column an event, such as CYCLES; what is absent is empty

JSON:
  format, version  \"pacman-run\", 1
  command, seconds, exit_status, signal, objective, simulated, notes
  processes        a list of pid, parent, command, seconds, ending, runtimes, threads, contexts,
                   share, events, metrics, overhead, regions, timeline and notes
  docs/openmp.md tells about every field.";
