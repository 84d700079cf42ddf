//! Reads Intel's published event files: `*_core.json` of the perfmon repository.

mod document;
mod fixed;

use document::{Document, Event};
use fixed::{Counters, Numbering};

use crate::admission::{Admission, correct};
use crate::encode::Scope;
use crate::encode::arch::{ANY, EDGE, INV, Source, bit};
use crate::resolve_error::{ResolveError, ResolveErrorKind};
use crate::{CounterSet, CpuModel, Family, UserTable, db, shown};

impl UserTable {
    /// The core events of a file in perfmon's format, for processors with the counters of `cpu`.
    ///
    /// Reads the published form (`{"Header": …, "Events": […]}`) and the older bare array. Numbers may
    /// be text or JSON's numbers, flags may be booleans. Fixed counters are identified by the meaning of
    /// their events, because some lists number them from 1.
    ///
    /// ```
    /// use pacman_events::{CpuModel, Resolver, UserTable};
    /// let file = r#"[{"EventName": "NEW.EVENT", "EventCode": "0x42", "UMask": "0x01",
    ///                 "Counter": "0,1,2,3"}]"#;
    /// let skl = CpuModel::named("skl").unwrap();
    /// let table = UserTable::from_perfmon_json(skl, file).unwrap();
    /// let event = Resolver::new(skl).with_table(&table).resolve("NEW.EVENT:u").unwrap();
    /// assert_eq!(event.encoding().unwrap().evtsel, 0x1_0142);
    /// ```
    ///
    /// # Errors
    /// [`ResolveErrorKind::Grammar`] if the text is not JSON or has no events. The same if an event lacks
    /// a name, a code or a counter, if a field does not fit its register, and if an event is not a
    /// core's (`Unit`). The error names the event and the field.
    pub fn from_perfmon_json(cpu: CpuModel, text: &str) -> Result<Self, ResolveError> {
        let fault = |what: String| {
            ResolveError::new(ResolveErrorKind::Grammar, format!("event file: {what}"))
        };
        let of_event = |(name, what): (String, String)| fault(format!("{name}: {what}"));
        if !matches!(cpu.family(), Family::Intel | Family::Amd | Family::Generic) {
            return Err(fault(format!("the format cannot describe events of {cpu}")));
        }
        let document = Document::parse(text).map_err(fault)?;
        let list = &document.events;
        if list.is_empty() {
            return Err(fault("no events".into()));
        }
        let mut named = Vec::with_capacity(list.len());
        for (index, event) in list.iter().enumerate() {
            let name = event.text("EventName");
            if name.is_empty() {
                return Err(fault(format!("event {index} has no EventName")));
            }
            if name.contains(shown::is_unsafe) {
                return Err(fault(format!("the name {name:?} has control characters in it")));
            }
            let counters = of_a_core(cpu, name, event).and_then(|()| counters(event));
            let counters = counters.map_err(|what| of_event((name.to_owned(), what)))?;
            named.push((name, event, counters));
        }
        let admission = Admission::of(cpu);
        let numbering = Numbering::of(cpu, named.iter().copied()).map_err(of_event)?;
        let mut events: Vec<Source> = Vec::with_capacity(named.len());
        for (name, event, counters) in named {
            let source = source(cpu, name, event, counters, (&numbering, &admission));
            events.push(source.map_err(|what| of_event((name.to_owned(), what)))?);
        }
        correct(cpu, &mut events);
        let table = UserTable::new(events)
            .map_err(|name| fault(format!("{name} stands twice, with two codes")))?;
        let (version, date) = (document.header("Version"), document.header("DatePublished"));
        Ok(UserTable { version, date, ..table })
    }
}

/// Refuses an event of another PMU: its code would count something else on a core.
fn of_a_core(cpu: CpuModel, name: &str, event: &Event) -> Result<(), String> {
    let own = cpu.perf_pmu().unwrap_or("cpu_core");
    let units = event.words("Unit")?;
    let is_core =
        |unit: &String| ["core", "cpu", own].iter().any(|core| core.eq_ignore_ascii_case(unit));
    if let Some(unit) = units.iter().find(|unit| !is_core(unit)) {
        return Err(format!(
            "its Unit {unit} is not the PMU of {cpu}: name the file of core events"
        ));
    }
    // Lists of uncore events that lack Unit have these.
    let uncore = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("UNC_"));
    if uncore || event.flag("PerPkg")? {
        return Err("an uncore event is not a core's: name the file of core events".into());
    }
    Ok(())
}

fn counters(event: &Event) -> Result<Counters, String> {
    Counters::of(event, "Counter")?.ok_or_else(|| "no Counter".into())
}

