//! From a name to its encoding on one model.

use crate::encode::arch::{self, EN, INT, OS, Source, USR};
use crate::encode::{Encoding, Kind, Modifiers, PerfAttr, Rings, netburst, niagara, perf};
use crate::name::{self, Spelling};
use crate::netburst_tables::EVENTS;
use crate::preset::Preset;
use crate::refusal::{Refusal, RefusalKind};
use crate::sysfs::{SysfsPmu, X86_FORMATS};
use crate::user_table::UserTable;
use crate::{CpuModel, Family, db, nearest};

/// A name resolved on one model: one event, or an expression of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    preset: Option<Preset>,
    first: Term,
    rest: Vec<Term>,
}

/// One event of an expression and what its count is multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Never 0; negative where the count is subtracted.
    pub coefficient: i64,
    /// The event.
    pub encoding: Encoding,
}

impl Resolved {
    /// The preset that was asked for, if one was.
    pub fn preset(&self) -> Option<Preset> {
        self.preset
    }

    /// The event, where the name is exactly one.
    pub fn encoding(&self) -> Option<&Encoding> {
        let single = self.rest.is_empty() && self.first.coefficient == 1;
        single.then_some(&self.first.encoding)
    }

    /// All terms; the first of one event has coefficient 1.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The canonical name: the native event's, or the preset's where it is an
    /// expression.
    pub fn name(&self) -> String {
        match (self.encoding(), self.preset) {
            (None, Some(preset)) => preset.name().to_owned(),
            _ => self.first.encoding.name.to_string(),
        }
    }

    /// The value of the expression, given its terms' counts in the order of
    /// [`Resolved::terms`]. Differences of events may come out below zero.
    pub fn value(&self, counts: impl IntoIterator<Item = u64>) -> i128 {
        let terms = self.terms().zip(counts);
        terms.map(|(term, count)| i128::from(term.coefficient) * i128::from(count)).sum()
    }
}

/// The event or expression of this name on `cpu`: [`Resolver::resolve`] without the
/// user's own tables.
///
/// ```
/// use pacman_events::{CpuModel, resolve};
/// let snb = CpuModel::named("snb").unwrap();
/// let stalls = resolve(snb, "STALL_CYCLES").unwrap();
/// assert_eq!(stalls.encoding().unwrap().evtsel, 0x0180_010e);
/// ```
///
/// # Errors
/// As [`Resolver::resolve`].
pub fn resolve(cpu: CpuModel, name: &str) -> Result<Resolved, Refusal> {
    Resolver::new(cpu).resolve(name)
}

/// Names of one model, with the user's own table and the machine's PMUs beside it.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a> {
    cpu: CpuModel,
    user: Option<&'a UserTable>,
    pmus: &'a [SysfsPmu],
}

impl<'a> Resolver<'a> {
    /// The shipped table of `cpu` alone.
    pub fn new(cpu: CpuModel) -> Self {
        Resolver { cpu, user: None, pmus: &[] }
    }

    /// The user's own table is asked before the shipped one.
    #[must_use]
    pub fn with_table(self, table: &'a UserTable) -> Self {
        Resolver { user: Some(table), ..self }
    }

    /// PMUs read from sysfs answer `pmu/terms/` and the aliases they name.
    #[must_use]
    pub fn with_pmus(self, pmus: &'a [SysfsPmu]) -> Self {
        Resolver { pmus, ..self }
    }

    /// The event or expression of this name.
    ///
    /// The name of a table or of a single-event preset costs no heap; expressions cost
    /// one vector, raw codes and perf-style events a name.
    ///
    /// # Errors
    /// - [`RefusalKind::Grammar`]: not a name, or a modifier that does not fit.
    /// - [`RefusalKind::Unknown`]: no table knows it; the nearest names are given.
    /// - [`RefusalKind::OtherModel`]: other tables know it.
    /// - [`RefusalKind::Needs`]: a unit mask or a register's value is missing.
    /// - [`RefusalKind::Impossible`]: this model's hardware cannot count it.
    pub fn resolve(&self, asked: &str) -> Result<Resolved, Refusal> {
        let asked = asked.trim();
        let start = Spelling { base: asked, modifiers: Modifiers::default() };
        if let Some((pmu, terms, modifiers)) = name::perf_style(asked)? {
            return self.perf_style(asked, pmu, terms, modifiers).map(single);
        }
        let mut spelling = start;
        loop {
            if let Some(preset) = Preset::named(spelling.base) {
                return self.preset(preset, spelling.modifiers);
            }
            if let Some(encoding) = self.known(asked, spelling)? {
                return Ok(single(encoding));
            }
            match name::peel(asked, spelling)? {
                Some(rest) => spelling = rest,
                None => return self.composed(spelling).map(single),
            }
        }
    }

