//! Properties of names: every input has a result, and every resolved name is a valid input.

use pacman_events::encode::Kind;
use pacman_events::{CpuModel, Encoding, ResolveError, catalog, resolve};
use proptest::prelude::*;

fn models() -> impl Strategy<Value = CpuModel> {
    proptest::sample::select(CpuModel::all().collect::<Vec<_>>())
}

/// Fragments that names are made of, rightly and wrongly put together.
fn names() -> impl Strategy<Value = String> {
    let fragments = [
        "CYCLES",
        "UOPS_ISSUED",
        "ANY",
        "instr_retired",
        "NBOGUSNTAG",
        "packed_SP_retired",
        "NBOGUS1",
        "r01c3",
        "cpu/",
        "event=",
        "0x3c",
        "umask=1",
        ",",
        "/",
        ":",
        ".",
        ":u",
        ":k",
        ":e",
        ":i",
        ":c=1",
        ":c=",
        "c=300",
        ":thr=15",
        ":cmpl",
        ":any",
        "task-clock",
        "OFFCORE_RESPONSE",
        " ",
        "é",
        "\n",
        "*",
        "18446744073709551616",
        "rffffffffffffffff",
    ];
    proptest::collection::vec(proptest::sample::select(fragments.to_vec()), 0..7)
        .prop_map(|parts| parts.concat())
}

fn one(answer: Result<pacman_events::Resolved, ResolveError>) -> Option<Encoding> {
    answer.ok().and_then(|resolved| resolved.encoding().cloned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_typed_gets_one_line(cpu in models(), name in names()) {
        if let Err(refusal) = resolve(cpu, &name) {
            let text = refusal.to_string();
            prop_assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
            prop_assert!(refusal.nearest().len() <= 5);
        }
    }

    #[test]
    fn any_text_at_all_gets_one_line(cpu in models(), name in ".{0,40}") {
        if let Err(refusal) = resolve(cpu, &name) {
            prop_assert!(!refusal.to_string().contains('\n'));
        }
    }

    #[test]
    fn modifiers_may_come_in_any_order(order in Just(["u", "k", "e", "c=2", "i"]).prop_shuffle()) {
        let snb = CpuModel::named("snb").unwrap();
        let expected = one(resolve(snb, "UOPS_ISSUED.ANY:u:k:e:c=2:i")).unwrap();
        let shuffled = one(resolve(snb, &format!("UOPS_ISSUED.ANY:{}", order.join(":")))).unwrap();
        prop_assert_eq!(shuffled, expected);
    }
}

#[test]
fn an_unknown_name_without_neighbours_names_the_command_that_lists() {
    let snb = CpuModel::named("snb").unwrap();
    assert_eq!(
        resolve(snb, "xqzzyx").unwrap_err().to_string(),
        "no event xqzzyx on snb; `pacman-pmu list --cpu snb` shows what there is"
    );
}

#[test]
fn the_canonical_name_leads_to_the_same_encoding() {
    for cpu in CpuModel::all() {
        for entry in catalog(cpu) {
            for suffix in ["", ":u", ":k:u"] {
                let asked = format!("{}{suffix}", entry.name);
                let Some(event) = one(resolve(cpu, &asked)) else { continue };
                // A preset that fixed and general counters may count has the fixed
                // event's name, which alone leads to the fixed counter.
                if event.fixed.is_some() && event.kind == Kind::Arch {
                    continue;
                }
                let canonical = event.name.to_string();
                let again =
                    one(resolve(cpu, &canonical)).unwrap_or_else(|| panic!("{cpu} {canonical}"));
                assert_eq!(again, event, "{cpu}: {asked} and {canonical}");
            }
        }
    }
}
