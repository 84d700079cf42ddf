//! Packages as frames, cores as boxes, contexts as numbers.

use pacman_events::plural::{noun, number};
use std::collections::{BTreeMap, BTreeSet};

use pacman_core::Topology;
use pacman_core::topology::{Core, CoreType, CpuSet, Package};
use pacman_events::shown::{line, shown};

use super::details::Details;

/// The style of the picture.
pub(super) struct Style {
    /// Columns of the terminal.
    pub(super) width: usize,
    /// Whether box-drawing characters can be shown.
    pub(super) unicode: bool,
    /// Whether to draw every core of a big machine.
    pub(super) unfold: bool,
}

/// The whole picture, ending in a newline.
pub(super) fn draw(machine: &Topology, details: &Details, style: &Style) -> String {
    let picture = Picture {
        machine,
        style,
        fold: !style.unfold && machine.contexts().len() > FOLD_ABOVE,
        dies: machine.cores().iter().any(|core| core.die != 0),
    };
    let mut lines = vec![clip(&shown(machine.machine_name()).to_string(), style.width)];
    lines.extend(wrap(&picture.summary(), style.width));
    for package in machine.packages() {
        lines.push(String::new());
        lines.extend(picture.package(package));
    }
    let caveat = details.caveat();
    let details = details.lines(machine, if style.unicode { "×" } else { "x" });
    if !details.is_empty() {
        lines.push(String::new());
        lines.extend(details.iter().flat_map(|line| wrap(line, style.width)));
    }
    let mut remarks = picture.remarks();
    remarks.extend(caveat.map(|caveat| format!("note: {caveat}")));
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks.iter().flat_map(|remark| wrap(&line(remark), style.width)));
    }
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

struct Picture<'a> {
    machine: &'a Topology,
    style: &'a Style,
    fold: bool,
    /// Whether the machine shows its dies.
    dies: bool,
}

/// Cores of one package that share NUMA node, die and kind.
struct Group<'a> {
    node: u32,
    die: u32,
    kind: CoreType,
    cores: Vec<&'a Core>,
}

