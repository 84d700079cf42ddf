//! Event files of vendors, converters and hands: what they say is encoded, or the file is refused.
//!
//! Facts: Intel's perfmon lists (BSD-3-Clause) for fields and numbers, SDM Vol. 3 for PERFEVTSEL and fixed
//! counters, AMD's PPRs for the 12-bit event select.
#![cfg(feature = "perfmon-json")]

use pacman_events::{CpuModel, Encoding, Resolver, UserTable};
use proptest::prelude::*;
use serde_json::{Value, json};

fn cpu(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

fn read(table: &str, text: &str) -> Result<UserTable, String> {
    UserTable::from_perfmon_json(cpu(table), text).map_err(|refusal| refusal.to_string())
}

fn event(table: &str, text: &str, name: &str) -> Encoding {
    let user = read(table, text).unwrap_or_else(|refusal| panic!("{refusal}"));
    let resolved = Resolver::new(cpu(table)).with_table(&user).resolve(name).unwrap();
    resolved.encoding().unwrap().clone()
}

fn refusal(table: &str, text: &str) -> String {
    read(table, text).expect_err(text)
}

fn config(table: &str, fields: Value) -> Result<u64, String> {
    let mut fields = fields;
    for (key, value) in [("EventName", json!("NEW")), ("Counter", json!("0"))] {
        fields.as_object_mut().unwrap().entry(key).or_insert(value);
    }
    let text = json!([fields]).to_string();
    read(table, &text).map(|_| event(table, &text, "NEW").perf.unwrap().config)
}

#[test]
fn numbers_and_flags_may_be_json_values() {
    let fields = json!({"EventCode": 66, "UMask": 1, "CounterMask": 2, "Invert": true,
        "EdgeDetect": false, "AnyThread": 0, "Counter": [0, 1], "PEBS": 1});
    assert_eq!(config("skl", fields), Ok(0x0280_0142));
    assert_eq!(config("skl", json!({"EventCode": "66", "UMask": null})), Ok(0x42));
}

#[test]
fn an_extra_register_is_one_of_the_event() {
    let with = |event: &str, register: &str, value: &str| {
        let fields = json!({"EventCode": event, "UMask": "0x01", "MSRIndex": register,
            "MSRValue": value});
        config("skl", fields)
    };
    assert_eq!(with("0xb7,0xbb", "0x1a6,0x1a7", "0x10001"), Ok(0x1b7));
    assert_eq!(with("0xc6", "0x3f7", "0x11"), Ok(0x1c6));
    assert_eq!(with("0x3c", "0x00", "0x00"), Ok(0x13c));
    // Linux would leave the register as it is.
    for (event, register) in [("0x3c", "0x1a6,0x1a7"), ("0xc6", "0x3f6"), ("0x3c", "0x123")] {
        let refusal = with(event, register, "0x4").expect_err(register);
        assert!(refusal.contains("NEW: its MSRIndex is 0x"), "{refusal}");
    }
    let refusal = with("0x3c", "0x00", "0x4").expect_err("no register");
    assert!(refusal.contains("MSRValue is 0x4, and MSRIndex names no register"), "{refusal}");
}

#[test]
fn marks_and_line_ends_of_other_systems_do_not_matter() {
    let text = "\u{feff}[\r\n{\"EventName\": \"NEW\\r\\n\",\r\n\"EventCode\": \"0x42\\r\\n\",\r\n\
                \"Counter\": \"0,1\\r\\n\"}]\r\n";
    assert_eq!(event("skl", text, "NEW").perf.unwrap().config, 0x42);
}

#[test]
fn a_fixed_counter_is_one_that_the_processor_has_and_the_code_means() {
    let fixed = |table, code, umask, counter: &str| {
        let fields = json!({"EventCode": code, "UMask": umask, "Counter": counter});
        config(table, fields).map_err(|refusal| refusal.rsplit(": ").next().unwrap().to_owned())
    };
    assert_eq!(fixed("skl", 0, 3, "34"), Ok(0x300));
    assert_eq!(fixed("zen5", 0, 1, "32").unwrap_err(), "zen5 has no fixed counter 0");
    assert_eq!(fixed("skl", 0, 4, "35").unwrap_err(), "skl has no fixed counter 3");
    for (code, umask) in [(0, 0x42), (0x42, 1)] {
        let refusal = fixed("skl", code, umask, "32").unwrap_err();
        assert_eq!(
            refusal,
            "its counter is fixed counter 0, and neither its code nor its name is that counter's"
        );
    }
    // Skymont's file gives its counter 5 the code of the general event, too.
    assert_eq!(fixed("linux", 0x9c, 1, "37"), Ok(0x600));
}

#[test]
fn amds_codes_have_twelve_bits_and_intels_eight() {
    assert_eq!(config("zen4", json!({"EventCode": "0x1c7", "UMask": "0x3"})), Ok(0x1_0000_03c7));
    assert_eq!(config("linux", json!({"EventCode": "0x1c7"})), Ok(0x1_0000_00c7));
    assert!(
        config("skl", json!({"EventCode": "0x1c7"})).unwrap_err().contains("EventCode is 0x1c7")
    );
    assert!(config("zen4", json!({"EventCode": "0x1000"})).unwrap_err().contains("0xfff fits"));
}

#[test]
fn a_field_that_does_not_fit_its_register_is_refused_by_its_name() {
    for (key, value) in [
        ("UMask", json!("0x100")),
        ("UMask", json!("everything")),
        ("UMask", json!(-1)),
        ("UMask", json!(1.5)),
        ("CounterMask", json!("0x100")),
        ("CounterMask", json!(true)),
        ("Invert", json!("2")),
        ("EdgeDetect", json!("yes")),
        ("UMaskExt", json!("0x01")),
        ("Counter", json!("0,99")),
        ("Counter", json!("0,32")),
        ("Counter", json!("FIXED")),
        ("Counter", json!("Fixed counter 99")),
        ("CounterHTOff", json!("some")),
        ("MSRIndex", json!("0x10000")),
        ("PEBS", json!({"a": 1})),
    ] {
        let refusal = config("skl", json!({"EventCode": "0x42", key: value})).expect_err(key);
        let about = key.trim_end_matches("HTOff");
        assert!(refusal.starts_with("event file: NEW: ") && refusal.contains(about), "{refusal}");
    }
    // Lion Cove has the second unit mask.
    assert_eq!(
        config("lnl-lioncove", json!({"EventCode": "0x42", "UMaskExt": "0x01"})),
        Ok(0x100_0000_0042)
    );
    let none = config("skl", json!({"EventCode": "0x42", "Counter": "9"})).unwrap_err();
    assert!(none.contains("skl has none of its counters"), "{none}");
}

#[test]
fn what_stands_twice_must_agree() {
    let same = r#"[{"EventName": "A", "EventCode": "0x42", "EventCode": "0x42", "Counter": "0"},
        {"EventName": "A", "EventCode": "0x42", "Counter": "0"}]"#;
    assert_eq!(event("skl", same, "A").perf.unwrap().config, 0x42);
    let keys = r#"[{"EventName": "A", "EventCode": "0x42", "EventCode": "0x43", "Counter": "0"}]"#;
    assert!(refusal("skl", keys).contains("EventCode twice"));
    let names = r#"[{"EventName": "A.B", "EventCode": "0x42", "Counter": "0"},
        {"EventName": "a:b", "EventCode": "0x43", "Counter": "0"}]"#;
    assert!(refusal("skl", names).contains("stands twice"));
    let lists = r#"{"Events": [], "Events": []}"#;
    assert!(refusal("skl", lists).contains("Events stands twice"));
}

