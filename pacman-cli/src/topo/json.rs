//! The machine's facts as JSON.

use pacman_core::Topology;
use pacman_core::topology::{self, Restrictor};
use serde::Serialize;

use super::details::{CacheDocument, ClockDocument, Details};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    machine: &'a str,
    source: String,
    this_system: bool,
    hybrid: bool,
    contexts: usize,
    contexts_per_core: usize,
    packages: Vec<Package>,
    allowed: Vec<u32>,
    offline: Vec<u32>,
    restrictions: Vec<Restriction<'a>>,
    quota: Option<Quota<'a>>,
    effective_contexts: usize,
    caches: Option<Vec<CacheDocument>>,
    clocks: Option<Vec<ClockDocument>>,
    tsc_hz: Option<f64>,
    caveats: Vec<String>,
}

#[derive(Serialize)]
struct Package {
    package: u32,
    cores: Vec<Core>,
}

#[derive(Serialize)]
struct Core {
    core: u32,
    die: u32,
    node: u32,
    r#type: String,
    contexts: Vec<Context>,
}

#[derive(Serialize)]
struct Context {
    cpu: u32,
    sibling: u32,
    node: u32,
    allowed: bool,
}

#[derive(Serialize)]
struct Restriction<'a> {
    by: String,
    file: Option<&'a str>,
    cpus: Vec<u32>,
}

#[derive(Serialize)]
struct Quota<'a> {
    cpus: f64,
    time_s: f64,
    period_s: f64,
    file: &'a str,
}

/// Everything the picture shows, by package, core and context.
pub(super) fn facts<'a>(machine: &'a Topology, details: &Details) -> Document<'a> {
    let packages = machine.packages().iter().map(|package| Package {
        package: package.package,
        cores: machine.cores()[package.cores.clone()]
            .iter()
            .map(|core| core_facts(machine, core))
            .collect(),
    });
    let restrictions = machine.restrictions().iter().map(|restriction| Restriction {
        by: restriction.by.to_string(),
        file: match &restriction.by {
            Restrictor::Cpuset(file) => Some(file),
            _ => None,
        },
        cpus: restriction.cpus.iter().collect(),
    });
    let quota = machine.quota().map(|quota| Quota {
        cpus: quota.cpus(),
        time_s: quota.micros as f64 / 1e6,
        period_s: quota.period_micros as f64 / 1e6,
        file: &quota.file,
    });
    Document {
        machine: machine.machine_name(),
        source: machine.source().to_string(),
        this_system: machine.is_this_system(),
        hybrid: machine.is_hybrid(),
        contexts: machine.contexts().len(),
        contexts_per_core: machine.contexts_per_core(),
        packages: packages.collect(),
        allowed: machine.allowed().iter().collect(),
        offline: machine.offline().iter().collect(),
        restrictions: restrictions.collect(),
        quota,
        effective_contexts: machine.effective_contexts(),
        caches: details.caches(),
        clocks: details.clocks(),
        tsc_hz: details.tsc_hz(),
        caveats: machine.caveats().iter().cloned().chain(details.caveat()).collect(),
    }
}

fn core_facts(machine: &Topology, core: &topology::Core) -> Core {
    let contexts = core.cpus.iter().filter_map(|&cpu| machine.context(cpu));
    Core {
        core: core.core,
        die: core.die,
        node: core.node,
        r#type: core.core_type.to_string(),
        contexts: contexts
            .map(|context| Context {
                cpu: context.cpu,
                sibling: context.sibling,
                node: context.node,
                allowed: context.allowed,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_machine_in_full() {
        let machine = Topology::synthetic("1 p-core, 2 threads, 1 e-core").unwrap();
        let expected = r#"{
  "machine": "synthetic machine",
  "source": "synthetic \"1 p-core, 2 threads, 1 e-core\"",
  "this_system": false,
  "hybrid": true,
  "contexts": 3,
  "contexts_per_core": 2,
  "packages": [
    {
      "package": 0,
      "cores": [
        {
          "core": 0,
          "die": 0,
          "node": 0,
          "type": "performance",
          "contexts": [
            {
              "cpu": 0,
              "sibling": 0,
              "node": 0,
              "allowed": true
            },
            {
              "cpu": 1,
              "sibling": 1,
              "node": 0,
              "allowed": true
            }
          ]
        },
        {
          "core": 1,
          "die": 0,
          "node": 0,
          "type": "efficiency",
          "contexts": [
            {
              "cpu": 2,
              "sibling": 0,
              "node": 0,
              "allowed": true
            }
          ]
        }
      ]
    }
  ],
  "allowed": [0, 1, 2],
  "offline": [],
  "restrictions": [],
  "quota": null,
  "effective_contexts": 3,
  "caches": null,
  "clocks": null,
  "tsc_hz": null,
  "caveats": []
}"#;
        assert_eq!(
            crate::document::text(&facts(&machine, &Details::default())),
            format!("{expected}\n")
        );
    }
}
