//! PMUs as Linux describes them in sysfs.

use std::fs;
use std::path::Path;

use pacman_events::SysfsPmu;
use pacman_events::few;

use pacman_topology::input::{self, MOST_SYSTEM_BYTES};

/// The directory in which Linux describes its PMUs.
pub const DEVICES: &str = "/sys/bus/event_source/devices";

/// The PMUs described below a directory such as [`DEVICES`], by name. PMUs that cannot be read are
/// left out.
pub fn pmus_in(devices: &Path) -> Vec<SysfsPmu> {
    let Ok(entries) = fs::read_dir(devices) else { return Vec::new() };
    let mut pmus: Vec<_> = entries.flatten().filter_map(|entry| pmu(&entry.path())).collect();
    few::sort_by(&mut pmus, |one, other| one.name().cmp(other.name()));
    pmus
}
fn pmu(directory: &Path) -> Option<SysfsPmu> {
    let name = directory.file_name()?.to_str()?;
    let kind = input::read_text(&directory.join("type"), MOST_SYSTEM_BYTES).ok()?;
    let formats = files(&directory.join("format"));
    let events = files(&directory.join("events"));
    SysfsPmu::parse(
        name,
        &kind,
        formats.iter().map(|(name, text)| (name.as_str(), text.as_str())),
        events.iter().map(|(name, text)| (name.as_str(), text.as_str())),
    )
    .ok()
}

fn files(directory: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, input::read_text(&entry.path(), MOST_SYSTEM_BYTES).ok()?))
    };
    entries.flatten().filter_map(read).collect()
}
