//! Reads Intel's published event files: `*_core.json` of the perfmon repository.

use serde_json::Value;

use crate::encode::Scope;
use crate::encode::arch::{ANY, EDGE, INV, Source, bit};
use crate::name::number;
use crate::resolve_error::{ResolveError, ResolveErrorKind};
use crate::{CounterSet, CpuModel, Family, UserTable, shown};

impl UserTable {
    /// The core events of a file in perfmon's format, for processors with the counters of `cpu`.
    ///
    /// Reads the published form (`{"Header": …, "Events": […]}`) and the older bare array.
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
    /// [`ResolveErrorKind::Grammar`] if the text is not JSON or has no events, or if an event lacks
    /// a name, a code or a counter. The error names the event.
    pub fn from_perfmon_json(cpu: CpuModel, text: &str) -> Result<Self, ResolveError> {
        let fault = |what: String| {
            ResolveError::new(ResolveErrorKind::Grammar, format!("event file: {what}"))
        };
        let json: Value = serde_json::from_str(text)
            .map_err(|error| fault(error.to_string().replace('\n', " ")))?;
        let list = json.as_array().or_else(|| json.get("Events").and_then(Value::as_array));
        let list =
            list.ok_or_else(|| fault("neither an array nor an object with Events".into()))?;
        let mut events = Vec::new();
        for (index, event) in list.iter().enumerate() {
            let name = text_of(event, "EventName");
            if name.is_empty() {
                return Err(fault(format!("event {index} has no EventName")));
            }
            if name.contains(shown::is_unsafe) {
                return Err(fault(format!("the name {name:?} has control characters in it")));
            }
            let source = source(cpu, name, event)
                .ok_or_else(|| fault(format!("{name}: no usable EventCode, UMask and Counter")))?;
            events.push(source);
        }
        if events.is_empty() {
            return Err(fault("no events".into()));
        }
        Ok(UserTable::new(events))
    }
}

fn source(cpu: CpuModel, name: &str, event: &Value) -> Option<Source> {
    let flag = |key: &str| matches!(text_of(event, key), "1");
    let codes = numbers(text_of(event, "EventCode"))?;
    let umasks = numbers(text_of(event, "UMask")).unwrap_or_else(|| vec![0]);
    let wide = number(text_of(event, "UMaskExt")).unwrap_or(0);
    let cmask = number(text_of(event, "CounterMask")).unwrap_or(0);
    let filter = cmask << 24
        | bit(INV, flag("Invert"))
        | bit(EDGE, flag("EdgeDetect"))
        | bit(ANY, flag("AnyThread"));
    let counters = text_of(event, "Counter");
    let (general, fixed) = counters_of(counters)?;
    let smt_off = match counters_of(text_of(event, "CounterHTOff")) {
        Some((off, _)) if !off.is_empty() => off,
        _ => general,
    };
    let select = match fixed {
        Some(fixed) => fixed_config(fixed, name),
        None => codes[0] | umasks[0] << 8 | wide << 40 | filter,
    };
    let mut choices = [(0, 0); 4];
    let msrs = numbers(text_of(event, "MSRIndex")).unwrap_or_default();
    let msrs: Vec<_> = msrs.into_iter().filter(|msr| *msr != 0).collect();
    for (index, msr) in msrs.iter().enumerate().take(4) {
        // Codes and unit masks pair with registers by position, or one is valid for all.
        let code = codes.get(index).or(codes.first())?;
        let umask = umasks.get(index).or(umasks.first())?;
        choices[index] = ((code | umask << 8) as u16, u16::try_from(*msr).ok()?);
    }
    let facts = cpu.facts();
    // A processor newer than the shipped tables has the counters that its file says.
    let (all, all_smt_off) = match facts.family {
        Family::Generic => (CounterSet::first(64), CounterSet::first(64)),
        _ => (facts.general, facts.general_smt_off),
    };
    Some(Source {
        name: name.to_owned().into(),
        select,
        choices,
        value: if msrs.is_empty() { 0 } else { number(text_of(event, "MSRValue")).unwrap_or(0) },
        counters: general.and(all),
        smt_off: smt_off.and(all_smt_off),
        fixed,
        taken_alone: flag("TakenAlone"),
        precise: flag("Precise") || matches!(text_of(event, "PEBS"), "1" | "2"),
        counter_pair: false,
        topdown: false,
        counts: Scope::Thread,
        errata: "",
    })
}

fn text_of<'a>(event: &'a Value, key: &str) -> &'a str {
    event.get(key).and_then(Value::as_str).unwrap_or("").trim()
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split(',').map(|part| number(part.trim())).collect()
}

/// `0,1,2,3`, or `Fixed counter 1`.
fn counters_of(text: &str) -> Option<(CounterSet, Option<u8>)> {
    if let Some(fixed) = text.strip_prefix("Fixed counter ") {
        let fixed = fixed.trim().parse().ok().filter(|fixed| *fixed < MOST_FIXED)?;
        return Some((CounterSet::EMPTY, Some(fixed)));
    }
    let counters = numbers(text)?;
    let all_real = counters.iter().all(|counter| *counter < 64);
    all_real.then(|| (counters.iter().map(|counter| *counter as u8).collect(), None))
}

/// The number of bits in the register that enables them.
const MOST_FIXED: u8 = 16;

/// The `config` by which Linux selects a fixed counter's event.
fn fixed_config(fixed: u8, name: &str) -> u64 {
    match fixed {
        0 if name.ends_with("PREC_DIST") => 0x100,
        0 => 0xc0,
        1 => 0x3c,
        _ => u64::from(fixed + 1) << 8,
    }
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
    fn counters_that_smt_closes_are_said_to_need_it_off() {
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
        assert!(
            refusal(r#"[{"EventName": "X", "Counter": "0"}]"#).contains("X: no usable EventCode")
        );
        let named = |name: &str, counter: &str| {
            let event = serde_json::json!({
                "EventName": name, "EventCode": "0x1", "Counter": counter,
            });
            refusal(&format!("[{event}]"))
        };
        assert!(named("A\u{1b}[2J", "0").contains(r"A\u{1b}[2J"));
        assert!(named("A", "Fixed counter 255").contains("A: no usable EventCode"));
        assert!(refusal("[]").contains("no events"));
        assert!(refusal("{").starts_with("event file: EOF"));
    }
}
