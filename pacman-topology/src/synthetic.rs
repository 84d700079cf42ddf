//! Synthetic machines from a line of text.
//!
//! ```text
//! machine = [packages] [nodes] [dies] cores+
//! cores   = (cores | p-cores | e-cores | lp-cores) [threads]
//! level   = NUMBER NAME | NAME ":" NUMBER
//! ```

use pacman_events::shown::excerpt;

use crate::assemble::{CoreKey, Cpu, assemble};
use crate::cpu_bits::LAST_CPU;
use crate::{CoreType, CpuSet, Source, Topology};
use pacman_events::{Error, ErrorKind, Result};

pub(crate) fn read(text: &str) -> Result<Topology> {
    let machine = Machine::parse(text).map_err(|reason| {
        Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot read topology {}: {reason}; write it like \"2 packages, 4 cores, 2 threads\" \
                 or \"8 p-cores, 2 threads, 8 e-cores\"",
                excerpt(text)
            ),
        )
    })?;
    let cpus = machine.cpus();
    let all: CpuSet = cpus.iter().map(|cpu| cpu.cpu).collect();
    let source = Source::Synthetic(text.to_owned());
    let bare = Topology::bare("synthetic machine".to_owned(), source, false);
    Ok(assemble(cpus, &all, bare))
}

/// The number of parts of each level in its parent.
struct Machine {
    packages: u32,
    nodes: u32,
    dies: u32,
    cores: Vec<Cores>,
}

/// Cores of one type on every die.
struct Cores {
    kind: CoreType,
    count: u32,
    threads: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Package,
    Node,
    Die,
    Core(CoreType),
    Thread,
}

impl Machine {
    fn parse(text: &str) -> Result<Machine, String> {
        let mut machine = Machine { packages: 1, nodes: 1, dies: 1, cores: Vec::new() };
        let mut deepest: Option<Level> = None;
        for (level, name, count) in levels(text)? {
            let after_kind = matches!(deepest, Some(Level::Core(_) | Level::Thread));
            let another_kind = matches!(level, Level::Core(_)) && after_kind;
            if deepest.is_some_and(|deepest| deepest >= level) && !another_kind {
                return Err(format!("{} cannot stand inside what comes before it", excerpt(&name)));
            }
            match level {
                Level::Package => machine.packages = count,
                Level::Node => machine.nodes = count,
                Level::Die => machine.dies = count,
                Level::Core(kind) => machine.add_cores(kind, count)?,
                Level::Thread => match machine.cores.last_mut() {
                    Some(cores) => cores.threads = count,
                    None => return Err(format!("{} need cores to stand in", excerpt(&name))),
                },
            }
            deepest = Some(level);
        }
        if machine.cores.is_empty() {
            return Err("it has no cores".to_owned());
        }
        let per_die = machine.cores.iter().fold(0_u64, |sum, cores| {
            sum.saturating_add(u64::from(cores.count) * u64::from(cores.threads))
        });
        let dies = [machine.packages, machine.nodes, machine.dies].map(u64::from);
        let total = dies.into_iter().fold(per_die, u64::saturating_mul);
        if total > u64::from(LAST_CPU) + 1 {
            return Err(format!("it has {total} contexts, and {} is the most", LAST_CPU + 1));
        }
        Ok(machine)
    }

    fn add_cores(&mut self, kind: CoreType, count: u32) -> Result<(), String> {
        if self.cores.iter().any(|cores| cores.kind == kind) {
            return Err("it lists one kind of core twice".to_owned());
        }
        let plain = |kind| kind == CoreType::Uniform;
        if self.cores.iter().any(|cores| plain(cores.kind) != plain(kind)) {
            return Err("it mixes plain cores with p-cores, e-cores or lp-cores".to_owned());
        }
        self.cores.push(Cores { kind, count, threads: 1 });
        Ok(())
    }

    /// Every context, numbered core by core.
    fn cpus(&self) -> Vec<Cpu> {
        let alike = self.cores.len() == 1;
        let mut cpus = Vec::new();
        for package in 0..self.packages {
            for node in 0..self.nodes {
                for die in 0..self.dies {
                    for cores in &self.cores {
                        for _ in 0..cores.count {
                            let lowest = cpus.len() as u32;
                            cpus.extend((lowest..lowest + cores.threads).map(|cpu| Cpu {
                                cpu,
                                package,
                                die: if self.dies == 1 { 0 } else { node * self.dies + die },
                                core_key: CoreKey::LowestCpu(lowest),
                                node: package * self.nodes + node,
                                core_type: if alike { CoreType::Uniform } else { cores.kind },
                            }));
                        }
                    }
                }
            }
        }
        cpus
    }
}

/// The levels in the order of the text, each with its word.
fn levels(text: &str) -> Result<Vec<(Level, String, u32)>, String> {
    let words: Vec<&str> = text.split([' ', ',', '\t']).filter(|word| !word.is_empty()).collect();
    let mut levels = Vec::new();
    let mut rest = words.as_slice();
    while let Some((&word, after)) = rest.split_first() {
        let (count, name) = match word.split_once(':') {
            Some((name, count)) => (count, name),
            None => match after.first() {
                Some(&name) => (word, name),
                None => return Err(format!("{word:?} stands alone")),
            },
        };
        rest = if word.contains(':') { after } else { &after[1..] };
        let level = level(name).ok_or_else(|| format!("{} is not a level", excerpt(name)))?;
        let count = match count.parse() {
            Ok(0) => return Err(format!("{} cannot be 0", excerpt(name))),
            Ok(count) => count,
            Err(_) => return Err(format!("{} is not a number of {name}", excerpt(count))),
        };
        levels.push((level, name.to_owned(), count));
    }
    Ok(levels)
}

fn level(name: &str) -> Option<Level> {
    let name = name.to_ascii_lowercase();
    let singular = name.strip_suffix('s').unwrap_or(&name);
    Some(match singular {
        "package" => Level::Package,
        "node" | "numa" | "numanode" => Level::Node,
        "die" => Level::Die,
        "core" => Level::Core(CoreType::Uniform),
        "p-core" => Level::Core(CoreType::Performance),
        "e-core" => Level::Core(CoreType::Efficiency),
        "lp-core" => Level::Core(CoreType::LowPower),
        "thread" | "context" | "pu" => Level::Thread,
        _ => return None,
    })
}
