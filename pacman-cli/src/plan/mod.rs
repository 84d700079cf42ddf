//! `pacman-pmu plan`: counters for the sibling threads of a core, or why not.

mod json;
mod layout;
mod request;

use std::io::Write;

use clap::{Args, ValueEnum};
use pacman_core::platform::Platform;
use pacman_events::CpuModel;
use pacman_events::allocate::{Conflict, Pmu};
use pacman_events::partition::{Partition, Schedule};

use crate::error::{BAD_INPUT, CliError, CliResult};
use crate::events::{self, Tables};
use crate::terminal::Fitted;
#[cfg(test)]
pub(crate) use json::{Infeasible, Plan};
use pacman_report::document;
use request::{Failure, Request};

/// The events cannot be counted as asked.
pub(crate) const CONFLICT: u8 = 3;

/// Assign the counters of one core to the events of its sibling threads
///
/// The command uses as few event sets as the hardware allows. The sets rotate over the executions of
/// a phase. If an event cannot be counted at all, the answer has the reason and a remedy.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  pacman-pmu plan --cpu p4-prescott --thread instr_retired:NBOGUSNTAG,STALL_CYCLES \\
                  --thread instr_retired:NBOGUSNTAG
  pacman-pmu plan --cpu hsw --thread MEM_LOAD_UOPS_RETIRED.L2_MISS,CYCLES --thread CYCLES
  pacman-pmu plan --cpu p4 --split even --json --thread BSQ_cache_reference:RD_2ndL_MISS
  pacman-pmu plan --cpu skl --smt off --at-once --thread INSTRUCTIONS,L2_MISSES,DTLB_MISSES
  pacman-pmu plan --cpu skl --spread --thread INSTRUCTIONS,L1D_MISSES,L2_MISSES,LLC_MISSES

In JSON a fixed counter n has number 32 + n, and an ESCR is its register number.

Exit status:
  0  planned
  2  a wrong name or option
  3  the events cannot be counted this way
  4  the answer could not be written")]
pub(crate) struct PlanArgs {
    /// Which processor and tables
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// How to divide the counters that threads of a core share (NetBurst)
    #[arg(long, value_enum, default_value = "by-demand")]
    pub(crate) split: Split,
    /// Whether siblings are enabled [default: as on this machine; on with --cpu]
    #[arg(long, value_enum)]
    pub(crate) smt: Option<Switch>,
    /// Events of one thread, separated by commas. Give it for each sibling in order; an empty list
    /// counts nothing
    #[arg(long = "thread", value_name = "EVENTS", required = true)]
    pub(crate) threads: Vec<String>,
    /// Count each event of the single list on any thread, because all threads run the same phase
    #[arg(long)]
    pub(crate) spread: bool,
    /// Give the reason instead of rotating event sets, if the events do not fit at once
    #[arg(long, conflicts_with = "spread")]
    pub(crate) at_once: bool,
    /// Leave a counter for the kernel's NMI watchdog [default without --cpu: as on this machine]
    #[arg(long)]
    pub(crate) watchdog: bool,
    /// Use also counters that are better left alone (counter 1 of NetBurst)
    #[arg(long)]
    pub(crate) all_counters: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The division of a core's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Split {
    /// One half for each thread, as PACMAN did
    Even,
    /// Counters by demand, planned for both threads together
    ByDemand,
    /// All for the first thread that counts anything
    Whole,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Siblings are enabled
    On,
    /// Siblings have been disabled since reset
    Off,
}

