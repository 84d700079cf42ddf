//! Plans sets that the kernel rotates, for threads that no session counts.

use super::plan::Room;
use super::sets::Sets;
use crate::backend::Target;
use crate::backend::perf::{Sharing, backend_on};
use crate::event::Event;
use crate::platform::PlatformRef;
use crate::report::EventSetRotation;
use pacman_events::{Error, ErrorKind, Result};

/// The numbers of the events in each set in which the kernel may rotate `events`, with a list of
/// all of them if they fit at once.
///
/// Each list of numbers in `together` stays in one set if it fits at once. An event is in one set or
/// in all of them.
///
/// # Errors
/// `TooManyEvents` beyond [`MAX_ROTATED_EVENTS`](super::MAX_ROTATED_EVENTS); the kernel's refusal of an event that it refuses
/// even alone; `Unsupported` on a hybrid processor, where time off the counters and time on the other
/// core type look the same.
pub fn plan_event_sets(
    platform: &PlatformRef,
    events: &[Event],
    together: &[Vec<usize>],
) -> Result<Vec<Vec<usize>>> {
    if events.iter().any(|event| !event.core_types().is_empty()) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "cannot let the kernel rotate event sets on a hybrid processor: time off the counters \
             and time on the other core type would look the same; count fewer events",
        ));
    }
    let open = |events: &[Event]| {
        let backend = backend_on(platform, events, Sharing::Pinned, platform.permissions())?;
        // Some refusals come only when counters are to be on, as those of an erratum that closes a
        // counter to the sibling.
        match backend.open(Target::Caller) {
            Ok(_) => Ok(backend),
            Err(error) if error.kind() == ErrorKind::NotScheduled => {
                Err(Error::new(ErrorKind::Conflict, error.to_string()))
            }
            Err(error) => Err(error),
        }
    };
    let room = || Ok(Room::of_the_kernel(platform));
    let rotation = EventSetRotation::Staggered;
    let sets = Sets::plan_together(rotation, events, together, &room, &open)?;
    Ok((0..sets.len()).map(|set| sets.events(set)).collect())
}