    fn preset(&self, preset: Preset, modifiers: Modifiers) -> Result<Resolved, Refusal> {
        let answer = preset.answer(self.cpu);
        let mut terms = answer.terms();
        let Some((coefficient, event, general)) = terms.next() else {
            return Err(Refusal::impossible(preset.name(), self.cpu, answer.caveat()));
        };
        let first = Term { coefficient, encoding: self.native(event, general, modifiers)? };
        let rest = terms
            .map(|(coefficient, event, general)| {
                Ok(Term { coefficient, encoding: self.native(event, general, modifiers)? })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Resolved { preset: Some(preset), first, rest })
    }

    /// A native event of the shipped table, even where a preset has its name.
    fn native(
        &self,
        event: &str,
        general: Option<&str>,
        modifiers: Modifiers,
    ) -> Result<Encoding, Refusal> {
        let shipped = Resolver { user: None, ..*self };
        if let Some(general) = general {
            let counted = shipped.native(general, None, modifiers)?;
            // A filter keeps the event off the fixed counter.
            let filtered = modifiers.edge || modifiers.invert || modifiers.cmask.is_some();
            if filtered {
                return Ok(counted);
            }
            let fixed = shipped.native(event, None, modifiers)?;
            return Ok(Encoding { fixed: fixed.fixed, name: fixed.name, ..counted });
        }
        let mut spelling = Spelling { base: event, modifiers };
        loop {
            if let Some(encoding) = shipped.known(event, spelling)? {
                return Ok(encoding);
            }
            match name::peel(event, spelling)? {
                Some(rest) => spelling = rest,
                None => return shipped.composed(spelling),
            }
        }
    }

    /// A name that a table has as it stands, a raw code, or an event of any processor.
    fn known(&self, asked: &str, spelling: Spelling<'_>) -> Result<Option<Encoding>, Refusal> {
        let Spelling { base, modifiers } = spelling;
        if let Some(source) = self.user.and_then(|table| table.find(base)) {
            return arch::encode(self.cpu, source, modifiers).map(Some);
        }
        match self.cpu.family() {
            Family::NetBurst => {
                if let Some((named, masks)) = self.netburst_parts(base) {
                    let masks: Vec<_> = masks.collect();
                    match netburst::encode(self.cpu, named, &masks, modifiers) {
                        // Perhaps the last segment is a modifier: peel it first.
                        Err(refusal) if refusal.kind() == RefusalKind::Unknown => {}
                        answer => return answer.map(Some),
                    }
                }
            }
            Family::Niagara => {
                if let Some(event) = db::find(self.cpu, base) {
                    let mask = event.select() as u8;
                    return niagara::encode(self.cpu, &event, mask, modifiers).map(Some);
                }
            }
            _ => {
                if let Some(event) = db::find(self.cpu, base) {
                    return arch::encode(self.cpu, &Source::of(&event), modifiers).map(Some);
                }
            }
        }
        if let Some(code) = name::raw(base) {
            return self.raw(asked, code, None, modifiers).map(Some);
        }
        if let Some(encoding) = perf::find(self.cpu, base, modifiers) {
            return encoding.map(Some);
        }
        for pmu in self.pmus {
            if let Some(attr) = pmu.event(base)? {
                let name =
                    crate::encode::CanonicalName::new(format!("{}/{base}/", pmu.name()), modifiers);
                return perf::encode(self.cpu, name, attr, modifiers).map(Some);
            }
        }
        Ok(None)
    }

    fn netburst_parts<'n>(
        &self,
        base: &'n str,
    ) -> Option<(netburst::Named, impl Iterator<Item = &'n str> + use<'n>)> {
        let mut parts = base.split([':', '.']);
        let named = netburst::named(parts.next()?)?;
        Some((named, parts))
    }

    /// `EVENT:UMASK:UMASK`: several unit masks of one event in one counter. Failing
    /// that, the refusal that fits.
    fn composed(&self, spelling: Spelling<'_>) -> Result<Encoding, Refusal> {
        let Spelling { base, modifiers } = spelling;
        if self.cpu.family() == Family::NetBurst {
            if let Some((named, masks)) = self.netburst_parts(base) {
                let masks: Vec<_> = masks.collect();
                return netburst::encode(self.cpu, named, &masks, modifiers);
            }
        } else if let Some(encoding) = self.joined(base, modifiers)? {
            return Ok(encoding);
        }
        Err(self.no_such_event(base))
    }

