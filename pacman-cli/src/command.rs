//! The commands: one variant and one arm each.

use std::fmt::Write as _;
use std::io::Write;

use clap::{Parser, Subcommand};
use pacman_core::platform;

use crate::elsewhere::Elsewhere;
use crate::error::CliResult;
use crate::{
    budget, compare, doctor, elsewhere, events, metrics, plan, remembered, report, run, smt, stat,
    topo, validate,
};

/// Count, explain and use hardware performance counters of threads on SMT cores.
#[derive(Debug, Parser)]
#[command(name = "pacman-pmu", version, after_help = AFTER)]
#[command(infer_subcommands = false)]
pub(crate) struct Cli<C: Subcommand = Command> {
    /// Run on a simulated machine: p4, nehalem, haswell, skylake, icelake, zen4, knl or alderlake
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) machine: Option<String>,

    /// Count hardware events through the kernel's driver also if its counts may be wrong (on a Pentium
    /// 4), and mark them. Programs that a command runs get PACMAN_TRUST_DRIVER=1
    #[arg(long, global = true)]
    pub(crate) trust_driver: bool,

    #[command(subcommand)]
    pub(crate) command: C,
}

/// The command `run` alone. To define all commands takes longer than the rest of the start of `run`.
#[derive(Debug, Subcommand)]
pub(crate) enum OnlyRun {
    Run(run::RunArgs),
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Budget(budget::BudgetArgs),
    Compare(compare::CompareArgs),
    Doctor(doctor::DoctorArgs),
    Encode(events::EncodeArgs),
    Events(events::EventsArgs),
    /// Show how well predictors do on programs that they were not trained on
    Evaluate(Elsewhere),
    List(events::ListArgs),
    Memory(remembered::MemoryArgs),
    Merge(run::MergeArgs),
    Metrics(metrics::MetricsArgs),
    Plan(plan::PlanArgs),
    /// Predict the time of a phase at every configuration, and name the next one to run
    Predict(Elsewhere),
    /// Record the times of a program's phases on the configurations of this machine
    Record(Elsewhere),
    Report(report::ReportArgs),
    Run(run::RunArgs),
    Smt(smt::SmtArgs),
    Stat(stat::StatArgs),
    Topo(topo::TopoArgs),
    /// Train a model that predicts the time of a phase with other numbers of threads
    Train(Elsewhere),
    Validate(validate::ValidateArgs),
}

impl Command {
    /// Whether another program has the command.
    pub(crate) fn is_elsewhere(&self) -> bool {
        use Command::{Evaluate, Predict, Record, Train};
        matches!(self, Evaluate(_) | Predict(_) | Record(_) | Train(_))
    }

    /// Runs the command; the answer is its exit status.
    pub(crate) fn run(&self, out: &mut dyn Write) -> CliResult {
        match self {
            Command::Budget(args) => budget::budget(args, out),
            Command::Compare(args) => compare::compare(args, out),
            Command::Doctor(args) => doctor::doctor(args, out),
            Command::Encode(args) => events::encode(args, &**platform::current(), out),
            Command::Events(args) => events::events(args, &**platform::current(), out),
            Command::List(args) => events::list(args, &**platform::current(), out),
            Command::Memory(args) => remembered::memory(args, out),
            Command::Merge(args) => run::merge(args),
            Command::Metrics(args) => metrics::metrics(args, &**platform::current(), out),
            Command::Plan(args) => plan::plan(args, &**platform::current(), out),
            Command::Report(args) => report::report(args, out),
            Command::Run(args) => run::run(args),
            Command::Smt(args) => smt::smt(args, out),
            Command::Stat(args) => stat::stat(args),
            Command::Topo(args) => topo::topo(args, out),
            Command::Validate(args) => validate::validate(args, out),
            Command::Evaluate(_) | Command::Predict(_) | Command::Record(_) | Command::Train(_) => {
                Err(elsewhere::become_it())
            }
        }
    }
}

/// The commands in the order in which people meet them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Observe and adapt a program", &["run", "merge", "compare", "report", "memory"]),
    ("Count", &["stat", "smt", "validate"]),
    ("Know the machine", &["doctor", "topo"]),
    ("Events, counters and metrics", &["list", "encode", "events", "plan", "metrics", "budget"]),
    ("Models of other numbers of threads", &["record", "train", "evaluate", "predict"]),
];

/// The width of the list.
const WIDTH: usize = 100;

/// The command whose help lists its commands in groups.
pub(crate) fn in_groups(command: clap::Command) -> clap::Command {
    let mut list = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(list, "{group}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            row(&mut list, name, &about.map(ToString::to_string).unwrap_or_default());
            if *name == "run" {
                row(&mut list, "adapt", "The same as run --adapt");
            }
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n       pacman-pmu ./PROGRAM [ARGUMENT]...   as run\n\n{list}\
         Options:\n{{options}}{{after-help}}"
    ))
}

fn row(list: &mut String, name: &str, about: &str) {
    let mut line = format!("  {name:<8} ");
    for word in about.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(list, "{line}");
            line = " ".repeat(11);
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(list, "{line}");
}

const AFTER: &str = "\
Examples:
  pacman-pmu ./program             the parallel regions of an OpenMP program: times and balance
  pacman-pmu adapt ./program       and choose where the threads of each region run
  pacman-pmu stat ./program        counts of any program, by thread
  pacman-pmu doctor                test what this machine can count, and name obstacles
  pacman-pmu doctor --json         the same as JSON
  pacman-pmu topo                  a picture of packages, cores and hardware contexts
  pacman-pmu list --cpu skl STALL  events of a model, by part of their name
  pacman-pmu encode --cpu p4 STALL_CYCLES
                                   the registers that count an event on a Pentium 4
  pacman-pmu plan --cpu p4 --thread INSTRUCTIONS --thread INSTRUCTIONS
                                   counters for the threads of one core
  pacman-pmu help doctor           the full help of one command
  pacman-pmu --machine p4 doctor   the same on a simulated machine

Exit status:
  0  done
  2  bad input: one line on standard error gives the reason
  4  the answer could not be written
  127  the program pacman-train is missing, which has record, train, predict and evaluate
  Some commands have more; their --help lists them.
  A reader may close standard output early: the exit status stays the same.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Cli, Command, GROUPS};

    #[test]
    fn each_command_is_in_one_group() {
        let cli = Cli::<Command>::command();
        let mut names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn no_command_has_an_option_of_the_name_that_all_of_them_have() {
        let cli = Cli::<Command>::command();
        let global: Vec<_> = cli.get_arguments().filter(|option| option.is_global_set()).collect();
        assert!(global.iter().any(|option| option.get_long() == Some("machine")));
        for command in cli.get_subcommands() {
            for option in command.get_arguments() {
                // The parser would silently give both the same value.
                let taken = global.iter().any(|other| other.get_id() == option.get_id());
                assert!(!taken, "{} {option}", command.get_name());
            }
        }
    }
}