fn source(
    cpu: CpuModel,
    name: &str,
    event: &Event,
    counters: Counters,
    (numbering, admission): (&Numbering, &Admission),
) -> Result<Source, String> {
    let facts = cpu.facts();
    let intel = facts.family == Family::Intel;
    // AMD's event select has twelve bits. No list of Intel's has more than eight.
    let most_code = if intel { 0xff } else { 0xfff };
    let codes = event.numbers("EventCode", most_code)?;
    let umasks = event.numbers("UMask", 0xff)?;
    let code = *codes.first().ok_or("no EventCode")?;
    let umask = umasks.first().copied().unwrap_or(0);
    let wide = event.number("UMaskExt", 0xff)?;
    if wide != 0 && !admission.has_wide_masks() {
        return Err(format!("UMaskExt is {wide:#x}, and {cpu} has no second unit mask"));
    }
    let any_thread = event.flag("AnyThread")?;
    let filter = event.number("CounterMask", 0xff)? << 24
        | bit(INV, event.flag("Invert")?)
        | bit(EDGE, event.flag("EdgeDetect")?);
    let fixed = numbering.number(cpu, name, event, counters)?;
    if any_thread && !admission.has_any_thread(fixed.is_some()) {
        return Err(format!("AnyThread is set, and {cpu} has none"));
    }
    let choices = choices(event, &codes, &umasks)?;
    let has_register = choices[0].1 != 0;
    if has_register && (fixed.is_some() || facts.family == Family::Amd) {
        return Err("MSRIndex names a register that its counter does not use".into());
    }
    let value = event.number("MSRValue", u64::MAX)?;
    if value != 0 && !has_register {
        return Err(format!("MSRValue is {value:#x}, and MSRIndex names no register"));
    }
    if let Some((select, msr)) = choices.iter().find(|choice| !admission.has_register(**choice)) {
        return Err(format!(
            "its MSRIndex is {msr:#x}, and no event {:#04x} of {cpu} has that register",
            select & 0xff
        ));
    }
    let select = match fixed {
        Some(_) if filter != 0 => return Err("a fixed counter has no filters".into()),
        Some(fixed) => fixed::config(fixed, name),
        None if code == 0 && facts.family != Family::Amd => {
            return Err("EventCode 0 is a fixed counter's, and Counter names general ones".into());
        }
        None if has_register => u64::from(choices[0].0) | wide << 40 | filter,
        None => code & 0xff | code >> 8 << 32 | umask << 8 | wide << 40 | filter,
    };
    let (general, smt_off) = match counters {
        Counters::General(general) => {
            let smt_off = match Counters::of(event, "CounterHTOff")? {
                Some(Counters::General(smt_off)) => smt_off,
                _ => general,
            };
            // A processor newer than the shipped tables has the counters that its file says.
            match facts.family {
                Family::Generic => (general, smt_off),
                _ => (general.and(facts.general), smt_off.and(facts.general_smt_off)),
            }
        }
        _ => (CounterSet::EMPTY, CounterSet::EMPTY),
    };
    if fixed.is_none() && smt_off.is_empty() {
        return Err(format!("{cpu} has none of its counters"));
    }
    let counts = db::find(cpu, name).map_or(Scope::Thread, |known| Source::of(&known).counts);
    Ok(Source {
        name: name.to_owned().into(),
        select: select | bit(ANY, any_thread),
        choices,
        value,
        counters: general,
        smt_off,
        fixed,
        taken_alone: event.flag("TakenAlone")?,
        precise: event.flag("Precise")? || event.number("PEBS", 3)? != 0,
        counter_pair: false,
        topdown: false,
        counts,
        errata: "",
    })
}

