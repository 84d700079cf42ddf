//! PMUs that Linux describes under `/sys/bus/event_source/devices`.
//!
//! This module only parses: the caller reads the files. `format/NAME` has the bits of a term
//! (`config:0-7,32-35`), `events/NAME` the terms of an alias (`event=0x3c,umask=0x1`).

use crate::Family;
use crate::encode::PerfAttr;
use crate::name::number;
use crate::resolve_error::{ResolveError, ResolveErrorKind};
use crate::shown;

/// One PMU of a Linux machine: its type, its term formats and its event aliases.
///
/// ```
/// use pacman_events::SysfsPmu;
/// let arm = SysfsPmu::parse(
///     "armv8_pmuv3_0",
///     "8\n",
///     [("event", "config:0-15"), ("long", "config1:0")],
///     [("cpu_cycles", "event=0x0011\n")],
/// ).unwrap();
/// assert_eq!(arm.event("cpu_cycles").unwrap().unwrap().config, 0x11);
/// ```
#[derive(Clone, Debug)]
pub struct SysfsPmu {
    name: String,
    kind: u32,
    formats: Vec<(String, Format)>,
    events: Vec<(String, String)>,
}

/// The position of a term's bits: the lowest bits go into the first range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Format {
    /// 0 to 2: `config`, `config1`, `config2`.
    word: u8,
    ranges: Vec<(u8, u8)>,
}

impl SysfsPmu {
    /// Parses a PMU from the text of `type`, and from name and text of each file in `format`
    /// and `events`.
    ///
    /// Ignores scales and units of events, and events whose names have control characters.
    ///
    /// # Errors
    /// [`ResolveErrorKind::Grammar`] if the type is not a number, a format cannot be read, or
    /// the PMU's name has control characters.
    pub fn parse<'a>(
        name: &str,
        kind: &str,
        formats: impl IntoIterator<Item = (&'a str, &'a str)>,
        events: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ResolveError> {
        let fault = |what: String| {
            ResolveError::new(ResolveErrorKind::Grammar, format!("PMU {name}: {what}"))
        };
        if name.contains(shown::is_unsafe) {
            return Err(fault("its name has control characters in it".into()));
        }
        let kind = kind
            .trim()
            .parse()
            .map_err(|_| fault(format!("type {:?} is not a number", kind.trim())))?;
        let formats = formats
            .into_iter()
            .map(|(term, text)| match Format::parse(text.trim()) {
                Some(format) => Ok((term.to_owned(), format)),
                None => Err(fault(format!("format {term} is {:?}", text.trim()))),
            })
            .collect::<Result<_, _>>()?;
        let events = events
            .into_iter()
            .filter(|(event, _)| !event.contains('.') && !event.contains(shown::is_unsafe))
            .map(|(event, text)| (event.to_owned(), text.trim().to_owned()))
            .collect();
        Ok(SysfsPmu { name: name.to_owned(), kind, formats, events })
    }

    /// A raw PMU with the terms `config`, `config1` and `config2` only.
    pub(crate) fn plain(name: &str) -> Self {
        SysfsPmu { name: name.to_owned(), kind: 4, formats: Vec::new(), events: Vec::new() }
    }

    /// The name of the PMU's directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The PMU's `type`, for `perf_event_attr.type`.
    pub fn kind(&self) -> u32 {
        self.kind
    }

    /// The names of the PMU's event aliases.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(|(event, _)| event.as_str())
    }

    /// The attributes of an event alias, in any case; `None` if the PMU has no such alias.
    ///
    /// # Errors
    /// [`ResolveErrorKind::Grammar`] as for [`encode`](Self::encode).
    pub fn event(&self, alias: &str) -> Result<Option<PerfAttr>, ResolveError> {
        match self.events.iter().find(|(event, _)| event.eq_ignore_ascii_case(alias)) {
            Some((event, text)) => self.encode(event, text).map(Some),
            None => Ok(None),
        }
    }

    /// The attributes of comma-separated terms: `event=0x3c,umask=1,inv` or an alias.
    ///
    /// # Errors
    /// [`ResolveErrorKind::Grammar`] for a term without a format, for a value that does not fit it,
    /// and for a `?` that the user must replace. The same for aliases that name each other.
    pub fn encode(&self, asked: &str, terms: &str) -> Result<PerfAttr, ResolveError> {
        self.expand(asked, terms, &mut 0)
    }

    /// As [`encode`](Self::encode), but counts the aliases followed so far, because the
    /// aliases in files may name each other.
    fn expand(
        &self,
        asked: &str,
        terms: &str,
        followed: &mut usize,
    ) -> Result<PerfAttr, ResolveError> {
        let formats = self.formats.iter().map(|(term, format)| (term.as_str(), format));
        let lookup =
            |term: &str| formats.clone().find(|(name, _)| *name == term).map(|(_, f)| f.clone());
        let mut attr = PerfAttr { kind: self.kind, ..PerfAttr::default() };
        for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let alias = self.events.iter().find(|(event, text)| event == term && text != term);
            if let Some((_, text)) = alias {
                if *followed == MOST_ALIASES {
                    let name = &self.name;
                    return Err(ResolveError::grammar(
                        asked,
                        format!(
                            "the aliases of PMU {name} name each other: {MOST_ALIASES} were \
                             followed, the last is {term}"
                        ),
                    ));
                }
                *followed += 1;
                let alias = self.expand(asked, text, followed)?;
                attr.config |= alias.config;
                attr.config1 |= alias.config1;
                attr.config2 |= alias.config2;
                continue;
            }
            place(asked, &self.name, &mut attr, term, &lookup)?;
        }
        Ok(attr)
    }
}

/// The most aliases to follow: Linux's own contain terms only, others may name each other.
const MOST_ALIASES: usize = 64;

