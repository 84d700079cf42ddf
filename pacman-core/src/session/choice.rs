//! The choice between the kernel's driver and the registers for a session's events.

use pacman_events::partition::Partition;

use super::prepared::PreparedSession;
use super::registers;
use super::rotation::Room;
use crate::backend::Backend;
use crate::backend::perf::{PerfPermissions, Sharing, TRUST_DRIVER, backend_on};
use crate::event::Event;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Topology;

impl PreparedSession {
    /// The counters of one thread, if the processor has a table.
    pub(super) fn room(&self) -> Result<Option<Room>> {
        match (self.wishes.registers, &self.wishes.placement) {
            (Some(partition), Some((topology, _))) => {
                registers::room(partition, topology, &self.platform).map(Some)
            }
            _ if self.distrust(&self.events).is_some() => {
                registers::room(self.own_partition(), self.here()?, &self.platform).map(Some)
            }
            // The tables of several core types would have to agree: the machine is asked instead.
            _ if self.events.iter().any(|event| !event.core_types().is_empty()) => Ok(None),
            _ => Ok(Room::of_the_kernel(&self.platform)),
        }
    }

    pub(super) fn backend(
        &self,
        events: &[Event],
        system: Option<&Topology>,
    ) -> Result<Box<dyn Backend>> {
        let placed = self.wishes.placement.as_ref().map(|(topology, _)| topology);
        match (self.wishes.registers, system.or(placed)) {
            (Some(partition), Some(topology)) => {
                registers::backend(events, partition, topology, &self.platform)
            }
            (Some(_), None) => Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot count by registers in session {:?} without places: counts are those \
                     of the context a thread is bound to; give the session a placement",
                    self.wishes.name
                ),
            )),
            (None, topology) => match self.distrust(events) {
                Some(doubt) => self.by_registers(events, topology, doubt),
                None => self.by_kernel(events),
            },
        }
    }

    fn by_kernel(&self, events: &[Event]) -> Result<Box<dyn Backend>> {
        backend_on(&self.platform, events, self.wishes.sharing, self.permissions())
    }

    /// Counts without the kernel's driver, because of `doubt`.
    fn by_registers(
        &self,
        events: &[Event],
        topology: Option<&Topology>,
        doubt: &str,
    ) -> Result<Box<dyn Backend>> {
        let topology = match topology {
            Some(topology) => topology,
            None => self.here()?,
        };
        let obstacle = match self.wishes.sharing {
            Sharing::Pinned => registers::obstacle(topology, &self.platform),
            Sharing::Multiplexed | Sharing::Rotating => Some((
                ErrorKind::Unsupported,
                "only that driver shares counters with others; count without".to_owned(),
            )),
        };
        if let Some((kind, why)) = obstacle {
            let hardware = events.iter().filter(|event| event.is_hardware());
            let names: Vec<&str> = hardware.map(Event::name).collect();
            return Err(Error::new(
                kind,
                format!(
                    "cannot count {}: {doubt}, and the registers cannot be programmed instead: \
                     {why}; or accept counts that may be wrong and are marked ({TRUST_DRIVER}=1)",
                    names.join(", ")
                ),
            ));
        }
        let kernel = |events: &[Event]| self.by_kernel(events);
        registers::backend_beside(events, self.own_partition(), topology, &self.platform, kernel)
    }

    /// How siblings share a core if the program did not ask for registers. With rotating sets,
    /// siblings that share counters by demand could take each other's counters.
    fn own_partition(&self) -> Partition {
        if self.wishes.rotation.is_some() { Partition::Even } else { Partition::ByDemand }
    }

    fn permissions(&self) -> PerfPermissions {
        let read = || self.platform.permissions();
        let permissions = self.permissions.get_or_init(read).clone();
        if self.wishes.trusts_driver { permissions.trusting_driver() } else { permissions }
    }

    /// Why the kernel's driver may not count `events`.
    pub(super) fn distrust(&self, events: &[Event]) -> Option<&'static str> {
        let hardware = events.iter().any(Event::is_hardware);
        hardware.then(|| self.permissions().distrust()).flatten()
    }

    pub(super) fn here(&self) -> Result<&Topology> {
        self.here.get_or_try_init(|| Topology::of(&self.platform))
    }
}
