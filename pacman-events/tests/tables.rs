//! Every row of every table: found, encodable, and in keeping with what other sources
//! say. A failure names the file and the line of the row.

mod source;

use std::collections::BTreeMap;

use pacman_events::encode::{Kind, ThreadKind};
use pacman_events::{CpuModel, Encoding, Family, Preset, ResolveErrorKind, resolve};
use source::Row;

fn encoding(cpu: CpuModel, name: &str) -> Encoding {
    let resolved = resolve(cpu, name).unwrap_or_else(|refusal| panic!("{refusal}"));
    resolved.encoding().unwrap_or_else(|| panic!("{name} on {cpu} is an expression")).clone()
}

/// The rows of the tables whose events are single selectors, with their model.
fn selector_rows() -> impl Iterator<Item = (CpuModel, Row)> {
    CpuModel::all().flat_map(|cpu| {
        let directory = match cpu.facts().family {
            Family::Intel | Family::Knc => "intel",
            Family::Amd => "amd",
            _ => return Vec::new(),
        };
        source::rows(&format!("{directory}/{cpu}.tsv")).into_iter().map(|row| (cpu, row)).collect()
    })
}

/// Names that a preset takes first: on these tables both mean the same count.
fn is_preset(name: &str) -> bool {
    Preset::named(name).is_some()
}

/// The code with the default of each field of `fields.tsv` that has no bit.
fn with_all_fields(cpu: CpuModel, event: &str, select: u64) -> u64 {
    let rows = source::rows("fields.tsv").into_iter().filter(|row| {
        let has = |column: &str, word: &str| row[column].split(',').any(|part| part == word);
        has("tables", cpu.name()) && has("events", event.split(':').next().unwrap())
    });
    let empty = rows.filter(|row| select & row.number("field").unwrap() == 0);
    empty.fold(select, |select, row| select | row.number("empty").unwrap())
}

#[test]
fn every_row_resolves_to_what_it_says() {
    let corrected: Vec<_> = source::rows("corrections.tsv");
    let mut count = 0;
    for (cpu, row) in selector_rows().filter(|(_, row)| !is_preset(&row["event"])) {
        let corrected =
            corrected.iter().any(|c| c["table"] == *cpu.name() && c["event"] == row["event"]);
        if corrected {
            continue;
        }
        let event = encoding(cpu, &row["event"]);
        let place = row.place();
        assert_eq!(event.name.to_string(), row["event"], "{place}");
        assert_eq!(event.counters.bits(), row.number("counters").unwrap_or(0), "{place}");
        assert_eq!(event.counters_smt_off.bits(), row.number("smt_off").unwrap_or(0), "{place}");
        assert_eq!(event.fixed.map(u64::from), row.number("fixed"), "{place}");
        let select = row["select"].split(['@', '|']).next().and_then(source::number);
        let select = select.map(|select| with_all_fields(cpu, &row["event"], select));
        let config = event.perf.expect("Linux knows selectors").config;
        assert!(Some(config) == select, "{place}: config is {config:#x}");
        if event.kind == Kind::Fixed {
            assert_eq!(event.evtsel, 0, "{place}");
        } else {
            assert_eq!(event.evtsel, config, "{place}");
        }
        let msrs = row["select"].matches('@').count();
        assert_eq!(event.extra.map_or(0, |extra| extra.choices().len()), msrs, "{place}");
        assert_eq!(event.extra.map(|extra| extra.value), row.number("value"), "{place}");
        count += 1;
    }
    assert!(count > 21_800, "only {count} rows were walked");
}

#[test]
fn no_row_has_a_filter_that_cannot_work() {
    // Rows of perfmon's lists that no measurement has refuted: edge detection without
    // a counter mask. Inversion without one counts every cycle and must not ship.
    let edges = ["BUS_LOCK.", "PAGE_WALKS."];
    for (cpu, row) in selector_rows() {
        let event = encoding(cpu, &row["event"]);
        let config = event.perf.map_or(0, |perf| perf.config);
        let cmask = config >> 24 & 0xff;
        if event.kind == Kind::Amd || event.kind == Kind::Fixed || is_preset(&row["event"]) {
            continue;
        }
        assert!(config & 1 << 23 == 0 || cmask != 0, "{}: inverted without a mask", row.place());
        let edge = config & 1 << 18 != 0 && cmask == 0;
        let known = edges.iter().any(|prefix| row["event"].starts_with(prefix));
        assert!(!edge || known, "{}: edge detection without a mask", row.place());
    }
}