/// The terms of Linux's drivers, for machines other than this one.
pub(crate) struct BuiltIn(&'static [BuiltInTerm]);

/// A term's name, its word and its ranges, as in a `format` file.
type BuiltInTerm = (&'static str, u8, &'static [(u8, u8)]);

/// Whether a PMU of this name counts the events of the family's cores.
pub(crate) fn is_core_pmu(family: Family, pmu: &str) -> bool {
    match family {
        Family::Arm => pmu == "cpu" || pmu.starts_with("armv8_"),
        Family::S390x => matches!(pmu, "cpu" | "cpum_cf"),
        _ => matches!(pmu, "cpu" | "cpu_core" | "cpu_atom" | "cpu_lowpower"),
    }
}

/// The terms of the family's core PMU; `None` where a selector is more than one register.
pub(crate) fn formats(family: Family) -> Option<&'static BuiltIn> {
    match family {
        Family::Intel | Family::Knc => Some(&FORMATS[0]),
        Family::Amd => Some(&FORMATS[1]),
        Family::Arm => Some(&FORMATS[2]),
        Family::Power => Some(&FORMATS[3]),
        Family::S390x => Some(&FORMATS[4]),
        _ => None,
    }
}

/// Intel's, AMD's, Arm's, POWER's and IBM Z's formats, as their PMUs have them in sysfs.
static FORMATS: [BuiltIn; 5] = [
    BuiltIn(&[
        ("event", 0, &[(0, 7)]),
        ("umask", 0, &[(8, 15), (40, 47)]),
        ("edge", 0, &[(18, 18)]),
        ("pc", 0, &[(19, 19)]),
        ("any", 0, &[(21, 21)]),
        ("inv", 0, &[(23, 23)]),
        ("cmask", 0, &[(24, 31)]),
        ("in_tx", 0, &[(32, 32)]),
        ("in_tx_cp", 0, &[(33, 33)]),
        ("eq", 0, &[(36, 36)]),
        ("offcore_rsp", 1, &[(0, 63)]),
        ("ldlat", 1, &[(0, 15)]),
        ("frontend", 1, &[(0, 23)]),
    ]),
    BuiltIn(&[
        ("event", 0, &[(0, 7), (32, 35)]),
        ("umask", 0, &[(8, 15)]),
        ("edge", 0, &[(18, 18)]),
        ("inv", 0, &[(23, 23)]),
        ("cmask", 0, &[(24, 31)]),
    ]),
    BuiltIn(&[("event", 0, &[(0, 15)]), ("long", 1, &[(0, 0)]), ("rdpmc", 1, &[(1, 1)])]),
    BuiltIn(&[("event", 0, &[(0, 59)])]),
    BuiltIn(&[("event", 0, &[(0, 63)])]),
];

impl BuiltIn {
    pub(crate) fn encode(
        &self,
        asked: &str,
        pmu: &str,
        terms: &str,
    ) -> Result<PerfAttr, ResolveError> {
        let lookup = |term: &str| {
            let row = self.0.iter().find(|(name, ..)| *name == term)?;
            Some(Format { word: row.1, ranges: row.2.to_vec() })
        };
        let mut attr = PerfAttr { kind: 4, ..PerfAttr::default() };
        for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            place(asked, pmu, &mut attr, term, &lookup)?;
        }
        Ok(attr)
    }
}

fn place(
    asked: &str,
    pmu: &str,
    attr: &mut PerfAttr,
    term: &str,
    lookup: &dyn Fn(&str) -> Option<Format>,
) -> Result<(), ResolveError> {
    let (name, value) = term.split_once('=').unwrap_or((term, "1"));
    if value == "?" {
        return Err(ResolveError::grammar(asked, format!("{name}=? stands for a value of yours")));
    }
    let value = number(value).ok_or_else(|| {
        ResolveError::grammar(asked, format!("{name} is {value:?}, not a number"))
    })?;
    let whole = |word| Format { word, ranges: vec![(0, 63)] };
    let format = match name {
        "config" => whole(0),
        "config1" => whole(1),
        "config2" => whole(2),
        // perf's own terms that do not select an event.
        "period" | "freq" | "name" => return Ok(()),
        _ => lookup(name)
            .ok_or_else(|| ResolveError::grammar(asked, format!("PMU {pmu} has no term {name}")))?,
    };
    let bits = format.place(value).ok_or_else(|| {
        ResolveError::grammar(
            asked,
            format!("{name}={value:#x} is wider than the {} bits of the term", format.width()),
        )
    })?;
    match format.word {
        0 => attr.config |= bits,
        1 => attr.config1 |= bits,
        _ => attr.config2 |= bits,
    }
    Ok(())
}

impl Format {
    fn parse(text: &str) -> Option<Self> {
        let (word, ranges) = text.split_once(':')?;
        let word = match word {
            "config" => 0,
            "config1" => 1,
            "config2" => 2,
            _ => return None,
        };
        let ranges = ranges
            .split(',')
            .map(|range| {
                let (low, high) = range.split_once('-').unwrap_or((range, range));
                let (low, high) = (low.parse().ok()?, high.parse().ok()?);
                (low <= high && high < 64).then_some((low, high))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Format { word, ranges })
    }

    fn width(&self) -> u32 {
        self.ranges.iter().map(|(low, high)| u32::from(high - low) + 1).sum()
    }

    fn place(&self, value: u64) -> Option<u64> {
        let mut rest = value;
        let mut bits = 0;
        for &(low, high) in &self.ranges {
            let width = u32::from(high - low) + 1;
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            bits |= (rest & mask) << low;
            rest = rest.checked_shr(width).unwrap_or(0);
        }
        (rest == 0).then_some(bits)
    }
}
