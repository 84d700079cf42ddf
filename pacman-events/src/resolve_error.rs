//! The reason why a name cannot be resolved.

use std::fmt;

use crate::{CpuModel, shown};

/// The reason why a name cannot be resolved: one line of text and a [`ResolveErrorKind`].
///
/// ```
/// use pacman_events::{CpuModel, ResolveErrorKind, resolve};
/// let skl = CpuModel::named("skl").unwrap();
/// let refusal = resolve(skl, "UOPS_ISUED.ANY").unwrap_err();
/// assert_eq!(refusal.kind(), ResolveErrorKind::Unknown);
/// assert_eq!(refusal.nearest()[0], "UOPS_ISSUED.ANY");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ResolveError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ResolveErrorKind,
    message: String,
    nearest: Vec<String>,
    models: Vec<CpuModel>,
}

/// The kinds of resolution errors, by the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResolveErrorKind {
    /// The text is not a name: wrong grammar, a repeated modifier, a number out of range.
    Grammar,
    /// The hardware of this model cannot count it, and no setting changes that.
    Impossible,
    /// The event lacks a requirement: privilege, a tagging event, SMT off, a unit mask, or a
    /// register's value.
    Needs,
    /// Only other models have the event: see [`ResolveError::models`].
    OtherModel,
    /// No table has the name: see [`ResolveError::nearest`].
    Unknown,
}

impl ResolveErrorKind {
    /// The kind as one lower-case word, for programs that read text.
    pub fn as_str(self) -> &'static str {
        match self {
            ResolveErrorKind::Grammar => "grammar",
            ResolveErrorKind::Impossible => "impossible",
            ResolveErrorKind::Needs => "needs",
            ResolveErrorKind::OtherModel => "other-model",
            ResolveErrorKind::Unknown => "unknown",
        }
    }
}

impl ResolveError {
    /// The kind of the error.
    pub fn kind(&self) -> ResolveErrorKind {
        self.0.kind
    }

    /// Similar names, nearest first, or the name with unit masks if it lacks one; at most five.
    pub fn nearest(&self) -> &[String] {
        &self.0.nearest
    }

    /// The tables that have the name, for [`ResolveErrorKind::OtherModel`].
    pub fn models(&self) -> &[CpuModel] {
        &self.0.models
    }

    #[cold]
    pub(crate) fn new(kind: ResolveErrorKind, message: impl Into<String>) -> Self {
        // The user's text may hold a line break, and an error is one line.
        let message = shown::line(&message.into()).into_owned();
        ResolveError(Box::new(Inner { kind, message, nearest: Vec::new(), models: Vec::new() }))
    }

    #[cold]
    pub(crate) fn grammar(asked: &str, reason: impl fmt::Display) -> Self {
        let asked: String = asked.chars().take(80).collect();
        Self::new(ResolveErrorKind::Grammar, format!("{asked:?} is not an event: {reason}"))
    }

    #[cold]
    pub(crate) fn impossible(asked: &str, cpu: CpuModel, reason: impl fmt::Display) -> Self {
        Self::new(
            ResolveErrorKind::Impossible,
            format!("{asked} cannot be counted on {cpu}: {reason}"),
        )
    }

    #[cold]
    pub(crate) fn needs(asked: &str, cpu: CpuModel, reason: impl fmt::Display) -> Self {
        Self::new(ResolveErrorKind::Needs, format!("{asked} on {cpu} needs {reason}"))
    }

    /// `names` are those of the event with each of its unit masks.
    #[cold]
    pub(crate) fn needs_unit_mask(asked: &str, cpu: CpuModel, names: &[String]) -> Self {
        const SHOWN: usize = 8;
        let masks: Vec<_> = names.iter().take(SHOWN).map(|name| &name[asked.len() + 1..]).collect();
        let more = if names.len() > SHOWN { " and others" } else { "" };
        let reason = format!("a unit mask out of {}{more}", masks.join(", "));
        let mut refusal = Self::needs(asked, cpu, reason);
        refusal.0.nearest = names.iter().take(5).cloned().collect();
        refusal
    }

    #[cold]
    pub(crate) fn unknown(asked: &str, cpu: CpuModel, nearest: Vec<String>) -> Self {
        let asked: String = asked.chars().take(120).collect();
        let advice = match nearest.as_slice() {
            // The command needs the model's name, because this machine may be another model.
            [] => format!("; `pacman-pmu list --cpu {cpu}` shows what there is"),
            names => format!("; nearest: {}", names.join(", ")),
        };
        let message = format!("no event {asked} on {cpu}{advice}");
        let mut refusal = Self::new(ResolveErrorKind::Unknown, message);
        refusal.0.nearest = nearest;
        refusal
    }

    #[cold]
    pub(crate) fn other_model(
        asked: &str,
        cpu: CpuModel,
        models: Vec<CpuModel>,
        nearest: Vec<String>,
    ) -> Self {
        let names: Vec<_> = models.iter().take(6).map(|cpu| cpu.name()).collect();
        let more = if models.len() > 6 { " and others" } else { "" };
        let advice = match nearest.as_slice() {
            [] => String::new(),
            names => format!("; nearest on {cpu}: {}", names.join(", ")),
        };
        let message =
            format!("{asked} is not counted by {cpu}, only by {}{more}{advice}", names.join(", "));
        let mut refusal = Self::new(ResolveErrorKind::OtherModel, message);
        refusal.0.models = models;
        refusal.0.nearest = nearest;
        refusal
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for ResolveError {}
