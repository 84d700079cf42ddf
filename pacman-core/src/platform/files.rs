//! Facts that the presence of files tells: core PMUs and container engines.

use std::fs;
use std::path::Path;

use pacman_events::few;

/// The PMUs that count for cores: those with a `cpus` list, and x86's plain `cpu`.
pub(super) fn core_pmus(devices: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(devices) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name == "cpu"
                || name.starts_with("cpu_")
                || name.starts_with("armv")
                || name.starts_with("apple_")
        })
        .collect();
    few::sort(&mut names);
    names
}

/// The container engine whose mark is found under `root`.
pub(super) fn container(root: &Path) -> Option<&'static str> {
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    if let Some((_, name)) = marks.iter().find(|(file, _)| root.join(file).exists()) {
        return Some(name);
    }
    fs::read_to_string(root.join("run/systemd/container")).ok().map(|_| "systemd-nspawn or LXC")
}
