//! The names of all tables' events, packed: `src/event_names.rs` reads them.
//!
//! ```text
//! blocks    u32 each: the place of a block of 16 names
//! names     u8 letters that begin the name before, too; u8 further letters; these letters
//! ```
//! The first name of a block has no letters of the one before.

use std::fs;
use std::path::Path;

const BLOCK: usize = 16;

/// Writes `names.bin` and `names_layout.rs`. The names are sorted, and of 255 letters at most.
pub(crate) fn write(names: &[String], out: &Path) {
    let mut blocks = Vec::new();
    let mut letters = Vec::new();
    let start = names.len().div_ceil(BLOCK) * 4;
    for block in names.chunks(BLOCK) {
        blocks.extend(((start + letters.len()) as u32).to_le_bytes());
        let mut before = "";
        for name in block {
            let equal = before.bytes().zip(name.bytes()).take_while(|(one, other)| one == other);
            let common = equal.count();
            letters.extend([common as u8, (name.len() - common) as u8]);
            letters.extend(&name.as_bytes()[common..]);
            before = name;
        }
    }
    blocks.extend(letters);
    let layout = format!(
        "pub(crate) const COUNT: usize = {};\npub(crate) const BLOCK: usize = {BLOCK};\n\
         pub(crate) const LONGEST: usize = {};\n",
        names.len(),
        names.iter().map(String::len).max().unwrap_or(0)
    );
    fs::write(out.join("names.bin"), blocks).expect("names.bin is written");
    fs::write(out.join("names_layout.rs"), layout).expect("names_layout.rs is written");
}
