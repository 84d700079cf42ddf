//! `pacman-pmu run`: an unmodified OpenMP program, its regions observed or adapted.

mod arguments;
mod destination;
pub(crate) mod directory;
mod earlier;
pub(crate) mod embedded;
mod endings;
mod energy;
mod launch;
pub(crate) mod library;
pub(crate) mod memory;
pub(crate) mod options;
mod other_programs;
mod program;
mod ranks;
mod shared;
mod signals;
mod spawn;
mod spin;
mod start;
mod threads;
mod training;
mod watch;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pacman_events::shown::{shown_path, text_of};

use pacman_adapt::Rapl;
use pacman_core::{Provenance, Topology, platform};
use pacman_regions::{Machine, Recording};

use pacman_core::atomic_write;
use pacman_report::exit::{self, Exit};
use pacman_report::run::{Ended, Report, Run};

use crate::error::{self, CliError, CliResult, UNWRITABLE};
use crate::quota::QuotaWatch;
use crate::remembered::{self, Store};
use crate::signals::Signals;
use crate::trusted_driver;
pub(crate) use arguments::RunArgs;
use destination::{Destination, form_of};
use energy::EnergyMeter;
use memory::{Found, Memory};
use other_programs::OtherPrograms;
use ranks::{Gathered, Gathering};
pub(crate) use ranks::{MergeArgs, merge};
use shared::Shared;
use spawn::Environment;
use start::Start;
use training::Training;
use watch::Watch;

/// Runs the program and reports; the exit status is the program's.
pub(crate) fn run(args: &RunArgs) -> CliResult {
    if let Some(directory) = &args.read {
        return read(args, directory);
    }
    // From before the program starts until after the report is written. They stay held to the
    // end: a Ctrl-C reaches this process as late as the program may have ended by it.
    let signals = ManuallyDrop::new(Signals::hold_with_job_control()?);
    prepare(args)?.run(args, &signals)
}

/// Reports on the recordings in a directory.
fn read(args: &RunArgs, directory: &Path) -> CliResult {
    let form = args.output.as_deref().map(form_of).transpose()?;
    let destination = match args.output.as_deref().zip(form) {
        Some((path, form)) => Destination::file(path, form)?,
        None => Destination::standard_error(),
    };
    let destination = destination.with_each_thread(args.each_thread);
    let found = memory::found_in(directory);
    let shown = shown_path(directory);
    let Some(first) = found.recordings.first() else {
        return Err(CliError::BadInput(match &found.wrong[..] {
            [] => format!("cannot read {shown}: it has no recording"),
            wrong => format!("cannot read a recording: {}", wrong.join("; ")),
        }));
    };
    for line in &found.wrong {
        error::complain(format!("a recording is left out: {line}"));
    }
    let (first, machine) = (first.process.clone(), first.machine.clone());
    let end =
        |recording: &Recording| recording.process.began + recording.process.seconds - first.began;
    let seconds = found.recordings.iter().map(end).fold(0.0, f64::max);
    let at = SystemTime::now();
    let ended = Ended { pid: 0, exit: Exit::Status(0), seconds, at, scheduling: None };
    let since_1970 = Duration::try_from_secs_f64(first.began).unwrap_or_default();
    // The machine that reads is not the subject.
    let mut provenance = Provenance::here(None, SystemTime::UNIX_EPOCH + since_1970);
    provenance.host = first.host.unwrap_or(provenance.host);
    provenance.processor = machine.as_ref().map(|machine| machine.processor.clone());
    if let Some(machine) = &machine {
        provenance.system.clone_from(&machine.system);
    }
    let run = Run {
        command: first.command,
        label: None,
        ended,
        provenance,
        objective: None,
        simulated: machine.and_then(|machine| machine.simulated),
        energy: None,
        quota: None,
    };
    let mut recordings = found.recordings;
    endings::complete(&mut recordings, &run.ended);
    let report = Report::of(run, &recordings);
    if report.observed().next().is_none() {
        error::complain(format!("no OpenMP region ran in the recordings in {shown}"));
    }
    destination.write(&report)?;
    Ok(0)
}

/// All that is made before the program starts.
struct Prepared {
    destination: Destination,
    /// Without a library nothing is recorded.
    memory: Option<Memory>,
    environment: Environment,
    /// Where adaptation's measurements are kept from run to run.
    kept: Option<Store>,
    /// Held until the program has ended.
    shared: Option<Shared>,
    /// Cuts samples short until the program has ended.
    watch: Option<Watch>,
    training: Option<Training>,
    energy: Option<Rapl>,
    /// The ranks that share the report, if a launcher started this command as one of several.
    gathering: Option<Gathering>,
    start: Start,
    /// The known obstacle to seeing the program's regions.
    blind: Option<String>,
    /// A file that was asked for will not be written.
    unwritable: bool,
}

