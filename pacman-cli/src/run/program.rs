//! The program's file, looked at before it runs: can the library be loaded into it?

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;

use crate::elf;
use crate::stat::{found, raises_rights};

/// The obstacles to seeing a program's regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Obstacles {
    /// One line each.
    pub(super) lines: Vec<String>,
    /// The dynamic linker would complain about the library: better not to offer it.
    pub(super) refuses_library: bool,
}

/// Looks at the file that will run as `command`; for a script at its interpreter.
///
/// A command that is not found has no obstacles: starting it will say so.
pub(super) fn examine(command: &OsStr) -> Obstacles {
    let mut obstacles = Obstacles::default();
    let Some(file) = found(command) else { return obstacles };
    let (file, name) = match interpreter(&file) {
        Some(interpreter) => {
            let name = format!("{} (which runs {})", shown_path(&interpreter), shown_path(&file));
            (interpreter, name)
        }
        None => {
            let name = shown_path(&file).to_string();
            (file, name)
        }
    };
    let Some(header) = elf::header(&file) else { return obstacles };
    let own = elf::own();
    let mut says = |what: String| obstacles.lines.push(format!("cannot see into {name}: {what}"));
    if header.bits != 64 {
        says(format!("it is a {}-bit program, and the library has 64 bits", header.bits));
        obstacles.refuses_library = true;
    } else if own.is_some_and(|own| own.machine != header.machine) {
        says("it is for another processor architecture".into());
        obstacles.refuses_library = true;
    } else if !header.has_interpreter && !header.is_linker {
        says(
            "it is statically linked, so that no library can be preloaded; link it \
              dynamically"
                .into(),
        );
    } else if let Some(why) = raises_rights(&file) {
        says(format!("{why}, and the dynamic linker ignores LD_PRELOAD then"));
    }
    obstacles
}

/// The program that a script names in its first line.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut begin = Vec::new();
    File::open(script).ok()?.take(LONGEST_LINE).read_to_end(&mut begin).ok()?;
    let line = begin.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    Some(PathBuf::from(OsStr::from_bytes(words.next()?)))
}

/// As much of a script's first line as Linux reads.
const LONGEST_LINE: u64 = 256;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An ELF header of `class` for `machine`, with one program header of type `segment`.
    fn elf(class: u8, machine: u16, segment: u32) -> Vec<u8> {
        let (header, entry) = if class == 1 { (52u16, 32u16) } else { (64, 56) };
        let mut bytes = vec![0x7f, b'E', b'L', b'F', class, 1, 1];
        bytes.resize(16, 0);
        bytes.extend(3u16.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        let word = |value: u64| -> Vec<u8> {
            if class == 1 {
                (value as u32).to_le_bytes().into()
            } else {
                value.to_le_bytes().into()
            }
        };
        // Entry, program headers, section headers.
        bytes.extend([word(0), word(header.into()), word(0)].concat());
        bytes.extend(0u32.to_le_bytes());
        for half in [header, entry, 1, 0, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(segment.to_le_bytes());
        bytes.resize(usize::from(header + entry), 0);
        bytes
    }

    fn examined(content: &[u8]) -> Obstacles {
        let name = format!("pacman-elf-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, content).expect("a file for a test");
        let obstacles = examine(path.as_os_str());
        fs::remove_file(&path).expect("it is ours");
        obstacles
    }

    #[test]
    fn headers_tell_what_cannot_be_preloaded() {
        use object::elf::{EM_386, EM_RISCV, EM_X86_64};

        let own = elf::own().expect("this test is an ELF file").machine;
        let foreign = if own == EM_RISCV { EM_X86_64 } else { EM_RISCV };
        for (content, refuses, why) in [
            (elf(2, own, object::elf::PT_INTERP), false, None),
            (elf(2, own, object::elf::PT_LOAD), false, Some("statically linked")),
            (elf(2, foreign, object::elf::PT_INTERP), true, Some("another processor architecture")),
            (elf(1, EM_386, object::elf::PT_INTERP), true, Some("a 32-bit program")),
            (b"#!/no/such/interpreter\n".to_vec(), false, None),
            (b"plain text".to_vec(), false, None),
        ] {
            let obstacles = examined(&content);
            assert_eq!(obstacles.refuses_library, refuses, "{obstacles:?}");
            match why {
                None => assert_eq!(obstacles.lines, [""; 0]),
                Some(why) => assert!(obstacles.lines[0].contains(why), "{obstacles:?}"),
            }
        }
    }

    #[test]
    fn a_command_that_is_not_there_has_no_obstacles() {
        assert_eq!(examine(OsStr::new("no-such-program")), Obstacles::default());
    }
}
