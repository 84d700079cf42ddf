//! Which top-level modules of a crate name which others, read from the tokens of its files.
//!
//! A top-level module is what the crate's root declares by `mod`, with all files below it. It imports another one
//! where it names it from the root: `crate::other`, or as many `super` as lead there. A name that the root re-exports
//! counts for the module that the root takes it from. What the root defines itself is in the module `lib`. Tests and
//! loom models do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::conditions::excludes;

/// Reads one source file; `None` if there is none.
pub(crate) type Reader<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The module of the crate's root file.
pub(crate) const ROOT: &str = "lib";

/// The modules of a crate, each with those that it imports and a place of each import.
#[derive(Default)]
pub(crate) struct Modules {
    pub(crate) imports: BTreeMap<String, BTreeMap<String, String>>,
    /// Names that the root gives to items, each with the module that it takes it from.
    exported: BTreeMap<String, String>,
    /// Paths from the root: the module that has it, its first name, and its place.
    paths: Vec<(String, String, String)>,
}

/// Where a token is: its file, the folder of the file's children, and its module's path from the root.
#[derive(Clone)]
struct At {
    file: PathBuf,
    children: PathBuf,
    module: Vec<String>,
}

impl At {
    fn own(&self) -> &str {
        self.module.first().map_or(ROOT, String::as_str)
    }
}

impl Modules {
    /// Reads the crate that starts at `root`.
    pub(crate) fn read(root: &Path, reader: Reader) -> Result<Modules, String> {
        let mut read = Modules::default();
        let children = root.parent().unwrap_or(Path::new("")).to_owned();
        read.file(At { file: root.to_owned(), children, module: Vec::new() }, reader)?;
        for (own, first, place) in std::mem::take(&mut read.paths) {
            let exported = read.exported.get(&first).cloned().unwrap_or_default();
            let mut all = [first, exported].into_iter();
            let known = all.find(|module| read.imports.contains_key(module));
            let to = known.unwrap_or_else(|| ROOT.to_owned());
            if to != own {
                read.imports.entry(own).or_default().entry(to).or_insert(place);
            }
        }
        Ok(read)
    }

    fn file(&mut self, at: At, reader: Reader) -> Result<(), String> {
        let text = reader(&at.file).ok_or_else(|| format!("{}: cannot read", at.file.display()))?;
        let tokens: TokenStream =
            text.parse().map_err(|error| format!("{}: {error}", at.file.display()))?;
        self.imports.entry(at.own().to_owned()).or_default();
        self.tokens(&tokens.into_iter().collect::<Vec<_>>(), &at, reader)
    }

