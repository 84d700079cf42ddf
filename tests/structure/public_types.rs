//! The types that a library's pages list: those that a path of public names leads to from its root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, Meta, UseTree, Visibility};

use crate::conditions::is_unmet;
use crate::modules::Reader;

/// A module as far as pages show it.
#[derive(Default)]
struct Module {
    types: BTreeSet<String>,
    /// By name, and whether pages show it.
    modules: BTreeMap<String, (bool, Module)>,
    /// Public imports: a path, and the name here; no name for all that is there.
    exports: Vec<(Vec<String>, Option<String>)>,
}

/// The types that the pages of the crate with this root list, each where it is defined.
pub(crate) fn listed(root: &Path, reader: Reader) -> BTreeSet<String> {
    let top = Module::read(root, root.parent().unwrap_or(Path::new("")), reader);
    let mut found = BTreeSet::new();
    top.show(&mut Vec::new(), &top, &mut found);
    found
}

impl Module {
    fn read(file: &Path, children: &Path, reader: Reader) -> Module {
        let text = reader(file).unwrap_or_else(|| panic!("{}: cannot read", file.display()));
        let parsed = syn::parse_file(&text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut module = Module::default();
        module.take(&parsed.items, children, reader);
        module
    }

    fn take(&mut self, items: &[Item], children: &Path, reader: Reader) {
        for item in items {
            match item {
                Item::Struct(own) => self.add(&own.vis, &own.attrs, &own.ident),
                Item::Enum(own) => self.add(&own.vis, &own.attrs, &own.ident),
                Item::Union(own) => self.add(&own.vis, &own.attrs, &own.ident),
                Item::Trait(own) => self.add(&own.vis, &own.attrs, &own.ident),
                Item::Type(own) => self.add(&own.vis, &own.attrs, &own.ident),
                Item::Mod(own) if !is_excluded(&own.attrs) => {
                    let name = own.ident.to_string();
                    let below = children.join(&name);
                    let module = match &own.content {
                        Some((_, items)) => {
                            let mut inside = Module::default();
                            inside.take(items, &below, reader);
                            inside
                        }
                        None => Module::read(&file_of(children, &name, reader), &below, reader),
                    };
                    self.modules.insert(name, (is_shown(&own.vis, &own.attrs), module));
                }
                Item::Use(own) if is_shown(&own.vis, &own.attrs) => {
                    exports(&own.tree, &mut Vec::new(), &mut self.exports);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, visibility: &Visibility, attributes: &[Attribute], name: &syn::Ident) {
        if is_shown(visibility, attributes) {
            self.types.insert(name.to_string());
        }
    }

    fn at(&self, path: &[String]) -> Option<&Module> {
        path.iter().try_fold(self, |module, name| Some(&module.modules.get(name)?.1))
    }

    /// Adds what the pages of this module, at `path`, list.
    fn show(&self, path: &mut Vec<String>, top: &Module, found: &mut BTreeSet<String>) {
        found.extend(self.types.iter().map(|name| format!("{}::{name}", path.join("::"))));
        for (name, (_, module)) in self.modules.iter().filter(|(_, (is_shown, _))| *is_shown) {
            path.push(name.clone());
            module.show(path, top, found);
            path.pop();
        }
        for (to, name) in &self.exports {
            let Some((mut place, module)) = top.module_of(path, to) else { continue };
            match name {
                None => module.show(&mut place, top, found),
                Some(_) => top.show_one(&place, module, to.last().expect("a name"), found),
            }
        }
    }

    /// Adds the type or the module of this name, which is in `module` at `place`.
    fn show_one(
        &self,
        place: &[String],
        module: &Module,
        name: &str,
        found: &mut BTreeSet<String>,
    ) {
        if module.types.contains(name) {
            found.insert(format!("{}::{name}", place.join("::")));
            return;
        }
        if let Some((_, inside)) = module.modules.get(name) {
            inside.show(&mut [place, &[name.to_owned()]].concat(), self, found);
            return;
        }
        let to = module.exports.iter().find(|(_, own)| own.as_deref() == Some(name));
        if let Some(((place, module), to)) =
            to.and_then(|(to, _)| Some((self.module_of(place, to)?, to)))
        {
            self.show_one(&place, module, to.last().expect("a name"), found);
        }
    }

    /// The module with the last name of a path that stands in the module `from`; `None` in another crate.
    fn module_of(&self, from: &[String], path: &[String]) -> Option<(Vec<String>, &Module)> {
        let (mut place, mut rest) = (from.to_vec(), &path[..path.len() - 1]);
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => place.clear(),
                "self" => {}
                "super" => drop(place.pop()),
                _ => break,
            }
            rest = after;
        }
        place.extend(rest.iter().cloned());
        let module = self.at(&place)?;
        Some((place, module))
    }
}

/// The paths of a tree of imports, with their names; none for all names of a module.
fn exports(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, Option<String>)>) {
    let mut one = |last: &dyn ToString, name: Option<String>| {
        found.push(([&path[..], &[last.to_string()]].concat(), name));
    };
    match tree {
        UseTree::Path(own) => {
            path.push(own.ident.to_string());
            exports(&own.tree, path, found);
            path.pop();
        }
        UseTree::Name(own) => one(&own.ident, Some(own.ident.to_string())),
        UseTree::Rename(own) => one(&own.ident, Some(own.rename.to_string())),
        UseTree::Glob(_) => one(&"*", None),
        UseTree::Group(own) => own.items.iter().for_each(|tree| exports(tree, path, found)),
    }
}

fn file_of(children: &Path, name: &str, reader: Reader) -> PathBuf {
    let beside = children.join(format!("{name}.rs"));
    if reader(&beside).is_some() { beside } else { children.join(name).join("mod.rs") }
}

fn is_excluded(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|own| is_unmet("cfg", &own.meta))
}

/// Whether pages show an item that is public and not hidden.
fn is_shown(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let is_hidden = |own: &Attribute| match &own.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    };
    matches!(visibility, Visibility::Public(_))
        && !attributes.iter().any(is_hidden)
        && !is_excluded(attributes)
}
