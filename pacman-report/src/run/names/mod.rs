//! Names of regions: from symbol tables and debug information, at leisure after the run.

mod cxx;
mod cython;
mod module;
mod outlined;
mod references;
mod shortened;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pacman_events::Result;
use pacman_events::shown::{shown_path, text_of};

use pacman_regions::{FileIdentity, PhaseKind, Region, Site};

pub use module::{Module, hexadecimal};
use shortened::shortened;

/// A region's name and place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// For people: `main, line 12`, or `main, region 0` without debug information.
    pub text: String,
    /// The symbol of the outlined function, as the linker has it.
    pub(super) symbol: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    /// The end of the text that tells regions of the same name apart.
    apart: Option<String>,
    /// The function that the region is in, as the linker names it: perhaps an instance of a template.
    function: Option<String>,
}

impl Name {
    /// For places without room.
    pub(super) fn short(&self) -> String {
        let apart = self.apart.as_deref().unwrap_or_default();
        let name = self.text.strip_suffix(apart).unwrap_or(&self.text);
        shortened(name) + apart
    }
}

/// Modules that were opened for their names.
#[derive(Default)]
pub struct Names {
    modules: HashMap<(PathBuf, Option<FileIdentity>), Result<Module>>,
    /// Lines about modules without names.
    pub(super) notes: Vec<String>,
}

impl Names {
    /// The name of a region: its label if it has one.
    pub fn of_region(&mut self, region: &Region) -> Name {
        let mut name = self.of(&region.site);
        if let Some(label) = &region.label {
            name.text = self::label(label, PhaseKind::KokkosFor);
        }
        name
    }

    /// The name of code. A module whose file is not there any more gives no names: they could be wrong ones.
    pub(super) fn of(&mut self, site: &Site) -> Name {
        let source = site.source.as_deref().and_then(Source::parse);
        let at = shown_path(&site.module);
        let key = (site.module.clone(), site.identity.clone());
        let module = self.modules.entry(key).or_insert_with(|| {
            let module = Module::open(&site.module, site.identity.as_ref());
            match &module {
                Err(_) if is_generated(site) => self.notes.push(
                    "regions of generated code are shown by address: no file has their names"
                        .into(),
                ),
                Err(why) => {
                    self.notes.push(format!("regions of {at} are shown by offset: {why}"));
                }
                Ok(_) => {}
            }
            module
        });
        let (mut symbol, mut around, mut place) = (None, None, None);
        if let Ok(module) = &module {
            symbol = module.symbol_at(site.address);
            around = module.around(site.address).filter(|_| symbol.is_none());
            place = module.place_of(site.address);
        }
        // The function that has the region: in GCC's symbols, or beside LLVM's calls without its arguments.
        let own = symbol.as_deref().and_then(outlined::function);
        let beside = source.as_ref().and_then(|source| source.function.as_deref());
        let part = source.as_ref().and_then(|source| source.file.as_deref());
        let full = place.as_ref().zip(part).filter(|((full, _), part)| ends_with(full, part));
        let full = full.map(|((full, _), _)| full.clone());
        // It is looked up only where it says more: that takes all code and the functions of a unit.
        let is_better = beside.is_some() && (own.is_none() || full.is_none());
        let referrer = module.as_ref().ok().filter(|_| is_better);
        let referrer = referrer.and_then(|module| module.referrer(site.address));
        let referrer = referrer.filter(|referrer| {
            own.or(beside).is_some_and(|name| outlined::may_be_same(name, &referrer.function))
        });
        let function = own.or(referrer.as_ref().map(|referrer| referrer.function.as_str()));
        let function = function.map(str::to_owned);
        // The place of a region that is known by its call is the place of that call.
        let called = around.map(|function| Source {
            file: None,
            function: Some(function),
            line: place.as_ref().and_then(|(_, line)| *line),
        });
        // The code of GCC's outlined function begins at the line of the construct.
        let begins = own.and_then(|_| place.as_ref()?.1);
        let text = named(site, symbol.as_deref(), source.as_ref().or(called.as_ref()), begins);
        let (file, line) = match (source, place) {
            (Some(Source { file: Some(file), line: Some(line), .. }), _) => {
                // LLVM's is as the compiler was called; debug information has the directory.
                let full = full.or(referrer.and_then(|referrer| referrer.file));
                (Some(full.unwrap_or(file)), Some(line))
            }
            (_, Some((file, line))) => (Some(file), line),
            _ => (None, None),
        };
        let text = match file.as_deref().is_some_and(is_fortran) {
            true => outlined::procedure(text),
            false => outlined::main_program(text),
        };
        Name { text, symbol, file, line, apart: None, function }
    }
}

