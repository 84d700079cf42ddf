//! Packages that releases build at a lower level are in no library that programs load.

use std::collections::BTreeSet;
use std::process::Command;

use toml::Table;

use crate::workspace;

/// The packages with a level of their own in a profile of the workspace's manifest.
fn lowered(manifest: &str, profile: &str) -> BTreeSet<String> {
    let manifest: Table = manifest.parse().expect("TOML");
    let packages = &manifest["profile"][profile]["package"];
    let packages = packages.as_table().expect("packages").iter();
    let leveled = packages.filter(|(_, settings)| settings.get("opt-level").is_some());
    leveled.map(|(name, _)| name.clone()).collect()
}

#[test]
fn the_libraries_keep_their_level() {
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).expect("it");
    let lowered = lowered(&manifest, "release");
    assert!(lowered.contains("pacman-report"), "{lowered:?}");
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.args(["tree", "--offline", "--prefix", "none", "--edges", "normal", "--format", "{p}"]);
    cargo.args(["-p", "pacman-omp", "-p", "pacman-ffi"]).current_dir(workspace::root());
    let output = cargo.output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("UTF-8");
    let linked = tree.lines().filter_map(|line| line.split(' ').next());
    let linked: BTreeSet<String> = linked.map(str::to_owned).collect();
    assert!(linked.contains("pacman-core"), "{linked:?}");
    let both: Vec<_> = lowered.intersection(&linked).collect();
    assert!(both.is_empty(), "{both:?}");
}