    fn joined(&self, base: &str, modifiers: Modifiers) -> Result<Option<Encoding>, Refusal> {
        let Some((event, masks)) = base.split_once([':', '.']) else {
            return Ok(None);
        };
        let mut all: Option<Source> = None;
        for mask in masks.split([':']) {
            let Some(next) = db::find(self.cpu, &format!("{event}.{mask}")) else {
                return Ok(None);
            };
            let next = Source::of(&next);
            all = Some(match all {
                None => next,
                Some(all) => union(all, next).ok_or_else(|| {
                    let reason = format!("{mask} is not a unit mask that joins the others: its code, filter or register differs");
                    Refusal::impossible(base, self.cpu, reason)
                })?,
            });
        }
        let Some(mut source) = all else { return Ok(None) };
        source.name = base.to_ascii_uppercase().into();
        if self.cpu.family() == Family::Niagara {
            let first = masks.split(':').next().unwrap_or(masks);
            let event = db::find(self.cpu, &format!("{event}.{first}"));
            let event = event.expect("found above");
            return niagara::encode(self.cpu, &event, source.select as u8, modifiers).map(Some);
        }
        arch::encode(self.cpu, &source, modifiers).map(Some)
    }

    fn no_such_event(&self, base: &str) -> Refusal {
        let mut elsewhere: Vec<_> = db::tables_with(base).collect();
        if elsewhere.is_empty() && self.netburst_parts(base).is_some() {
            elsewhere = CpuModel::all().filter(|cpu| cpu.family() == Family::NetBurst).collect();
        }
        let mut near = nearest::names(self.cpu, base);
        if let Some(table) = self.user {
            near.splice(0..0, nearest::among(base, table.names()));
            near.truncate(5);
        }
        if elsewhere.is_empty() {
            Refusal::unknown(base, self.cpu, near)
        } else {
            Refusal::other_model(base, self.cpu, elsewhere, near)
        }
    }

    /// A code in the layout of the family's selector, or of Linux's raw config where
    /// a selector is not one register.
    fn raw(
        &self,
        asked: &str,
        code: u64,
        register: Option<u64>,
        modifiers: Modifiers,
    ) -> Result<Encoding, Refusal> {
        match self.cpu.family() {
            Family::Intel | Family::Knc | Family::Amd => {
                self.raw_select(asked, code, register, modifiers)
            }
            Family::NetBurst => raw_netburst(self.cpu, asked, code, modifiers),
            Family::Niagara | Family::Generic => {
                let attr = PerfAttr {
                    kind: 4,
                    pmu: None,
                    config: code,
                    config1: register.unwrap_or(0),
                    config2: 0,
                };
                let name = crate::encode::CanonicalName::new(format!("r{code:x}"), modifiers);
                perf::encode(self.cpu, name, attr, modifiers)
            }
        }
    }

    fn raw_select(
        &self,
        asked: &str,
        code: u64,
        register: Option<u64>,
        modifiers: Modifiers,
    ) -> Result<Encoding, Refusal> {
        let control = USR | OS | INT | EN;
        let select = code & !control;
        let mut source = Source::raw(self.cpu, format!("r{code:x}"), select);
        // What the table knows of the code limits the counters; a code that it does not
        // list is taken to be as limited as every other event of that number.
        let code_of = |event: &db::Event| event.fixed().is_none().then(|| event.select());
        let same = |mask: u64| {
            move |event: &db::Event| {
                code_of(event).is_some_and(|other| (other ^ select) & mask == 0)
            }
        };
        let exact = db::events(self.cpu).find(same(0xf_ffff_ffff & !(0xff_u64 << 24 | 0xff << 16)));
        let listed = exact.map(|event| Source::of(&event));
        match listed {
            Some(listed) => {
                source.counters = listed.counters;
                source.smt_off = listed.smt_off;
                source.counter_pair = listed.counter_pair;
                source.counts = listed.counts;
                source.taken_alone = listed.taken_alone;
                source.choices = listed.choices;
            }
            None => {
                for event in db::events(self.cpu).filter(same(0xf_0000_00ff)) {
                    let (on, off) = (event.counters(), event.counters_smt_off());
                    if !source.counters.and(on).is_empty() {
                        source.counters = source.counters.and(on);
                        source.smt_off = source.smt_off.and(off);
                    }
                }
            }
        }
        match (source.choices[0].1, register) {
            (0, None | Some(0)) => {}
            (0, Some(value)) => source.value = value,
            (msr, None) => {
                let reason = format!(
                    "the value of MSR {msr:#x}: write cpu/config={select:#x},config1=VALUE/"
                );
                return Err(Refusal::needs(asked, self.cpu, reason));
            }
            (_, Some(value)) => source.value = value,
        }
        let mut encoding = arch::encode(self.cpu, &source, modifiers)?;
        encoding.rings.user |= code & USR != 0;
        encoding.rings.kernel |= code & OS != 0;
        if encoding.kind != Kind::Fixed {
            encoding.evtsel |= code & control;
        }
        Ok(encoding)
    }

