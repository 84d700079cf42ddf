//! Programs of others: alone, on one thread, observed and adapted, by turns.
//!
//! `cargo bench -p pacman-cli --bench programs -- --threads 2,4 "./sp.S" "./lulesh2.0 -s 12 -i 200"` runs
//! each command line in every way once a round. It prints the median of the rounds' ratios to the program
//! alone, with their quartiles. A second run alone shows the noise. What `run` takes to start and end is
//! measured with the same options and numbers of threads, adapted or not, and is left out of the ratios. It is measured on a
//! program with debug information, one region and one wait in it, or on the command line of `--start`. That
//! should be the same program with as little work as it can do, such as its smallest class or a single step. Then
//! the first execution of each region is left out too, and so are the names that only this program has.
//!
//! `--observed` leaves out adaptation, which options such as `--waits` exclude. `--library` also leaves out the
//! command: the names in a report of a large program with debug information take milliseconds. `--processor` compares processor
//! time: on a busy machine it varies less than wall time, unless threads spin.
//!
//! Lines of standard output that are equal in all runs alone must be equal in all others, and so must the
//! exit status. The bench ends with status 1 if one is not, or if a signal ended a run.

mod output;
mod ways;

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;

use output::Outputs;
use ways::{OBSERVED, PRELOADED, Times, WAYS, Way};

/// Where one thread takes less of the time alone than this, adaptation has something to gain.
const GAIN: f64 = 0.9;

/// The least number of runs that tell what the start takes. Their noise is in all ratios.
const LEAST_STARTS: u32 = 25;

#[derive(Parser)]
#[command(about = "Runs programs alone, observed and adapted, by turns")]
struct Options {
    /// Rounds, each with one run in every way.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Numbers of threads (OMP_NUM_THREADS), with commas between them.
    #[arg(
        long,
        default_value = "2,4",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    threads: Vec<u32>,
    /// Run alone and observed only, which options such as --waits need.
    #[arg(long)]
    observed: bool,
    /// As --observed, by the library without the command: what the program itself takes, with the usual budget
    /// and, if they are among the options, with --waits.
    #[arg(long, conflicts_with = "observed")]
    library: bool,
    /// Leave out what this command line takes more, such as the same program's smallest class, instead of
    /// what a program with one region takes more.
    #[arg(long, value_name = "COMMAND")]
    start: Option<String>,
    /// Compare processor time instead of wall time.
    #[arg(long)]
    processor: bool,
    /// Options of `run` in all observed and adapted runs, such as --waits.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    with: String,
    /// Adapted runs may also have smaller teams.
    #[arg(long)]
    narrow: bool,
    /// The program's command line; words are separated by spaces.
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
    // Cargo gives it to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// The options of `run`: of all runs, and of adapted ones.
    fn of_run(&self) -> (&str, &[&str]) {
        (&self.with, if self.narrow { &["--narrow"] } else { &[] })
    }

    fn ways(&self) -> &'static [Way] {
        match (self.library, self.observed) {
            (true, _) => &PRELOADED,
            (_, true) => &OBSERVED,
            _ => &WAYS,
        }
    }

    /// The time to compare.
    fn time(&self, times: Times) -> Duration {
        if self.processor { times.processor } else { times.wall }
    }
}

