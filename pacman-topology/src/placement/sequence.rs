//! The order of the contexts in a placement.

use std::collections::BTreeMap;

use pacman_events::few;

use super::{Placement, empty_list};
use crate::cpu_bits::CpuBits;
use crate::{Context, Core, CoreType, Topology};
use pacman_events::{Error, ErrorKind, Result};

impl Placement {
    /// The contexts in the policy's order, if `usable` admits them.
    pub(super) fn sequence<'a>(
        &self,
        topology: &'a Topology,
        usable: &dyn Fn(&Context) -> bool,
    ) -> Result<Vec<&'a Context>> {
        let contexts_of = |core: &Core| -> Vec<&'a Context> {
            let contexts = core.cpus.iter().filter_map(|&cpu| topology.context(cpu));
            contexts.filter(|context| usable(context)).collect()
        };
        let mut cores: Vec<&Core> = topology.cores().iter().collect();
        let mut sequence = Vec::new();
        match self {
            Placement::Compact => {
                few::sort_by_key(&mut cores, |core| core.core_type);
                cores.into_iter().for_each(|core| sequence.extend(contexts_of(core)));
            }
            Placement::OnePerCore => {
                few::sort_by_key(&mut cores, |core| core.core_type);
                cores.into_iter().for_each(|core| sequence.extend(contexts_of(core).first()));
            }
            Placement::Scatter => {
                for sibling in 0..topology.contexts_per_core() {
                    // A core without such a sibling is left out.
                    cores.retain(|core| contexts_of(core).len() > sibling);
                    spread(&mut cores);
                    cores.iter().for_each(|core| sequence.push(contexts_of(core)[sibling]));
                }
            }
            Placement::SiblingsTogether => {
                cores.retain(|core| {
                    core.cpus.len() > 1 && contexts_of(core).len() == core.cpus.len()
                });
                spread(&mut cores);
                cores.into_iter().for_each(|core| sequence.extend(contexts_of(core)));
            }
            Placement::List(cpus) => return self.listed(topology, cpus),
        }
        Ok(sequence)
    }

    fn listed<'a>(&self, topology: &'a Topology, cpus: &[u32]) -> Result<Vec<&'a Context>> {
        let mut contexts: Vec<&Context> = Vec::with_capacity(cpus.len());
        let mut listed = CpuBits::default();
        for &cpu in cpus {
            let context = topology.usable(cpu)?;
            if !listed.insert(cpu) {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot place threads on {self}: cpu {cpu} is listed twice; list each cpu once"
                    ),
                ));
            }
            contexts.push(context);
        }
        if contexts.is_empty() {
            return Err(empty_list());
        }
        Ok(contexts)
    }
}

/// By core type, takes cores in turn from every package, and within a package from every NUMA node
/// and die.
fn spread(cores: &mut Vec<&Core>) {
    in_turn(cores, |core| (core.package, core.node, core.die));
    in_turn(cores, |core| (core.package, 0, 0));
}

/// By core type, takes the first core of each group, then the second of each, and so on.
fn in_turn(cores: &mut Vec<&Core>, group: fn(&Core) -> (u32, u32, u32)) {
    let mut met: BTreeMap<(CoreType, (u32, u32, u32)), u32> = BTreeMap::new();
    let mut ordered = Vec::with_capacity(cores.len());
    for core in cores.drain(..) {
        let (kind, group) = (core.core_type, group(core));
        let turn = met.entry((kind, group)).or_default();
        ordered.push(((kind, *turn, group), core));
        *turn += 1;
    }
    // No two cores have the same key.
    ordered.sort_unstable_by_key(|(key, _)| *key);
    cores.extend(ordered.into_iter().map(|(_, core)| core));
}
