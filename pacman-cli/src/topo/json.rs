//! The machine's facts as JSON.

use pacman_core::Topology;
use pacman_core::topology::{Core, Restrictor};
use serde_json::{Value, json};

/// Everything the picture shows, by package, core and context.
pub(super) fn facts(machine: &Topology) -> Value {
    let packages: Vec<Value> = machine
        .packages()
        .iter()
        .map(|package| {
            let cores = &machine.cores()[package.cores.clone()];
            let cores: Vec<Value> = cores.iter().map(|core| core_facts(machine, core)).collect();
            json!({ "package": package.package, "cores": cores })
        })
        .collect();
    let restrictions: Vec<Value> = machine
        .restrictions()
        .iter()
        .map(|restriction| {
            let file = match &restriction.by {
                Restrictor::Cpuset(file) => Some(file),
                _ => None,
            };
            let cpus: Vec<u32> = restriction.cpus.iter().collect();
            json!({ "by": restriction.by.to_string(), "file": file, "cpus": cpus })
        })
        .collect();
    let quota = machine.quota().map(|quota| {
        json!({
            "cpus": quota.cpus(),
            "time_us": quota.micros,
            "period_us": quota.period_micros,
            "file": quota.file,
        })
    });
    json!({
        "machine": machine.machine_name(),
        "source": machine.source().to_string(),
        "this_system": machine.is_this_system(),
        "hybrid": machine.is_hybrid(),
        "contexts": machine.contexts().len(),
        "contexts_per_core": machine.contexts_per_core(),
        "packages": packages,
        "allowed": machine.allowed().iter().collect::<Vec<u32>>(),
        "offline": machine.offline().iter().collect::<Vec<u32>>(),
        "restrictions": restrictions,
        "quota": quota,
        "caveats": machine.caveats(),
    })
}

fn core_facts(machine: &Topology, core: &Core) -> Value {
    let contexts: Vec<Value> = core
        .cpus
        .iter()
        .filter_map(|&cpu| machine.context(cpu))
        .map(|context| {
            json!({
                "cpu": context.cpu,
                "sibling": context.sibling,
                "node": context.node,
                "allowed": context.allowed,
            })
        })
        .collect();
    json!({
        "core": core.core,
        "die": core.die,
        "node": core.node,
        "type": core.core_type.to_string(),
        "contexts": contexts,
    })
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
  "allowed": [
    0,
    1,
    2
  ],
  "offline": [],
  "restrictions": [],
  "quota": null,
  "caveats": []
}"#;
        assert_eq!(format!("{:#}", facts(&machine)), expected);
    }
}
