//! Parsers of `pacman-events` and `pacman-core`.

use std::fs;
use std::path::{Path, PathBuf};

use pacman_adapt::predict::{Configuration, Model, Predictor, Sample, Step};
use pacman_adapt::{Candidates, Controller, Evidence, Rules};
use pacman_core::topology::CpuSet;
use pacman_core::{Event, Placement, Topology};
use pacman_events::{CpuModel, Resolver, SysfsPmu, UserTable, resolve};
use pacman_metrics::language::{Expression, Metric};
use pacman_regions::{Options, ProgramMemory, arena};
use pacman_sim::Machine;

use crate::{fields, is_readable, text};

/// Names of events: a model's number, then a list of names.
pub fn events(data: &[u8]) {
    let Some((&model, rest)) = data.split_first() else { return };
    let models = CpuModel::all();
    let Some(model) = CpuModel::all().nth(usize::from(model) % models.len()) else { return };
    let list = text(rest);
    match Event::parse_list_on(model, &list) {
        Ok(events) => events.iter().for_each(|event| is_readable(event.name())),
        Err(error) => is_readable(error),
    }
    for name in list.split('\n') {
        match resolve(model, name) {
            Ok(resolved) => resolved.terms().for_each(|term| {
                // The text of a legal event resolves to the same event.
                let _ = format!("{:?}", term.encoding);
            }),
            Err(refusal) => is_readable(refusal),
        }
        if let Some(model) = CpuModel::named(name) {
            is_readable(model);
        }
        CpuModel::nearest(name).iter().for_each(is_readable);
    }
}

/// PMUs as sysfs has them, and vendors' event files.
pub fn pmus(data: &[u8]) {
    let text = text(data);
    let mut parts = fields(&text);
    let (kind, formats, events) = (parts.next(), parts.next(), parts.next());
    let pairs = |part: Option<&str>| -> Vec<(String, String)> {
        let split = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
        part.unwrap_or("").lines().filter_map(split).collect()
    };
    let (formats, events) = (pairs(formats), pairs(events));
    let parsed = SysfsPmu::parse(
        "pmu",
        kind.unwrap_or(""),
        formats.iter().map(|(name, text)| (name.as_str(), text.as_str())),
        events.iter().map(|(name, text)| (name.as_str(), text.as_str())),
    );
    let asked: Vec<&str> = parts.flat_map(str::lines).collect();
    match parsed {
        Err(refusal) => is_readable(refusal),
        Ok(pmu) => {
            let aliases: Vec<String> = pmu.events().map(str::to_owned).collect();
            for name in aliases.iter().map(String::as_str).chain(asked.iter().copied()) {
                for answer in [pmu.event(name).map(drop), pmu.encode(name, name).map(drop)] {
                    answer.unwrap_or_else(is_readable);
                }
            }
            let model = CpuModel::named("skl").expect("Skylake is there");
            let resolver = Resolver::new(model).with_pmus(std::slice::from_ref(&pmu));
            for name in asked {
                let _ = resolver.resolve(name).map_err(is_readable);
            }
        }
    }
    for model in ["skl", "zen4", "generic"] {
        let model = CpuModel::named(model).unwrap_or_else(CpuModel::generic);
        let _ = UserTable::from_perfmon_json(model, &text).map_err(is_readable);
    }
}

/// CPU lists and masks, placements, machines as text and as trees.
pub fn topology(data: &[u8]) {
    let text = text(data);
    for line in text.lines().take(8) {
        match CpuSet::from_list(line) {
            Ok(set) if !set.is_empty() => {
                let again =
                    CpuSet::from_list(&set.to_string()).expect("what is written can be read");
                assert_eq!(again, set);
            }
            Ok(_) => {}
            Err(error) => is_readable(error),
        }
        let _ = CpuSet::from_mask(line).map_err(is_readable);
        match Topology::synthetic(line) {
            Ok(machine) => places(&machine, "compact"),
            Err(error) => is_readable(error),
        }
        let machine = Topology::synthetic("2 packages, 2 cores, 2 threads").expect("a machine");
        places(&machine, line);
    }
    let Some(tree) = Tree::of(&text) else { return };
    match Topology::from_sysfs(&tree.0) {
        Ok(machine) => {
            for policy in ["compact", "scatter", "one-per-core", "siblings-together"] {
                places(&machine, policy);
            }
            let alone = |cpu: &pacman_core::topology::Context| {
                machine.siblings_of(cpu.cpu).contains(&cpu.cpu)
            };
            assert!(machine.contexts().iter().all(alone));
        }
        Err(error) => is_readable(error),
    }
}

fn places(machine: &Topology, policy: &str) {
    match policy.parse::<Placement>() {
        Err(error) => is_readable(error),
        Ok(placement) => match placement.capacity(machine) {
            Err(error) => is_readable(error),
            Ok(most) => match placement.places(machine, most) {
                Ok(places) => assert_eq!(places.len(), most),
                Err(error) => is_readable(error),
            },
        },
    }
}

/// A directory in memory with the files that lines of `path<TAB>content` name.
struct Tree(PathBuf);

impl Tree {
    fn of(text: &str) -> Option<Tree> {
        let files: Vec<_> = text.lines().filter_map(|line| line.split_once('\t')).collect();
        if files.is_empty() || files.len() > 64 {
            return None;
        }
        let root = scratch("tree");
        let _ = fs::remove_dir_all(&root);
        let tree = Tree(root);
        for (path, content) in files {
            let inside = Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(name) if name.len() < 64));
            if !inside || path.contains('\0') || path.len() > 200 {
                continue;
            }
            let file = tree.0.join(path);
            let _ = file.parent().map(fs::create_dir_all);
            let _ = fs::write(file, content.replace("\\n", "\n"));
        }
        Some(tree)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A name of this process's own, in memory where the system has that.