fn prepare(args: &RunArgs) -> CliResult<Prepared> {
    let form = args.output.as_deref().map(form_of).transpose()?;
    if let (Some(report), Some(data)) = (&args.output, &args.record) {
        if atomic_write::is_same(report, data) {
            return Err(CliError::BadInput(format!(
                "-o and --record name one file, {}: the report would replace the training data",
                shown_path(data)
            )));
        }
    }
    if let Some(why) = options::never_possible(args) {
        return Err(CliError::BadInput(why));
    }
    let energy = options::rapl(args);
    let energy = energy.map_err(|why| CliError::BadInput(format!("{why}; not run")))?;
    let mut in_the_way: Vec<String> = Vec::new();
    let library = library::find().map_err(|why| in_the_way.push(why.to_string())).ok();
    let obstacles = program::examine(&args.command[0]);
    in_the_way.extend(obstacles.lines);
    let memory = match &library {
        Some(_) => Memory::new().map_err(|why| in_the_way.push(why.to_string())).ok(),
        None => None,
    };
    let blind = in_the_way.first().cloned();
    let shared = match args.share {
        true => Shared::open().map_err(|why| in_the_way.push(why)).ok(),
        false => None,
    };
    let watch = match options::may_pack(args) {
        true => Watch::start().map_err(|why| in_the_way.push(unwatched(&why))).ok(),
        false => None,
    };
    in_the_way.extend(options::odd_events(args));
    in_the_way.extend(options::no_energy(args));
    if args.strict {
        in_the_way.extend(options::impossible(args));
    }
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
    let destination = destination.with_each_thread(args.each_thread);
    let gathering = match &args.output {
        Some(output) => Gathering::begin(output)?,
        None => None,
    };
    let training = args.record.as_deref().and_then(|path| {
        let begun = Training::begin(path, &args.command[0]);
        begun.map_err(|why| in_the_way.push(why.to_string())).ok()
    });
    let unwritable = in_the_way.len() > before_files;
    if let (true, [before @ .., last]) = (args.strict, in_the_way.as_slice()) {
        before.iter().for_each(error::complain);
        return Err(CliError::BadInput(format!("{last}; not run")));
    }
    in_the_way.iter().for_each(error::complain);
    let usable = library.filter(|_| !obstacles.refuses_library).zip(memory);
    let kept = (args.adapt && !args.no_memory).then(Store::of_user).flatten();
    let start = Start::decide(args);
    let (environment, memory) = match usable {
        Some((library, memory)) => (
            options::environment(
                args,
                &library,
                &memory,
                kept.as_ref(),
                shared.as_ref(),
                watch.as_ref(),
            ),
            Some(memory),
        ),
        None => (Environment::default(), None),
    };
    let mut environment = environment;
    start.add_to(&mut environment);
    environment.set.extend(trusted_driver::variable().map(|(name, value)| (name, value.into())));
    Ok(Prepared {
        destination,
        memory,
        environment,
        kept,
        shared,
        watch,
        training,
        energy,
        gathering,
        start,
        blind,
        unwritable,
    })
}

