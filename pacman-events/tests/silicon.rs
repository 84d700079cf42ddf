//! Codes that ran on 20 real processors: each name resolves to its code, or the table says why not.

use std::collections::BTreeMap;

use pacman_events::{CpuId, CpuModel, Encoding, resolve};

/// A row of `data/silicon.tsv`.
struct Run<'a> {
    machine: &'a str,
    cpu: CpuModel,
    event: &'a str,
    /// The code; `None` where the machine counted by name only.
    select: Option<u64>,
    counted: bool,
    /// The name here and the reason of a difference.
    explained: Option<(&'a str, &'a str)>,
}

fn runs() -> Vec<Run<'static>> {
    let mut rows = include_str!("data/silicon.tsv").lines().filter(|line| !line.starts_with('#'));
    let columns = "machine\tvendor\tfamily\tmodel\tstepping\tevent\tselect\tcounted\there\twhy";
    assert_eq!(rows.next(), Some(columns));
    rows.map(|row| {
        let cells: Vec<_> = row.split('\t').collect();
        let [machine, vendor, family, model, stepping, event, select, counted, here, why] =
            cells[..]
        else {
            panic!("10 columns are due: {row}")
        };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text}: {row}"));
        let id = CpuId::new(vendor, number(family), number(model), number(stepping));
        Run {
            machine,
            cpu: CpuModel::detect(&id).unwrap_or_else(|| panic!("no table of {machine}")),
            event,
            select: select.strip_prefix("0x").map(|code| u64::from_str_radix(code, 16).unwrap()),
            counted: counted == "yes",
            explained: (here != "-").then_some((here, why)),
        }
    })
    .collect()
}

/// The code of a name; `None` if it does not resolve to one event.
fn code(cpu: CpuModel, name: &str) -> Option<u64> {
    let resolved = resolve(cpu, name).ok()?;
    // A fixed counter's event has no selector, and Linux's code is the architectural event's.
    let select = |event: &Encoding| match event.fixed {
        Some(_) => event.perf.unwrap().config,
        None => event.evtsel,
    };
    resolved.encoding().map(select)
}

#[test]
fn names_that_ran_on_silicon_have_the_codes_that_ran() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for Run { machine, cpu, event, select, explained, .. } in runs() {
        let ours = code(cpu, event);
        let state = match (ours, select, explained) {
            (Some(ours), Some(select), None) => {
                assert_eq!(ours, select, "{event} on {machine}");
                "equal"
            }
            (Some(_), None, None) => "resolved, counted by name",
            (None, None, None) | (None, Some(_), None) => panic!("{event} on {machine} is unknown"),
            (ours, select, Some(_)) => {
                assert_ne!(ours, select.or(Some(u64::MAX)), "{event} on {machine}: no difference");
                "explained"
            }
        };
        *counts.entry(state).or_default() += 1;
    }
    println!("{counts:?}");
    let expected = [("equal", 180), ("explained", 24), ("resolved, counted by name", 16)];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn explained_rows_name_what_is_counted_here() {
    for Run { machine, cpu, event, select, explained, .. } in runs() {
        let Some((here, why)) = explained else { continue };
        assert!(why.len() > 10, "{event} on {machine}");
        match (here.strip_prefix("r:"), select) {
            (Some(raw), Some(select)) => {
                assert_eq!(u64::from_str_radix(raw, 16), Ok(select), "{event} on {machine}");
                assert_eq!(code(cpu, &format!("r{raw}")), Some(select), "{event} on {machine}");
            }
            (None, Some(select)) => assert_eq!(code(cpu, here), Some(select), "{here}"),
            // NetBurst's pairs: the metric programs the second event as the source did.
            (None, None) => {
                let resolved = resolve(cpu, here).unwrap();
                let setup = resolved.encoding().unwrap().netburst.unwrap();
                let companion = setup.companion.expect("a metric tags");
                let tagger = event.split(',').nth(1).expect("a pair");
                let tagger = resolve(cpu, tagger).unwrap();
                let asked = tagger.encoding().unwrap().netburst.unwrap();
                assert_eq!(companion.event_select, asked.event_select, "{here}");
                assert_eq!(companion.event_mask, asked.event_mask, "{here}");
                assert_eq!(companion.tag, asked.tag, "{here}");
            }
            (Some(_), None) => panic!("{event} on {machine} has no code"),
        }
    }
}

/// A code that counted nothing on silicon is no event of the table, but for two whose own lists have it.
#[test]
fn codes_that_never_counted_are_known_by_name() {
    let silent: Vec<_> = runs()
        .iter()
        .filter(|run| !run.counted && run.explained.is_none())
        .map(|run| format!("{} {}", run.machine, run.event))
        .collect();
    let known = [
        // The tagging halves count only while their partner runs.
        "pentiumd UOPS_TYPE:TAGLOADS",
        "pentiumd PACKED_DP_UOP:ALL:TAG2",
        "pentiumd UOPS_TYPE:TAGSTORES",
        "atom HW_INT_RCV",
        "skylake UOPS_ISSUED:SINGLE_MUL",
    ];
    assert_eq!(silent, known);
}