impl Picture<'_> {
    fn summary(&self) -> String {
        let machine = self.machine;
        let mut parts = vec![
            number(machine.packages().len(), "package"),
            number(machine.cores().len(), "core"),
            number(machine.contexts().len(), "context"),
        ];
        match machine.contexts_per_core() {
            1 => parts.push("no siblings".to_owned()),
            most if machine.cores().iter().all(|core| core.cpus.len() == most) => {
                parts.push(format!("{most} to a core"));
            }
            most => parts.push(format!("up to {most} to a core")),
        }
        let nodes: BTreeSet<u32> = machine.contexts().iter().map(|context| context.node).collect();
        parts.push(number(nodes.len(), "NUMA node"));
        parts.join(", ")
    }

    fn package(&self, package: &Package) -> Vec<String> {
        let groups = groups(&self.machine.cores()[package.cores.clone()]);
        // The package's title has the facts that all its groups share. Other facts are above each
        // group.
        let facts: Vec<Vec<String>> = groups.iter().map(|group| self.facts(group)).collect();
        let is_shared = |&fact: &usize| facts.iter().all(|group| group[fact] == facts[0][fact]);
        let (shared, own): (Vec<usize>, Vec<usize>) = (0..facts[0].len()).partition(is_shared);
        let say = |facts: &[String], which: &[usize]| -> String {
            let said: Vec<&str> =
                which.iter().map(|&fact| facts[fact].as_str()).filter(|f| !f.is_empty()).collect();
            said.join(", ")
        };
        let mut title = format!("package {}", package.package);
        let more = say(&facts[0], &shared);
        if !more.is_empty() {
            title = format!("{title}, {more}");
        }
        let inner = self.style.width - 4;
        let mut content = Vec::new();
        for (group, facts) in groups.iter().zip(&facts) {
            let label = say(facts, &own);
            if !label.is_empty() {
                content.push(clip(&label, inner));
            }
            let folded = self.fold && group.cores.len() > 1;
            content.extend(if folded {
                self.folded(group, inner)
            } else {
                self.boxes(group, inner)
            });
        }
        let content: Vec<String> = content.iter().map(|line| format!(" {line}")).collect();
        frame(&title, &content, inner + 2, if self.style.unicode { &FRAME } else { &ASCII })
    }

    /// Node, die and kind in words; empty where the machine has only one die or kind.
    fn facts(&self, group: &Group<'_>) -> Vec<String> {
        vec![
            format!("node {}", group.node),
            if self.dies { format!("die {}", group.die) } else { String::new() },
            if group.kind == CoreType::Uniform {
                String::new()
            } else {
                format!("{} cores", group.kind)
            },
        ]
    }

    /// A box for each core, as many beside each other as fit.
    fn boxes(&self, group: &Group<'_>, inner: usize) -> Vec<String> {
        let digits =
            self.machine.contexts().last().map_or(1, |context| context.cpu.to_string().len());
        let titles: Vec<String> =
            group.cores.iter().map(|core| format!("core {}", core.core)).collect();
        let most = group.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(1);
        let columns = most.min(CONTEXTS_IN_A_ROW);
        let widest_title = format!("core {}", self.machine.cores().len() - 1).len();
        let between = (columns * (digits + 2)).max(widest_title + 2);
        let rows = most.div_ceil(columns);
        let border = if self.style.unicode { &CORE } else { &ASCII };
        let drawn: Vec<Vec<String>> = group
            .cores
            .iter()
            .zip(&titles)
            .map(|(core, title)| {
                let cells: Vec<String> =
                    core.cpus.iter().map(|&cpu| self.cell(cpu, digits)).collect();
                let mut lines: Vec<String> =
                    cells.chunks(columns).map(<[String]>::concat).collect();
                lines.resize(rows, String::new());
                frame(title, &lines, between, border)
            })
            .collect();
        let beside = ((inner + 1) / (between + 3)).max(1);
        let mut lines = Vec::new();
        for row in drawn.chunks(beside) {
            for line in 0..rows + 2 {
                lines.push(
                    row.iter().map(|drawn| drawn[line].as_str()).collect::<Vec<_>>().join(" "),
                );
            }
        }
        lines
    }

    fn cell(&self, cpu: u32, digits: usize) -> String {
        match self.machine.context(cpu) {
            Some(context) if context.allowed => format!(" {cpu:>digits$} "),
            _ => format!("({cpu:>digits$})"),
        }
    }

    /// A line for each position among the siblings, for every run of cores that are alike.
    fn folded(&self, group: &Group<'_>, inner: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for alike in group.cores.chunk_by(|a, b| a.cpus.len() == b.cpus.len()) {
            let cores: Vec<u32> = alike.iter().map(|core| core.core).collect();
            let title = format!("{} {}", noun(alike.len(), "core"), self.series(&cores));
            let mut content = Vec::new();
            for sibling in 0..alike[0].cpus.len() {
                let cpus: Vec<u32> = alike.iter().map(|core| core.cpus[sibling]).collect();
                let head = format!(" sibling {sibling}  ");
                content.extend(hanging(&head, &self.series(&cpus), inner - 3));
            }
            let of_these = alike.iter().flat_map(|core| core.cpus.iter().copied());
            let barred: Vec<u32> = of_these
                .filter(|&cpu| self.machine.context(cpu).is_some_and(|context| !context.allowed))
                .collect();
            if !barred.is_empty() {
                content.extend(hanging(" not allowed  ", &self.series(&barred), inner - 3));
            }
            let border = if self.style.unicode { &CORE } else { &ASCII };
            lines.extend(frame(&title, &content, inner - 2, border));
        }
        lines
    }

    /// CPU numbers in list notation, or `0,2,…,254` where they keep a distance.
    fn series(&self, numbers: &[u32]) -> String {
        if let [first, second, .., last] = numbers {
            let step = second.wrapping_sub(*first);
            let even = numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
            if even && numbers.len() > 3 && (2..=u32::MAX / 2).contains(&step) {
                let dots = if self.style.unicode { "…" } else { "..." };
                return format!("{first},{second},{dots},{last}");
            }
        }
        numbers.iter().copied().collect::<CpuSet>().to_string()
    }

    fn remarks(&self) -> Vec<String> {
        let machine = self.machine;
        let mut remarks = Vec::new();
        if !machine.offline().is_empty() {
            remarks.push(format!("offline (present, switched off): {}", machine.offline()));
        }
        if machine.allowed().len() < machine.contexts().len() && !self.fold {
            remarks.push("(n): this process may not run there".to_owned());
        }
        for restriction in machine.restrictions() {
            remarks.push(format!("allowed: {restriction}"));
        }
        if let Some(quota) = machine.quota() {
            remarks.push(format!("quota: {quota}"));
            remarks.push(format!("effective contexts: {}", machine.effective_contexts()));
        }
        if self.fold {
            remarks.push("folded: --unfold draws every core".to_owned());
        }
        remarks.extend(machine.caveats().iter().map(|caveat| format!("note: {caveat}")));
        if !machine.is_this_system() {
            remarks.push(format!("not this system: read from {}", machine.source()));
        }
        remarks
    }
}