#[test]
fn off_core_values_fit_the_registers() {
    let valid: BTreeMap<_, _> = source::oracle("offcore_valid.tsv")
        .iter()
        .map(|row| {
            let number = |column| row.number(column).expect("a number");
            ((row["table"].to_owned(), number("msr") as u32), number("valid"))
        })
        .collect();
    let (mut checked, mut refused) = (0, Vec::new());
    for (cpu, row) in selector_rows() {
        let Some(extra) = encoding(cpu, &row["event"]).extra else { continue };
        for choice in extra.choices() {
            let Some(valid) = valid.get(&(cpu.name().to_owned(), choice.msr)) else { continue };
            // Where perfmon's lists ask for bits that Linux 6.12 refuses to write: request
            // bit 4 on Knights Landing (and what ANY_REQUEST.L2_MISS adds), the streaming
            // writes of Gracemont. The lists are Intel's own, so the rows stay.
            let disputed = match cpu.name() {
                "knl" => 0x118,
                "adl-gracemont" => 0xc000_0000_0000,
                _ => 0,
            };
            if extra.value & !valid & !disputed != 0 {
                refused.push(format!(
                    "{}: {:#x} has bits beyond {valid:#x}",
                    row.place(),
                    extra.value
                ));
            }
            checked += 1;
        }
    }
    assert!(checked > 9_000, "only {checked} values were checked");
    assert!(
        refused.is_empty(),
        "{} values: {}",
        refused.len(),
        refused[..5.min(refused.len())].join("\n")
    );
}

#[test]
fn netburst_agrees_with_nine_sources() {
    let p4 = CpuModel::named("p4-prescott").unwrap();
    let escr_numbers: BTreeMap<_, _> = source::rows("netburst/escrs.tsv")
        .iter()
        .map(|row| (row["escr"].to_owned(), row.number("msr").expect("a number") as u32))
        .collect();
    let rows = source::oracle("netburst/canonical.tsv");
    assert_eq!(rows.len(), 47);
    let mut masks = 0;
    for row in &rows {
        for mask in row["masks"].split(',') {
            let (mask, bit) = mask.split_once('=').expect("MASK=BIT");
            let place = format!("{}: {mask}", row.place());
            for joint in [':', '.'] {
                let event = encoding(p4, &format!("{}{joint}{mask}", &row["event"]));
                let setup = event.netburst.unwrap();
                assert_eq!(
                    u64::from(setup.event_select),
                    row.number("event_select").unwrap(),
                    "{place}"
                );
                assert_eq!(
                    u64::from(setup.escr_select),
                    row.number("escr_select").unwrap(),
                    "{place}"
                );
                assert_eq!(setup.event_mask, 1 << bit.parse::<u32>().unwrap(), "{place}");
                let escrs: Vec<_> = setup.halves.iter().flatten().map(|h| h.escr.msr()).collect();
                let expected: Vec<_> = row["escrs"].split(',').map(|e| escr_numbers[e]).collect();
                assert_eq!(escrs, expected, "{place}");
                let independent = setup.thread_kind == ThreadKind::Independent;
                assert_eq!(if independent { "TI" } else { "TS" }, &row["threads"], "{place}");
            }
            masks += 1;
        }
    }
    assert!(masks > 150, "only {masks} unit masks");
}

#[test]
fn every_preset_has_an_expression_or_a_reason_on_every_table() {
    let mut answered = 0;
    for cpu in CpuModel::all() {
        for preset in Preset::all() {
            let answer = preset.answer(cpu);
            match resolve(cpu, preset.name()) {
                Ok(resolved) => {
                    answered += 1;
                    assert_eq!(resolved.preset(), Some(preset));
                    assert!(resolved.terms().all(|term| term.coefficient != 0));
                    let in_user_mode = resolve(cpu, &format!("{}:u", preset.name()));
                    // Most counters of IBM Z count both modes.
                    let both_modes = cpu.facts().family == Family::S390x;
                    assert!(in_user_mode.is_ok() || both_modes, "{preset:?} {cpu}");
                }
                Err(refusal) => {
                    assert_eq!(refusal.kind(), ResolveErrorKind::Impossible, "{refusal}");
                    assert_eq!(answer.expression(), None, "{preset:?} on {cpu}: {refusal}");
                    assert!(!answer.caveat().is_empty(), "{preset:?} on {cpu} gives no reason");
                }
            }
        }
    }
    assert!(answered > 1_000, "only {answered} presets are counted anywhere");
}

#[test]
fn every_table_can_count_instructions_and_all_but_three_cycles() {
    let without: Vec<_> = CpuModel::all()
        .filter(|cpu| resolve(*cpu, "INSTRUCTIONS").is_err())
        .map(CpuModel::name)
        .collect();
    assert_eq!(without, [""; 0]);
    let without: Vec<_> = CpuModel::all()
        .filter(|cpu| resolve(*cpu, "CYCLES").is_err())
        .map(CpuModel::name)
        .collect();
    assert_eq!(without, ["niagara1", "niagara2", "niagara2-plus", "niagara3"]);
}

#[test]
fn every_name_that_is_listed_resolves() {
    for cpu in CpuModel::all() {
        for entry in pacman_events::catalog(cpu) {
            if let Err(refusal) = resolve(cpu, &entry.name) {
                panic!("{cpu} lists {}: {refusal}", entry.name);
            }
        }
    }
}

