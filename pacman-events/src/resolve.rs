//! Resolves a name to its encoding on one model.

use crate::encode::arch::{self, Source};
use crate::encode::{
    CanonicalName, Encoding, Modifiers, PerfAttr, code, netburst_encoder as netburst, niagara, perf,
};
use crate::name::{self, Spelling};
use crate::preset::Preset;
use crate::resolve_error::{ResolveError, ResolveErrorKind};
use crate::sysfs::{SysfsPmu, formats, is_core_pmu};
use crate::user_table::UserTable;
use crate::{
    CpuModel, Family, alias, db, expression, names, nearest, raw, refusal, shown, unit_masks,
};

/// A name resolved on one model: one event, or an expression of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    preset: Option<Preset>,
    alias: Option<&'static str>,
    first: Term,
    rest: Vec<Term>,
}

/// One event of an expression and the factor of its count.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Never 0; negative where the count is subtracted.
    pub coefficient: i64,
    /// The event.
    pub encoding: Encoding,
}

impl Resolved {
    /// The preset of the name; `None` for other names.
    pub fn preset(&self) -> Option<Preset> {
        self.preset
    }

    /// Another tool's name that stands for an expression of several events; `None` for other names.
    pub fn alias(&self) -> Option<&'static str> {
        self.alias
    }

    /// The event; `None` for an expression of several.
    pub fn encoding(&self) -> Option<&Encoding> {
        let single = self.rest.is_empty() && self.first.coefficient == 1;
        single.then_some(&self.first.encoding)
    }

    /// All terms; the first of one event has coefficient 1.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The canonical name: of the native event, or of the preset or alias if that is an expression.
    pub fn name(&self) -> String {
        match (self.encoding(), self.preset.map(Preset::name).or(self.alias)) {
            (None, Some(name)) => name.to_owned(),
            _ => self.first.encoding.name.to_string(),
        }
    }

    /// The value of the expression from its terms' counts, in the order of
    /// [`Resolved::terms`]. A difference of events can be negative.
    pub fn value(&self, counts: impl IntoIterator<Item = u64>) -> i128 {
        let terms = self.terms().zip(counts);
        terms.map(|(term, count)| i128::from(term.coefficient) * i128::from(count)).sum()
    }
}

/// Refuses text after a preset's name and a colon, because the name means the preset.
fn no_modifier_of_a_preset(asked: &str, base: &str) -> Result<(), ResolveError> {
    match base.split_once(':') {
        Some((name, rest)) if Preset::named(name).is_some() => Err(ResolveError::grammar(
            asked,
            format!(
                "{rest} is not a modifier; the modifiers are u, k, e, i, c=N, any and, on \
                 NetBurst, thr=N and cmpl"
            ),
        )),
        _ => Ok(()),
    }
}

/// Resolves a name on `cpu` as [`Resolver::resolve`] does, without the user's own tables.
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
pub fn resolve(cpu: CpuModel, name: &str) -> Result<Resolved, ResolveError> {
    Resolver::new(cpu).resolve(name)
}

