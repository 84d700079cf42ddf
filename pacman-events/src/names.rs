//! Suggestions for a misspelt event or table.

use std::borrow::Cow;

use crate::db;
use crate::encode::{netburst_encoder, perf};
use crate::nearest::among;
use crate::netburst_tables::{EVENTS, METRICS};
use crate::{CpuModel, Family, Preset, alias};

impl CpuModel {
    /// Names and aliases of tables that are similar to this one, nearest first.
    pub fn nearest(name: &str) -> Vec<String> {
        among(
            name,
            CpuModel::all().flat_map(|cpu| cpu.aliases().iter().copied().chain([cpu.name()])),
        )
    }
}

/// Up to five names of the table and presets, nearest first.
pub(crate) fn nearest_to(cpu: CpuModel, asked: &str) -> Vec<String> {
    let mut all: Vec<Cow<'static, str>> = Vec::new();
    if cpu.family() == Family::NetBurst {
        all.extend(netburst(cpu, asked).into_iter().map(Cow::Owned));
    }
    all.extend(db::events(cpu).map(|event| Cow::Owned(event.name().to_string())));
    all.extend(Preset::all().map(|preset| Cow::Borrowed(preset.name())));
    all.extend(perf::NAMED.iter().map(|row| Cow::Borrowed(row.0)));
    among(asked, all.iter().map(|name| &**name))
}

/// The names of the table and the aliases that are this one and a unit mask.
pub(crate) fn with_unit_mask(cpu: CpuModel, base: &str) -> impl Iterator<Item = String> {
    let aliases = alias::all(cpu).map(|row| row.0.to_owned());
    let names = db::events(cpu).map(|event| event.name().to_string()).chain(aliases);
    names.filter(move |name| {
        let begins = name.get(..base.len()).is_some_and(|start| start.eq_ignore_ascii_case(base));
        begins && name[base.len()..].starts_with([':', '.'])
    })
}

/// NetBurst's names, with unit masks if the requested name has one.
fn netburst(cpu: CpuModel, asked: &str) -> Vec<String> {
    let events = EVENTS.iter().filter(|row| netburst_encoder::has(cpu, row));
    let metrics = METRICS.iter().map(|row| row.name.to_owned());
    if asked.contains([':', '.']) {
        let with_masks =
            events.flat_map(|row| row.masks.iter().map(|(_, mask)| format!("{}:{mask}", row.name)));
        with_masks.chain(metrics).collect()
    } else {
        events.map(|row| row.name.to_owned()).chain(metrics).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meant_name_comes_first() {
        let skl = CpuModel::named("skl").unwrap();
        assert_eq!(nearest_to(skl, "uops_isued.any")[0], "UOPS_ISSUED.ANY");
        assert_eq!(nearest_to(skl, "STAL_CYCLES")[0], "STALL_CYCLES");
        let p4 = CpuModel::named("p4").unwrap();
        let near = nearest_to(p4, "bsq_cache_referense:RD_2ndL_MISS");
        assert_eq!(near[0], "BSQ_cache_reference:RD_2ndL_MISS");
        assert_eq!(nearest_to(p4, "inst_retired")[0], "instr_retired");
        assert!(nearest_to(skl, "zzzzqqqq").is_empty());
        assert!(nearest_to(skl, "STALLS_L3").iter().any(|n| n == "CYCLE_ACTIVITY.STALLS_L3_MISS"));
    }
}
