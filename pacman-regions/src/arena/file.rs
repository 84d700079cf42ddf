//! Arenas as files of a directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::format::{MOST_PAGES, PAGE};
use super::reader::read_words;
use crate::Recording;

/// The file name extension of recordings.
pub const EXTENSION: &str = "regions";

/// The most bytes of a file.
const LARGEST: u64 = (MOST_PAGES * PAGE) as u64;

impl Recording {
    /// Reads all recordings in `directory`, in order of process, and a line for each file that is not a
    /// recording.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn found_in(directory: &Path) -> io::Result<(Vec<Recording>, Vec<String>)> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension() == Some(OsStr::new(EXTENSION)));
        paths.sort();
        for path in paths {
            match in_file(&path) {
                Ok(recordings) => found.extend(recordings),
                Err(problem) => wrong.push(format!("{}: {problem}", path.display())),
            }
        }
        found.sort_by_key(|recording| recording.process.pid);
        Ok((found, wrong))
    }
}

fn in_file(path: &Path) -> Result<Vec<Recording>, String> {
    let words = |error: io::Error| error.to_string();
    // Do not follow a link, and do not wait for a writer of a pipe.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(words)?;
    let about = file.metadata().map_err(words)?;
    if !about.is_file() {
        return Err("is not a regular file".into());
    }
    if about.len() > LARGEST {
        return Err(format!("has {} bytes, and a recording has {LARGEST} at most", about.len()));
    }
    // A hole takes no memory: the kernel makes pages of the words when they are written.
    let mut words = vec![0; about.len() as usize / 8];
    fill(&file, &mut words).map_err(|error| error.to_string())?;
    read_words(&words)
}

/// Reads the parts of a file that it has on its disk; holes stay as they are.
fn fill(file: &File, words: &mut [u64]) -> io::Result<()> {
    let end = words.len() * 8;
    let mut page = [0; PAGE];
    let mut at = 0;
    while at < end {
        let Some(data) = seek(file, at, libc::SEEK_DATA)? else { return Ok(()) };
        let hole = seek(file, data, libc::SEEK_HOLE)?.unwrap_or(end).min(end);
        at = data / 8 * 8;
        while at < hole {
            let wished = (hole - at).min(PAGE).next_multiple_of(8).min(end - at);
            let read = match file.read_at(&mut page[..wished], at as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let whole = page[..read].chunks_exact(8);
            // The file became shorter meanwhile.
            if read < 8 {
                return Ok(());
            }
            for (word, bytes) in words[at / 8..].iter_mut().zip(whole) {
                *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            at += read / 8 * 8;
        }
    }
    Ok(())
}

/// The next data or hole from `at` on; `None` behind the last. A file system without holes has data only.
fn seek(file: &File, at: usize, what: libc::c_int) -> io::Result<Option<usize>> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::lseek(file.as_raw_fd(), at as libc::off_t, what) } {
        found @ 0.. => Ok(Some(found as usize)),
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            error if error.raw_os_error() == Some(libc::EINVAL) => {
                Ok((what == libc::SEEK_DATA).then_some(at))
            }
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::image_of;
    use crate::arena::tests::specimen;

    #[test]
    fn a_file_with_holes_is_read_without_them() {
        let directory = std::env::temp_dir().join(format!("pacman-holes-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a directory");
        let path = directory.join("7-0.regions");
        let image = image_of(&[specimen::recording()]);
        std::fs::write(&path, &image).expect("a file");
        let (whole, _) = Recording::found_in(&directory).expect("it is there");
        // The kernel's peak of this process's memory, in kB.
        let peak = || {
            let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            kilobytes.unwrap_or(0u64)
        };
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_len(LARGEST).expect("a hole");
        let before = peak();
        let (holed, wrong) = Recording::found_in(&directory).expect("it is there");
        assert!(peak() < before + (200 << 10), "{before} kB and {} kB", peak());
        assert!(wrong.is_empty() && holed == whole, "{wrong:?}");
        file.set_len(LARGEST + 1).expect("a hole");
        let (none, wrong) = Recording::found_in(&directory).expect("it is there");
        assert!(none.is_empty() && wrong[0].contains("at most"), "{wrong:?}");
        std::fs::remove_dir_all(&directory).expect("it is this test's");
    }
}