    fn tokens(&mut self, tokens: &[TokenTree], at: &At, reader: Reader) -> Result<(), String> {
        let mut rest = tokens;
        let mut path_attribute = None;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match (first, after) {
                (TokenTree::Punct(mark), [TokenTree::Group(group), ..])
                    if mark.as_char() == '#' =>
                {
                    rest = &after[1..];
                    let attribute = group.stream();
                    if excludes("cfg", &attribute) {
                        rest = behind_item(rest);
                    } else if !excludes("cfg_attr", &attribute) {
                        path_attribute = path_attribute.or(path_of(attribute.clone()));
                        self.tokens(&attribute.into_iter().collect::<Vec<_>>(), at, reader)?;
                    }
                }
                (TokenTree::Ident(word), [TokenTree::Ident(name), body, ..]) if word == "mod" => {
                    rest = &after[2..];
                    let mut inside = At {
                        children: at.children.join(name.to_string()),
                        module: [&at.module[..], &[name.to_string()]].concat(),
                        file: at.file.clone(),
                    };
                    self.imports.entry(inside.own().to_owned()).or_default();
                    if let TokenTree::Group(body) = body {
                        let body: Vec<_> = body.stream().into_iter().collect();
                        self.tokens(&body, &inside, reader)?;
                        continue;
                    }
                    let beside = at.children.join(format!("{name}.rs"));
                    let folder = at.file.parent().unwrap_or(Path::new(""));
                    inside.file = match path_attribute.take() {
                        Some(path) => folder.join(path),
                        None if reader(&beside).is_some() => beside,
                        None => inside.children.join("mod.rs"),
                    };
                    self.file(inside, reader)?;
                }
                (TokenTree::Ident(word), _) if word == "use" && at.module.is_empty() => {
                    let end = after.iter().position(|token| is_mark(token, ';'));
                    let (tree, behind) = after.split_at(end.unwrap_or(after.len()));
                    self.exports(tree, None);
                    // A re-export is no import of the root.
                    let before = &tokens[..tokens.len() - after.len() - 1];
                    if !matches!(before, [.., TokenTree::Ident(word)] if word == "pub")
                        && !matches!(before, [.., TokenTree::Group(_)])
                    {
                        self.path(tree, &[], at, false);
                    }
                    rest = behind;
                }
                (TokenTree::Ident(_), _) => {
                    let before = tokens.len() - rest.len() - 1;
                    let is_member = before > 0 && is_mark(&tokens[before - 1], '.');
                    rest = self.path(&tokens[before..], &[], at, is_member);
                }
                (TokenTree::Group(group), _) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    self.tokens(&inner, at, reader)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a path, or a tree of paths behind `prefix`; returns what is behind it.
    fn path<'t>(
        &mut self,
        tokens: &'t [TokenTree],
        prefix: &[String],
        at: &At,
        is_member: bool,
    ) -> &'t [TokenTree] {
        let mut path = prefix.to_vec();
        let mut rest = tokens;
        loop {
            match rest {
                [TokenTree::Ident(name), after @ ..] => {
                    path.push(name.to_string());
                    let line = name.span().start().line;
                    let Some(next) = behind_colons(after) else {
                        if !is_member {
                            self.count(&path, line, at);
                        }
                        return after;
                    };
                    rest = next;
                }
                [TokenTree::Group(group), after @ ..] if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    let parts = inner.split(|token| is_mark(token, ','));
                    for part in parts.filter(|part| !part.is_empty()) {
                        self.path(part, &path, at, is_member);
                    }
                    return after;
                }
                _ => {
                    self.count(&path, tokens[0].span().start().line, at);
                    return rest;
                }
            }
        }
    }

    /// A path that starts at the root, at `super` or, in the root's file, at a module.
    fn count(&mut self, path: &[String], line: usize, at: &At) {
        let relative = path.iter().take_while(|part| *part == "super" || *part == "self").count();
        let ups = path[..relative].iter().filter(|part| *part == "super").count();
        let first = match path.first().map(String::as_str) {
            Some("crate") => path.get(1),
            Some(_) if ups == at.module.len() && path.len() > 1 => path.get(relative),
            _ => None,
        };
        if let Some(first) = first {
            let place = format!("{}:{line} names {}", at.file.display(), path.join("::"));
            self.paths.push((at.own().to_owned(), first.clone(), place));
        }
    }

    /// The names that a `use` of the root gives to parts of a module.
    fn exports(&mut self, tokens: &[TokenTree], module: Option<&str>) {
        let mut module = module.map(str::to_owned);
        let mut last = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) if *name == "crate" || *name == "self" => {}
                TokenTree::Ident(name) => {
                    last = name.to_string();
                    module.get_or_insert_with(|| last.clone());
                }
                TokenTree::Group(group) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    for part in inner.split(|token| is_mark(token, ',')) {
                        self.exports(part, module.as_deref());
                    }
                    return;
                }
                _ => {}
            }
        }
        if let Some(module) = module.filter(|module| *module != last) {
            self.exported.insert(last, module);
        }
    }

    /// Circles, each with the place of every import on the way.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut reports = BTreeSet::new();
        for start in self.imports.keys() {
            if let Some(way) = self.way(start, start) {
                let least = way.iter().enumerate().min_by_key(|(_, module)| *module);
                let turn = least.map_or(0, |(at, _)| at);
                let way = [&way[turn..], &way[..=turn]].concat();
                let arcs = way.windows(2).map(|arc| {
                    format!("  {} -> {}: {}", arc[0], arc[1], self.imports[&arc[0]][&arc[1]])
                });
                reports.insert(format!(
                    "{}\n{}",
                    way.join(" -> "),
                    arcs.collect::<Vec<_>>().join("\n")
                ));
            }
        }
        reports.into_iter().collect()
    }

    /// A line for each module that imports others, those first that no line before imports.
    pub(crate) fn picture(&self) -> String {
        let mut left: BTreeSet<&String> = self.imports.keys().collect();
        let mut text = String::new();
        while !left.is_empty() {
            let is_free = |module: &&&String| {
                !left.iter().any(|other| self.imports[*other].contains_key(**module))
            };
            let mut free: Vec<&String> = left.iter().filter(is_free).copied().collect();
            // Modules of a circle.
            if free.is_empty() {
                free.extend(left.iter().copied());
            }
            for module in free {
                left.remove(module);
                let to: Vec<&str> = self.imports[module].keys().map(String::as_str).collect();
                if !to.is_empty() {
                    text += &format!("{module}: {}\n", to.join(" "));
                }
            }
        }
        text
    }

    /// The shortest way from a module to another one or to itself, without its end.
    fn way(&self, start: &str, end: &str) -> Option<Vec<String>> {
        let mut ways = vec![vec![start.to_owned()]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut next = Vec::new();
            for way in ways {
                for to in self.imports.get(way.last()?).into_iter().flatten().map(|(to, _)| to) {
                    if to == end {
                        return Some(way);
                    }
                    if seen.insert(to.clone()) {
                        next.push([&way[..], std::slice::from_ref(to)].concat());
                    }
                }
            }
            ways = next;
        }
        None
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(own) if own.as_char() == mark)
}

/// The tokens behind `::`, if the tokens begin with it.
fn behind_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [one, other, rest @ ..] if is_mark(one, ':') && is_mark(other, ':') => Some(rest),
        _ => None,
    }
}

/// The tokens behind the item, field, arm or statement that the tokens begin with.
fn behind_item(tokens: &[TokenTree]) -> &[TokenTree] {
    const ITEMS: [&str; 13] = [
        "const",
        "enum",
        "extern",
        "fn",
        "impl",
        "let",
        "macro_rules",
        "mod",
        "static",
        "struct",
        "trait",
        "type",
        "use",
    ];
    let mut is_item = false;
    for (at, token) in tokens.iter().enumerate() {
        is_item |=
            matches!(token, TokenTree::Ident(word) if ITEMS.iter().any(|item| word == *item));
        let is_end = match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_mark(token, ';') || !is_item && is_mark(token, ','),
        };
        if is_end {
            return &tokens[at + 1..];
        }
    }
    &[]
}

/// The file that an attribute `path = "…"` names.
fn path_of(attribute: TokenStream) -> Option<String> {
    let tokens: Vec<_> = attribute.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name), _, TokenTree::Literal(path)] if name == "path" => {
            Some(path.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}
