//! Names from programs: symbol tables and debug information.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::core_text::scratch;

#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../../pacman-cli/src/run/elf.rs"]
mod elf;

#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../../pacman-cli/src/run/names/module.rs"]
mod module;

/// An executable or a library.
pub fn modules(data: &[u8]) {
    let path = scratch("module");
    if fs::write(&path, data).is_err() {
        return;
    }
    let _ = elf::header(&path);
    let later = SystemTime::now() + Duration::from_secs(3600);
    if let Ok(module) = module::Module::open(&path, later) {
        for address in [0, 1, 0x1000, 0x1139, 0x401000, u64::MAX] {
            let _ = module.symbol_at(address);
            let _ = module.around(address);
            let _ = module.place_of(address);
        }
    }
    let _ = fs::remove_file(&path);
}
