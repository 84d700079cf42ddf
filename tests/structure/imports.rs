//! The imports of each file: every path that names an item of another file.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Variant;
use syn::visit::{self, Visit};
use syn::{
    Arm, Field, FieldValue, ImplItem, Item, ItemMod, ItemUse, Local, Macro, Path, TraitItem,
};

use std::collections::HashMap;

use crate::conditions::{attributes, compiled};
use crate::modules::{Crate, ModuleId, imports};
use crate::resolve::Target;

/// A file names an item of another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    /// Index into [`Crate::files`], like `to`.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) line: usize,
    pub(crate) path: String,
}

/// The imports of a crate, and the paths that lead nowhere.
#[derive(Default)]
pub(crate) struct Imports {
    pub(crate) imports: Vec<Import>,
    pub(crate) unresolved: Vec<String>,
}

impl Crate {
    pub(crate) fn imports(&self) -> Imports {
        let mut found = Imports::default();
        for (id, module) in self.modules.iter().enumerate() {
            let local = HashMap::new();
            let mut visitor =
                Visitor { read: self, module: id, local, depth: 0, found: &mut found };
            module.items.iter().for_each(|item| visitor.visit_item(item));
        }
        found.imports.sort();
        found.imports.dedup();
        found
    }
}

struct Visitor<'a> {
    read: &'a Crate,
    module: ModuleId,
    /// Imports inside of bodies: names to paths.
    local: HashMap<String, Vec<String>>,
    depth: usize,
    found: &'a mut Imports,
}

impl Visitor<'_> {
    fn file(&self) -> usize {
        self.read.modules[self.module].file
    }

    fn targets(&self, path: &[String]) -> Option<Vec<Target>> {
        let found = self.read.resolve(self.module, path);
        if found.is_some() {
            return found;
        }
        let import = self.local.get(path.first()?)?;
        let whole: Vec<String> = import.iter().chain(&path[1..]).cloned().collect();
        self.read.resolve(self.module, &whole)
    }

    fn record(&mut self, to: usize, line: usize, path: &[String]) {
        if to != self.file() {
            self.found.imports.push(Import { from: self.file(), to, line, path: path.join("::") });
        }
    }

    /// A path outside of a `use` declaration. Tokens may hold paths that are not Rust's: if
    /// `lenient`, one that leads nowhere is left out.
    fn path(&mut self, path: &[String], line: usize, lenient: bool) {
        let targets = match path {
            [] => return,
            // Anything else of one segment is local, or counted where it is imported.
            [name] => Some(self.read.through_globs(self.module, name)),
            path => self.targets(path),
        };
        let Some(targets) = targets else { return };
        if targets.is_empty() && path.len() > 1 && !lenient {
            let file = self.read.files[self.file()].display().to_string();
            self.found.unresolved.push(format!("{file}:{line}: {}", path.join("::")));
        }
        for target in targets {
            if let Target::Item(file) = target {
                self.record(file, line, path);
            }
        }
    }

    /// Paths in the tokens of a macro call or an attribute.
    fn tokens(&mut self, tokens: &TokenStream, prefix: &[String]) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut last = String::new();
        for token in tokens.clone() {
            let text = match token {
                TokenTree::Ident(name) => {
                    if last != "::" || path.is_empty() {
                        self.path(&path, line, true);
                        path = prefix.to_vec();
                    }
                    line = name.span().start().line;
                    // `x.name` is a field or a method, `$name` a macro's own parameter.
                    if last == "." || (last == "$" && name != "crate") {
                        path.clear();
                    } else {
                        path.push(name.to_string());
                    }
                    String::new()
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && last == ":" => "::".to_owned(),
                TokenTree::Punct(mark) => {
                    if mark.as_char() != ':' {
                        self.path(&path, line, true);
                        path.clear();
                    }
                    mark.as_char().to_string()
                }
                TokenTree::Group(group) => {
                    let nested = last == "::" && group.delimiter() == Delimiter::Brace;
                    self.tokens(&group.stream(), if nested { &path } else { &[] });
                    if nested {
                        path.clear();
                    }
                    String::new()
                }
                TokenTree::Literal(_) => String::new(),
            };
            last = text;
        }
        self.path(&path, line, true);
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if compiled(attributes(item)) {
            self.depth += 1;
            visit::visit_item(self, item);
            self.depth -= 1;
        }
    }

    /// A module is visited by itself.
    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if compiled(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            _ => return visit::visit_trait_item(self, item),
        };
        if compiled(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if compiled(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, value: &'ast FieldValue) {
        if compiled(&value.attrs) {
            visit::visit_field_value(self, value);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if compiled(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if compiled(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if compiled(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_some() {
            return;
        }
        for import in imports(&item.tree) {
            let targets = self.targets(&import.path);
            if targets.as_ref().is_some_and(Vec::is_empty) {
                let file = self.read.files[self.file()].display().to_string();
                let path = import.path.join("::");
                self.found.unresolved.push(format!("{file}:{}: {path}", import.line));
            }
            for target in targets.unwrap_or_default() {
                if let Target::Item(file) = target {
                    self.record(file, import.line, &import.path);
                }
            }
            // The items of a module have their names from the module itself.
            if let Some(name) = import.name.filter(|_| self.depth > 1) {
                self.local.insert(name, import.path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let line = path.segments.first().map_or(0, |part| part.ident.span().start().line);
            if names[0] != "Self" {
                self.path(&names, line, false);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if let Some(name) = call.path.get_ident() {
            let name = name.to_string();
            let line = call.path.segments[0].ident.span().start().line;
            let known = self.read.modules[self.module].names.contains_key(&name);
            let defined = self.read.textual_macro(self.module, &name);
            if let Some(file) = defined.filter(|_| !known && name != "macro_rules") {
                self.record(file, line, &[format!("{name}!")]);
            }
        }
        visit::visit_macro(self, call);
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.tokens(tokens, &[]);
    }
}
