//! The slices of the cache directory (CHA) that a die has enabled.
//!
//! The register is in PCI configuration space, of which Linux shows the first 64 bytes to everybody
//! and the rest to root. Device, offset and width are from Linux,
//! `arch/x86/events/intel/uncore_snbep.c` (`skx_count_chabox`, `icx_count_chabox`). McCalpin 2021
//! (die locations), section Skylake Xeon partitions, shows that a bit is a place on the die.

use std::fs;
use std::path::Path;

use pacman_events::shown::shown_path;

use super::processor::Processor;
use crate::error::{CliError, CliResult};

/// The slices of all dies of a machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slices {
    /// The register or the document.
    pub(super) source: &'static str,
    /// Places on a die, switched on or not.
    pub(super) places: u32,
    /// One entry per die.
    pub(super) dies: Vec<DieSlices>,
}

/// The slices of one die.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DieSlices {
    /// The address of the device that has the register; none where a document tells.
    pub(super) device: Option<String>,
    /// Bit *n* is set where place *n* has a slice that is switched on.
    pub(super) mask: u64,
}

/// The register of a model.
struct Capability {
    device: u16,
    /// Offsets of the lower and the upper half.
    offsets: &'static [usize],
    places: u32,
    source: &'static str,
}

const SKYLAKE: Capability = Capability {
    device: 0x2083,
    offsets: &[0x9c],
    places: 28,
    source: "CAPID6 (PCI 8086:2083, offset 0x9c, bits 27:0)",
};

const ICE_LAKE: Capability = Capability {
    device: 0x345b,
    offsets: &[0x9c, 0xa0],
    places: 64,
    source: "CAPID6 and CAPID7 (PCI 8086:345b, offsets 0x9c and 0xa0)",
};

impl Slices {
    /// The slices of a machine by its PCI devices; the error is a reason.
    pub(super) fn read(processor: Processor, name: &str, devices: &Path) -> CliResult<Slices> {
        match processor {
            // Every one of the 4200 chips of this number that the article looked at.
            Processor::KNIGHTS_LANDING if name.contains("7250") => Ok(Slices {
                source: "McCalpin 2021 (die locations): all are active on a Xeon Phi 7250",
                places: 38,
                dies: vec![DieSlices { device: None, mask: (1 << 38) - 1 }],
            }),
            Processor::XEON_SCALABLE_1_TO_3 => SKYLAKE.read(devices),
            Processor::ICE_LAKE_XEON => ICE_LAKE.read(devices),
            _ => {
                Err(CliError::refused("the register of its CHA slices is not known for this model"))
            }
        }
    }
}

impl Capability {
    fn read(&self, devices: &Path) -> CliResult<Slices> {
        let entries = fs::read_dir(devices).map_err(|error| {
            CliError::Refused(format!("cannot read {}: {error}", shown_path(&devices)))
        })?;
        let mut addresses: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        addresses.sort_unstable();
        let mut dies = Vec::new();
        for address in addresses {
            let device = devices.join(&address);
            if has(&device, "vendor", 0x8086) && has(&device, "device", self.device) {
                let mask = self.mask(&device.join("config"))?;
                dies.push(DieSlices { device: Some(address), mask });
            }
        }
        if dies.is_empty() {
            return Err(CliError::Refused(format!(
                "the register of its CHA slices is in PCI device 8086:{:04x}, which {} has \
                 not, as in most virtual machines",
                self.device,
                shown_path(&devices)
            )));
        }
        Ok(Slices { source: self.source, places: self.places, dies })
    }

    fn mask(&self, config: &Path) -> CliResult<u64> {
        let space = fs::read(config).map_err(|error| {
            CliError::Refused(format!("cannot read {}: {error}", shown_path(&config)))
        })?;
        let mut value = 0;
        for (half, &offset) in self.offsets.iter().enumerate() {
            let Some(bytes) = space.get(offset..).and_then(<[u8]>::first_chunk) else {
                return Err(CliError::Refused(format!(
                    "cannot read its CHA slices: {} shows {} bytes, and the register is at {offset:#x}; \
                     it takes root to see more",
                    shown_path(&config),
                    space.len()
                )));
            };
            value |= u64::from(u32::from_le_bytes(*bytes)) << (32 * half);
        }
        let value = value & (u64::MAX >> (64 - self.places));
        // A register that is not there reads as ones, and a die without any slice does not run.
        if value == 0 || space.starts_with(&[0xff; 4]) {
            return Err(CliError::Refused(format!(
                "cannot read its CHA slices: {} answers nothing",
                shown_path(&config)
            )));
        }
        Ok(value)
    }
}

/// Whether a file of a device has this number.
fn has(device: &Path, file: &str, number: u16) -> bool {
    let text = fs::read_to_string(device.join(file)).unwrap_or_default();
    let digits = text.trim().strip_prefix("0x");
    digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) == Some(number)
}

impl DieSlices {
    /// The places whose slice is on, or off.
    pub(super) fn places(&self, on: bool, of: u32) -> impl Iterator<Item = u32> + '_ {
        (0..of).filter(move |place| (self.mask >> place & 1 == 1) == on)
    }
}