impl Prepared {
    fn run(self, args: &RunArgs, signals: &Signals) -> CliResult {
        let meter = self.energy.map(EnergyMeter::start).transpose().map_err(CliError::refused)?;
        let began = SystemTime::now();
        let quota = QuotaWatch::begin();
        let others = self.kept.as_ref().and_then(|_| OtherPrograms::begin());
        let ended = launch::run(&args.command, self.environment, signals);
        drop(self.shared);
        drop(self.watch);
        let ended = ended?;
        let quota = quota.and_then(QuotaWatch::end);
        let others = others.and_then(OtherPrograms::end);
        let energy = meter.map(EnergyMeter::finish).transpose();
        let energy = energy.inspect_err(|why| error::complain(why)).unwrap_or(None);
        let status = ended.exit.status();
        let found = self.memory.map_or_else(Found::default, |memory| memory.found());
        for line in &found.wrong {
            error::complain(format!("a recording is left out: {line}"));
        }
        let words = args.command.iter().map(text_of);
        let mut recordings = found.recordings;
        let is_told = !self.destination.is_standard_error()
            || self.gathering.is_some()
            || self.training.is_some()
            || self.kept.is_some()
            || recordings.iter().any(has_parallel_work);
        // Reading it takes a hundred files, and a report without regions does not have it.
        let topology = is_told.then(Topology::detect).and_then(Result::ok);
        let run = Run {
            command: words.collect(),
            label: args.label.clone(),
            ended,
            provenance: Provenance::here(topology.as_ref(), began),
            objective: args.adapt.then(|| args.objective.unwrap_or_default().to_string()),
            simulated: platform::current().simulation().map(|machine| machine.title.to_owned()),
            energy,
            quota,
        };
        endings::complete(&mut recordings, &run.ended);
        if let Some(topology) = &topology {
            let system = run.provenance.system.clone();
            let machine = Machine::of(topology, system, run.simulated.clone());
            for recording in &mut recordings {
                recording.machine.get_or_insert_with(|| machine.clone());
            }
        }
        let mut report = Report::of(run.clone(), &recordings);
        report.start = self.start.heading();
        let seen = report.observed().next().is_some() || report.has_mpi();
        if !seen {
            error::complain(nothing_seen(&report, self.blind.as_deref()));
        }
        // A user who looks at a file later, or has a program read it, should know now.
        if !self.destination.is_standard_error() {
            report.uncounted().iter().for_each(error::complain);
            if self.gathering.is_none() {
                report.overview.killed().iter().for_each(error::complain);
            }
        }
        if let Some(kept) = &self.kept {
            let cost =
                topology.as_ref().and_then(|topology| self.start.cost(&report, topology, others));
            remembered::keep(kept, report.remembered(), cost).iter().for_each(error::complain);
        }
        let recorded = self.training.map_or(Ok(Vec::new()), |training| training.add(&report));
        let written = match self.gathering {
            Some(gathering) => match gathering.write(&run, &recordings) {
                Ok(()) => gathering.finish(status != 0).and_then(|end| match end {
                    Gathered::Whole(turn) => ranks::merge_all(&turn, self.destination),
                    Gathered::Elsewhere => Ok(()),
                }),
                Err(why) => Destination::standard_error().write(&report).and(Err(why)),
            },
            None if seen || !self.destination.is_standard_error() => {
                self.destination.write(&report)
            }
            // All that it would say is said.
            None => Ok(()),
        };
        for line in recorded.as_ref().into_iter().flatten() {
            error::complain(line);
        }
        for why in recorded.as_ref().err().into_iter().chain(written.as_ref().err()) {
            error::complain(why);
        }
        let failed = self.unwritable || recorded.is_err() || written.is_err();
        Ok(if failed && status == 0 { UNWRITABLE } else { status })
    }
}

/// Why adaptation changes nothing.
fn unwatched(why: &std::io::Error) -> String {
    format!("cannot watch the samples of adaptation: {why}; regions run as the program has them")
}

/// Whether a region or a call of MPI was recorded.
fn has_parallel_work(recording: &Recording) -> bool {
    let waits = recording.waits.as_ref();
    !recording.regions.is_empty() || waits.is_some_and(|waits| !waits.sites.is_empty())
}

/// The library's words about an error of its own.
const OBSERVING_ENDS: &str = "observing ends, and the program goes on";

/// A process without a runtime records nothing, and so does one that had no library: the program may start others
/// with an environment of their own, as `env -i` does, or where the library finds no memory of the run.
const NO_RUNTIME: &str = "it called no OpenMP runtime that is known (libgomp, libomp), none was linked \
                          dynamically, or it was not observed (LD_PRELOAD was changed, or a line above has \
                          the reason)";

/// The reason why there is nothing to report, if it is known.
fn nothing_seen(report: &Report, blind: Option<&str>) -> String {
    let program = report.command.first().map_or("?", String::as_str);
    let note_of = |words: &str| {
        let mut notes = report.processes.iter().flat_map(|process| &process.notes);
        notes.find(|note| note.contains(words))
    };
    let passed_by = || note_of("were bound past the library");
    let why = match (report.processes.as_slice(), blind, report.ended.exit.signal()) {
        (_, Some(_), _) => "the line before the run has the reason".to_owned(),
        _ if note_of(OBSERVING_ENDS).is_some() => {
            "observing ended early, and the line above has the reason".to_owned()
        }
        ([], _, Some(signal)) => {
            format!("{NO_RUNTIME}, and it was ended by {}", exit::named(signal))
        }
        (processes, ..) if processes.iter().all(|process| process.runtimes.is_empty()) => {
            passed_by().map_or(NO_RUNTIME, |note| note).to_owned()
        }
        (_, _, Some(signal)) => format!(
            "it called an OpenMP runtime, but no parallel region had ended when it was ended by {}",
            exit::named(signal)
        ),
        _ => "it called an OpenMP runtime, but by no call that starts a parallel region of several threads"
            .to_owned(),
    };
    format!("no OpenMP region was seen in {program}: {why}")
}
