//! Presets, groups and siblings on one processor after the other, by the kernel's driver.

use std::collections::BTreeSet;

use pacman_events::Preset;

use super::boots::{self, Options};
use super::guest;

/// One processor of the lab, and what its presets come to there.
pub(crate) struct Model {
    pub(crate) options: Options,
    pub(crate) name: &'static str,
    /// Presets that this processor, or its number of counters, does not allow.
    pub(crate) refused: &'static [&'static str],
    /// Presets without a unit mask: the lab's doorbell cannot ring them.
    pub(crate) silent: &'static [&'static str],
    pub(crate) by_itself: &'static [&'static str],
}

const CLOCKS: &[&str] = &["CYCLES", "INSTRUCTIONS", "REF_CYCLES"];
const CLOCKS_OF_CORE: &[&str] = &["CYCLES", "INSTRUCTIONS", "REF_CYCLES", "REF_XCLK_ANY"];
const BRANCHES: &[&str] = &["BRANCHES", "BRANCH_MISSES"];

static NEHALEM: Model = Model {
    options: boots::NEHALEM,
    name: "nhm-ep",
    refused: &[
        "BUS_TRANSACTIONS",
        "MEM_STALL_CYCLES",
        "NON_HALTED_CLOCKTICKS",
        "NON_SLEEP_CLOCKTICKS",
        "ONE_THREAD_ACTIVE",
    ],
    silent: &["BRANCH_MISSES"],
    by_itself: CLOCKS_OF_CORE,
};
static SANDY_BRIDGE: Model = Model {
    options: boots::SANDY_BRIDGE,
    name: "snb",
    // FP_OPS is a sum of five events, and a context has four counters.
    refused: &["FP_OPS", "NON_HALTED_CLOCKTICKS", "NON_SLEEP_CLOCKTICKS"],
    silent: BRANCHES,
    by_itself: CLOCKS_OF_CORE,
};
static HASWELL: Model = Model {
    options: boots::HASWELL,
    name: "hsw",
    refused: &["FP_OPS", "NON_HALTED_CLOCKTICKS", "NON_SLEEP_CLOCKTICKS"],
    silent: BRANCHES,
    by_itself: CLOCKS_OF_CORE,
};
static SKYLAKE: Model = Model {
    options: boots::SKYLAKE,
    name: "skl",
    refused: &["NON_HALTED_CLOCKTICKS", "NON_SLEEP_CLOCKTICKS"],
    silent: BRANCHES,
    by_itself: CLOCKS_OF_CORE,
};
static ICE_LAKE: Model = Model {
    options: boots::ICE_LAKE,
    name: "icx",
    refused: &["NON_HALTED_CLOCKTICKS", "NON_SLEEP_CLOCKTICKS", "REF_XCLK_ANY"],
    silent: BRANCHES,
    by_itself: CLOCKS,
};
static ZEN: Model = Model {
    options: boots::ZEN,
    name: "zen1",
    refused: &[
        "BUS_TRANSACTIONS",
        "LLC_ACCESSES",
        "LLC_MISSES",
        "MEM_STALL_CYCLES",
        "NON_HALTED_CLOCKTICKS",
        "NON_SLEEP_CLOCKTICKS",
        "ONE_THREAD_ACTIVE",
        "REF_CYCLES",
        "REF_XCLK_ANY",
    ],
    silent: &["BRANCHES", "BRANCH_MISSES", "L1I_MISSES", "UOPS_RETIRED"],
    by_itself: &["CYCLES", "INSTRUCTIONS"],
};