/// The selectors and registers of an event with extra registers, paired by position.
fn choices(event: &Event, codes: &[u64], umasks: &[u64]) -> Result<[(u16, u16); 4], String> {
    let msrs = event.numbers("MSRIndex", 0xffff)?;
    let msrs: Vec<_> = msrs.into_iter().filter(|msr| *msr != 0).collect();
    let mut choices = [(0, 0); 4];
    if msrs.len() > choices.len() {
        return Err(format!("MSRIndex has {} registers, and at most 4 fit", msrs.len()));
    }
    for (index, msr) in msrs.iter().enumerate() {
        // One selector is valid for all registers. Otherwise they pair by position, and where the
        // list has one of both off-core registers only, the register's number is the position.
        let at = |list: &[u64], field: &str| match list {
            [] => Ok(0),
            [one] => Ok(*one),
            _ if list.len() == msrs.len() => Ok(list[index]),
            [first, second] => match msr {
                0x1a6 => Ok(*first),
                0x1a7 => Ok(*second),
                _ => Err(format!("{field} has 2 entries, and MSRIndex is {msr:#x}")),
            },
            _ => {
                Err(format!("{field} and MSRIndex have {} and {} entries", list.len(), msrs.len()))
            }
        };
        let (code, umask) = (at(codes, "EventCode")?, at(umasks, "UMask")?);
        let code =
            u8::try_from(code).map_err(|_| "EventCode is wider than its register's 8 bits")?;
        let select = u16::from(code) | (umask as u16) << 8;
        choices[index] = (select, *msr as u16);
    }
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resolver;
    use crate::encode::Conditions;

    const FILE: &str = r#"{"Header": {}, "Events": [
        {"EventCode": "0x0e", "UMask": "0x01", "EventName": "NEW_EVENT.STALLS", "Counter": "0,1,2,3",
         "CounterHTOff": "0,1,2,3,4,5,6,7", "CounterMask": "1", "Invert": "1", "MSRIndex": "0x00"},
        {"EventCode": "0xB7, 0xBB", "UMask": "0x01", "EventName": "NEW_OFFCORE", "Counter": "0,1,2,3",
         "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x10001"},
        {"EventCode": "0x00", "UMask": "0x03", "EventName": "NEW_REF", "Counter": "Fixed counter 2"}]}"#;

    #[test]
    fn a_users_events_are_encoded_like_shipped_ones() {
        let skl = CpuModel::named("skl").unwrap();
        let table = UserTable::from_perfmon_json(skl, FILE).unwrap();
        let resolver = Resolver::new(skl).with_table(&table);
        let event = |name| resolver.resolve(name).unwrap().encoding().unwrap().clone();
        let stalls = event("new_event:stalls");
        assert_eq!((stalls.evtsel, stalls.counters_smt_off.bits()), (0x0180_010e, 0xff));
        let offcore = event("NEW_OFFCORE").extra.unwrap();
        assert_eq!((offcore.value, offcore.choices()[1].select), (0x10001, 0x01bb));
        assert_eq!(event("NEW_REF").fixed, Some(2));
        // The shipped table is still there, and misspellings find the user's names.
        assert_eq!(event("UOPS_ISSUED.ANY").evtsel, 0x10e);
        assert_eq!(resolver.resolve("NEW_REFF").unwrap_err().nearest()[0], "NEW_REF");
    }

    #[test]
    fn counters_that_smt_closes_need_it_off() {
        let upper = r#"[{"EventCode": "0x42", "UMask": "0x1", "EventName": "UPPER", "Counter": "4,5",
            "CounterHTOff": "4,5,6,7"}]"#;
        let skl = CpuModel::named("skl").unwrap();
        let table = UserTable::from_perfmon_json(skl, upper).unwrap();
        let event = Resolver::new(skl).with_table(&table).resolve("UPPER").unwrap();
        let event = event.encoding().unwrap();
        assert_eq!((event.counters.bits(), event.counters_smt_off.bits()), (0, 0xf0));
        let on = Conditions { smt: true, privileged: true, tagged: false };
        let refusal = event.admit(on).unwrap_err();
        assert!(refusal.to_string().contains("needs SMT off"), "{refusal}");
        assert!(event.admit(Conditions { smt: false, ..on }).is_ok());
    }

    #[test]
    fn a_processor_without_a_shipped_table_has_the_files_events() {
        let new = CpuModel::generic();
        let table = UserTable::from_perfmon_json(new, FILE).unwrap();
        let resolver = Resolver::new(new).with_table(&table);
        let stalls = resolver.resolve("NEW_EVENT.STALLS").unwrap();
        let event = stalls.encoding().unwrap();
        assert_eq!((event.counters.bits(), event.perf.unwrap().config), (0xf, 0x0180_010e));
        assert!(resolver.resolve("CYCLES").is_ok());
    }

    #[test]
    fn a_faulty_file_is_refused_by_the_name_of_its_event() {
        let skl = CpuModel::named("skl").unwrap();
        let refusal = |text: &str| UserTable::from_perfmon_json(skl, text).unwrap_err().to_string();
        assert!(refusal(r#"[{"EventName": "X", "Counter": "0"}]"#).contains("X: no EventCode"));
        let named = |name: &str, counter: &str| {
            let event = serde_json::json!({
                "EventName": name, "EventCode": "0x1", "Counter": counter,
            });
            refusal(&format!("[{event}]"))
        };
        assert!(named("A\u{1b}[2J", "0").contains(r"A\u{1b}[2J"));
        assert!(named("A", "Fixed counter 255").contains("A: Counter is"));
        assert!(refusal("[]").contains("no events"));
        assert!(refusal("{").starts_with("event file: EOF"));
    }
}
