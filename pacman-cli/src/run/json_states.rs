//! Waits and efficiency in JSON.

use pacman_events::shown::text_of;
use serde::Serialize;

use super::report::{self, ProcessReport, RegionReport, SiteReport, ThreadStates};

#[derive(Serialize)]
pub(super) struct Site<'a> {
    cause: &'a str,
    call: Option<&'a str>,
    name: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    module: String,
    address: u64,
}

/// The sample behind estimates.
#[derive(Serialize)]
pub(super) struct Sample {
    timed: u64,
    margin: f64,
    imbalance_margin: Option<f64>,
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
pub(super) struct Tree {
    threads: u32,
    parallel: f64,
    mpi: f64,
    serialization: f64,
    load_balance: f64,
    scheduling: f64,
    margin: f64,
    serial_s: f64,
}

#[derive(Serialize)]
pub(super) struct Efficiency {
    parallel: f64,
    load_balance: f64,
    scheduling: f64,
    worst: Option<Worst>,
}

#[derive(Serialize)]
struct Worst {
    cause: &'static str,
    site: Option<usize>,
    share: f64,
}

#[derive(Serialize)]
pub(super) struct States {
    useful_s: f64,
    starting_s: f64,
    end_s: f64,
    late_tasks_s: f64,
    useful_off_s: Option<f64>,
    waiting_off_s: Option<f64>,
    waits: Vec<Wait>,
    dropped: u64,
    unseen_tasks: u64,
}

#[derive(Serialize)]
struct Wait {
    site: usize,
    count: u64,
    time_s: f64,
}

/// An execution that had not ended.
#[derive(Serialize)]
pub(super) struct Open {
    time_s: f64,
    open_threads: Vec<OpenThread>,
}

#[derive(Serialize)]
struct OpenThread {
    thread: u32,
    time_s: f64,
    open_waits: Vec<Wait>,
}

pub(super) fn open(open: &report::OpenExecution) -> Open {
    let wait = |&(site, count, time_s): &(usize, u64, f64)| Wait { site, count, time_s };
    let thread = |one: &report::OpenThread| OpenThread {
        thread: one.thread,
        time_s: one.seconds,
        open_waits: one.waits.iter().map(wait).collect(),
    };
    Open { time_s: open.seconds, open_threads: open.threads.iter().map(thread).collect() }
}

pub(super) fn site(site: &SiteReport) -> Site<'_> {
    Site {
        cause: site.site.cause.word(),
        call: site.site.call.as_deref(),
        name: &site.name.text,
        file: site.name.file.as_deref(),
        line: site.name.line,
        module: text_of(&site.site.site.module),
        address: site.site.site.address,
    }
}

pub(super) fn tree(process: &ProcessReport) -> Option<Tree> {
    let tree = process.efficiency.as_ref()?;
    let report::Efficiency { parallel, mpi, serialization, load_balance, scheduling } =
        tree.efficiency;
    Some(Tree {
        threads: tree.threads,
        parallel,
        mpi,
        serialization,
        load_balance,
        scheduling,
        margin: tree.margin,
        serial_s: tree.serial,
    })
}

pub(super) fn efficiency(region: &RegionReport) -> Option<Efficiency> {
    let losses = &region.states.as_ref()?.losses;
    let report::Efficiency { parallel, load_balance, scheduling, .. } =
        report::Efficiency::of_region(losses)?;
    let worst = losses.worst().map(|(reason, share)| Worst {
        cause: reason.word(),
        site: match reason {
            report::Reason::Site(site, _) => Some(site),
            _ => None,
        },
        share,
    });
    Some(Efficiency { parallel, load_balance, scheduling, worst })
}

/// The states of number `thread` of the team.
pub(super) fn states(region: &RegionReport, thread: u32) -> Option<States> {
    let threads = &region.states.as_ref()?.threads;
    let own: &ThreadStates = threads.iter().find(|one| one.thread == thread)?;
    let wait = |&(site, _, count, time_s): &(usize, _, u64, f64)| Wait { site, count, time_s };
    Some(States {
        useful_s: own.useful,
        starting_s: own.starting,
        end_s: own.end,
        late_tasks_s: own.states.late_tasks,
        useful_off_s: own.useful_off,
        waiting_off_s: own.waiting_off,
        waits: own.waits.iter().map(wait).collect(),
        dropped: own.states.dropped,
        unseen_tasks: own.states.unseen_tasks,
    })
}
