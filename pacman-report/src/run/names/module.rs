//! One executable or library, opened for symbols and lines.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use addr2line::Loader;
use memmap2::Mmap;
use object::{Object as _, ObjectSection, SectionKind};
use pacman_events::{Error, ErrorKind, Result};
use pacman_regions::FileIdentity;

use super::outlined;
use super::references::References;
use super::symbols::{Object, Symbols};

/// The symbols and lines of a module's files.
pub struct Module {
    /// The function must begin at an address or contain it. In a stripped file, the nearest function before the address
    /// is another one.
    symbols: Symbols,
    /// Lines, and the functions around an address.
    loader: OnceCell<Option<Loader>>,
    content: Content,
    /// The file with the debug information, if it is another one.
    separate: Option<Separate>,
    path: PathBuf,
    /// The places that take the addresses of regions' functions. All code is searched for them, which few
    /// regions need.
    references: OnceCell<References>,
}

/// A file with debug information.
struct Separate {
    path: PathBuf,
    content: Content,
    symbols: Symbols,
}

/// The code that takes the address of a region's function.
#[derive(Debug)]
pub(super) struct Referrer {
    /// The function in the source that the code is of, as the linker names it; the compiler may have put
    /// it into another one.
    pub(super) function: String,
    pub(super) file: Option<String>,
}

impl Module {
    /// Opens the file of a module that a process used. Another file at that path is refused: its names would
    /// be wrong ones.
    pub(super) fn open(path: &Path, identity: Option<&FileIdentity>) -> Result<Module> {
        Module::read(path, |file, about| check(identity, file, about))
    }

    /// Reads a file that passes `check`.
    pub fn read(
        path: &Path,
        check: impl FnOnce(&Object<'_>, &fs::Metadata) -> Result<()>,
    ) -> Result<Module> {
        let gone = |error| refused(format!("it is gone: {error}"));
        let opened_file = fs::File::open(path).map_err(gone)?;
        let about = opened_file.metadata().map_err(refused)?;
        let content = content(opened_file, path).map_err(refused)?;
        let file = object::File::parse(&*content).map_err(refused)?;
        check(&file, &about)?;
        let symbols = Symbols::of(&file);
        let mut separate = None;
        if let Some(path) = self::separate(&file, path) {
            let content = opened(&path).map_err(refused)?;
            let symbols = object::File::parse(&*content).map(|file| Symbols::of(&file));
            separate = symbols.ok().map(|symbols| Separate { path, content, symbols });
        }
        let (loader, references) = (OnceCell::new(), OnceCell::new());
        Ok(Module { symbols, loader, content, separate, path: path.to_owned(), references })
    }

    /// The content of the file with the debug information, and its path.
    fn debug(&self) -> (&[u8], &Path) {
        match &self.separate {
            Some(Separate { content, path, .. }) => (content, path),
            None => (&self.content, &self.path),
        }
    }

    /// The files with symbols: the module, and the one with debug information.
    fn files(&self) -> impl Iterator<Item = (Object<'_>, &Symbols)> {
        let separate = self.separate.as_ref().map(|own| (&own.content, &own.symbols));
        [Some((&self.content, &self.symbols)), separate]
            .into_iter()
            .flatten()
            .filter_map(|(content, symbols)| Some((object::File::parse(&**content).ok()?, symbols)))
    }

    fn loader(&self) -> Option<&Loader> {
        let loader = self.loader.get_or_init(|| {
            let (content, path) = self.debug();
            with_supplement(&object::File::parse(content).ok()?, path)
        });
        loader.as_ref()
    }

    /// The function that begins at this address: that of a region if it has several names.
    pub fn symbol_at(&self, address: u64) -> Option<String> {
        let names = self.files().filter_map(|(file, symbols)| symbols.at(&file, address));
        let names: Vec<&str> = names.collect();
        let region = names.iter().find(|name| outlined::is_region(name));
        region.or(names.first()).map(|&name| name.to_owned())
    }

    /// The function that begins before this address and has it inside.
    pub fn around(&self, address: u64) -> Option<String> {
        let mut names = self.files().filter_map(|(file, symbols)| symbols.around(&file, address));
        names.next().map(str::to_owned)
    }

    /// The code that takes the address of the function that begins at this one.
    pub(super) fn referrer(&self, address: u64) -> Option<Referrer> {
        let references = self.references.get_or_init(|| self.all_references());
        let place = references.to(address)?;
        // The innermost function comes first.
        let frame = self.loader()?.find_frames(place).ok()?.next().ok()??;
        let function = frame.function?.raw_name().ok()?.into_owned();
        let file = frame.location.and_then(|location| location.file).map(str::to_owned);
        Some(Referrer { function, file })
    }

    /// The references to the functions of regions, in all code of the module.
    fn all_references(&self) -> References {
        let wanted: HashSet<u64> =
            self.files().flat_map(|(file, symbols)| symbols.regions(&file)).collect();
        let mut references = References::default();
        let Ok(file) = object::File::parse(&*self.content) else { return references };
        if wanted.is_empty() {
            return references;
        }
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            // Compilers put no code into sections that do not decode.
            let Ok(code) = section.data() else { continue };
            references.find(section.address(), code, |address| wanted.contains(&address));
        }
        references
    }

