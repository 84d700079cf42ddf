//! Names from programs: symbol tables and debug information.

use std::fs;

use pacman_cli::parsers::{has_elf_header, names_in};

use crate::core_text::scratch;

/// An executable or a library.
pub fn modules(data: &[u8]) {
    let path = scratch("module");
    if fs::write(&path, data).is_err() {
        return;
    }
    let _ = has_elf_header(&path);
    let _ = names_in(&path, &[0, 1, 0x1000, 0x1139, 0x401000, u64::MAX]);
    let _ = fs::remove_file(&path);
}
