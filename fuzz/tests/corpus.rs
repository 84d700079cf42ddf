//! Every kept input through its target: found once, never broken again.

use std::fs;
use std::path::Path;

use pacman_fuzz::{TARGETS, of_today};
use pacman_regions::{Recording, arena};

#[test]
fn every_kept_input_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in TARGETS {
        let mut inputs: Vec<_> = fs::read_dir(corpus.join(name))
            .unwrap_or_else(|error| panic!("{name} has no corpus: {error}"))
            .map(|entry| entry.unwrap().path())
            .collect();
        inputs.sort();
        assert!(inputs.len() >= 5, "{name} has {} inputs", inputs.len());
        for input in &inputs {
            // Said only if the target panics.
            println!("{name}: {}", input.display());
            let content = fs::read(input).unwrap();
            target(&content);
            // Cut short and with one bit changed, which is what a first mutation does.
            target(&content[..content.len() / 2]);
            if let Some((last, rest)) = content.split_last() {
                target(&[rest, &[last ^ 1]].concat());
            }
        }
    }
}

/// A change of the format makes them refused at once, and a search from them finds nothing.
#[test]
fn kept_recordings_are_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/recordings");
    for (name, has) in [
        ("waits", (|one| one.waits.is_some()) as fn(&Recording) -> bool),
        ("sets", |one| one.sets.len() > 1),
        ("adapted", |one| one.regions.iter().any(|region| region.adaptation.is_some())),
    ] {
        let content = fs::read(corpus.join(name)).unwrap();
        let recordings = arena::read(&of_today(&content)).expect("a recording");
        let is_whole = |one: &Recording| !one.regions.is_empty() && has(one);
        assert!(recordings.iter().all(is_whole), "make {name} anew: {recordings:#?}");
    }
}
