//! The modules of a crate and the names in each, read from its sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use syn::{ForeignItem, Item, ItemMod, Lit, Meta, UseTree};

use crate::conditions::{attributes, compiled};

/// Reads one source file; `None` if there is none.
pub(crate) type Reader<'a> = &'a dyn Fn(&Path) -> Option<String>;

pub(crate) type ModuleId = usize;

/// One name in a module.
pub(crate) enum Binding {
    /// Defined here.
    Item,
    /// A child, in a file of its own or inline.
    Module(ModuleId),
    /// Imported from this path.
    Use(Vec<String>),
}

pub(crate) struct Module {
    /// Index into [`Crate::files`].
    pub(crate) file: usize,
    pub(crate) parent: Option<ModuleId>,
    pub(crate) names: HashMap<String, Vec<Binding>>,
    /// Paths of glob imports.
    pub(crate) globs: Vec<Vec<String>>,
    /// Whether macro calls may define names that are not in `names`.
    pub(crate) macros_define: bool,
    pub(crate) items: Vec<Item>,
}

/// A crate; its root is module 0.
#[derive(Default)]
pub(crate) struct Crate {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) modules: Vec<Module>,
}

impl Crate {
    /// Reads the crate that starts at `root`.
    pub(crate) fn read(root: &Path, reader: Reader) -> Result<Crate, String> {
        let mut read = Crate::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        read.file(root, &folder, None, reader)?;
        Ok(read)
    }

    /// Adds the module in `path`, whose children are in `folder`.
    fn file(
        &mut self,
        path: &Path,
        folder: &Path,
        parent: Option<ModuleId>,
        reader: Reader,
    ) -> Result<ModuleId, String> {
        let text = reader(path).ok_or_else(|| format!("{}: cannot read", path.display()))?;
        let parsed =
            syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        self.files.push(path.to_owned());
        self.module(self.files.len() - 1, folder, parent, parsed.items, reader)
    }

    fn module(
        &mut self,
        file: usize,
        folder: &Path,
        parent: Option<ModuleId>,
        items: Vec<Item>,
        reader: Reader,
    ) -> Result<ModuleId, String> {
        let id = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            names: HashMap::new(),
            globs: Vec::new(),
            macros_define: false,
            items: Vec::new(),
        });
        for item in items.into_iter().filter(|item| compiled(attributes(item))) {
            match item {
                Item::Mod(child) => self.child(id, folder, child, reader)?,
                item => {
                    self.define(id, &item);
                    self.modules[id].items.push(item);
                }
            }
        }
        Ok(id)
    }

    /// Adds a child module: inline, at its `#[path]`, or in one of the two usual places.
    fn child(
        &mut self,
        parent: ModuleId,
        folder: &Path,
        child: ItemMod,
        reader: Reader,
    ) -> Result<(), String> {
        let name = child.ident.to_string();
        let inside = folder.join(&name);
        let file = self.modules[parent].file;
        let id = if let Some((_, items)) = child.content {
            self.module(file, &inside, Some(parent), items, reader)?
        } else if let Some(path) = child.attrs.iter().find_map(|at| path_attribute(&at.meta)) {
            let path = self.files[file].parent().unwrap_or(Path::new("")).join(path);
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            self.file(&path, &folder, Some(parent), reader)?
        } else {
            let beside = folder.join(format!("{name}.rs"));
            let path = if reader(&beside).is_some() { beside } else { inside.join("mod.rs") };
            self.file(&path, &inside, Some(parent), reader)?
        };
        self.bind(parent, name, Binding::Module(id));
        Ok(())
    }

    fn bind(&mut self, module: ModuleId, name: String, binding: Binding) {
        self.modules[module].names.entry(name).or_default().push(binding);
    }

    /// Adds the names that an item defines or imports.
    fn define(&mut self, module: ModuleId, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::TraitAlias(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(item) => {
                let Some(name) = &item.ident else {
                    self.modules[module].macros_define = true;
                    return;
                };
                name
            }
            Item::ForeignMod(block) => {
                for item in &block.items {
                    let name = match item {
                        ForeignItem::Fn(item) => item.sig.ident.to_string(),
                        ForeignItem::Static(item) => item.ident.to_string(),
                        ForeignItem::Type(item) => item.ident.to_string(),
                        _ => continue,
                    };
                    self.bind(module, name, Binding::Item);
                }
                return;
            }
            Item::Use(item) => {
                if item.leading_colon.is_none() {
                    for import in imports(&item.tree) {
                        match import.name {
                            Some(name) => self.bind(module, name, Binding::Use(import.path)),
                            None if import.glob => self.modules[module].globs.push(import.path),
                            None => {}
                        }
                    }
                }
                return;
            }
            _ => return,
        };
        self.bind(module, name.to_string(), Binding::Item);
    }
}

fn path_attribute(meta: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = meta else { return None };
    let syn::Expr::Lit(value) = &pair.value else { return None };
    match &value.lit {
        Lit::Str(path) if pair.path.is_ident("path") => Some(path.value()),
        _ => None,
    }
}

/// One leaf of a `use` declaration.
pub(crate) struct UseLeaf {
    pub(crate) path: Vec<String>,
    /// The name that it binds: none for a glob and for `as _`.
    pub(crate) name: Option<String>,
    pub(crate) glob: bool,
    pub(crate) line: usize,
}

/// The leaves of a `use` declaration.
pub(crate) fn imports(tree: &UseTree) -> Vec<UseLeaf> {
    let mut found = Vec::new();
    leaves(tree, &mut Vec::new(), &mut found);
    found
}

fn leaves(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<UseLeaf>) {
    let leaf = |ident: &syn::Ident, name: &syn::Ident| {
        let mut path = prefix.clone();
        // `a::{self}` imports `a`.
        if ident != "self" || path.is_empty() {
            path.push(ident.to_string());
        }
        let name = if name == "self" { path.last().cloned() } else { Some(name.to_string()) };
        let name = name.filter(|name| name != "_");
        UseLeaf { path, name, glob: false, line: ident.span().start().line }
    };
    match tree {
        UseTree::Path(part) => {
            prefix.push(part.ident.to_string());
            leaves(&part.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) => found.push(leaf(&name.ident, &name.ident)),
        UseTree::Rename(name) => found.push(leaf(&name.ident, &name.rename)),
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push(UseLeaf { path: prefix.clone(), name: None, glob: true, line });
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| leaves(tree, prefix, found));
        }
    }
}
