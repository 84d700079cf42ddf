//! The fixed JSON shape of an encoding: registers as "0x…" strings, null where a key
//! does not apply.

use pacman_events::encode::{Kind, PerfAttr};
use pacman_events::{CounterSet, Encoding, ResolveError, Resolved};
use serde_json::{Value, json};

use super::register::has_selector;
use super::tables::Loaded;

/// The object of a name that resolved.
pub(super) fn resolved(asked: &str, resolved: &Resolved, loaded: &Loaded) -> Value {
    if let Some(event) = resolved.encoding() {
        return encoding(asked, event, loaded);
    }
    let first = resolved.terms().next().map(|term| &term.encoding);
    let terms: Vec<_> = resolved
        .terms()
        .map(|term| {
            let name = term.encoding.name.to_string();
            json!({"coefficient": term.coefficient, "encoding": encoding(&name, &term.encoding, loaded)})
        })
        .collect();
    json!({
        "event": asked, "name": resolved.name(), "cpu": first.map(|event| event.cpu.name()),
        "kind": first.map(|event| kind(event.kind)), "evtsel": null, "extra": null,
        "fixed": null, "escr": null, "cccr": null, "escr_msr": null, "counters": null,
        "counters_smt_off": null, "perf": null, "terms": terms,
    })
}

/// The object of a name that did not.
pub(super) fn refusal(asked: &str, refusal: &ResolveError) -> Value {
    json!({
        "event": asked, "error": refusal.to_string(), "kind": refusal.kind().as_str(),
        "nearest": refusal.nearest(),
    })
}

fn encoding(asked: &str, event: &Encoding, loaded: &Loaded) -> Value {
    let counted = event.kind != Kind::Perf;
    let set = |set: CounterSet| counted.then(|| set.iter().collect::<Vec<_>>());
    let netburst = event.netburst.as_ref();
    // Thread 0 in user mode, unless other rings were asked for.
    let user = event.rings.user || !event.rings.kernel;
    json!({
        "event": asked,
        "name": event.name.to_string(),
        "cpu": event.cpu.name(),
        "kind": kind(event.kind),
        "evtsel": has_selector(event.kind).then(|| hex(event.evtsel)),
        "extra": counted.then(|| extra(event)),
        "fixed": event.fixed,
        "escr": netburst.map(|setup| hex(setup.escr(0, user, event.rings.kernel).into())),
        "cccr": netburst.map(|setup| hex(setup.cccr().into())),
        "escr_msr": netburst.map(|setup| {
            setup.halves.map(|half| half.map(|choice| hex(choice.escr.msr().into())))
        }),
        "counters": set(event.counters),
        "counters_smt_off": set(event.counters_smt_off),
        "perf": event.perf.as_ref().map(|attr| perf(attr, loaded)),
        "terms": null,
    })
}

fn extra(event: &Encoding) -> Vec<Value> {
    let entry = |msr: u32, value: u64| json!({"msr": hex(msr.into()), "value": hex(value)});
    let preferred = event
        .extra
        .iter()
        .filter_map(|extra| extra.choices().first().map(|choice| entry(choice.msr, extra.value)));
    let replay = event.netburst.iter().filter_map(|setup| setup.replay).flat_map(|replay| {
        [entry(0x3f1, replay.pebs_enable.into()), entry(0x3f2, replay.matrix_vert.into())]
    });
    preferred.chain(replay).collect()
}

fn perf(attr: &PerfAttr, loaded: &Loaded) -> Value {
    json!({
        "type": loaded.perf_type(attr), "config": hex(attr.config), "config1": hex(attr.config1),
        "config2": hex(attr.config2),
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Amd => "amd",
        Kind::Arch => "arch",
        Kind::Fixed => "fixed",
        Kind::NetBurst => "netburst",
        Kind::Niagara => "niagara",
        _ => "perf",
    }
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}
