//! An encoding's selector and its counters in a word each.

use pacman_events::Encoding;
use pacman_events::encode::Kind;

/// Whether the kind is programmed through a selector register.
pub(super) fn has_selector(kind: Kind) -> bool {
    matches!(kind, Kind::Arch | Kind::Amd | Kind::Niagara | Kind::Code)
}

/// The event's code in a list.
pub(super) fn code(event: &Encoding) -> String {
    match (&event.netburst, event.kind) {
        (Some(setup), _) => format!("{:#04x}:{:#06x}", setup.event_select, setup.event_mask),
        (_, Kind::Fixed) => String::new(),
        (_, Kind::Perf) => String::new(),
        _ => format!("{:#x}", event.evtsel),
    }
}

/// The legal counters in words.
pub(super) fn counters(event: &Encoding) -> String {
    let (on, off) = (event.counters, event.counters_smt_off);
    let general = if on == off { on.to_string() } else { format!("{on} (SMT off {off})") };
    match (event.fixed, off.is_empty()) {
        (Some(fixed), true) => format!("fixed {fixed}"),
        (Some(fixed), false) => format!("fixed {fixed}, or {general}"),
        (None, true) if event.kind == Kind::Code => "its own".to_owned(),
        (None, true) => String::new(),
        (None, false) => general,
    }
}
