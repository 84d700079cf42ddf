//! The energy counters of Linux's powercap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pacman_events::few;
use pacman_events::shown::shown_path;

use super::counters::EnergyCounters;
use pacman_events::{Error, ErrorKind, Result};

/// The package zones of powercap; see the kernel's `Documentation/power/powercap`.
#[derive(Debug)]
pub(super) struct Powercap {
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    energy: PathBuf,
    /// The counter's largest value, in microjoules.
    largest: u64,
}

impl Powercap {
    /// Finds the packages whose zones lie under `root`.
    pub(super) fn under(root: &Path) -> Result<Powercap> {
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
                largest: read(&path.join("max_energy_range_uj"))?,
            };
            read(&zone.energy)?;
            zones.push(zone);
        }
        if zones.is_empty() {
            let why = format!(
                "cannot read energy: {} has no package zone; a virtual machine or a processor without RAPL; \
                 measure time instead",
                shown_path(root)
            );
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        few::sort_by(&mut zones, |a, b| a.energy.cmp(&b.energy));
        Ok(Powercap { zones })
    }
}

impl Zone {
    /// The largest value stands for the register's 32 ones (`get_max_energy_counter` of the driver).
    /// The register wraps to 0 one of its own units later, some tens of microjoules.
    fn period(&self) -> u128 {
        const ONES: u128 = u32::MAX as u128;
        let largest = u128::from(self.largest);
        largest + ((largest + ONES / 2) / ONES).max(1)
    }
}

impl EnergyCounters for Powercap {
    fn source(&self) -> &'static str {
        "powercap"
    }

    fn unit(&self) -> f64 {
        1e-6
    }

    fn periods(&self) -> Vec<u128> {
        self.zones.iter().map(Zone::period).collect()
    }

    fn read(&self) -> Result<Vec<u64>> {
        self.zones.iter().map(|zone| read(&zone.energy)).collect()
    }
}

fn read(path: &Path) -> Result<u64> {
    let refuse = |error: &io::Error| {
        let kind = match error.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::System,
        };
        let help = if kind == ErrorKind::Permission {
            "; only root may by default: let the process read it, or measure time instead"
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
    use super::super::Rapl;
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
    fn packages_count_once_and_counters_wrap() {
        let zones = [
            ("intel-rapl:0", "package-0", 999_000),
            ("intel-rapl:0:0", "core", 5),
            ("intel-rapl:1", "package-1", 10),
            ("intel-rapl:2", "psys", 7),
            ("intel-rapl-mmio:0", "package-0", 3),
        ];
        let root = tree("two", &zones);
        let rapl = Rapl::under(&root).unwrap();
        assert_eq!((rapl.source(), rapl.packages()), ("powercap", 2));
        let before = rapl.read().unwrap();
        fs::write(root.join("intel-rapl:0/energy_uj"), "1000\n").unwrap();
        fs::write(root.join("intel-rapl:1/energy_uj"), "40\n").unwrap();
        let joules = rapl.read().unwrap().joules_since(&before).unwrap();
        // From 999,000 to 1,000,000, then to 0, then to 1,000; and 30 of the other package.
        assert!((joules - 0.002_031).abs() < 1e-12, "{joules}");
        fs::remove_dir_all(root).unwrap();
    }

    /// A real range: 2^32 - 1 units of 2^-14 J.
    #[test]
    fn a_wrap_takes_one_unit_of_the_register() {
        let period = |largest| Zone { energy: PathBuf::new(), largest }.period();
        assert_eq!(period(262_143_328_850), 262_143_328_911);
        assert_eq!(period(65_532_610_987), 65_532_611_002);
    }

    #[test]
    fn readings_of_two_sources_are_not_subtracted() {
        let root = tree("apart", &[("intel-rapl:0", "package-0", 5)]);
        let [one, other] = [Rapl::under(&root).unwrap(), Rapl::under(&root).unwrap()];
        let (before, now) = (one.read().unwrap(), other.read().unwrap());
        assert_eq!(now.joules_since(&before).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(other.read().unwrap().joules_since(&now), Ok(0.0));
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
