//! Paths to the items that they name, with re-exports followed.

use crate::modules::{Binding, Crate, ModuleId};

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Module(ModuleId),
    /// An item that this file defines.
    Item(usize),
    /// An item of another crate.
    Outside,
}

/// Look-ups under way: a name imported by its own name would be followed for ever.
type UnderWay = Vec<(ModuleId, String, usize)>;

impl Crate {
    /// Where `path` leads from a module; `None` if it starts with a name that is not this crate's.
    /// Empty if it starts with one and leads nowhere.
    pub(crate) fn resolve(&self, from: ModuleId, path: &[String]) -> Option<Vec<Target>> {
        self.follow(from, path, &mut UnderWay::new())
    }

    /// Where a name leads that only a glob import can have brought to `module`.
    pub(crate) fn through_globs(&self, module: ModuleId, name: &str) -> Vec<Target> {
        if self.modules[module].names.contains_key(name) {
            return Vec::new();
        }
        self.look_up(module, name, &mut UnderWay::new())
    }

    /// The file that defines the macro `name` for `module` by the order of the text.
    pub(crate) fn textual_macro(&self, module: ModuleId, name: &str) -> Option<usize> {
        let mut scope = Some(module);
        while let Some(id) = scope {
            let names = self.modules[id].names.get(name);
            if names.is_some_and(|found| found.iter().any(|one| matches!(one, Binding::Item))) {
                return Some(self.modules[id].file);
            }
            scope = self.modules[id].parent;
        }
        None
    }

    fn follow(&self, from: ModuleId, path: &[String], way: &mut UnderWay) -> Option<Vec<Target>> {
        let mut at = from;
        let mut rest = path;
        let mut anchored = false;
        while let Some((first, after)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.modules[at].parent?,
                _ => break,
            };
            anchored = true;
            rest = after;
        }
        let mut reached = vec![Target::Module(at)];
        for (index, name) in rest.iter().enumerate() {
            // A path goes on from modules; past a type it names what belongs to the type.
            let modules: Vec<ModuleId> = reached
                .iter()
                .filter_map(|target| match target {
                    Target::Module(id) => Some(*id),
                    Target::Item(_) | Target::Outside => None,
                })
                .collect();
            if modules.is_empty() {
                break;
            }
            let next: Vec<Target> =
                modules.iter().flat_map(|module| self.look_up(*module, name, way)).collect();
            if next.is_empty() {
                let unknown = index == 0 && !anchored;
                let by_macro = modules.iter().filter(|module| self.modules[**module].macros_define);
                let files = by_macro.map(|module| Target::Item(self.modules[*module].file));
                return (!unknown).then(|| files.collect());
            }
            reached = next;
        }
        Some(reached)
    }

    fn look_up(&self, module: ModuleId, name: &str, way: &mut UnderWay) -> Vec<Target> {
        let here = &self.modules[module];
        let mut found = Vec::new();
        for (index, binding) in here.names.get(name).into_iter().flatten().enumerate() {
            match binding {
                Binding::Item => found.push(Target::Item(here.file)),
                Binding::Module(id) => found.push(Target::Module(*id)),
                Binding::Use(path) => {
                    found.extend(self.step((module, name.to_owned(), index), path, way));
                }
            }
        }
        if found.is_empty() {
            for (index, glob) in here.globs.iter().enumerate() {
                let step = (module, "*".to_owned(), index);
                let targets = self.step(step, glob, way);
                for target in targets {
                    if let Target::Module(id) = target {
                        let step = (id, name.to_owned(), usize::MAX);
                        if !way.contains(&step) {
                            way.push(step);
                            found.extend(self.look_up(id, name, way));
                            way.pop();
                        }
                    }
                }
            }
        }
        found
    }

    fn step(
        &self,
        step: (ModuleId, String, usize),
        path: &[String],
        way: &mut UnderWay,
    ) -> Vec<Target> {
        if way.contains(&step) {
            return Vec::new();
        }
        let module = step.0;
        way.push(step);
        let found = self.follow(module, path, way).unwrap_or_else(|| vec![Target::Outside]);
        way.pop();
        found
    }
}
