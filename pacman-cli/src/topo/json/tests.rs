//! Tests of `json`.

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
  "allowed": [0,1,2],
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
        pacman_report::document::text(&facts(&machine, &Details::default())),
        format!("{expected}\n")
    );
}
