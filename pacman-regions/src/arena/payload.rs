//! The words of records that do not change.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{Event, EventFacts, FileIdentity, Machine, MachineContext, Rank};

/// The longest byte string of a record. A longer command line is cut.
const LONGEST: usize = 1 << 16;

/// Words to append to an arena.
#[derive(Clone, Debug, Default)]
pub struct Payload(Vec<u64>);

impl Payload {
    /// An empty payload.
    pub fn new() -> Payload {
        Payload::default()
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, number: u64) -> Payload {
        self.0.push(number);
        self
    }

    /// Adds bytes, up to the first 65,536.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Payload {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        self.0.push(bytes.len() as u64);
        self.0.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
        self
    }

    /// Adds bytes that may be absent.
    #[must_use]
    pub fn optional(self, bytes: Option<&[u8]>) -> Payload {
        match bytes {
            Some(bytes) => self.number(1).bytes(bytes),
            None => self.number(0),
        }
    }

    /// Adds the file of a module with its identity: its path; 0 without an identity; 1 and the build ID; or
    /// 2 and the system's facts.
    #[must_use]
    pub fn module(self, path: &Path, identity: Option<&FileIdentity>) -> Payload {
        let all = self.bytes(path.as_os_str().as_bytes());
        match identity {
            None => all.number(0),
            Some(FileIdentity::BuildId(id)) => all.number(1).bytes(id.as_bytes()),
            Some(&FileIdentity::Metadata { device, inode, size, modified }) => {
                all.number(2).number(device).number(inode).number(size).number(modified as u64)
            }
        }
    }

    /// The record of a host and a rank.
    pub fn host(name: &[u8], rank: Option<Rank>) -> Payload {
        let optional = |payload: Payload, number: Option<u32>| match number {
            Some(number) => payload.number(1).number(number.into()),
            None => payload.number(0),
        };
        let payload = optional(Payload::new().bytes(name), rank.map(|rank| rank.rank));
        optional(payload, rank.and_then(|rank| rank.ranks))
    }

    /// Adds the counts of an empty execution, each one more than it is, or 0 if it is not known.
    #[must_use]
    pub fn counts(self, counts: &[Option<u64>]) -> Payload {
        let all = self.number(counts.len() as u64);
        let known = counts.iter().map(|count| count.map_or(0, |count| count.saturating_add(1)));
        known.fold(all, Payload::number)
    }

    /// The record of the events of a process, with the index of each event of each set that is counted.
    pub fn events(events: &[Event], sets: &[Vec<usize>]) -> Payload {
        let all = Payload::new().number(events.len() as u64);
        let all = events.iter().fold(all, |all, event| {
            let EventFacts { canonical, unit, is_hardware, doubt, table } = &event.facts;
            all.bytes(event.name.as_bytes())
                .optional(event.uncounted.as_deref().map(str::as_bytes))
                .bytes(canonical.as_bytes())
                .bytes(unit.as_bytes())
                .number(u64::from(*is_hardware))
                .optional(doubt.as_deref().map(str::as_bytes))
                .optional(table.as_deref().map(str::as_bytes))
        });
        sets.iter().fold(all.number(sets.len() as u64), |all, set| {
            let all = all.number(set.len() as u64);
            set.iter().fold(all, |all, event| all.number(*event as u64))
        })
    }

    /// The record of a machine.
    pub fn machine(machine: &Machine) -> Payload {
        let Machine { processor, system, simulated, quota, contexts } = machine;
        let all = Payload::new().bytes(processor.as_bytes()).bytes(system.as_bytes());
        let all = all.optional(simulated.as_deref().map(str::as_bytes));
        let all = match quota {
            Some(quota) => all.number(1).number(quota.to_bits()),
            None => all.number(0),
        };
        contexts.iter().fold(all.number(contexts.len() as u64), |all, context| {
            let MachineContext { cpu, package, core, sibling } = *context;
            [cpu, package, core, sibling].into_iter().fold(all, |all, one| all.number(one.into()))
        })
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }
}

/// Reads a [`Payload`]. All methods return `None` after an early end.
pub(super) struct Cursor<'w>(pub(super) &'w [u64]);

impl Cursor<'_> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok().filter(|length| *length <= LONGEST)?;
        let (words, rest) = self.0.split_at_checked(length.div_ceil(8))?;
        self.0 = rest;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn path(&mut self) -> Option<PathBuf> {
        self.bytes().map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
    }

    /// The file of a module, and its identity.
    pub(super) fn module(&mut self) -> Option<(PathBuf, Option<FileIdentity>)> {
        let path = self.path()?;
        let identity = match self.number()? {
            0 => None,
            1 => Some(FileIdentity::BuildId(self.text()?)),
            _ => Some(FileIdentity::Metadata {
                device: self.number()?,
                inode: self.number()?,
                size: self.number()?,
                modified: self.number()? as i64,
            }),
        };
        Some((path, identity))
    }

    /// `Some(None)` if the string is absent.
    pub(super) fn optional(&mut self) -> Option<Option<String>> {
        match self.number()? {
            0 => Some(None),
            _ => self.text().map(Some),
        }
    }
}