/// The three fixed events as six lists print them, and as all others do.
#[test]
fn fixed_counters_are_recognised_by_meaning() {
    let lists = [
        // Nehalem and Westmere: code and mask are 0. Bonnell: the code is 0xa. Silvermont: as later.
        ("nhm-ep", ["0x0", "0x0", "0x0"], ["0x0"; 3], "THREAD", "REF", 1),
        ("wsm-ex", ["0x0", "0x0", "0x0"], ["0x0"; 3], "THREAD", "REF", 1),
        ("bnl", ["0xA", "0xA", "0xA"], ["0x0"; 3], "CORE", "REF", 1),
        ("slm", ["0x00", "0x00", "0x00"], ["0x01", "0x02", "0x03"], "CORE", "REF_TSC", 1),
        ("skl", ["0x00", "0x00", "0x00"], ["0x01", "0x02", "0x03"], "THREAD", "REF_TSC", 0),
        ("linux", ["0x00", "0x00", "0x00"], ["0x01", "0x02", "0x03"], "THREAD", "REF_TSC", 1),
        ("linux", ["0x00", "0x00", "0x00"], ["0x01", "0x02", "0x03"], "THREAD", "REF_TSC", 0),
    ];
    for (table, codes, umasks, cycles, reference, first) in lists {
        let names = [
            "INST_RETIRED.ANY".to_owned(),
            format!("CPU_CLK_UNHALTED.{cycles}"),
            format!("CPU_CLK_UNHALTED.{reference}"),
        ];
        let list: Vec<_> = (0..3)
            .map(|at| {
                json!({"EventName": names[at], "EventCode": codes[at], "UMask": umasks[at],
                    "Counter": format!("Fixed counter {}", at + first)})
            })
            .collect();
        let text = json!(list).to_string();
        for (at, code) in [0xc0, 0x3c, 0x300].into_iter().enumerate() {
            let event = event(table, &text, &names[at]);
            assert_eq!(event.fixed, Some(at as u8), "{table} {}", names[at]);
            assert_eq!(event.perf.unwrap().config, code, "{table} {}", names[at]);
        }
        // Each alone has the same meaning.
        for at in 0..3 {
            let text = json!([list[at]]).to_string();
            assert_eq!(event(table, &text, &names[at]).fixed, Some(at as u8), "{table} {text}");
        }
    }
}

