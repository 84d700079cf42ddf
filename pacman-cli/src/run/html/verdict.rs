//! The sentence at the top: what costs the threads most time, where, and what would help.

use super::escape::escaped;
use super::shared;
use super::title::{self, titled};
use crate::run::report::{EfficiencyTree, Factor, ProcessReport, Reason, RegionReport};
use crate::run::text::{help, reason_at, share};
use pacman_regions::Cause;

/// What costs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Other programs took the processors.
    Busy,
    /// More threads than contexts.
    Crowded,
    /// Threads share cores, and others do not or cores have no thread.
    SharedCores,
    Serial,
    Imbalance,
    Lock,
    Ordered,
    Tasks,
    /// Losses that all threads have alike.
    Common,
    /// Nothing costs much.
    Little,
}

impl Kind {
    /// Its name in the page's `data-verdict`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Busy => "busy-machine",
            Kind::Crowded => "more-threads-than-contexts",
            Kind::SharedCores => "shared-cores",
            Kind::Serial => "serial",
            Kind::Imbalance => "imbalance",
            Kind::Lock => "lock",
            Kind::Ordered => "ordered",
            Kind::Tasks => "tasks",
            Kind::Common => "common",
            Kind::Little => "little",
        }
    }

    /// The same for a table of processes.
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::Busy => "a busy machine",
            Kind::Crowded => "more threads than processors",
            Kind::SharedCores => "shared cores",
            Kind::Serial => "serial code",
            Kind::Imbalance => "uneven work",
            Kind::Lock => "a lock",
            Kind::Ordered => "an ordered part",
            Kind::Tasks => "waiting for tasks",
            Kind::Common => "starting threads and letting them meet",
            Kind::Little => "nothing much",
        }
    }

    fn of(reason: Reason, is_uneven: bool) -> Kind {
        let cause = match reason {
            Reason::Start => return Kind::Common,
            Reason::End => None,
            Reason::Site(_, cause) => Some(cause),
        };
        match cause {
            Some(Cause::Critical | Cause::Atomic | Cause::Lock) => Kind::Lock,
            Some(Cause::Ordered) => Kind::Ordered,
            Some(Cause::Taskwait | Cause::Taskgroup) => Kind::Tasks,
            _ if is_uneven => Kind::Imbalance,
            _ => Kind::Common,
        }
    }

    /// The subject of the sentence.
    fn subject(self) -> &'static str {
        match self {
            Kind::Serial => "Serial code",
            Kind::Imbalance => "Uneven work",
            Kind::Lock => "Waiting for a lock",
            Kind::Ordered => "Waiting for an ordered part",
            Kind::Tasks => "Waiting for tasks",
            _ => "Starting threads and letting them meet",
        }
    }

    fn factor(self) -> Factor {
        match self {
            Kind::Serial => Factor::Serialization,
            Kind::Common => Factor::Scheduling,
            _ => Factor::LoadBalance,
        }
    }
}

/// The verdict; both texts are escaped.
#[derive(Debug)]
pub(super) struct Verdict<'a> {
    pub(super) kind: Kind,
    /// The region that the sentence names.
    pub(super) region: Option<&'a RegionReport>,
    pub(super) sentence: String,
    /// What would help; may be empty.
    pub(super) help: String,
}

/// Thread time that is lost to one thing at one place.
#[derive(Debug)]
struct Cost<'a> {
    kind: Kind,
    seconds: f64,
    place: Option<(&'a ProcessReport, &'a RegionReport, Reason)>,
}

/// The verdict on processes; `None` if no waits were timed.
pub(super) fn of<'a>(processes: &[&'a ProcessReport]) -> Option<Verdict<'a>> {
    let timed = || processes.iter().copied().filter(|process| has_states(process));
    timed().next()?;
    let several = processes.len() > 1;
    if let Some(verdict) = without_processors(timed(), several) {
        return Some(verdict);
    }
    let (mut costs, mut all): (Vec<Cost>, f64) = (Vec::new(), 0.0);
    for process in timed() {
        all += add_costs(process, &mut costs);
    }
    let of_kind = |kind: Kind| -> f64 {
        costs.iter().filter(|cost| cost.kind == kind).map(|cost| cost.seconds).sum()
    };
    let most = costs.iter().map(|cost| (cost.kind, of_kind(cost.kind) / all));
    let most = most.max_by(|one, other| one.1.total_cmp(&other.1));
    let most = most.filter(|(_, part)| all > 0.0 && *part >= WORTH);
    let own = most.and_then(|(kind, _)| {
        let of_kind = costs.iter().filter(|cost| cost.kind == kind);
        of_kind.max_by(|one, other| one.seconds.total_cmp(&other.seconds))
    });
    if matches!(most, None | Some((Kind::Imbalance | Kind::Common, _))) {
        let first = timed().next().and_then(|process| Some((process, process.regions.first()?)));
        let place = own.and_then(|cost| cost.place).map(|(process, region, _)| (process, region));
        let imbalance = most.filter(|(kind, _)| *kind == Kind::Imbalance).map(|(_, part)| part);
        let at = place.or(first);
        if let Some((sentence, help)) = at.and_then(|at| shared::cores(at, imbalance)) {
            let region = at.map(|(_, region)| region);
            return Some(Verdict { kind: Kind::SharedCores, region, sentence, help });
        }
    }
    Some(match (most, own) {
        (Some((kind, part)), Some(cost)) => blame(kind, part, cost, several),
        _ => little(&costs, all),
    })
}

