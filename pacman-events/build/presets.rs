//! `presets.tsv`: the meaning of a portable name on each table.

use std::fmt::Write;
use std::path::Path;

use crate::events::Events;
use crate::models::Models;
use crate::netburst::NetBurst;
use crate::text::Text;
use crate::tsv::{self, Fault, Row};

pub(crate) struct Presets {
    presets: Vec<Preset>,
    answers: Vec<Answer>,
}

struct Preset {
    name: String,
    text: String,
    /// The position of the row that applies, by model.
    per_model: Vec<usize>,
}

struct Answer {
    expression: String,
    scale: String,
    caveat: String,
    line: String,
}

pub(crate) fn read(
    data: &Path,
    models: &Models,
    events: &Events,
    netburst: &NetBurst,
) -> Result<Presets, Fault> {
    let mut presets = Vec::new();
    for row in tsv::read(data, "presets.tsv", &["preset", "text"])? {
        let name = row.required("preset")?.to_owned();
        presets.push((
            Preset { name, text: row.required("text")?.to_owned(), per_model: Vec::new() },
            row,
        ));
    }
    let columns = &["preset", "where", "expression", "scale", "caveat"];
    let rows = tsv::read(data, "preset_answers.tsv", columns)?;
    let mut answers = Vec::new();
    let mut used = vec![false; rows.len()];
    for (preset, row) in &mut presets {
        for model in 0..models.all.len() {
            let mut found = None;
            for (index, answer) in rows.iter().enumerate() {
                if answer.text("preset") != preset.name || !applies(answer, model, models)? {
                    continue;
                }
                if let Some(expression) =
                    first_that_exists(answer, model, models, events, netburst)?
                {
                    used[index] = true;
                    found = Some(Answer {
                        expression,
                        scale: answer.text("scale").to_owned(),
                        caveat: answer.text("caveat").to_owned(),
                        line: answer.fault("").to_string(),
                    });
                    break;
                }
            }
            let table = &models.all[model].table;
            let answer = found.ok_or_else(|| row.fault(format!("no answer for {table}")))?;
            if answer.expression.is_empty() && answer.caveat.is_empty() {
                return Err(row.fault(format!("no reason why {table} cannot count it")));
            }
            answers.push(answer);
            preset.per_model.push(answers.len() - 1);
        }
    }
    for (row, used) in rows.iter().zip(used) {
        if !used {
            return Err(row.fault("belongs to no table: misspelt, or shadowed by a row above"));
        }
    }
    Ok(Presets { presets: presets.into_iter().map(|(preset, _)| preset).collect(), answers })
}

fn applies(answer: &Row, model: usize, models: &Models) -> Result<bool, Fault> {
    for place in answer.list("where") {
        if place == "*" {
            return Ok(true);
        }
        let within = models.within(&place);
        if within.is_empty() {
            return Err(answer.fault(format!("no table or group {place}")));
        }
        if within.contains(&model) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first of the alternatives (separated by ` | `) whose events all exist.
fn first_that_exists(
    answer: &Row,
    model: usize,
    models: &Models,
    events: &Events,
    netburst: &NetBurst,
) -> Result<Option<String>, Fault> {
    let expression = answer.text("expression");
    if expression.is_empty() {
        return Ok(Some(String::new()));
    }
    let known = |name: &str| match models.all[model].family {
        "NetBurst" => netburst.contains(name),
        "Generic" => true,
        _ => exists(events, model, name),
    };
    for alternative in expression.split(" | ") {
        let mut all_exist = true;
        for (index, term) in alternative.split(' ').enumerate() {
            match (index % 2, term) {
                (1, "+" | "-") => continue,
                (1, _) => return Err(answer.fault(format!("{term:?} where + or - is due"))),
                _ => {}
            }
            let name = term.split_once('*').map_or(term, |(_, name)| name);
            // `A/B`: either counter may count it, fixed A or general B.
            let generic_name =
                name.starts_with('r') && name[1..].bytes().all(|b| b.is_ascii_hexdigit());
            all_exist &= generic_name || name.split('/').all(known);
        }
        if all_exist {
            return Ok(Some(alternative.to_owned()));
        }
    }
    Ok(None)
}

/// Whether a table has the event without its modifiers, as it is or as one event with several unit
/// masks.
fn exists(events: &Events, model: usize, name: &str) -> bool {
    let mut parts: Vec<_> = name.split(':').collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| is_modifier(part)) {
        parts.pop();
    }
    let joined =
        || parts[1..].iter().all(|mask| events.contains(model, &format!("{}:{mask}", parts[0])));
    events.contains(model, &parts.join(":")) || parts.len() > 2 && joined()
}

fn is_modifier(word: &str) -> bool {
    matches!(word, "u" | "k" | "e" | "i" | "any") || word.starts_with("c=")
}

impl Presets {
    pub(crate) fn to_rust(&self, models: &Models) -> String {
        let mut rust = String::from("pub(crate) static ANSWERS: &[AnswerRow] = &[\n");
        let mut seen: Vec<&Answer> = Vec::new();
        let mut numbers = Vec::new();
        for answer in &self.answers {
            let same = |other: &&Answer| {
                other.line == answer.line && other.expression == answer.expression
            };
            let number = seen.iter().position(same).unwrap_or_else(|| {
                seen.push(answer);
                seen.len() - 1
            });
            numbers.push(number);
        }
        let mut text = Text::default();
        for answer in seen {
            let [expression, scale, caveat] =
                [&answer.expression, &answer.scale, &answer.caveat].map(|word| text.place(word));
            writeln!(
                rust,
                "AnswerRow {{ expression: {expression}, scale: {scale}, caveat: {caveat} }},",
            )
            .expect("writing to a string");
        }
        let count = models.all.len();
        rust.push_str("];\npub(crate) static PRESETS: &[PresetRow] = &[\n");
        for preset in &self.presets {
            let per_model: Vec<_> = preset.per_model.iter().map(|&index| numbers[index]).collect();
            assert_eq!(per_model.len(), count);
            writeln!(
                rust,
                "PresetRow {{ name: {:?}, text: {:?}, answers: &{per_model:?} }},",
                preset.name, preset.text,
            )
            .expect("writing to a string");
        }
        rust + "];\n" + &text.to_rust()
    }
}
