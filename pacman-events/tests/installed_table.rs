//! Tables that were made from vendors' files and kept as text: what was kept is read, and nothing else is.
//!
//! Facts: Intel's perfmon lists (BSD-3-Clause) for fields, numbers and the fault of Haswell's list.
#![cfg(feature = "perfmon-json")]

use pacman_events::{CpuModel, InstalledTable, Resolver, UserTable};
use serde_json::json;

fn cpu(name: &str) -> CpuModel {
    match name {
        "generic" => CpuModel::generic(),
        name => CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}")),
    }
}

fn read(table: &str, text: &str) -> Result<UserTable, String> {
    UserTable::from_perfmon_json(cpu(table), text).map_err(|refusal| refusal.to_string())
}

fn installed(model: &str, text: &str) -> String {
    let table = read(model, text).unwrap();
    let sources = vec![table.source("new\tlist\n.json")];
    let date = "2027-01-02T03:04:05Z".to_owned();
    InstalledTable { table, sources, date }.to_text(cpu(model))
}

#[test]
fn an_installed_table_encodes_as_the_file_that_it_came_from() {
    let skl = cpu("skl");
    let text = r#"{"Header": {"Version": "60", "DatePublished": "01/01/2027"}, "Events": [
        {"EventName": "NEW.ONE", "EventCode": "0x0e", "UMask": "0x1", "Counter": "0,1",
            "CounterHTOff": "0,1,4,5", "TakenAlone": "1", "PEBS": "1"},
        {"EventName": "NEW.OFFCORE", "EventCode": "0xB7, 0xBB", "UMask": "0x01",
            "Counter": "0,1,2,3", "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x10001"},
        {"EventName": "NEW.FIXED", "EventCode": "0x00", "UMask": "0x03", "Counter": "Fixed counter 2"}]}"#;
    let read = read("skl", text).unwrap();
    let again = InstalledTable::parse(skl, &installed("skl", text)).unwrap();
    assert_eq!(again.date, "2027-01-02T03:04:05Z");
    let [source] = again.sources.as_slice() else { panic!("{:?}", again.sources) };
    assert_eq!(
        source.to_string(),
        r"new list\n.json, version 60 of 01/01/2027".replace("new list", r"new\tlist")
    );
    for name in ["NEW.ONE", "NEW.OFFCORE:u", "NEW.FIXED"] {
        let of = |table| Resolver::new(skl).with_table(table).resolve(name).unwrap();
        assert_eq!(of(&read).encoding(), of(&again.table).encoding(), "{name}");
        assert!(!of(&again.table).encoding().unwrap().name.is_shipped());
        assert!(again.table.has(name), "{name}");
    }
    assert!(!again.table.has("UOPS_ISSUED.ANY"));
}

#[test]
fn no_damaged_or_foreign_installed_table_is_read() {
    let skl = cpu("skl");
    let text =
        r#"[{"EventName": "NEW.ONE", "EventCode": "0x0e", "UMask": "0x1", "Counter": "0,1"}]"#;
    let kept = installed("skl", text);
    let refusal = |text: &str| InstalledTable::parse(skl, text).unwrap_err();
    // Each byte behind the first line counts, and so does the end.
    let rows = kept.find('\n').unwrap() + 1;
    for at in rows..kept.len() {
        let mut damaged = kept.clone().into_bytes();
        damaged[at] ^= 1;
        assert!(refusal(&String::from_utf8(damaged).unwrap()).contains("damaged"), "{at}");
        assert!(refusal(&kept[..at]).contains("damaged"), "{at}");
    }
    assert!(refusal("").contains("no rows"));
    assert!(refusal("[{}]\n").contains("not a table"));
    assert!(refusal(&kept.replace("events 1", "events 9")).contains("form"));
    let foreign = InstalledTable::parse(cpu("zen4"), &kept).unwrap_err();
    assert_eq!(foreign, "it is a table of \"skl\", not of zen4");
}

/// A table that another build wrote for this processor can have events that this build knows it to lack.
#[test]
fn an_installed_event_that_its_processor_cannot_have_is_refused() {
    let event = |code: &str, counter: &str, more: (&str, &str)| {
        let mut event = json!({
            "EventName": "NEW.ONE", "EventCode": code, "UMask": "0x1", "Counter": counter,
        });
        event[more.0] = more.1.into();
        json!([event]).to_string()
    };
    let none = ("Deprecated", "0");
    for (from, to, text, why) in [
        ("generic", "skl", event("0x0e", "9", none), "lacks some of its counters"),
        ("skx", "bnl", event("0x0e", "2,3", none), "lacks some of its counters"),
        ("icl", "skl", event("0x00", "Fixed counter 3", ("UMask", "0x4")), "no fixed counter 3"),
        ("generic", "skl", event("0x0e", "0", ("UMaskExt", "0x1")), "no second unit mask"),
        ("nhm-ep", "icl", event("0x0e", "0", ("AnyThread", "1")), "AnyThread"),
        ("generic", "skl", event("0x0e", "0", ("MSRIndex", "0x1b9")), "the register 0x1b9"),
        ("generic", "skl", event("0x0e", "0", ("EventName", "NEW ONE")), "blanks"),
        ("generic", "skl", event("0x0e", "0", ("EventName", "NEW.C=1")), "modifier"),
    ] {
        let table =
            InstalledTable::parse(cpu("generic"), &installed("generic", &event("0x0e", "0", none)));
        let table = InstalledTable { table: read(from, &text).unwrap(), ..table.unwrap() };
        let refusal = InstalledTable::parse(cpu(to), &table.to_text(cpu(to))).unwrap_err();
        assert!(refusal.contains(why), "{text}: {refusal}");
    }
}

#[test]
fn a_known_fault_of_a_vendors_list_is_corrected_in_a_newer_one() {
    let hsw = cpu("hsw");
    let list = |invert: &str, mask: &str| {
        let text = format!(
            r#"[{{"EventName": "UOPS_EXECUTED.CORE_CYCLES_NONE", "EventCode": "0xb1", "UMask": "0x2",
                "Counter": "0,1,2,3", "Invert": "{invert}", "CounterMask": "{mask}"}}]"#
        );
        let table = read("hsw", &text).unwrap();
        let resolver = Resolver::new(hsw).with_table(&table);
        let event = resolver.resolve("UOPS_EXECUTED.CORE_CYCLES_NONE").unwrap();
        event.encoding().unwrap().evtsel
    };
    let shipped = pacman_events::resolve(hsw, "UOPS_EXECUTED.CORE_CYCLES_NONE").unwrap();
    assert_eq!(list("1", "0"), shipped.encoding().unwrap().evtsel);
    // A vendor that changes it knows something new.
    assert_eq!(list("1", "2"), 0x0280_02b1);
}

#[test]
fn files_of_one_model_are_joined_unless_a_name_has_two_codes() {
    let file = |name: &str, code: &str| {
        let text = format!(
            r#"[{{"EventName": "{name}", "EventCode": "{code}", "UMask": "0x1", "Counter": "0,1"}}]"#
        );
        read("skl", &text).unwrap()
    };
    let both = file("NEW.ONE", "0x0e").joined(file("NEW.TWO", "0x0f")).unwrap();
    assert!(both.has("NEW.ONE") && both.has("NEW.TWO"));
    assert_eq!(file("NEW.ONE", "0x0e").joined(file("NEW.ONE", "0x0f")).unwrap_err(), "NEW.ONE");
}
