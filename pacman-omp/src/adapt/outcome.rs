//! What came of adapting a region, for the recording.

use pacman_regions::{Adaptation, Guarded, Objective};

use super::{ADAPTING, is_wished};
use crate::function::Function;
use crate::process;
use crate::region::Region;
use crate::worker::Worker;
use crate::worksharing;

/// What was done with a region, for the recording.
pub(crate) fn outcome(region: &Region, hosted_teams: u32) -> Option<Adaptation> {
    if !is_wished() {
        return None;
    }
    let guards = region.adapted.guards.acted();
    // A thread that is in the midst of a decision while the process ends keeps it.
    let mut phase = region.adapted.phase.try_lock();
    let mut phase = phase.as_mut().and_then(|phase| phase.as_mut());
    // What other threads keep back, each less than eight executions, is left to them.
    let steady = Worker::known().and_then(|worker| worker.steady(region.number));
    if let (Some(phase), Some(Some(adapting)), Some(steady)) = (&mut phase, ADAPTING.get(), steady)
    {
        phase.catch_up(adapting, region, steady);
    }
    let Some(phase) = phase else {
        let why = match guards.last() {
            Some(Guarded { why, .. }) => why.clone(),
            None if region.entry == Function::ompt_start_tool => {
                "seen through OMPT, which tells of teams when they have started".to_owned()
            }
            None if region.loops.adapt() => "its loops are adapted one by one".to_owned(),
            None if matches!(ADAPTING.get(), Some(None)) => "nothing is adapted here".to_owned(),
            None if hosted_teams < 2 => "never ran on more than one thread".to_owned(),
            None => "ran too few times: the first execution shows what a region does".to_owned(),
        };
        return Some(Adaptation {
            state: "as it is".to_owned(),
            threads: hosted_teams,
            configuration: hosted_teams.to_string(),
            why,
            narrowed: 0,
            gained: None,
            guards,
            loops: worksharing::recorded(region),
        });
    };
    let on = phase.controller.next();
    let mut why = phase.controller.why();
    if phase.refused > 0 {
        why += &format!("; {} teams did not get the threads that were chosen", phase.refused);
    }
    let time = matches!(process::wishes().adapt, Some(Objective::Time));
    Some(Adaptation {
        state: phase.controller.state().to_string(),
        threads: on.threads(),
        configuration: on.to_string(),
        why,
        narrowed: phase.controller.narrowed(),
        // Without a sign where nothing was: 0 - 0 is 0, and -0 is not.
        gained: time.then(|| 0.0 - phase.controller.account().lost()),
        guards,
        loops: worksharing::recorded(region),
    })
}