/// The name of a phase. Kokkos names a kernel without a label by the type of its functor.
pub(super) fn label(name: &str, kind: PhaseKind) -> String {
    if !kind.is_kernel() {
        return name.to_owned();
    }
    // A tag of the functor's follows it.
    let words: Vec<_> = name.split('/').map(cxx::demangled_type).collect();
    words.join("/")
}

/// Whether a file has Fortran's endings.
fn is_fortran(file: &str) -> bool {
    let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| {
        ["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08"].contains(&ending.as_str())
    })
}

/// A name for places without room.
pub(super) fn short(name: &str) -> String {
    shortened(name)
}

fn named(
    site: &Site,
    symbol: Option<&str>,
    source: Option<&Source>,
    begins: Option<u32>,
) -> String {
    let module = site.module.file_name().map(text_of);
    let enclosing = source.and_then(|source| source.function.as_deref());
    let line = source.and_then(|source| source.line).or(begins);
    if let Some(text) = outlined::human(symbol, enclosing, line, module.as_deref()) {
        return text;
    }
    match module {
        Some(module) => format!("{module}+{:#x}", site.address),
        None => format!("generated code at {:#x}", site.address),
    }
}

/// Whether code was made while the program ran, so that no file has it.
fn is_generated(site: &Site) -> bool {
    site.module.as_os_str().is_empty()
}

/// Makes names that several regions of a process share different: by line, by the instance of a template,
/// by offset, by module and offset, or by the module's identity as well.
pub fn tell_apart(regions: &mut [(&mut Name, &Site)]) {
    let place = |name: &Name| (name.text.clone(), name.file.clone().zip(name.line));
    let mut named: HashMap<String, usize> = HashMap::new();
    for (name, _) in regions.iter() {
        *named.entry(name.text.clone()).or_default() += 1;
    }
    let mut namesakes: Vec<_> =
        regions.iter_mut().filter(|(name, _)| named[&name.text] > 1).collect();
    // Functions are demangled for these only.
    let own = |name: &Name| name.function.as_deref().and_then(cxx::instance);
    let instances: Vec<Option<String>> = namesakes.iter().map(|(name, _)| own(name)).collect();
    let mut placed: HashMap<_, usize> = HashMap::new();
    let mut instantiated: HashMap<_, usize> = HashMap::new();
    let mut offsets: HashMap<_, usize> = HashMap::new();
    let mut in_modules: HashMap<_, usize> = HashMap::new();
    let offset = |name: &Name, site: &Site| (name.text.clone(), site.address);
    let in_module = |name: &Name, site: &Site| {
        (name.text.clone(), site.module.file_name().map(text_of), site.address)
    };
    for ((name, site), instance) in namesakes.iter().zip(&instances) {
        *offsets.entry(offset(name, site)).or_default() += 1;
        *in_modules.entry(in_module(name, site)).or_default() += 1;
        *placed.entry(place(name)).or_default() += 1;
        *instantiated.entry((name.text.clone(), instance.clone())).or_default() += 1;
    }
    for ((name, site), instance) in namesakes.iter_mut().zip(instances) {
        let is_alone = instantiated[&(name.text.clone(), instance.clone())] == 1;
        let is_placed_alone = placed[&place(name)] == 1;
        let apart = match (&name.file, name.line, instance.filter(|_| is_alone)) {
            (Some(file), Some(line), _) if is_placed_alone => format!(" ({}:{line})", last(file)),
            (.., Some(instance)) => format!(" ({instance})"),
            _ if offsets[&offset(name, site)] == 1 => format!(" ({:#x})", site.address),
            _ => {
                let module = site.module.file_name().map(text_of).unwrap_or_default();
                let others = in_modules[&in_module(name, site)] > 1;
                let identity = site.identity.as_ref().filter(|_| others);
                let identity = identity.map_or_else(String::new, |own| format!(", {own}"));
                format!(" ({module}+{:#x}{identity})", site.address)
            }
        };
        name.text += &apart;
        name.apart = Some(apart);
    }
}

/// LLVM's text beside the call: `;file;function;line;column;;`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    file: Option<String>,
    function: Option<String>,
    line: Option<u32>,
}

impl Source {
    fn parse(text: &str) -> Option<Source> {
        let mut fields = text.strip_prefix(';')?.split(';');
        // Without debug information the compiler writes `unknown` and 0.
        let mut known = || fields.next().filter(|field| !["", "unknown"].contains(field));
        let (file, function) = (known().map(str::to_owned), known().map(str::to_owned));
        let line = known().and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        Some(Source { file, function, line })
    }
}

/// The file of a path, which is what there is room for.
pub fn last(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

fn ends_with(full: &str, part: &str) -> bool {
    Path::new(full).ends_with(part)
}