#[test]
fn a_fixed_counter_of_unknown_meaning_needs_the_files_evidence() {
    let new = |number: u32| {
        json!({"EventName": "NEW", "EventCode": "0x00", "UMask": "0x00",
            "Counter": format!("Fixed counter {number}")})
    };
    let known = |number: u32| {
        json!({"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x01",
            "Counter": format!("Fixed counter {number}")})
    };
    assert!(refusal("skl", &json!([new(1)]).to_string()).contains("may count from 0 or from 1"));
    assert_eq!(event("skl", &json!([new(1), known(0)]).to_string(), "NEW").fixed, Some(1));
    assert_eq!(event("skl", &json!([new(1), known(1)]).to_string(), "NEW").fixed, Some(0));
    assert!(refusal("skl", &json!([new(0), known(1)]).to_string()).contains("begins with 1"));
    assert!(refusal("skl", &json!([known(2)]).to_string()).contains("fixed counter 0, not 2"));
    assert!(refusal("skl", &json!([new(9), known(0)]).to_string()).contains("no fixed counter 9"));
    // The kernel's numbers of fixed counters.
    let kernels = json!([{"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x01",
        "Counter": "32"}]);
    assert_eq!(event("skl", &kernels.to_string(), "INST_RETIRED.ANY").fixed, Some(0));
    let other = json!([{"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x01",
        "Counter": "33"}]);
    assert!(refusal("skl", &other.to_string()).contains("another's"));
    // Sandy Bridge-EP's list has both: known events do not need the number, others are refused.
    let both = json!([known(1), {"EventName": "CPU_CLK_UNHALTED.REF_TSC", "EventCode": "0x00",
        "UMask": "0x03", "Counter": "Fixed counter 2"}]);
    assert_eq!(event("jkt", &both.to_string(), "INST_RETIRED.ANY").fixed, Some(0));
    assert_eq!(event("jkt", &both.to_string(), "CPU_CLK_UNHALTED.REF_TSC").fixed, Some(2));
    let mut three = both;
    three.as_array_mut().unwrap().push(new(1));
    assert!(refusal("jkt", &three.to_string()).contains("may count from 0 or from 1"));
    let at_odds = json!([{"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x02",
        "Counter": "Fixed counter 1"}]);
    assert!(refusal("skl", &at_odds.to_string()).contains("its name of fixed counter 0"));
}

