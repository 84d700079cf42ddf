//! Reads the energy of the packages, which RAPL counts, through Linux's powercap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;

use crate::error::{Error, ErrorKind, Result};

/// The package zones of powercap; see the kernel's `Documentation/power/powercap`.
#[derive(Debug)]
pub struct Rapl {
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    energy: PathBuf,
    /// The value in microjoules after which the counter wraps to 0.
    range: u64,
}

/// A reading of all packages in microjoules; see [`Rapl::joules_since`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microjoules(Vec<u64>);

impl Rapl {
    /// Finds this system's packages.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if powercap has no zone of a package; [`ErrorKind::Permission`]
    /// if the process may not read a counter, as by default only root may; [`ErrorKind::System`]
    /// if reading fails otherwise.
    pub fn detect() -> Result<Rapl> {
        Rapl::under(Path::new("/sys/class/powercap"))
    }

    /// Finds the packages whose zones lie under `root`.
    ///
    /// # Errors
    /// As [`detect`](Rapl::detect).
    pub fn under(root: &Path) -> Result<Rapl> {
        let mut zones = Vec::new();
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            // `intel-rapl:0` is a zone, and `intel-rapl:0:1` a part of it. `intel-rapl-mmio` counts
            // the same packages a second time. AMD's driver has the same names.
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(number) = name.strip_prefix("intel-rapl:") else { continue };
            let path = entry.path();
            let is_package = fs::read_to_string(path.join("name"))
                .is_ok_and(|name| name.trim_end().starts_with("package-"));
            if number.contains(':') || !is_package {
                continue;
            }
            let zone = Zone {
                energy: path.join("energy_uj"),
                range: read(&path.join("max_energy_range_uj"))?,
            };
            read(&zone.energy)?;
            zones.push(zone);
        }
        if zones.is_empty() {
            let why = format!(
                "cannot read energy: {} has no package zone; a virtual machine or a processor without RAPL; \
                 adapt for time instead",
                shown_path(root)
            );
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        zones.sort_unstable_by(|a, b| a.energy.cmp(&b.energy));
        Ok(Rapl { zones })
    }

    /// Reads the energy counters of all packages.
    ///
    /// # Errors
    /// [`ErrorKind::System`] or [`ErrorKind::Permission`] if a zone can no longer be read.
    pub fn read(&self) -> Result<Microjoules> {
        self.zones.iter().map(|zone| read(&zone.energy)).collect::<Result<_>>().map(Microjoules)
    }

    /// The joules between two readings, if no counter wrapped more than once between them.
    pub fn joules_since(&self, earlier: &Microjoules, now: &Microjoules) -> f64 {
        let pairs = self.zones.iter().zip(earlier.0.iter().zip(&now.0));
        let used = pairs.map(|(zone, (&before, &after))| match after.checked_sub(before) {
            Some(used) => used,
            None => (zone.range - before.min(zone.range)) + after,
        });
        used.sum::<u64>() as f64 * 1e-6
    }
}

fn read(path: &Path) -> Result<u64> {
    let refuse = |error: &io::Error| {
        let kind = match error.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::System,
        };
        let help = if kind == ErrorKind::Permission {
            "; only root may by default: let the process read it, or adapt for time"
        } else {
            ""
        };
        Error::new(kind, format!("cannot read energy from {}: {error}{help}", shown_path(path)))
    };
    let text = fs::read_to_string(path).map_err(|error| refuse(&error))?;
    text.trim().parse().map_err(|_| {
        let why =
            format!("cannot read energy from {}: bad number {:?}", shown_path(path), text.trim());
        Error::new(ErrorKind::System, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a powercap directory with the files of these zones.
    fn tree(name: &str, zones: &[(&str, &str, u64)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("pacman-rapl-{name}-{}", std::process::id()));
        for (zone, name, energy) in zones {
            let folder = root.join(zone);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("name"), format!("{name}\n")).unwrap();
            fs::write(folder.join("energy_uj"), format!("{energy}\n")).unwrap();
            fs::write(folder.join("max_energy_range_uj"), "1000000\n").unwrap();
        }
        root
    }

    #[test]
    fn packages_count_once_and_counters_go_round() {
        let zones = [
            ("intel-rapl:0", "package-0", 999_000),
            ("intel-rapl:0:0", "core", 5),
            ("intel-rapl:1", "package-1", 10),
            ("intel-rapl:2", "psys", 7),
            ("intel-rapl-mmio:0", "package-0", 3),
        ];
        let root = tree("two", &zones);
        let rapl = Rapl::under(&root).unwrap();
        let before = rapl.read().unwrap();
        assert_eq!(before, Microjoules(vec![999_000, 10]));
        fs::write(root.join("intel-rapl:0/energy_uj"), "1000\n").unwrap();
        fs::write(root.join("intel-rapl:1/energy_uj"), "40\n").unwrap();
        let now = rapl.read().unwrap();
        assert!((rapl.joules_since(&before, &now) - 0.002_030).abs() < 1e-12);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn where_there_is_no_package_energy_is_refused() {
        let root = tree("none", &[("intel-rapl:0", "psys", 1)]);
        let error = Rapl::under(&root).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(Rapl::under(&root).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