pub(crate) fn scratch(what: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    above.join(format!("pacman-fuzz-{}-{what}", std::process::id()))
}

/// Expressions and files of metrics.
pub fn metrics(data: &[u8]) {
    let text = text(data);
    match text.parse::<Expression>() {
        Ok(expression) => {
            let again = expression.to_string().parse::<Expression>();
            assert_eq!(again.expect("what is written can be read"), expression);
        }
        Err(error) => is_readable(error),
    }
    match Metric::read_all("fuzz.metrics", &text) {
        Err(error) => is_readable(error),
        Ok(metrics) => {
            for metric in metrics {
                let same = Metric::read_all("again", &metric.to_string()).expect("a metric");
                assert_eq!(same, [metric.clone()]);
                match metric.value(|name| Some(name.len() as u64 % 3)) {
                    Ok(value) => assert!(value.is_finite() && value >= 0.0),
                    Err(error) => is_readable(error),
                }
            }
        }
    }
}

/// Files of what adaptation measured. What is read is kept again, and recalled by a controller.
pub fn memories(data: &[u8]) {
    let mut memory = match ProgramMemory::from_text(&text(data)) {
        Ok(memory) => memory,
        Err(error) => return is_readable(pacman_events::shown::shown(&error)),
    };
    let name = memory.of.file_name();
    assert!(name.len() < 128 && !name.contains('/') && name.ends_with(".json"), "{name:?}");
    let written = ProgramMemory::from_text(&memory.to_text());
    assert_eq!(written.expect("what is written can be read"), memory);
    let evidence = memory.regions.iter().map(|region| Evidence {
        default_cost: region.default_cost,
        ratios: region
            .ratios
            .iter()
            .filter_map(|(on, ratio)| Some((on.parse().ok()?, *ratio)))
            .collect(),
        is_same_work: true,
    });
    let machine = Topology::synthetic("2 cores, 2 threads").expect("a machine");
    let candidates = Candidates::of(&machine, None).expect("candidates");
    let mut phase = Controller::new(candidates, Rules::default());
    phase.recall(evidence.collect());
    for _ in 0..8 {
        let on = phase.next();
        phase.finished(on, 1.0, 1.0).expect("a valid execution");
        is_readable(phase.why());
    }
    for region in std::mem::take(&mut memory.regions) {
        memory.add(region, Evidence::are_alike);
    }
    let region = &memory.regions;
    assert!(region.iter().all(|one| region.iter().filter(|other| one.is_of(other)).count() <= 8));
}

/// Model files. A checksum of zeros is put right, so that what is behind it is reached.
pub fn models(data: &[u8]) {
    const BLANK: &str = "0000000000000000";
    let text = text(data);
    let text = text.replacen(BLANK, &checksum(text.as_bytes()), 1);
    let model = match Model::from_text(&text) {
        Ok(model) => model,
        Err(error) => return is_readable(error),
    };
    let written = model.to_text().expect("a model that was read can be written");
    assert_eq!(Model::from_text(&written).expect("what is written can be read"), model);
    if let Ok(predictor) = model.on(&model.machine) {
        follow(predictor);
    }
}

/// Goes the way of a few executions, whose times depend on the configuration alone.
fn follow(predictor: &dyn Predictor) {
    let mut samples = Vec::new();
    for _ in 0..8 {
        let step = match predictor.step(&samples) {
            Ok(step) => step,
            Err(error) => return is_readable(error),
        };
        let _ = predictor.forecast(&samples).map_err(is_readable);
        let (on, events) = match step {
            Step::Sample { configuration, events, .. } => (configuration, events),
            Step::Verify { configuration, .. } => (configuration, Vec::new()),
            _ => return,
        };
        assert!(predictor.configurations().contains(&on));
        let sample = Sample::new(on, seconds(on)).expect("a time");
        samples.push(
            events
                .iter()
                .fold(sample, |sample, event| sample.with(event.as_str(), 1e9).expect("a count")),
        );
    }
}

fn seconds(on: Configuration) -> f64 {
    1.0 + 8.0 / f64::from(on.threads())
}

/// FNV-1a, as `predict/fingerprint.rs` says.
fn checksum(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The bytes with the version of today's recordings, if they are a recording: the reader refuses others at
/// their first words, so that nothing behind would be searched.
pub fn of_today(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    if data.starts_with(b"pacmanar") {
        if let Some(version) = data.get_mut(8..12) {
            version.copy_from_slice(&arena::VERSION.to_le_bytes());
        }
    }
    data
}

/// A recording that `libpacman_omp.so` left.
pub fn recordings(data: &[u8]) {
    match arena::read(&of_today(data)) {
        Ok(recordings) => recordings.iter().for_each(|one| {
            let executions = one.regions.iter().map(|region| u128::from(region.executions));
            assert!(u128::from(one.executions()) <= executions.sum());
            for region in &one.regions {
                assert!(region.seconds.is_finite() && region.seconds >= 0.0, "{region:?}");
            }
        }),
        Err(why) => is_readable(why),
    }
}

/// Variables of the environment: lines of `NAME=value`.
pub fn environment(data: &[u8]) {
    let text = text(data);
    let get = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    };
    let (_, wrong) = Options::read(|name| get(name).map(Into::into));
    wrong.iter().for_each(is_readable);
    if let Some(machine) = get("PACMAN_MACHINE") {
        let _ = Machine::scripted(&machine).map_err(is_readable);
    }
    if let Some(events) = get("PACMAN_REPORT_EVENTS") {
        let _ = Event::parse_list(&events).map_err(is_readable);
    }
}