fn main() -> ExitCode {
    match print(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("programs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every output was the program's own.
fn print(options: &Options) -> io::Result<bool> {
    let scratch = tempfile::tempdir()?;
    let ways = options.ways();
    let short = match &options.start {
        Some(command) => command.clone(),
        None => short_program(scratch.path())?,
    };
    let mut starts = Vec::new();
    for &threads in &options.threads {
        let first = ways.iter().copied().find(|way| way.preloads() && !way.adapts());
        let observed = start_cost(&short, first, threads, scratch.path(), options)?;
        let adapted = ways.iter().copied().find(|way| way.adapts());
        let adapted = start_cost(&short, adapted, threads, scratch.path(), options)?;
        starts.push(Starts { observed, adapted });
    }
    let said: Vec<String> = starts.iter().map(ToString::to_string).collect();
    println!(
        "medians of {} ratios to the program alone [quartiles]; left out: start and end of run, {}",
        options.rounds,
        said.join("; ")
    );
    print!("{:>7} {:>9}", "threads", "alone");
    for way in &ways[1..] {
        print!("  {:<19}", way.name());
    }
    println!("  {:>6}  {:>6}  {:<9}  program", "gain", "memory", "output");
    let mut same = true;
    for command in &options.commands {
        for (&threads, &starts) in options.threads.iter().zip(&starts) {
            same &= row(command, threads, options, starts, scratch.path())?;
        }
    }
    Ok(same)
}

/// The time that `run` takes to start and to end.
#[derive(Clone, Copy)]
struct Starts {
    observed: Duration,
    /// It measures a sleep and a wake.
    adapted: Duration,
}

impl Starts {
    fn of(self, way: Way) -> Duration {
        match way {
            _ if way.adapts() => self.adapted,
            _ if way.preloads() => self.observed,
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Display for Starts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [observed, adapted] =
            [self.observed, self.adapted].map(|start| start.as_secs_f64() * 1e3);
        write!(f, "{observed:.1} ms")?;
        if adapted > 0.0 { write!(f, ", adapted {adapted:.1} ms") } else { Ok(()) }
    }
}

/// One program on so many threads.
fn row(
    command: &str,
    threads: u32,
    options: &Options,
    starts: Starts,
    scratch: &Path,
) -> io::Result<bool> {
    let memory = tempfile::tempdir_in(scratch)?;
    let run = |way: Way, command: &str, threads, memory: &Path| {
        way.run(command, threads, options.of_run(), scratch, memory)
    };
    let ways = options.ways();
    let mut ratios = vec![Vec::new(); ways.len()];
    let mut alone = Vec::new();
    let mut outputs = Outputs::default();
    for round in 0..options.rounds as usize {
        let mut seconds = vec![0.0; ways.len()];
        // Each way follows each other one, so that none has always the caches of the same neighbour.
        for turn in 0..ways.len() {
            let at = (turn + round) % ways.len();
            let (times, text) = run(ways[at], command, threads, memory.path())?;
            let time = options.time(times).saturating_sub(starts.of(ways[at]));
            seconds[at] = time.as_secs_f64();
            outputs.add(ways[at], text);
        }
        alone.push(seconds[0]);
        for (ratios, seconds_of_way) in ratios.iter_mut().zip(&seconds) {
            ratios.push(seconds_of_way / seconds[0]);
        }
    }
    print!("{threads:>7} {:>7.3} s", quartiles(&mut alone)[1]);
    let all: Vec<[f64; 3]> = ratios.iter_mut().map(|ratios| quartiles(ratios)).collect();
    for [first, median, third] in &all[1..] {
        print!("  {median:<5.3} [{first:.3}, {third:.3}]");
    }
    let of = |way| Some(all[ways.iter().position(|&other| other == way)?][1]);
    let one = of(Way::OneThread).filter(|one| *one < GAIN);
    for way in [Way::Adapted, Way::Remembered] {
        match one.zip(of(way)) {
            Some((one, adapted)) => print!("  {:>4.0} %", 100.0 * (1.0 - adapted) / (1.0 - one)),
            None => print!("  {:>6}", "-"),
        }
    }
    let difference = outputs.difference();
    println!("  {:<9}  {command}", if difference.is_some() { "differs" } else { "same" });
    if let Some(difference) = &difference {
        println!("        {difference}");
    }
    Ok(difference.is_none())
}

/// A program with one region that has one wait: it has the runtime start, and `run` look names up.
fn short_program(scratch: &Path) -> io::Result<String> {
    let (source, program) = (scratch.join("short.c"), scratch.join("short"));
    std::fs::write(&source, SHORT)?;
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-O2", "-g", "-fopenmp", "-o"]).args([&program, &source]).status();
    let status = status.map_err(|error| io::Error::other(format!("{compiler:?}: {error}")))?;
    if !status.success() {
        return Err(io::Error::other(format!("{compiler:?}: {status}")));
    }
    // Command lines are split at spaces.
    let program = program.into_os_string().into_string().ok().filter(|path| !path.contains(' '));
    program.ok_or_else(|| io::Error::other("the temporary directory has a space in its name"))
}

const SHORT: &str =
    "int main(void) {\n#pragma omp parallel\n{\n#pragma omp barrier\n}\nreturn 0; }\n";

/// The time that a way adds to the `short` program: the median of the rounds' differences.
fn start_cost(
    short: &str,
    way: Option<Way>,
    threads: u32,
    scratch: &Path,
    options: &Options,
) -> io::Result<Duration> {
    let Some(of) = way else { return Ok(Duration::ZERO) };
    let mut more = Vec::new();
    for _ in 0..options.rounds.max(LEAST_STARTS) {
        let time = |way: Way| -> io::Result<Duration> {
            Ok(options.time(way.run(short, threads, options.of_run(), scratch, scratch)?.0))
        };
        let alone = time(Way::Alone)?;
        more.push(time(of)?.saturating_sub(alone).as_secs_f64());
    }
    Ok(Duration::from_secs_f64(quartiles(&mut more)[1]))
}

/// The first quartile, the median and the third quartile.
fn quartiles(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [last / 4, last / 2, last - last / 4].map(|at| values[at])
}
