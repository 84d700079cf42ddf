//! `aliases.tsv`: names of other tools, and the name that each stands for.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use crate::models::Models;
use crate::text::Text;
use crate::tsv::{self, Fault};

pub(crate) struct Aliases(Vec<Alias>);

struct Alias {
    name: String,
    event: String,
    /// Models; all of them if empty.
    models: Vec<usize>,
}

pub(crate) fn read(data: &Path, models: &Models) -> Result<Aliases, Fault> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for row in tsv::read(data, "aliases.tsv", &["name", "tables", "event"])? {
        let name = row.required("name")?.to_owned();
        let mut within = Vec::new();
        for place in row.list("tables") {
            let found = models.named(&place);
            if found.is_empty() {
                return Err(row.fault(format!("no table or group {place}")));
            }
            within.extend(found);
        }
        for &model in &within {
            if !seen.insert((name.to_ascii_lowercase(), model)) {
                let table = &models.all[model].table;
                return Err(row.fault(format!("{name} stands for two events on {table}")));
            }
        }
        if within.is_empty() {
            return Err(row.fault("tables is empty"));
        }
        if within.len() == models.all.len() {
            within.clear();
        }
        all.push(Alias { name, event: row.required("event")?.to_owned(), models: within });
    }
    assert!(models.all.len() <= 128, "a row of aliases has a bit for each model");
    all.sort_by_cached_key(|alias: &Alias| alias.name.to_ascii_lowercase());
    Ok(Aliases(all))
}

impl Aliases {
    /// The statics of `alias.rs`: rows by name in lower case, the sets of models and the text that they
    /// have places of. A row is small, because each process that counts loads all of them.
    pub(crate) fn to_rust(&self) -> String {
        let mut text = Text::default();
        let mut sets: Vec<u128> = Vec::new();
        let mut rust = String::from("pub(crate) static ALIASES: &[AliasRow] = &[\n");
        for Alias { name, event, models } in &self.0 {
            let [name, event] = [name, event].map(|word| {
                assert!(word.len() < 256, "{word} is too long for the byte of its length");
                text.number(word)
            });
            let models = models.iter().fold(0u128, |models, model| models | 1 << model);
            let set = sets.iter().position(|set| *set == models).unwrap_or_else(|| {
                sets.push(models);
                sets.len() - 1
            });
            writeln!(
                rust,
                "AliasRow {{ name: Word({name}), event: Word({event}), models: {set} }},"
            )
            .expect("writing to a string");
        }
        let sets = format!("pub(crate) static MODELS: &[u128] = &{sets:?};\n");
        rust + "];\n" + &sets + &text.to_rust()
    }
}
