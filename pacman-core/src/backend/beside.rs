//! Events of two backends, counted side by side: the hardware's by registers, the kernel's own
//! by the kernel.

use super::{Backend, Caps, Counters, ReadPath, Reading, Target};
use pacman_events::Result;

/// Two backends, and the places of their counts among the session's events.
pub(crate) struct Beside {
    pub(crate) parts: [Part<dyn Backend>; 2],
}

/// The events of one backend.
pub(crate) struct Part<T: ?Sized> {
    /// The place of each of its events among the session's.
    pub(crate) places: Vec<usize>,
    pub(crate) of: Box<T>,
}

impl Backend for Beside {
    fn open(&self, target: Target) -> Result<Box<dyn Counters>> {
        let open = |part: &Part<dyn Backend>| -> Result<Part<dyn Counters>> {
            Ok(Part { places: part.places.clone(), of: part.of.open(target)? })
        };
        let [one, other] = &self.parts;
        Ok(Box::new(BesideCounters { parts: [open(one)?, open(other)?] }))
    }
}

struct BesideCounters {
    parts: [Part<dyn Counters>; 2],
}

impl Counters for BesideCounters {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let mut read = Reading::EMPTY;
        for part in &self.parts {
            part.of.read(&mut read)?;
            for (place, count) in part.places.iter().zip(&read.counts) {
                into.counts[*place] = *count;
            }
        }
        Ok(())
    }

    /// The abilities of both. A read of the kernel's events is a system call.
    fn caps(&self) -> Caps {
        let [one, other] = self.parts.each_ref().map(|part| part.of.caps());
        Caps { read_path: ReadPath::ReadCall, doubt: one.doubt.or(other.doubt), ..one }
    }

    fn verify(&mut self) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.of.verify())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters that always show the same counts.
    struct Still(&'static [u64]);

    impl Backend for Still {
        fn open(&self, _: Target) -> Result<Box<dyn Counters>> {
            Ok(Box::new(Still(self.0)))
        }
    }

    impl Counters for Still {
        fn read(&self, into: &mut Reading) -> Result<()> {
            into.counts[..self.0.len()].copy_from_slice(self.0);
            Ok(())
        }

        fn caps(&self) -> Caps {
            Caps { width: Some(40), ..Caps::of(ReadPath::Rdpmc) }
        }
    }

    #[test]
    fn each_count_stands_in_its_event_s_place() {
        let part = |places: &[usize], counts| -> Part<dyn Backend> {
            Part { places: places.to_vec(), of: Box::new(Still(counts)) }
        };
        let both = Beside { parts: [part(&[2, 0], &[20, 0]), part(&[1, 3], &[10, 30])] };
        let mut counters = both.open(Target::Caller).unwrap();
        let mut reading = Reading::EMPTY;
        counters.read(&mut reading).unwrap();
        assert_eq!(reading.counts[..4], [0, 10, 20, 30]);
        assert_eq!(counters.caps().read_path, ReadPath::ReadCall);
        assert!(!counters.stand_by().unwrap(), "dropped and opened again, as registers are");
    }
}
