//! The libraries that `run` preloads, as bytes of this program: written to the user's cache once, and found there.

use std::fmt::Display;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;

use crate::remembered::cache;

pub(super) const FILE: &str = "libpacman_omp.so";
pub(super) const ENGINE: &str = "libpacman_omp_engine.so";

/// The files.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// `libpacman_omp.so`.
    pub library: &'static [u8],
    /// `libpacman_omp_engine.so`.
    pub engine: &'static [u8],
}

static EMBEDDED: OnceLock<Embedded> = OnceLock::new();

/// Gives the program's own files to `run`. The first call counts.
pub fn embed(libraries: Embedded) {
    let _is_second = EMBEDDED.set(libraries);
}

/// The library in the cache, where it is afterwards with its engine; `None` if the program has none.
///
/// # Errors
/// A line that says what the system refused, and what to let XDG_CACHE_HOME name.
pub(super) fn unpacked() -> Result<Option<PathBuf>, String> {
    let Some(own) = EMBEDDED.get() else { return Ok(None) };
    let refused = |place: &dyn Display, why: &dyn Display| {
        format!(
            "cannot write {FILE}, which run preloads, to {place}: {why}; let XDG_CACHE_HOME name a folder that only \
             you can write to"
        )
    };
    let cache = cache().ok_or_else(|| {
        refused(&"the user's cache", &"neither XDG_CACHE_HOME nor HOME names one")
    })?;
    // Another release has another folder: programs of both may run.
    let mut hash = DefaultHasher::new();
    [own.library, own.engine].iter().for_each(|file| hash.write(file));
    let folder = cache.join(format!("library-{:016x}", hash.finish()));
    own.write_to(&folder).map_err(|error| refused(&shown_path(&folder), &error))?;
    Ok(Some(folder.join(FILE)))
}

impl Embedded {
    /// Processes of one job may do this at the same time.
    fn write_to(self, folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // The loader runs code of these files.
        let about = fs::symlink_metadata(folder)?;
        // SAFETY: it only returns a number.
        let user = unsafe { libc::geteuid() };
        if !about.is_dir() || about.uid() != user || about.mode() & 0o022 != 0 {
            return Err(io::Error::other("another user can write there"));
        }
        // The library comes last, because it loads the engine.
        for (name, bytes) in [(ENGINE, self.engine), (FILE, self.library)] {
            if !fs::read(folder.join(name)).is_ok_and(|there| there == bytes) {
                atomic_write::write_in(folder, name, bytes)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