/// Resolves names of one model, with the user's own table and the machine's PMUs.
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

    /// Adds the user's own table, which is searched before the shipped one.
    #[must_use]
    pub fn with_table(self, table: &'a UserTable) -> Self {
        Resolver { user: Some(table), ..self }
    }

    /// Adds PMUs that were read from sysfs; they resolve `pmu/terms/` and their aliases.
    #[must_use]
    pub fn with_pmus(self, pmus: &'a [SysfsPmu]) -> Self {
        Resolver { pmus, ..self }
    }

    /// Resolves a name to an event or an expression.
    ///
    /// A name that nothing else has may be an alias: an event of libpfm4, a preset of PAPI, or
    /// LIKWID's spelling of an event. [`Resolved::name`] says what it stands for.
    ///
    /// A name of a table or of a single-event preset needs no heap. An expression allocates
    /// one vector; a raw code, a perf-style event or an alias allocates a name.
    ///
    /// # Errors
    /// - [`ResolveErrorKind::Grammar`]: not a name, or a modifier that does not fit.
    /// - [`ResolveErrorKind::Unknown`]: no table has the name; the error has the nearest names.
    /// - [`ResolveErrorKind::OtherModel`]: only tables of other models have the name.
    /// - [`ResolveErrorKind::Needs`]: a unit mask or a register's value is missing.
    /// - [`ResolveErrorKind::Impossible`]: this model's hardware cannot count it.
    pub fn resolve(&self, asked: &str) -> Result<Resolved, ResolveError> {
        let asked = asked.trim();
        // The grammar skips blanks around terms, so a legal name could hold a line break.
        if asked.contains(shown::is_unsafe) {
            return Err(ResolveError::grammar(asked, "it contains control characters"));
        }
        let start = Spelling { base: asked, modifiers: Modifiers::default() };
        if let Some((pmu, terms, modifiers)) = name::perf_style(asked)? {
            return self.perf_style(asked, pmu, terms, modifiers).map(single);
        }
        let mut spelling = start;
        loop {
            if let Some(preset) = Preset::named(spelling.base) {
                return self.preset(preset, spelling.modifiers);
            }
            // No table's name holds c=N or thr=N, so such a name needs no look-up.
            if !name::holds_number(spelling.base) {
                if let Some(encoding) = self.known(asked, spelling)? {
                    return Ok(single(encoding));
                }
            }
            match alias::meaning(self.cpu, spelling.base) {
                Some((alias, sum)) if sum.contains([' ', '*']) => {
                    let mut resolved = self.sum(expression::terms(sum), spelling.modifiers)?;
                    resolved.alias = Some(alias);
                    return Ok(resolved);
                }
                Some((_, event)) => return self.aliased(asked, spelling, event),
                None => {}
            }
            let users = |event: &str| self.user.is_some_and(|table| table.find(event).is_some());
            if let Some(encoding) = unit_masks::called_any(self.cpu, spelling, users)? {
                return Ok(single(encoding));
            }
            match name::peel(asked, spelling)? {
                Some(rest) => spelling = rest,
                None => {
                    if let Some(event) = alias::with_underscores(self.cpu, spelling.base) {
                        return self.aliased(asked, spelling, &event);
                    }
                    if let Some(reason) = refusal::reason(self.cpu, spelling.base) {
                        return Err(ResolveError::impossible(spelling.base, self.cpu, reason));
                    }
                    return self.composed(spelling).map(single).or_else(|refusal| {
                        if refusal.kind() != ResolveErrorKind::Impossible {
                            no_modifier_of_a_preset(asked, spelling.base)?;
                        }
                        Err(refusal)
                    });
                }
            }
        }
    }

    /// Resolves the name that an alias stands for, with the modifiers that follow the alias.
    fn aliased(
        &self,
        asked: &str,
        Spelling { base, .. }: Spelling<'_>,
        event: &str,
    ) -> Result<Resolved, ResolveError> {
        let modifiers = &asked[base.len()..];
        // In perf's style they follow the slash.
        let modifiers = match event.ends_with('/') {
            true => modifiers.trim_start_matches(':'),
            false => modifiers,
        };
        self.resolve(&format!("{event}{modifiers}"))
    }

    fn preset(&self, preset: Preset, modifiers: Modifiers) -> Result<Resolved, ResolveError> {
        let answer = preset.answer(self.cpu);
        if answer.expression().is_none() {
            return Err(ResolveError::impossible(preset.name(), self.cpu, answer.caveat()));
        }
        let mut resolved = self.sum(answer.terms(), modifiers)?;
        resolved.preset = Some(preset);
        Ok(resolved)
    }

    /// The sum of native events, all with the same modifiers.
    fn sum(
        &self,
        terms: impl Iterator<Item = (i64, &'static str, Option<&'static str>)>,
        modifiers: Modifiers,
    ) -> Result<Resolved, ResolveError> {
        let mut terms = terms.map(|(coefficient, event, general)| {
            Ok(Term { coefficient, encoding: self.native(event, general, modifiers)? })
        });
        let first = terms.next().expect("the build refuses an expression without terms")?;
        let rest = terms.collect::<Result<Vec<_>, _>>()?;
        Ok(Resolved { preset: None, alias: None, first, rest })
    }

    /// A native event of the shipped table, even where a preset has its name.
    fn native(
        &self,
        event: &str,
        general: Option<&str>,
        modifiers: Modifiers,
    ) -> Result<Encoding, ResolveError> {
        let shipped = Resolver { user: None, ..*self };
        if let Some(general) = general {
            let counted = shipped.native(general, None, modifiers)?;
            // A fixed counter cannot filter.
            let filtered = modifiers.edge || modifiers.invert || modifiers.cmask.is_some();
            if filtered {
                return Ok(counted);
            }
            let fixed = shipped.native(event, None, modifiers)?;
            // Linux moves only the fixed counter's code between both counters.
            return Ok(Encoding {
                fixed: fixed.fixed,
                name: fixed.name,
                perf: fixed.perf,
                ..counted
            });
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

    /// Resolves a table's name without changes, a raw code, or an event of all processors.
    fn known(&self, asked: &str, spelling: Spelling<'_>) -> Result<Option<Encoding>, ResolveError> {
        let Spelling { base, modifiers } = spelling;
        if let Some(source) = self.user.and_then(|table| table.find(base)) {
            return arch::encode(self.cpu, source, modifiers).map(Some);
        }
        match self.cpu.family() {
            Family::NetBurst => {
                if let Some((named, masks)) = netburst_parts(base) {
                    // A last segment that is not a unit mask may be a modifier.
                    if netburst::knows(named, masks) {
                        return netburst::encode(self.cpu, named, masks, modifiers).map(Some);
                    }
                }
            }
            Family::Niagara => {
                if let Some(event) = db::find(self.cpu, base) {
                    let mask = event.select() as u8;
                    return niagara::encode(self.cpu, &event, mask, modifiers).map(Some);
                }
            }
            _ if code::selects(self.cpu) => {
                if let Some(event) = db::find(self.cpu, base) {
                    return code::encode(self.cpu, &event, modifiers).map(Some);
                }
            }
            _ => {
                if let Some(event) = db::find(self.cpu, base) {
                    let source = unit_masks::with_all_fields(self.cpu, Source::of(&event));
                    return arch::encode(self.cpu, &source, modifiers).map(Some);
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
                let name = CanonicalName::new(format!("{}/{base}/", pmu.name()), modifiers);
                return perf::encode(self.cpu, name, attr, modifiers).map(Some);
            }
        }
        Ok(None)
    }

    /// Resolves `EVENT:UMASK:UMASK`, several unit masks of one event in one counter. If
    /// they do not fit, the error gives the reason.
    fn composed(&self, spelling: Spelling<'_>) -> Result<Encoding, ResolveError> {
        let Spelling { base, modifiers } = spelling;
        if self.cpu.family() == Family::NetBurst {
            if let Some((named, masks)) = netburst_parts(base) {
                return netburst::encode(self.cpu, named, masks, modifiers);
            }
        } else if let Some(encoding) = unit_masks::joined(self.cpu, base, modifiers)? {
            return Ok(encoding);
        }
        Err(self.no_such_event(base))
    }

    fn no_such_event(&self, base: &str) -> ResolveError {
        let masked: Vec<_> = names::with_unit_mask(self.cpu, base).collect();
        if !masked.is_empty() {
            return ResolveError::needs_unit_mask(base, self.cpu, &masked);
        }
        let mut elsewhere: Vec<_> = db::tables_with(base).collect();
        if elsewhere.is_empty() && netburst_parts(base).is_some() {
            elsewhere = CpuModel::all().filter(|cpu| cpu.family() == Family::NetBurst).collect();
        }
        let mut near = names::nearest_to(self.cpu, base);
        if let Some(table) = self.user {
            near.splice(0..0, nearest::among(base, table.names()));
            near.truncate(5);
        }
        if elsewhere.is_empty() {
            ResolveError::unknown(base, self.cpu, near)
        } else {
            ResolveError::other_model(base, self.cpu, elsewhere, near)
        }
    }

    /// Resolves a code in the layout of the family's selector. Where a selector is more than
    /// one register, the code is Linux's raw config.
    fn raw(
        &self,
        asked: &str,
        code: u64,
        register: Option<u64>,
        modifiers: Modifiers,
    ) -> Result<Encoding, ResolveError> {
        match self.cpu.family() {
            Family::Intel | Family::Knc | Family::Amd => {
                raw::select(self.cpu, asked, code, register, modifiers)
            }
            Family::NetBurst => raw::netburst(self.cpu, asked, code, modifiers),
            Family::Arm | Family::Power | Family::S390x => {
                code::raw(self.cpu, format!("r{code:x}").into(), code, modifiers)
            }
            Family::Niagara | Family::Generic => {
                let attr = PerfAttr {
                    kind: 4,
                    pmu: None,
                    config: code,
                    config1: register.unwrap_or(0),
                    config2: 0,
                };
                let name = CanonicalName::new(format!("r{code:x}"), modifiers);
                perf::encode(self.cpu, name, attr, modifiers)
            }
        }
    }

    fn perf_style(
        &self,
        asked: &str,
        pmu: &str,
        terms: &str,
        suffix: &str,
    ) -> Result<Encoding, ResolveError> {
        let mut modifiers = Modifiers::default();
        for word in suffix.split(':').filter(|word| !word.is_empty()) {
            if !name::set(asked, &mut modifiers, word)? {
                return Err(ResolveError::grammar(asked, format!("{word:?} is not a modifier")));
            }
        }
        let core = is_core_pmu(self.cpu.family(), pmu);
        let formats = formats(self.cpu.family()).filter(|_| core);
        let attr = match (self.pmus.iter().find(|known| known.name() == pmu), formats) {
            (Some(known), _) => known.encode(asked, terms)?,
            (None, Some(formats)) => formats.encode(asked, pmu, terms)?,
            (None, None) if core => SysfsPmu::plain(pmu).encode(asked, terms)?,
            (None, None) => {
                let reason =
                    format!("the directory of PMU {pmu} from /sys/bus/event_source/devices");
                return Err(ResolveError::needs(asked, self.cpu, reason));
            }
        };
        let name = format!("{pmu}/{terms}/");
        if core && code::selects(self.cpu) {
            let encoding = code::raw(self.cpu, name.into(), attr.config, modifiers)?;
            return Ok(Encoding { perf: Some(attr), ..encoding });
        }
        if formats.is_some() {
            let register = Some(attr.config1).filter(|value| *value != 0);
            let mut encoding = raw::select(self.cpu, asked, attr.config, register, modifiers)?;
            if let Some(perf) = &mut encoding.perf {
                perf.config2 = attr.config2;
            }
            return Ok(encoding);
        }
        if core && self.cpu.family() == Family::NetBurst {
            return raw::netburst(self.cpu, asked, attr.config, modifiers);
        }
        perf::encode(self.cpu, CanonicalName::new(name, modifiers), attr, modifiers)
    }
}

fn single(encoding: Encoding) -> Resolved {
    Resolved {
        preset: None,
        alias: None,
        first: Term { coefficient: 1, encoding },
        rest: Vec::new(),
    }
}

/// Splits a name into an event or metric and the text of its unit masks.
fn netburst_parts(base: &str) -> Option<(netburst::Named, &str)> {
    let (event, masks) = base.split_once([':', '.']).unwrap_or((base, ""));
    Some((netburst::named(event)?, masks))
}