    fn perf_style(
        &self,
        asked: &str,
        pmu: &str,
        terms: &str,
        suffix: &str,
    ) -> Result<Encoding, Refusal> {
        let mut modifiers = Modifiers::default();
        for word in suffix.split(':').filter(|word| !word.is_empty()) {
            if !name::set(asked, &mut modifiers, word)? {
                return Err(Refusal::grammar(asked, format!("{word:?} is no modifier")));
            }
        }
        let core = matches!(pmu, "cpu" | "cpu_core" | "cpu_atom" | "cpu_lowpower");
        let selects = matches!(self.cpu.family(), Family::Intel | Family::Knc | Family::Amd);
        let attr = match self.pmus.iter().find(|known| known.name() == pmu) {
            Some(known) => known.encode(asked, terms)?,
            None if core && selects => {
                let amd = self.cpu.family() == Family::Amd;
                X86_FORMATS[usize::from(amd)].encode(asked, terms)?
            }
            None if core => SysfsPmu::plain(pmu).encode(asked, terms)?,
            None => {
                let reason =
                    format!("the directory of PMU {pmu} from /sys/bus/event_source/devices");
                return Err(Refusal::needs(asked, self.cpu, reason));
            }
        };
        if core && selects {
            let register = Some(attr.config1).filter(|value| *value != 0);
            let mut encoding = self.raw_select(asked, attr.config, register, modifiers)?;
            if let Some(perf) = &mut encoding.perf {
                perf.config2 = attr.config2;
            }
            return Ok(encoding);
        }
        if core && self.cpu.family() == Family::NetBurst {
            return raw_netburst(self.cpu, asked, attr.config, modifiers);
        }
        let name = crate::encode::CanonicalName::new(format!("{pmu}/{terms}/"), modifiers);
        perf::encode(self.cpu, name, attr, modifiers)
    }
}

fn single(encoding: Encoding) -> Resolved {
    Resolved { preset: None, first: Term { coefficient: 1, encoding }, rest: Vec::new() }
}

/// Two events of one code as one with both unit masks; `None` where more differs.
fn union(one: Source, other: Source) -> Option<Source> {
    let masks = 0xff_0000_0000_ff00_u64;
    let same = (one.select ^ other.select) & !masks == 0
        && one.choices[0].1 == 0
        && other.choices[0].1 == 0
        && one.fixed.is_none()
        && other.fixed.is_none()
        && one.counter_pair == other.counter_pair;
    let counters = one.counters.and(other.counters);
    let smt_off = one.smt_off.and(other.smt_off);
    (same && !smt_off.is_empty()).then_some(Source {
        select: one.select | other.select,
        counters,
        smt_off,
        taken_alone: one.taken_alone || other.taken_alone,
        precise: one.precise && other.precise,
        ..one
    })
}

/// Linux's packed raw config of the Pentium 4, taken apart.
fn raw_netburst(
    cpu: CpuModel,
    asked: &str,
    code: u64,
    modifiers: Modifiers,
) -> Result<Encoding, Refusal> {
    let index = (code >> 57 & 0x3f) as u8;
    let Some(row) = EVENTS.iter().find(|row| row.linux == Some(index)) else {
        return Err(Refusal::grammar(asked, format!("Linux has no NetBurst event number {index}")));
    };
    if code & 0x3f > 9 || code & 1 << 7 != 0 {
        return Err(Refusal::grammar(
            asked,
            "bits 5:0 are a replay metric up to 9, and bit 7 is refused by Linux",
        ));
    }
    let mask = (code >> 41) as u16;
    let mut encoding = netburst::encode_event(cpu, row, mask, modifiers)?;
    let tag_enable = code >> 36 & 1 == 1;
    if let Some(setup) = &mut encoding.netburst {
        setup.filter |= code as u32 & 0x01fc_0000;
        setup.tag = tag_enable.then_some(netburst::Tag { value: (code >> 37 & 0xf) as u8 });
        setup.replay = netburst::replay_of((code & 0x3f) as u8);
        if setup.replay.is_some() {
            encoding.needs.tagging = false;
        }
    }
    // T bits and what Linux sets itself stay out of the config.
    let user_bits = 0x7fff_fff0_01ff_0fff;
    if let Some(perf) = &mut encoding.perf {
        perf.config |= code & user_bits;
    }
    let rings = code >> 32 & 0xf;
    encoding.rings = Rings {
        user: modifiers.user || rings & 0b0101 != 0,
        kernel: modifiers.kernel || rings & 0b1010 != 0,
    };
    Ok(encoding)
}
