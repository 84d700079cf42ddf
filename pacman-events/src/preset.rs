//! Portable names with one meaning on every family.

use std::fmt;

use crate::{CpuModel, expression};

mod packed {
    use super::{AnswerRow, PresetRow};
    include!(concat!(env!("OUT_DIR"), "/presets.rs"));
}

/// A portable event name, such as `STALL_CYCLES`.
///
/// ```
/// use pacman_events::{CpuModel, Preset};
/// let stalls = Preset::named("stall_cycles").unwrap();
/// let sandy_bridge = CpuModel::named("snb").unwrap();
/// assert_eq!(stalls.answer(sandy_bridge).expression(), Some("UOPS_ISSUED.STALL_CYCLES"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Preset(u8);

/// The way in which one table counts a preset, or the reason why it cannot.
#[derive(Clone, Copy)]
pub struct PresetAnswer(&'static AnswerRow);

impl Preset {
    /// The preset with this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        // A linear search is enough: presets are few, and most differ in the first letters.
        let mut rows = packed::PRESETS.iter();
        rows.position(|row| row.name.eq_ignore_ascii_case(name)).map(|index| Preset(index as u8))
    }

    /// All presets in the order of the documentation: cycles, instructions, stalls,
    /// micro-operations, branches, caches, TLBs, memory, clocks.
    pub fn all() -> impl ExactSizeIterator<Item = Preset> {
        (0..packed::PRESETS.len()).map(|index| Preset(index as u8))
    }

    /// The name in capitals.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The preset's meaning on every family, in one line.
    pub fn meaning(self) -> &'static str {
        self.row().text
    }

    /// The way in which `cpu` counts it, or the reason why it cannot.
    pub fn answer(self, cpu: CpuModel) -> PresetAnswer {
        PresetAnswer(&packed::ANSWERS[usize::from(self.row().answers[cpu.index()])])
    }

    fn row(self) -> &'static PresetRow {
        &packed::PRESETS[usize::from(self.0)]
    }
}

impl PresetAnswer {
    /// The native events, such as `2*A - B:c=1`; `None` if the table cannot count it.
    ///
    /// `A/B` is one event that fixed counter A or general event B may count.
    pub fn expression(self) -> Option<&'static str> {
        Some(word(self.0.expression)).filter(|expression| !expression.is_empty())
    }

    /// The table's deviation from the preset's meaning, or the reason why it cannot count it.
    ///
    /// Empty if the table counts the preset exactly.
    pub fn caveat(self) -> &'static str {
        word(self.0.caveat)
    }

    /// TSC ticks for each count of a reference clock; empty for other presets.
    pub fn scale(self) -> &'static str {
        word(self.0.scale)
    }

    /// The terms of the expression: coefficient, event, and the general event that may replace a
    /// fixed counter's.
    pub(crate) fn terms(self) -> impl Iterator<Item = (i64, &'static str, Option<&'static str>)> {
        expression::terms(word(self.0.expression))
    }
}

impl fmt::Debug for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Preset({})", self.name())
    }
}

impl fmt::Debug for PresetAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PresetAnswer({:?}, {:?})", self.expression(), self.caveat())
    }
}

/// A row of `presets.tsv`, with the position of its expression per model.
struct PresetRow {
    name: &'static str,
    text: &'static str,
    answers: &'static [u16],
}

/// A row of `preset_answers.tsv`, with only the alternative that applies. Each word is a place in the
/// packed text.
struct AnswerRow {
    expression: Word,
    scale: Word,
    caveat: Word,
}

/// The first byte of a word in the text, and its length.
type Word = (u32, u16);

fn word((at, length): Word) -> &'static str {
    &packed::TEXT[at as usize..][..usize::from(length)]
}
