//! The memory through which adapted programs of one user share the machine.
//!
//! It is a System V segment, which nobody can cut short while programs have it mapped. A file names it. Every run
//! with `--share` holds a shared lock on the file, and has the segment attached; the last one removes both. A run
//! whose command was killed leaves the file, and a later run makes a new segment.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_regions::Segment;
use pacman_regions::arena::PAGE;
use pacman_regions::sharing::Table;

use super::memory::Attached;
use crate::system::file_lock;

/// The directory of files in memory.
const DIRECTORY: &str = "/dev/shm";

/// The open file and the segment. The run holds them to its end.
#[derive(Debug)]
pub(super) struct Shared {
    path: PathBuf,
    file: File,
    segment: Segment,
    _attached: Attached,
}

impl Shared {
    /// Opens the user's file and segment, or makes them.
    ///
    /// # Errors
    /// A line that says what the system refused.
    pub(super) fn open() -> Result<Shared, String> {
        // SAFETY: takes nothing.
        let user = unsafe { libc::geteuid() };
        let path = Path::new(DIRECTORY).join(format!("pacman-share-{user}"));
        let opened = open(&path, user).and_then(|mut file| {
            let (segment, attached) = segment(&mut file)?;
            Ok((file, segment, attached))
        });
        let (file, segment, attached) = opened.map_err(|why| {
            format!(
                "--share: cannot use {}: {why}; remove it if it is not in use",
                shown_path(&path)
            )
        })?;
        Ok(Shared { path, file, segment, _attached: attached })
    }

    pub(super) fn segment(&self) -> &Segment {
        &self.segment
    }
}

/// The pages of the segment: its header, and the table.
const PAGES: usize = 1 + Table::BYTES.div_ceil(PAGE);

/// The segment that the file names, or a new one.
fn segment(file: &mut File) -> io::Result<(Segment, Attached)> {
    // Two runs that begin at once make one segment.
    file_lock(file, libc::F_OFD_SETLKW, libc::F_WRLCK)?;
    let mut text = String::new();
    // A file of another program is no segment.
    let _ = Read::take(&*file, 1024).read_to_string(&mut text);
    let known: Option<Segment> = text.parse().ok();
    let known =
        known.and_then(|segment| Attached::known(&segment, PAGES).map(|own| (segment, own)));
    let made = match known {
        Some(known) => Ok(known),
        None => Attached::single(PAGES).and_then(|(segment, attached)| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(segment.to_string().as_bytes())?;
            Ok((segment, attached))
        }),
    };
    file_lock(file, libc::F_OFD_SETLKW, libc::F_UNLCK)?;
    made
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody has it any more, and whoever opens it now waits for the lock.
        if lock(&self.file, libc::LOCK_EX | libc::LOCK_NB).is_ok() {
            // A file that stays is used by the next run.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path, user: u32) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        // A run that ends holds the lock while it removes the file.
        lock(&file, libc::LOCK_SH)?;
        let about = file.metadata()?;
        if !about.is_file() || about.uid() != user || about.mode() & 0o077 != 0 {
            return Err(io::Error::other("it is not a file that only this user may access"));
        }
        if about.nlink() == 0 {
            continue;
        }
        return Ok(file);
    }
}

fn lock(file: &File, how: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), how) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