/// Runs `plan`; the answer is the exit status.
///
/// An unknown name goes to `out` with `--json`, else to standard error.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn plan(args: &PlanArgs, machine: &dyn Platform, out: &mut dyn Write) -> CliResult {
    let loaded = args.tables.load(machine)?;
    let pmu = core(args, loaded.cpu(), machine);
    let request = match Request::read(&args.threads, &loaded, &pmu) {
        Ok(request) => request,
        Err(Failure { asked, refusal }) => {
            if !args.json {
                return Err(CliError::bad_input(refusal));
            }
            document::write(out, &events::refusal(&asked, &refusal))?;
            return Ok(BAD_INPUT);
        }
    };
    if request.threads.iter().all(Vec::is_empty) {
        return Err(CliError::bad_input(
            "cannot plan an empty list of events; name one, such as --thread CYCLES",
        ));
    }
    if let Some(long) = request.threads.iter().map(Vec::len).find(|events| *events > MOST_EVENTS) {
        return Err(CliError::BadInput(format!(
            "a list has at most {MOST_EVENTS} events, and one has {long}"
        )));
    }
    let lists = request.threads.len();
    if args.spread && lists != 1 {
        return Err(CliError::BadInput(format!(
            "--spread takes one --thread, the events of all; {lists} given"
        )));
    }
    if lists > usize::from(pmu.contexts()) {
        let contexts = pmu.contexts();
        return Err(CliError::BadInput(format!(
            "{lists} threads, but {} has {contexts} to a core with SMT {}",
            loaded.cpu(),
            if contexts > 1 { "on" } else { "off" },
        )));
    }
    let partition = partition(args.split, &request);
    let shown = if args.spread { usize::from(pmu.contexts()) } else { lists };
    let all_at_once = || partition.plan(&pmu, &request.demands);
    let answer = if args.spread {
        partition.spread(&pmu, &request.demands[0])
    } else {
        partition.sets(&pmu, &request.demands)
    };
    let answer = match answer {
        Ok(schedule) if args.at_once && schedule.sets().len() > 1 => {
            all_at_once().and(Ok(schedule))
        }
        answer => answer,
    };
    match answer {
        Err(conflict) => refuse(args, &request, &pmu, &conflict, out),
        Ok(schedule) if args.json => {
            document::write(out, &json::plan(&schedule, &request, shown, args.spread))?;
            Ok(0)
        }
        Ok(schedule) => {
            let out = &mut Fitted::stdout(out);
            let title = title(args, loaded.cpu(), &pmu, &schedule);
            layout::plan(&title, &schedule, &request, shown, args.spread, out)?;
            layout::parted(&schedule, &request, out)?;
            if schedule.sets().len() > 1 && !args.spread {
                if let Err(conflict) = all_at_once() {
                    layout::turns(&conflict, out)?;
                }
            }
            Ok(0)
        }
    }
}

/// Ten times what anybody plans: sets are searched in time that grows with the square.
const MOST_EVENTS: usize = 256;

fn refuse(
    args: &PlanArgs,
    request: &Request,
    pmu: &Pmu,
    conflict: &Conflict,
    out: &mut dyn Write,
) -> CliResult {
    if args.json {
        document::write(out, &json::conflict(conflict, request))?;
    } else {
        layout::conflict(conflict, request, pmu, &mut Fitted::stdout(out))?;
    }
    Ok(CONFLICT)
}

/// The core that the options describe.
fn core(args: &PlanArgs, cpu: CpuModel, machine: &dyn Platform) -> Pmu {
    let here = args.tables.cpu.is_none().then(|| machine.permissions());
    let smt = match args.smt {
        Some(switch) => switch == Switch::On,
        None => here.as_ref().is_none_or(|permissions| permissions.smt),
    };
    let mut pmu = Pmu::of(cpu, smt);
    if args.all_counters {
        pmu = pmu.allowing_all_counters();
    }
    if args.watchdog || here.is_some_and(|permissions| permissions.watchdog) {
        pmu = pmu.with_watchdog();
    }
    pmu
}

fn partition(split: Split, request: &Request) -> Partition {
    match split {
        Split::Even => Partition::Even,
        Split::ByDemand => Partition::ByDemand,
        Split::Whole => {
            let first = request.demands.iter().position(|demands| !demands.is_empty());
            Partition::Whole { owner: first.unwrap_or(0) as u8 }
        }
    }
}

fn title(args: &PlanArgs, cpu: CpuModel, pmu: &Pmu, schedule: &Schedule) -> String {
    let contexts = match pmu.contexts() {
        1 => "one context to a core".to_owned(),
        more => format!("{more} contexts to a core"),
    };
    let split = match args.split {
        _ if !pmu.shares_counters() || pmu.contexts() == 1 => "",
        Split::Even => ", split in halves",
        Split::ByDemand => ", split by demand",
        Split::Whole => ", whole core for one thread",
    };
    let sets = match (schedule.sets().len(), schedule.is_fewest()) {
        (0, _) => "nothing to count".to_owned(),
        (1, _) => "all at once".to_owned(),
        (more, true) => format!("{more} sets, fewer will not do"),
        (more, false) => format!("{more} sets"),
    };
    format!("{cpu} ({}), {contexts}{split}: {sets}", cpu.title())
}

#[cfg(test)]
mod tests;