fn groups(cores: &[Core]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known = BTreeMap::new();
    for core in cores {
        let (node, die, kind) = (core.node, core.die, core.core_type);
        let at = *known.entry((node, die, kind)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group { node, die, kind, cores: Vec::new() });
        }
        groups[at].cores.push(core);
    }
    groups
}

/// Lines in a border with a title, with `between` columns from border to border.
fn frame(title: &str, lines: &[String], between: usize, border: &Border) -> Vec<String> {
    let Border { corners: [top_left, top_right, bottom_left, bottom_right], across, down } = border;
    let title = clip(title, between - 2);
    let rest = across.repeat(between - 2 - title.chars().count());
    let mut framed = vec![format!("{top_left} {title} {rest}{top_right}")];
    framed.extend(lines.iter().map(|line| format!("{down}{line:<between$}{down}")));
    framed.push(format!("{bottom_left}{}{bottom_right}", across.repeat(between)));
    framed
}

struct Border {
    corners: [&'static str; 4],
    across: &'static str,
    down: &'static str,
}

const FRAME: Border = Border { corners: ["┌", "┐", "└", "┘"], across: "─", down: "│" };
const CORE: Border = Border { corners: ["╭", "╮", "╰", "╯"], across: "─", down: "│" };
const ASCII: Border = Border { corners: ["+", "+", "+", "+"], across: "-", down: "|" };

fn clip(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

/// Breaks at blanks and after commas; later lines are indented.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in text.split_inclusive([' ', ',']) {
        let room = width.saturating_sub(piece.trim_end().chars().count());
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.chars().count() <= room => line.push_str(piece),
            _ => lines.push(format!("  {piece}")),
        }
    }
    lines
}

/// A list after a head, broken at commas, later lines indented to the head's end.
fn hanging(head: &str, list: &str, width: usize) -> Vec<String> {
    let indent = head.chars().count();
    let room = width.saturating_sub(indent);
    let mut rows = vec![String::new()];
    for item in list.split_inclusive(',') {
        match rows.last_mut() {
            Some(row) if row.is_empty() || row.chars().count() + item.chars().count() <= room => {
                row.push_str(item)
            }
            _ => rows.push(item.to_owned()),
        }
    }
    let heads = [head.to_owned()].into_iter().chain(std::iter::repeat(" ".repeat(indent)));
    heads.zip(rows).map(|(head, row)| head + &row).collect()
}

/// More contexts than this do not fit a screen as single cores.
const FOLD_ABOVE: usize = 64;

/// Cores with more contexts than this take several lines.
const CONTEXTS_IN_A_ROW: usize = 4;
