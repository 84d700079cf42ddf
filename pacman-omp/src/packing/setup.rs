//! The facts of the machine and the wishes of the user that packing needs.

use std::sync::OnceLock;
use std::time::Duration;

use pacman_adapt::Candidates;
use pacman_adapt::packing::LossBudget;
use pacman_adapt::predict::Configuration;
use pacman_core::{Placement, Topology};
use pacman_regions::sharing::Owner;
use pacman_regions::watch::Table;
use pacman_regions::watch::affinity::{self, Mask, WORDS};
use try_lock::TryLock;

use super::crew::PackingSlot;
use super::state::Target;
use crate::arena;
use crate::machine;
use crate::notes;
use crate::process;

/// The facts that all regions share.
pub(crate) struct Setup {
    topology: Topology,
    wide: Mask,
    /// Nanoseconds of 2^20 ticks.
    rate: u64,
    pub(crate) budget: TryLock<LossBudget>,
    pub(crate) forced: Option<Forced>,
}

/// A configuration that the environment forces, for tests: `1x1`, or `1x1:20` for samples that are cut after 20 ms.
pub(crate) struct Forced {
    on: Configuration,
    pub(crate) allowance: Option<Duration>,
}

/// The variable that forces a configuration.
const FORCED: &str = "PACMAN_OMP_PACK";

static SETUP: OnceLock<Setup> = OnceLock::new();

/// The facts, once [`prepare`] found that threads may be packed.
pub(crate) fn get() -> Option<&'static Setup> {
    SETUP.get()
}

/// Examines the machine. Notes in the recording why nothing is packed.
#[cold]
pub(crate) fn prepare() -> Option<PackingSlot> {
    notes::note(
        "teams and loops stay as the program has them: fewer threads need --narrow".to_owned(),
    );
    let refuse = |why: &str| notes::note(format!("nothing is adapted: {why}"));
    if let Some(name) = machine::bound_by() {
        refuse(&format!("{name} is set, and threads that the user binds stay where they are"));
        return None;
    }
    let topology = machine::topology().map_err(|error| refuse(&error.to_string())).ok()?;
    let Some(wide) = affinity::of(0) else {
        refuse("the kernel has more contexts than a mask");
        return None;
    };
    if affinity::contexts(&wide).count() < 2 || topology.allowed().len() < 2 {
        refuse("the process may use one context only");
        return None;
    }
    let owner = Owner::of_process(std::process::id())?;
    let Some(segment) = process::options().watch.as_ref() else {
        refuse("no command watches the samples");
        return None;
    };
    let words = arena::attach_whole(segment).map_err(|why| refuse(&why)).ok()?;
    let Some(table) = Table::new(words) else {
        refuse("the memory of the watchers has another format");
        return None;
    };
    let Some(slot) = table.enter(owner) else {
        refuse("too many processes of this run are adapted");
        return None;
    };
    slot.set_wide(&wide);
    let forced = std::env::var(FORCED).ok().and_then(|text| forced(&text));
    let part = process::options().max_loss.map_or(0.01, |most| most.part());
    let setup = Setup {
        topology,
        wide,
        rate: (process::clock().nanos_per_tick() * f64::from(1 << 20)) as u64,
        budget: TryLock::new(LossBudget::new(part)),
        forced,
    };
    SETUP.set(setup).ok()?;
    Some(PackingSlot { slot, table })
}

fn forced(text: &str) -> Option<Forced> {
    let (on, milliseconds) = match text.split_once(':') {
        Some((on, milliseconds)) => (on, Some(milliseconds.parse().ok()?)),
        None => (text, None),
    };
    let allowance = milliseconds.map(Duration::from_millis);
    Some(Forced { on: on.parse().ok()?, allowance })
}

impl Setup {
    /// The nanoseconds of `ticks`.
    #[inline]
    pub(crate) fn nanoseconds(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.rate)) >> 20) as u64
    }

    /// The contexts that the process may use.
    pub(crate) fn contexts(&self) -> u32 {
        self.topology.allowed().len() as u32
    }

    /// The sets of contexts for a team of `threads` besides all of them, the largest first.
    pub(crate) fn targets(&self, threads: u32) -> Vec<(Configuration, Target)> {
        let most = threads.min(self.contexts()) as usize;
        let Ok(candidates) = Candidates::for_team(&self.topology, most, None) else {
            return Vec::new();
        };
        let mut targets: Vec<(Configuration, Target)> = Vec::new();
        let forced = |on: &Configuration| match &self.forced {
            Some(forced) => forced.on == *on,
            None => true,
        };
        for &on in candidates.all().iter().rev().filter(|on| forced(on)) {
            if on.threads() == 1 {
                targets.push((on, Target::One));
                continue;
            }
            let order = Placement::Compact;
            let Ok(places) = pacman_adapt::places(&self.topology, on, &order) else { continue };
            let mut mask = [0; WORDS];
            for cpu in places.iter().map(|place| place.cpu()) {
                let bit = affinity::single(cpu);
                mask.iter_mut().zip(bit).for_each(|(mask, bit)| *mask |= bit);
            }
            let target = Target::These(mask);
            if mask != self.wide && targets.iter().all(|(_, known)| *known != target) {
                targets.push((on, target));
            }
        }
        targets
    }
}