    /// File and line of the code at this address.
    pub fn place_of(&self, address: u64) -> Option<(String, Option<u32>)> {
        // addr2line looks below the address that it is given.
        address.checked_add(1)?;
        let location = self.loader()?.find_location(address).ok()??;
        // Line 0 is code that the compiler added.
        let line = location.line.filter(|line| *line > 0);
        Some((location.file?.to_owned(), line))
    }
}

/// A file's content.
enum Content {
    /// Programs with debug information are large, and only parts of them are read.
    Mapped(Mmap),
    /// Where the system maps no more, as under a limit of the address space.
    Read(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Content::Mapped(content) => content,
            Content::Read(content) => content,
        }
    }
}

fn opened(path: &Path) -> std::io::Result<Content> {
    content(fs::File::open(path)?, path)
}

fn content(file: fs::File, path: &Path) -> std::io::Result<Content> {
    // SAFETY: nobody should write to the file of a program while this command reads names from it. Linux
    // refuses that while it runs, and a linker writes a new file. addr2line maps the same file.
    match unsafe { Mmap::map(&file) } {
        Ok(content) => Ok(Content::Mapped(content)),
        Err(_) => fs::read(path).map(Content::Read),
    }
}

/// Checks that a file is the one that the process used.
fn check(identity: Option<&FileIdentity>, file: &Object, about: &fs::Metadata) -> Result<()> {
    let build_id = || file.build_id().ok().flatten().map(hexadecimal);
    let is_it = match identity {
        Some(FileIdentity::BuildId(used)) => build_id().as_ref() == Some(used),
        Some(used @ FileIdentity::Metadata { .. }) => {
            let (seconds, nanoseconds) = (about.mtime(), about.mtime_nsec());
            let modified = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
            let (device, inode, size) = (about.dev(), about.ino(), about.size());
            *used == FileIdentity::Metadata { device, inode, size, modified }
        }
        None => {
            return Err(refused(
                "it has no build ID, and the program could not tell it from other files",
            ));
        }
    };
    match is_it {
        true => Ok(()),
        false => Err(refused(match identity.and_then(FileIdentity::build_id) {
            Some(used) => format!("the program used another file there, with the build ID {used}"),
            None => "the program used another file there, or this one changed since".into(),
        })),
    }
}

/// The file with the stripped debug information. It must have the same build ID.
fn separate(file: &Object, path: &Path) -> Option<PathBuf> {
    let id = file.build_id().ok()??;
    let mut candidates = Vec::new();
    if let [first, rest @ ..] = id {
        let rest = hexadecimal(rest);
        candidates.push(PathBuf::from(format!("{DEBUG}/.build-id/{first:02x}/{rest}.debug")));
    }
    if let Ok(Some((name, _))) = file.gnu_debuglink() {
        let name = Path::new(std::ffi::OsStr::from_bytes(name));
        let directory = path.parent().unwrap_or(Path::new("/"));
        candidates.push(directory.join(name));
        candidates.push(directory.join(".debug").join(name));
        let below = directory.strip_prefix("/").unwrap_or(directory);
        candidates.push(Path::new(DEBUG).join(below).join(name));
    }
    candidates.into_iter().find(|candidate| {
        let Ok(content) = opened(candidate) else { return false };
        let Ok(separate) = object::File::parse(&*content) else { return false };
        separate.build_id().ok().flatten() == Some(id)
    })
}

/// The lines of the file at `path`, with the part that several files share where there is one.
fn with_supplement(file: &Object, path: &Path) -> Option<Loader> {
    // A loader sorts all symbols, also where no code has a line.
    file.section_by_name(".debug_line")?;
    let shared = || {
        let (name, _) = file.gnu_debugaltlink().ok()??;
        let name = Path::new(std::ffi::OsStr::from_bytes(name));
        Some(path.parent()?.join(name)).filter(|path| path.exists())
    };
    Loader::new_with_sup(path, shared().as_deref()).ok()
}

const DEBUG: &str = "/usr/lib/debug";
/// An error with that line.
fn refused(problem: impl fmt::Display) -> Error {
    Error::new(ErrorKind::System, problem.to_string())
}

/// The digits of a build ID.
pub fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