#[test]
fn counters_agree_with_the_kernels_constraints() {
    // Where Intel's lists name counters that Linux never uses; the lists are followed.
    let disputed = [
        ("snb", "L1D_PEND_MISS.FB_FULL"),
        ("jkt", "L1D_PEND_MISS.FB_FULL"),
        ("skl", "INST_RETIRED.TOTAL_CYCLES_PS"),
        ("skx", "INST_RETIRED.TOTAL_CYCLES_PS"),
        ("clx", "INST_RETIRED.TOTAL_CYCLES_PS"),
        ("lnl-lioncove", "OCR."),
        ("arl-lioncove", "OCR."),
        ("nvl-arcticwolf", "SERIALIZATION."),
        ("nvl-coyotecove", "EXE_RETIRED."),
        ("nvl-coyotecove", "IDQ."),
        ("nvl-coyotecove", "MEM_INST_RETIRED.ANY"),
        ("nvl-coyotecove", "UOPS_DECODED.HEAVY_INST_UOPS"),
    ];
    let constraints = source::oracle("kernel_counters.tsv");
    let (mut checked, mut wider) = (0, Vec::new());
    for (cpu, row) in selector_rows().filter(|(_, row)| row.number("fixed").is_none()) {
        let event = encoding(cpu, &row["event"]);
        let (code, umask) = (event.evtsel & 0xff, event.evtsel >> 8 & 0xff);
        let constraint = constraints.iter().find(|constraint| {
            let number = |column| constraint.number(column);
            constraint["tables"].split(',').any(|table| table == cpu.name())
                && (number("first")..=number("last")).contains(&Some(code))
                && number("umask").is_none_or(|wanted| wanted == umask)
        });
        let Some(constraint) = constraint else { continue };
        checked += 1;
        let kernel = constraint.number("counters").expect("a mask");
        let known = disputed
            .iter()
            .any(|(table, name)| *table == cpu.name() && row["event"].starts_with(name));
        if event.counters_smt_off.bits() & !kernel != 0 && !known {
            wider.push(format!("{}: {} beyond {kernel:#x}", row.place(), event.counters_smt_off));
        }
    }
    assert!(checked > 3_000, "only {checked} rows were checked");
    assert!(wider.is_empty(), "{}", wider.join("\n"));
}

#[test]
fn the_kernels_netburst_numbers_agree() {
    let p4 = CpuModel::named("p4-prescott").unwrap();
    let rows = source::oracle("netburst/linux.tsv");
    assert_eq!(rows.len(), 46);
    for row in rows {
        let accepted = row.number("accepted").expect("a mask");
        // One bit at a time: what Linux accepts, we pack as it does.
        for bit in (0..16).filter(|bit| accepted >> bit & 1 == 1) {
            let raw = row.number("config").expect("a number") | 1 << (41 + bit);
            let event = encoding(p4, &format!("r{raw:x}"));
            assert_eq!(
                event.name.base().to_lowercase(),
                row["event"].to_lowercase(),
                "{}",
                row.place()
            );
            assert_eq!(event.perf.unwrap().config, raw, "{}", row.place());
            assert_eq!(u64::from(event.netburst.unwrap().event_mask), 1 << bit, "{}", row.place());
        }
    }
}

#[test]
fn papi_and_libpfm_agree_on_netburst_values() {
    let p4 = CpuModel::named("p4-prescott").unwrap();
    let rows = source::oracle("netburst/papi.tsv");
    assert!(rows.len() >= 15);
    for row in rows {
        let setup = encoding(p4, &row["event"]).netburst.unwrap();
        let escr = row.number("escr").unwrap() as u32;
        assert_eq!(setup.escr(0, true, false), escr, "{}", row.place());
        assert_eq!(Some(u64::from(setup.cccr())), row.number("cccr"), "{}", row.place());
    }
}

#[test]
fn every_suspected_fault_of_the_lists_is_put_right_or_excused() {
    // Not about threads at all: any level, any path, any entry.
    let any_of_something_else = [
        "CYCLE_ACTIVITY.CYCLES_MEM_ANY",
        "CYCLE_ACTIVITY.STALLS_MEM_ANY",
        "IDQ.DSB_CYCLES_ANY",
        "TLB_FLUSH.STLB_ANY",
    ];
    // Kept as Intel lists them: whether edges count without a mask here is not known.
    let edges = ["BUS_LOCK.", "PAGE_WALKS."];
    for row in source::oracle("anomalies.tsv") {
        let cpu = CpuModel::named(&row["table"]).unwrap_or_else(|| panic!("{}", row.place()));
        let event = encoding(cpu, &row["event"]);
        let place = row.place();
        match &row["kind"] {
            "inv_with_cmask0" => {
                assert_eq!(Some(event.evtsel), row.number("suggested"), "{place}");
            }
            "fixed_index_1based_in_source" | "fixed_index_wrong_in_source" => {
                assert_eq!(event.fixed.map(u64::from), row.number("suggested"), "{place}");
            }
            "name_says_core_but_any0" => {
                let excused = any_of_something_else.contains(&&row["event"]);
                assert!(excused || event.evtsel & 1 << 21 != 0, "{place}");
            }
            "edge_with_cmask0" => {
                let excused = edges.iter().any(|prefix| row["event"].starts_with(prefix));
                assert!(excused || event.evtsel >> 24 & 0xff != 0, "{place}");
            }
            kind => panic!("{place}: no rule for {kind}"),
        }
    }
}