#[test]
fn a_fixed_counter_with_any_thread_counts_the_core() {
    let text = r#"[{"EventName": "CPU_CLK_UNHALTED.THREAD_ANY", "EventCode": "0x00", "UMask": "0x02",
        "Counter": "Fixed counter 1", "AnyThread": "1"}]"#;
    let any = event("skl", text, "CPU_CLK_UNHALTED.THREAD_ANY");
    let shipped = pacman_events::resolve(cpu("skl"), "CPU_CLK_UNHALTED.THREAD_ANY").unwrap();
    assert_eq!(&any, shipped.encoding().unwrap());
    assert_eq!((any.perf.unwrap().config, any.needs.privilege), (0x20_003c, true));
    assert_eq!(event("knl", text, "CPU_CLK_UNHALTED.THREAD_ANY").perf.unwrap().config, 0x20_003c);
    assert!(refusal("icl", text).contains("AnyThread is set, and icl has none"));
    let filtered = r#"[{"EventName": "CPU_CLK_UNHALTED.THREAD", "EventCode": "0x00", "UMask": "0x02",
        "Counter": "Fixed counter 1", "CounterMask": "1"}]"#;
    assert!(refusal("skl", filtered).contains("a fixed counter has no filters"));
}

#[test]
fn events_of_other_pmus_are_refused() {
    for fields in [
        json!({"Unit": "iMC", "EventCode": "0x05", "UMask": "0xcf"}),
        json!({"Unit": "CHA", "EventCode": "0x35", "UMaskExt": "0x00c001fe"}),
        json!({"Unit": "cpu_atom", "EventCode": "0x42"}),
        json!({"EventName": "UNC_ARB_DAT_REQUESTS", "EventCode": "0x85"}),
        json!({"PerPkg": "1", "EventCode": "0x42"}),
    ] {
        let refusal = config("spr", fields).unwrap_err();
        assert!(refusal.contains("core events"), "{refusal}");
    }
    assert_eq!(config("adl-gracemont", json!({"Unit": "cpu_atom", "EventCode": "0x42"})), Ok(0x42));
    assert!(config("adl-gracemont", json!({"Unit": "cpu_core", "EventCode": "0x42"})).is_err());
    assert_eq!(
        config("adl-goldencove", json!({"Unit": "cpu_core", "EventCode": "0x42"})),
        Ok(0x42)
    );
    let text = r#"[{"EventName": "A", "EventCode": "0x42", "Counter": "0"}]"#;
    assert!(refusal("p4", text).contains("cannot describe events of p4"));
}

/// Knights Landing: one event, and a unit mask for each of the two off-core registers.
#[test]
fn a_single_off_core_register_has_the_selector_of_its_number() {
    for (msr, select) in [("0x1a6", 0x01b7), ("0x1a7", 0x02b7)] {
        let text = json!([{"EventName": "NEW", "EventCode": "0xB7", "UMask": "0x01,0x02",
            "Counter": "0,1", "MSRIndex": msr, "MSRValue": "0x10"}])
        .to_string();
        let register = event("knl", &text, "NEW").extra.unwrap();
        assert_eq!((register.choices().len(), register.choices()[0].select), (1, select));
        assert_eq!(event("knl", &text, "NEW").perf.unwrap().config, u64::from(select));
    }
}

/// Any value that JSON has, and those that files have.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0u64..0x2000).prop_map(|n| json!(n)),
        (0u64..0x200).prop_map(|n| json!(format!("{n:#x}"))),
        (0u64..20).prop_map(|n| json!(n.to_string())),
        (0u64..20).prop_map(|n| json!(format!("Fixed counter {n}"))),
        proptest::collection::vec(0u64..40, 0..4).prop_map(|list| json!(list)),
        (28u64..50).prop_map(|n| json!(n)),
        ".{0,6}".prop_map(Value::from),
    ]
}