fn has_states(process: &ProcessReport) -> bool {
    process.regions.iter().any(|region| region.states.is_some())
}

/// Other programs, or more threads than contexts, took the processors: waits are not to blame.
///
/// Of several processes, those that lacked processors must have had half of the threads' time.
fn without_processors<'a>(
    processes: impl Iterator<Item = &'a ProcessReport>,
    several: bool,
) -> Option<Verdict<'static>> {
    let trees = processes.filter_map(|process| Some((process, process.efficiency.as_ref()?)));
    let trees: Vec<(&ProcessReport, &EfficiencyTree)> = trees.collect();
    let (lacking, others): (Vec<_>, Vec<_>) =
        trees.into_iter().partition(|(_, tree)| tree.lacks_processors());
    let time = |trees: &[(&ProcessReport, &EfficiencyTree)]| -> f64 {
        trees.iter().map(|(_, tree)| tree.serial + tree.losses.there).sum()
    };
    let ran = |tree: &EfficiencyTree| tree.processor_share.unwrap_or(1.0);
    let (process, tree) =
        lacking.iter().min_by(|(_, one), (_, other)| ran(one).total_cmp(&ran(other)))?;
    if time(&lacking) < time(&others) {
        return None;
    }
    let of = match several {
        true => format!(" of {}", escaped(&title::process(process))),
        false => String::new(),
    };
    let ran = format!(
        "{of} ran <em>{}</em> of the time in which they could run.",
        escaped(&share(ran(tree)))
    );
    Some(if tree.threads > process.contexts {
        Verdict {
            kind: Kind::Crowded,
            region: None,
            sentence: format!(
                "There were more threads than processors, {} on {}: the threads{ran}",
                tree.threads, process.contexts
            ),
            help: format!(
                "Waits below are in part waits for a processor. To help: use at most {} threads.",
                process.contexts
            ),
        }
    } else {
        Verdict {
            kind: Kind::Busy,
            region: None,
            sentence: format!("The machine was busy with other work: the threads{ran}"),
            help: "Waits below are in part waits for a processor, not the program’s own. To help: \
                   measure on an idle machine, or use fewer threads."
                .into(),
        }
    })
}

/// Adds what a process loses; answers the time of its threads.
fn add_costs<'a>(process: &'a ProcessReport, costs: &mut Vec<Cost<'a>>) -> f64 {
    let mut there = 0.0;
    for region in &process.regions {
        let Some(states) = &region.states else { continue };
        let outer = if region.seconds > 0.0 { region.outer / region.seconds } else { 0.0 };
        there += outer * states.losses.there;
        for (&reason, (uneven, common)) in &states.losses.reasons {
            for (seconds, is_uneven) in [(uneven, true), (common, false)] {
                let place = Some((process, region, reason));
                let kind = Kind::of(reason, is_uneven);
                costs.push(Cost { kind, seconds: outer * seconds, place });
            }
        }
    }
    let Some(tree) = &process.efficiency else { return there };
    costs.push(Cost { kind: Kind::Serial, seconds: tree.serial, place: None });
    tree.serial + tree.losses.there
}

fn blame<'a>(kind: Kind, part: f64, cost: &Cost<'a>, several: bool) -> Verdict<'a> {
    let costs = format!("{} costs <em>{}</em> of the threads’ time", kind.subject(), share(part));
    let (sentence, reason) = match cost.place {
        None => (format!("{costs}: one thread works while the others have no region."), None),
        Some((process, region, reason)) => {
            let at = match several {
                true => format!(" of {}", escaped(&title::process(process))),
                false => String::new(),
            };
            let above_all = format!(
                "{costs}, above all in <em>{}</em>{at}: threads wait {}.",
                titled(region),
                escaped(&reason_at(reason, &process.sites))
            );
            (above_all, Some(reason))
        }
    };
    let region = cost.place.map(|(_, region, _)| region);
    Verdict { kind, region, sentence, help: escaped(help(kind.factor(), reason)) }
}

fn little(costs: &[Cost], all: f64) -> Verdict<'static> {
    let lost: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let useful = if all > 0.0 { (1.0 - lost / all).clamp(0.0, 1.0) } else { 1.0 };
    Verdict {
        kind: Kind::Little,
        region: None,
        sentence: format!(
            "Little is lost: <em>{}</em> of the threads’ time was useful work.",
            escaped(&share(useful))
        ),
        help: String::new(),
    }
}

/// The part of the threads' time from which on a loss is worth the headline.
const WORTH: f64 = 0.03;
