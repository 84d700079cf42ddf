//! Names that users of other tools know: each stands for a name of this crate.
//!
//! Aliases are looked up after all other names failed, so none of them hides an event.

use crate::event_names::EventName;
use crate::spelling::fold;
use crate::{CpuModel, db};

struct AliasRow {
    name: Word,
    event: Word,
    /// The number of its set in `MODELS`: a bit for each table; 0 for all tables.
    models: u16,
}

/// A word of the text: its place, shifted by eight bits, and its length.
struct Word(u32);

impl Word {
    fn text(&self) -> &'static str {
        &packed::TEXT[(self.0 >> 8) as usize..][..(self.0 & 0xff) as usize]
    }
}

impl AliasRow {
    fn name(&self) -> &'static str {
        self.name.text()
    }

    fn event(&self) -> &'static str {
        self.event.text()
    }

    fn is_on(&self, cpu: CpuModel) -> bool {
        let models = packed::MODELS[usize::from(self.models)];
        models == 0 || models >> cpu.index() & 1 != 0
    }
}

mod packed {
    use super::{AliasRow, Word};
    include!(concat!(env!("OUT_DIR"), "/aliases.rs"));
}

/// The alias of this name on this model, as `aliases.tsv` writes it, and the event or sum of events
/// that it stands for.
pub(crate) fn meaning(cpu: CpuModel, name: &str) -> Option<(&'static str, &'static str)> {
    let lower = |name: &'static str| name.bytes().map(|byte| byte.to_ascii_lowercase());
    let asked = || name.bytes().map(|byte| byte.to_ascii_lowercase());
    let first = packed::ALIASES.partition_point(|row| lower(row.name()).lt(asked()));
    let same = packed::ALIASES[first..].iter().take_while(|row| lower(row.name()).eq(asked()));
    same.into_iter().find(|row| row.is_on(cpu)).map(|row| (row.name(), row.event()))
}

/// The only event whose name is this one with an underscore in place of each separator: the
/// spelling of LIKWID.
pub(crate) fn with_underscores(cpu: CpuModel, name: &str) -> Option<EventName> {
    let letter = |byte: u8| if byte == b'_' { b'.' } else { fold(byte) };
    let same = |event: &db::Event| event.name().bytes().map(letter).eq(name.bytes().map(letter));
    let mut events = db::events(cpu).filter(same);
    let event = events.next()?;
    events.next().is_none().then(|| event.name())
}

/// The aliases of a table: each name and the event or sum of events that it stands for, as written in
/// `data/aliases.tsv`. Events that differ from a name in separators alone have none.
///
/// ```
/// use pacman_events::{CpuModel, aliases, resolve};
/// let skl = CpuModel::named("skl").unwrap();
/// assert!(aliases(skl).any(|alias| alias == ("PAPI_TOT_CYC", "CYCLES")));
/// assert_eq!(resolve(skl, "UNHALTED_CORE_CYCLES").unwrap().name(), "CPU_CLK_UNHALTED.THREAD");
/// ```
pub fn all(cpu: CpuModel) -> impl Iterator<Item = (&'static str, &'static str)> {
    packed::ALIASES.iter().filter(move |row| row.is_on(cpu)).map(|row| (row.name(), row.event()))
}
