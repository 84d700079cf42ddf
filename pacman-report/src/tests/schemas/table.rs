//! The members of a document as tables for docs/output.md.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Objects with more members have a table of their own.
const MOST_INLINE: usize = 6;

/// The members of one object, or of several that are alike.
struct Table<'s> {
    paths: Vec<String>,
    object: &'s Value,
    rows: String,
}

/// The tables of a schema. An object inside another has rows there, or a table of its own if it is
/// large or occurs more than once.
pub(super) fn tables(schema: &Value) -> String {
    let mut tables: Vec<Table> = Vec::new();
    let mut objects = objects_in(schema, String::new());
    let all = everywhere(schema);
    objects.reverse();
    while let Some((path, object)) = objects.pop() {
        match tables.iter_mut().find(|table| properties(table.object) == properties(object)) {
            Some(table) => table.paths.push(path),
            None => {
                let mut later = Vec::new();
                let rows = rows(object, "", &all, &mut later);
                let dot = if path.is_empty() { "" } else { "." };
                let later = later.into_iter().rev();
                objects.extend(later.map(|(inner, it)| (format!("{path}{dot}{inner}"), it)));
                tables.push(Table { paths: vec![path], object, rows });
            }
        }
    }
    tables.iter().map(Table::print).collect::<Vec<_>>().join("\n")
}

impl Table<'_> {
    fn print(&self) -> String {
        let text = self.object["description"].as_str().unwrap_or_default();
        let paths: Vec<String> = self.paths.iter().map(|path| code(path)).collect();
        let paths = paths.join(", ");
        // The description of a member stands in the table before.
        let heading = match self.paths.first().map(String::as_str) {
            Some("" | "[]") if text.is_empty() => String::new(),
            Some("" | "[]") => format!("{text}\n\n"),
            _ => format!("{paths}:\n\n"),
        };
        format!("{heading}| member | type | meaning |\n|---|---|---|\n{}", self.rows)
    }
}

/// The rows of an object, with the members of small objects inside it. The others are for `later`.
fn rows<'s>(
    object: &'s Value,
    prefix: &str,
    all: &[&Value],
    later: &mut Vec<(String, &'s Value)>,
) -> String {
    let mut text = String::new();
    for (name, member) in properties(object) {
        let name = format!("{prefix}{name}");
        let meaning = member["description"].as_str().unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(text, "| {} | {} | {meaning} |", code(&name), kind(member));
        for (inner, object) in objects_in(member, name) {
            let alike = all.iter().filter(|other| properties(other) == properties(object));
            if everywhere(object).iter().map(|it| properties(it).len()).sum::<usize>()
                <= MOST_INLINE
                && alike.count() == 1
            {
                text.push_str(&rows(object, &format!("{inner}."), all, later));
            } else {
                later.push((inner, object));
            }
        }
    }
    text
}

/// All objects in a schema, at any depth.
fn everywhere(schema: &Value) -> Vec<&Value> {
    let mut all = Vec::new();
    for (_, object) in objects_in(schema, String::new()) {
        all.push(object);
        all.extend(properties(object).values().flat_map(everywhere));
    }
    all
}

/// The objects that a value of this schema is or contains, with their paths.
pub(super) fn objects_in(schema: &Value, path: String) -> Vec<(String, &Value)> {
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
    let mut objects: Vec<(String, &Value)> =
        alternatives.flat_map(|one| objects_in(one, path.clone())).collect();
    if !properties(schema).is_empty() {
        objects.push((path.clone(), schema));
    }
    objects.extend(objects_in_part(&schema["items"], format!("{path}[]")));
    objects.extend(objects_in_part(&schema["additionalProperties"], format!("{path}.*")));
    objects
}

fn objects_in_part(part: &Value, path: String) -> Vec<(String, &Value)> {
    if part.is_object() { objects_in(part, path) } else { Vec::new() }
}

pub(super) fn properties(schema: &Value) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    schema["properties"].as_object().unwrap_or(&NONE)
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// The values of a schema in words.
pub(super) fn kind(schema: &Value) -> String {
    let mut kinds = kinds(schema);
    kinds.dedup();
    let last = kinds.pop().unwrap_or_default();
    match kinds.is_empty() {
        true => last,
        false => format!("{} or {last}", kinds.join(", ")),
    }
}

fn kinds(schema: &Value) -> Vec<String> {
    let value = |value: &Value| code(&value.as_str().map_or(value.to_string(), str::to_owned));
    if let Some(only) = schema.get("const") {
        return vec![value(only)];
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(value).collect();
    }
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
    let alternatives = alternatives.flat_map(kinds);
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => Vec::from_iter(one.as_str()),
    };
    let types = types.into_iter().map(|it| match it {
        "array" => format!("list of {}", plural(&kind(&schema["items"]))),
        "object" if schema["additionalProperties"].is_object() => {
            format!("{} by name", plural(&kind(&schema["additionalProperties"])))
        }
        other => other.to_owned(),
    });
    alternatives.chain(types).collect()
}

fn plural(kind: &str) -> String {
    if kind.contains(" or ") {
        return format!("({kind})");
    }
    let mut plural = String::new();
    for word in kind.split_inclusive(' ') {
        let bare = word.trim_end();
        let end = if ["string", "integer", "number", "boolean", "object", "list"].contains(&bare) {
            "s"
        } else {
            ""
        };
        let _ = write!(plural, "{bare}{end}{}", &word[bare.len()..]);
    }
    plural
}
