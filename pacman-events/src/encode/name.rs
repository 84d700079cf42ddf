//! The spelling of an event: the table's name, unit masks and modifiers.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::event_names::EventName;

/// An event's name as its table spells it, with unit masks and modifiers.
///
/// Written by [`fmt::Display`]; two spellings of one event compare equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalName {
    base: BaseName,
    masks: &'static [(u16, &'static str)],
    mask: u16,
    modifiers: Modifiers,
}

/// An event's name without modifiers: a table's, or any text.
#[derive(Clone)]
pub(crate) struct BaseName(Base);

#[derive(Clone)]
enum Base {
    Table(EventName),
    Text(Cow<'static, str>),
}

impl Deref for BaseName {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Base::Table(name) => name,
            Base::Text(text) => text,
        }
    }
}

impl From<EventName> for BaseName {
    fn from(name: EventName) -> BaseName {
        BaseName(Base::Table(name))
    }
}

impl From<&'static str> for BaseName {
    fn from(text: &'static str) -> BaseName {
        BaseName(Base::Text(Cow::Borrowed(text)))
    }
}

impl From<String> for BaseName {
    fn from(text: String) -> BaseName {
        BaseName(Base::Text(Cow::Owned(text)))
    }
}

impl fmt::Debug for BaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for BaseName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for BaseName {}

impl Hash for BaseName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// The modifiers that follow a name after `:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Modifiers {
    /// `u`: count in user mode.
    pub user: bool,
    /// `k`: count in kernel mode.
    pub kernel: bool,
    /// `e`: count rising edges of the condition.
    pub edge: bool,
    /// `i`: count cycles in which the condition does not hold.
    pub invert: bool,
    /// `c=N`: count cycles with at least N occurrences.
    pub cmask: Option<u8>,
    /// `any`: count the sibling contexts too.
    pub any_thread: bool,
    /// NetBurst `thr=N`: the filter's threshold.
    pub threshold: Option<u8>,
    /// NetBurst `cmpl`: count if the threshold is not exceeded.
    pub complement: bool,
}

impl CanonicalName {
    /// Whether a shipped table has the name, and not a user's table, a code or a PMU of this machine.
    pub fn is_shipped(&self) -> bool {
        matches!(self.base.0, Base::Table(_) | Base::Text(Cow::Borrowed(_)))
    }

    /// A name without unit masks of its own.
    pub(crate) fn new(base: impl Into<BaseName>, modifiers: Modifiers) -> Self {
        CanonicalName { base: base.into(), masks: &[], mask: 0, modifiers }
    }

    /// A NetBurst event with the names of those `masks` whose bits are all in `mask`.
    pub(crate) fn with_masks(
        base: &'static str,
        masks: &'static [(u16, &'static str)],
        mask: u16,
        modifiers: Modifiers,
    ) -> Self {
        CanonicalName { base: base.into(), masks, mask, modifiers }
    }

    /// The name without unit masks and modifiers.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The requested modifiers.
    pub fn modifiers(&self) -> Modifiers {
        self.modifiers
    }
}

impl fmt::Display for CanonicalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        for (_, name) in self.masks.iter().filter(|(bits, _)| self.mask & bits == *bits) {
            write!(f, ":{name}")?;
        }
        self.modifiers.fmt(f)
    }
}

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.user, "u"),
            (self.kernel, "k"),
            (self.edge, "e"),
            (self.invert, "i"),
            (self.any_thread, "any"),
            (self.complement, "cmpl"),
        ];
        for (_, flag) in flags.iter().filter(|(set, _)| *set) {
            write!(f, ":{flag}")?;
        }
        if let Some(cmask) = self.cmask {
            write!(f, ":c={cmask}")?;
        }
        if let Some(threshold) = self.threshold {
            write!(f, ":thr={threshold}")?;
        }
        Ok(())
    }
}
