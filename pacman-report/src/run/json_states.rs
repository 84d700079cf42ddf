//! Waits and efficiency in JSON.

use pacman_events::shown::text_of;
use serde::Serialize;

use super::report::{self, ProcessReport, RegionReport, SiteReport, ThreadStates};
use super::text;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Site<'a> {
    /// Construct, by the causes of [`report::THREAD_STATES`].
    #[cfg_attr(test, schemars(extend("description" = crate::tests::schemas::states::causes())))]
    cause: &'a str,
    /// MPI function; null for other constructs.
    call: Option<&'a str>,
    /// Function and line, or module and address.
    name: &'a str,
    /// Kind and place of the wait, as a sentence about threads ends: `at a barrier, solver.c:12`.
    at: String,
    /// Source file.
    file: Option<&'a str>,
    /// Line in it.
    line: Option<u32>,
    /// File of the code.
    module: String,
    /// Address in the module's symbol table.
    address: u64,
}

/// The sample behind estimates.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Sample {
    /// Executions that were timed.
    timed: u64,
    /// Half of the interval of each share of the threads' time, from 0 to 1; the true value is in it
    /// in at least 95 of 100 runs.
    margin: f64,
    /// Half of the interval of `imbalance`; null if that is null or exact.
    imbalance_margin: Option<f64>,
    /// Seconds that timing an execution takes, measured in the region; null if it is not known.
    cost_s: Option<f64>,
}

pub(super) fn sample(region: &RegionReport) -> Option<Sample> {
    region.sampling.map(|one| Sample {
        timed: one.timed,
        margin: one.margin,
        imbalance_margin: region.imbalance_margin,
        cost_s: one.cost,
    })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tree {
    /// Threads of the widest team.
    threads: u32,
    #[serde(flatten)]
    efficiency: report::Efficiency,
    /// Distance by which `parallel` may be from the truth, because waits of short regions are estimates; 0 if
    /// they are exact. Requests for chunks of loops are estimates whose error is not known; a note says so.
    margin: f64,
    /// Seconds of all threads without a region.
    serial_s: f64,
    /// Factors of `parallel`, the worst first; without MPI also without its factor.
    factors: Vec<Factor>,
    /// Seconds of all threads without useful work, by reason.
    losses: Vec<Loss>,
}

/// A factor of an efficiency.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Factor {
    /// Name in words.
    name: &'static str,
    /// Value from 0 to 1.
    value: f64,
    /// Meaning.
    about: &'static str,
    /// Reason for most of the loss; null if there is none or it is not known.
    worst: Option<Worst>,
}

/// Time lost for one reason.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Loss {
    /// `start`, `end`, or the cause of a site.
    cause: &'static str,
    /// Index in `sites`; null for the others.
    site: Option<usize>,
    /// Seconds.
    time_s: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Efficiency {
    /// Useful part of the threads' time.
    parallel: f64,
    /// The part without waits for threads with more to do.
    load_balance: f64,
    /// The part of that without the time that all threads lost alike.
    scheduling: f64,
    /// Reason for most of the waiting.
    worst: Option<Worst>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Worst {
    /// `start`, `end`, or the cause of a site.
    cause: &'static str,
    /// Index in `sites`; null for the others.
    site: Option<usize>,
    /// Part of the threads' time that it took.
    share: f64,
}

pub(super) fn site(site: &SiteReport) -> Site<'_> {
    Site {
        cause: site.site.cause.word(),
        call: site.site.call.as_deref(),
        name: &site.name.text,
        at: text::at(site),
        file: site.name.file.as_deref(),
        line: site.name.line,
        module: text_of(&site.site.site.module),
        address: site.site.site.address,
    }
}

pub(super) fn tree(process: &ProcessReport) -> Option<Tree> {
    let tree = process.efficiency.as_ref()?;
    Some(Tree {
        threads: tree.threads,
        efficiency: tree.efficiency,
        margin: tree.margin,
        serial_s: tree.serial,
        factors: tree.factors().iter().map(factor).collect(),
        losses: tree.losses.reasons.iter().map(loss).collect(),
    })
}

fn factor(loss: &report::FactorLoss) -> Factor {
    let worst = loss.worst.map(|(reason, share)| worst(reason, share));
    Factor {
        name: text::name(loss.factor),
        value: loss.value,
        about: text::meaning(loss.factor),
        worst,
    }
}

/// The factors of an MPI program over its processes, worst first.
pub(super) fn mpi_factors(factors: &report::MpiFactors) -> Vec<Factor> {
    let factor = |(factor, value)| Factor {
        name: text::mpi_name(factor),
        value,
        about: text::mpi_meaning(factor),
        worst: None,
    };
    factors.factors().into_iter().map(factor).collect()
}

fn loss((reason, (uneven, common)): (&report::Reason, &(f64, f64))) -> Loss {
    Loss { cause: reason.word(), site: reason.site(), time_s: uneven + common }
}

fn worst(reason: report::Reason, share: f64) -> Worst {
    Worst { cause: reason.word(), site: reason.site(), share }
}

pub(super) fn efficiency(region: &RegionReport) -> Option<Efficiency> {
    let losses = &region.states.as_ref()?.losses;
    let report::Efficiency { parallel, load_balance, scheduling, .. } =
        report::Efficiency::of_region(losses)?;
    let worst = losses.worst().map(|(reason, share)| worst(reason, share));
    Some(Efficiency { parallel, load_balance, scheduling, worst })
}

/// The states of number `thread` of the team.
pub(super) fn states(region: &RegionReport, thread: u32) -> Option<&ThreadStates> {
    region.states.as_ref()?.threads.iter().find(|one| one.thread == thread)
}