impl Model {
    /// The output of the guest.
    pub(crate) fn text(&'static self) -> Option<&'static str> {
        guest(self.options, "model")
    }

    /// The words after `first` of each line that begins with it.
    fn lines(&'static self, first: &str) -> Vec<Vec<&'static str>> {
        let prefix = format!("{first} ");
        let words = |line: &'static str| line.split(' ').collect();
        let text = self.text().unwrap_or_default();
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(words).collect()
    }

    /// Every preset is refused with a reason or counted, and what can be rung exactly.
    fn presets(&'static self) {
        assert_eq!(self.lines("model"), [[self.name]]);
        assert!(self.lines("unknown").is_empty(), "{:?}", self.lines("unknown"));
        let mut refusals = self.lines("refused");
        refusals.extend(self.lines("failed"));
        let refused: BTreeSet<&str> = refusals.iter().map(|words| words[0]).collect();
        assert_eq!(refused, self.refused.iter().copied().collect(), "{refusals:?}");
        assert!(refusals.iter().all(|words| words.len() > 6), "a reason: {refusals:?}");
        for words in self.lines("reads") {
            assert_eq!(words[2], "Rdpmc", "{words:?}");
        }
        // The contents of the registers while the preset counted, on both siblings.
        let programmed = self.lines("programmed");
        assert!(programmed.iter().all(|words| words[2] == "true"), "{programmed:?}");
        let (mut rung, mut silent, mut by_itself) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut executions, mut edges) = (0, BTreeSet::new());
        for words in self.lines("counted") {
            let number = |at: usize| words[at].parse::<i64>().expect("a number");
            let (preset, counted, known) = (words[1], number(2), number(4));
            let mut edge = |most: i64, per_instruction: i64| {
                let edge = counted - per_instruction * known;
                assert!((0..=most).contains(&edge), "{words:?}");
                edges.insert(edge / per_instruction);
                by_itself.insert(preset);
            };
            match words[3] {
                "beside" => assert_eq!((counted, known), (0, 0), "{words:?}"),
                "rung" => {
                    assert_eq!(counted, known, "{words:?}");
                    if known == 0 {
                        silent.insert(preset)
                    } else {
                        rung.insert(preset)
                    };
                    executions += 1;
                }
                "instructions" => edge(300, 1),
                "cycles" => edge(900, 3),
                "reference" => edge(600, 2),
                // Every second instruction of the loop, and some of the library's.
                "branches" => {
                    assert!((0..=100).contains(&(counted - known / 2)), "{words:?}");
                    by_itself.insert(preset);
                }
                // Slots of a core that the sibling leaves alone, five more in each of three cycles.
                "alone" => {
                    assert!((0..=15 * (known + 300)).contains(&counted), "{words:?}");
                    by_itself.insert(preset);
                }
                "reference-of-core" => {
                    // Its own, and what the sibling did meanwhile, if it had a turn.
                    assert!(counted >= 2 * known, "{words:?}");
                    by_itself.insert(preset);
                }
                other => panic!("{other} in {words:?}"),
            }
        }
        assert_eq!(silent, self.silent.iter().copied().collect());
        assert_eq!(by_itself, self.by_itself.iter().copied().collect());
        let presets = rung.len() + silent.len() + by_itself.len() + refused.len();
        let is_slots = |name: &str| name == "SLOTS" || name.starts_with("TOPDOWN_");
        assert_eq!(presets, Preset::all().filter(|preset| !is_slots(preset.name())).count());
        println!(
            "lab {}: {presets} presets, {} counted, {} refused ({}); {} rung exactly on both \
             siblings in {executions} executions; {} without a unit mask seen in the registers ({}); \
             {} count by themselves, {}..={} instructions beside the known loop",
            self.name,
            presets - refused.len(),
            refused.len(),
            join(&refused),
            rung.len(),
            silent.len(),
            join(&silent),
            by_itself.len(),
            edges.first().expect("phases"),
            edges.last().expect("phases"),
        );
    }

    /// RDPMC and `read(2)` agree while nothing happens, and on what was rung before.
    fn rest(&'static self) {
        let lines = self.lines("rest");
        let [path, rounds, equal, total, rung] = lines[0][..] else { panic!("{lines:?}") };
        println!("lab {}: {equal} of {rounds} {path} reads equal read(2) at rest", self.name);
        assert_eq!((path, rounds, total), ("Rdpmc", equal, rung));
    }

    /// The plan says yes exactly where the kernel schedules the group.
    fn groups(&'static self) {
        let named = self.lines("named");
        for words in &named {
            let expected = match words[2] {
                // The vendor's rule, which Linux does not know or does not follow.
                "stricter" => ("refused", "fits"),
                both => (both, both),
            };
            assert_eq!((words[0], words[1]), expected, "plan, kernel: {words:?}");
        }
        let why = self.lines("named-why");
        let refused = named.iter().filter(|words| words[1] == "refused").count();
        assert_eq!(why.len(), refused);
        for words in &why {
            let text = words.join(" ");
            let (kind, names_cause) = (words[1], text.contains("what helps: "));
            assert!(["Conflict:", "NotScheduled:"].contains(&kind) && names_cause, "{text}");
        }
        assert_eq!(self.lines("disagree"), Vec::<Vec<&str>>::new());
        for words in self.lines("drawn") {
            let [watchdog, drawn, agreed, fitting, ..] = words[..] else { panic!("{words:?}") };
            println!(
                "lab {}: watchdog {watchdog}: plan and kernel agree on {} named groups and {agreed} \
                 of {drawn} drawn ones, of which {fitting} fit",
                self.name,
                named.len() / self.lines("drawn").len()
            );
            assert_eq!(agreed, drawn);
            let fitting: usize = fitting.parse().expect("a number");
            assert!((100..=395).contains(&fitting), "groups of both kinds: {fitting}");
        }
        for words in self.lines("any-thread") {
            assert_eq!(words, ["refused", "fits"], "the plan of AnyThread, the kernel's of CYCLES");
            let why: Vec<String> =
                self.lines("any-thread-why").iter().map(|words| words.join(" ")).collect();
            assert!(why[0].contains("needs CAP_PERFMON or root"), "{why:?}");
            assert!(
                why[1].contains("perf_event_paranoid is 1; 0 or less lets it count the sibling's"),
                "{why:?}"
            );
        }
    }

    pub(crate) fn all(&'static self) {
        if self.text().is_some() {
            self.presets();
            self.rest();
            self.groups();
        }
    }

    /// The plan's verdict on a contest between siblings.
    fn plan(&'static self, label: &str) -> String {
        let lines = self.lines("plan");
        let said = lines.iter().find(|words| words[0] == label).expect("a case of the guest");
        said[1..].join(" ")
    }

    /// The fate of a sibling: `exact`, `wrong`, or an error.
    fn kernel(&'static self, label: &str, turn: &str, when: &str) -> String {
        let lines = self.lines("kernel");
        let said = lines.iter().find(|words| words[..3] == [label, turn, when]);
        said.unwrap_or_else(|| panic!("{label} {turn} {when} in {lines:?}"))[3..].join(" ")
    }

    /// A contest in which both siblings count exactly, as planned.
    pub(crate) fn both_count(&'static self, label: &str) {
        assert_eq!(self.plan(label), "fits", "{label}");
        for (turn, when) in [("0", "now"), ("1", "now"), ("0", "later")] {
            assert_eq!(self.kernel(label, turn, when), "exact", "{label} {turn} {when}");
        }
        println!("lab {}: {label}: plan and kernel let both siblings count, exactly", self.name);
    }

    /// A contest that the plan refuses for `resource`, and that costs sibling `loser` its
    /// counts with an error that says `why`, while the other counts exactly.
    fn one_loses(&'static self, label: &str, loser: &str, resource: &str, why: &str) {
        let plan = self.plan(label);
        assert!(plan.starts_with(&format!("refused {resource}: ")), "{plan}");
        let error = self.kernel(label, loser, "now");
        assert!(error.starts_with("NotScheduled: ") && error.contains(why), "{label}: {error}");
        let winner = if loser == "0" { "1" } else { "0" };
        assert_eq!(self.kernel(label, winner, "now"), "exact", "{label}");
        println!("lab {}: {label}: plan {plan}", self.name);
        println!("lab {}: {label}: sibling {loser} is told: {error}", self.name);
    }
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

#[test]
fn nehalem() {
    NEHALEM.all();
}

#[test]
fn sandy_bridge() {
    SANDY_BRIDGE.all();
}

#[test]
fn haswell() {
    HASWELL.all();
}

#[test]
fn skylake() {
    SKYLAKE.all();
}

#[test]
fn ice_lake() {
    ICE_LAKE.all();
}

#[test]
fn zen() {
    ZEN.all();
}

#[test]
fn siblings_of_a_nehalem_core_share_the_off_core_response_register() {
    if NEHALEM.text().is_none() {
        return;
    }
    NEHALEM.both_count("offcore-same");
    let register = "OFFCORE_RSP_0";
    let held = |cpu| {
        format!(
            "{register} is one register for all siblings of a core, and cpu {cpu}, the sibling of \
             cpu {}, counts with another value in it",
            1 - cpu
        )
    };
    NEHALEM.one_loses("offcore-differ", "1", register, &held(0));
    // Whoever leaves the register free for a moment loses it, and is told so.
    NEHALEM.one_loses("offcore-differ-asleep", "0", register, &held(1));
    let later = NEHALEM.kernel("offcore-differ-asleep", "0", "later");
    assert!(later.starts_with("NotScheduled: "), "a lost group stays lost: {later}");
    assert_eq!(NEHALEM.kernel("offcore-differ", "0", "later"), "exact");
    assert_eq!(NEHALEM.lines("spread"), [["2"]], "events that rotate");
}

#[test]
fn siblings_of_a_haswell_core_have_off_core_response_registers_of_their_own() {
    if HASWELL.text().is_none() {
        return;
    }
    for label in ["offcore-same", "offcore-differ", "offcore-differ-asleep", "offcore-two-each"] {
        HASWELL.both_count(label);
    }
    assert_eq!(HASWELL.lines("spread"), [["1"]]);
}

/// BJ122, HSD29: Linux works around it, and the plan knows.
#[test]
fn memory_retired_events_close_counters_to_the_sibling() {
    for (model, name) in [(&HASWELL, "HSD29"), (&SANDY_BRIDGE, "BJ122")] {
        if model.text().is_none() {
            return;
        }
        for label in [
            "one-beside-one",
            "two-beside-two",
            "one-beside-two-plain",
            "two-plain-beside-two",
            "four-plain-beside-four",
        ] {
            model.both_count(label);
        }
        let (resource, told) = (format!("erratum {name}"), format!("erratum {name} keeps memory"));
        for label in ["one-beside-three-plain", "four-plain-beside-one"] {
            model.one_loses(label, "1", &resource, &told);
        }
        // Linux counts who has how many counters only when it places events anew: what was
        // there first keeps its three. The plan has no first, and refuses.
        let label = "three-plain-beside-one";
        assert!(model.plan(label).starts_with(&format!("refused {resource}: ")));
        for (turn, when) in [("0", "now"), ("1", "now"), ("0", "later")] {
            assert_eq!(model.kernel(label, turn, when), "exact", "{label} {turn} {when}");
        }
        println!("lab {}: {label}: plan refuses, kernel lets both count, exactly", model.name);
    }
}
