//! Packs the tables of `data/` into one blob and a few Rust statics.
//!
//! A bad row fails the build with `file:line: reason`.

#[path = "build/aliases.rs"]
mod aliases;
#[path = "build/events.rs"]
mod events;
#[path = "build/fields.rs"]
mod fields;
#[path = "build/models.rs"]
mod models;
#[path = "build/names.rs"]
mod names;
#[path = "build/netburst.rs"]
mod netburst;
#[path = "build/presets.rs"]
mod presets;
#[path = "build/refusals.rs"]
mod refusals;
#[path = "build/text.rs"]
mod text;
#[path = "build/tsv.rs"]
mod tsv;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=build");
    if let Err(fault) = pack(&home.join("data"), &out) {
        eprintln!("{fault}");
        process::exit(1);
    }
}

fn pack(data: &Path, out: &Path) -> Result<(), tsv::Fault> {
    let models = models::read(data)?;
    let netburst = netburst::read(data, &models)?;
    let events = events::read(data, &models)?;
    let presets = presets::read(data, &models, &events, &netburst)?;

    let aliases = aliases::read(data, &models)?;
    let refusals = refusals::to_rust(data, &models)?;

    let fields = fields::to_rust(data, &models, &events)?;

    let sources = events::sources(data, &models)?;
    let corrections = events.corrections_to_rust()?;

    let packed = events.pack();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(out.join(name), bytes)
            .unwrap_or_else(|error| panic!("cannot write {name}: {error}"));
    };
    write("events.bin", &packed.blob);
    names::write(&packed.names, out);
    write("layout.rs", packed.layout.as_bytes());
    write("models.rs", models.to_rust(&packed.spans, &sources).as_bytes());
    write("corrections.rs", corrections.as_bytes());
    write("netburst.rs", netburst.to_rust().as_bytes());
    write("aliases.rs", aliases.to_rust().as_bytes());
    write("fields.rs", fields.as_bytes());
    write("refusals.rs", refusals.as_bytes());
    write("presets.rs", presets.to_rust(&models).as_bytes());
    Ok(())
}