const KEYS: &[&str] = &[
    "EventCode",
    "UMask",
    "UMaskExt",
    "Counter",
    "CounterHTOff",
    "CounterMask",
    "Invert",
    "EdgeDetect",
    "AnyThread",
    "MSRIndex",
    "MSRValue",
    "PEBS",
    "Precise",
    "TakenAlone",
    "Unit",
];

const TABLES: &[&str] =
    &["skl", "nhm-ep", "bnl", "knl", "lnl-lioncove", "zen5", "linux", "p4", "t1"];

fn as_number(value: Option<&Value>) -> Option<u64> {
    match value {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) if text.trim().is_empty() => Some(0),
        Some(Value::String(text)) => match text.trim().strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.trim().parse().ok(),
        },
        Some(Value::Array(list)) if list.len() == 1 => as_number(list.first()),
        Some(Value::Array(list)) if list.is_empty() => Some(0),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in ".{0,80}") {
        if let Err(refusal) = read("skl", &text) {
            prop_assert!(!refusal.contains('\n'));
        }
    }

    #[test]
    fn any_fields_are_encoded_as_they_say_or_refused(
        table in proptest::sample::select(TABLES),
        fields in proptest::collection::btree_map(proptest::sample::select(KEYS), value(), 0..8),
        code in prop_oneof![Just(None), Just(Some(0)), (0u64..0x1100).prop_map(Some)],
        counter in prop_oneof![Just(None), (0u64..12).prop_map(Some), (32u64..40).prop_map(Some)],
    ) {
        let mut fields: serde_json::Map<String, Value> =
            fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if let Some(code) = code {
            fields.insert("EventCode".into(), json!(code));
        }
        if let Some(counter) = counter {
            fields.insert("Counter".into(), json!(counter));
        }
        fields.insert("EventName".into(), json!("SOME.EVENT"));
        let text = json!([fields]).to_string();
        let user = match read(table, &text) {
            Ok(user) => user,
            Err(refusal) => {
                prop_assert!(!refusal.contains('\n') && refusal.starts_with("event file: "));
                return Ok(());
            }
        };
        let resolved = Resolver::new(cpu(table)).with_table(&user).resolve("SOME.EVENT").unwrap();
        let event = resolved.encoding().unwrap();
        // Of the fixed counters 0 to 3 the file says the code, or 0. Those beyond differ between
        // processors: the file is believed where the processor has them.
        if let Some(fixed) = event.fixed {
            let pseudo = as_number(fields.get("EventCode")).zip(as_number(fields.get("UMask")));
            let architectural = [Some((0xc0, 0)), Some((0x3c, 0))];
            let told = [Some((0, 0)), Some((0, u64::from(fixed) + 1))].contains(&pseudo)
                || architectural[..].get(usize::from(fixed)) == Some(&pseudo);
            prop_assert!(told || fixed >= 4);
            prop_assert!(!["zen5", "p4", "t1"].contains(&table) && (fixed < 3 || ["lnl-lioncove", "linux"].contains(&table)));
            return Ok(());
        }
        let field = |key: &str| as_number(fields.get(key));
        let flag = |key: &str| match fields.get(key) {
            Some(Value::Bool(flag)) => Some(u64::from(*flag)),
            other => as_number(other),
        };
        // Lists of several selectors belong to registers, whose choices are tested above.
        if let (Some(code), Some(umask)) = (field("EventCode"), field("UMask")) {
            let wide = field("UMaskExt").expect("a number was accepted");
            let config = code & 0xff | code >> 8 << 32 | umask << 8 | wide << 40
                | field("CounterMask").expect("a number was accepted") << 24
                | flag("Invert").unwrap() << 23
                | flag("EdgeDetect").unwrap() << 18
                | flag("AnyThread").unwrap() << 21;
            prop_assert_eq!(event.perf.unwrap().config, config);
        }
        prop_assert!(!event.counters_smt_off.is_empty());
    }
}
