//! The schema of a document from its type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A document of the command.
pub(super) struct Format {
    pub(super) name: &'static str,
    /// Its schema. Descriptions have the links of docs/output.md.
    pub(super) schema: Value,
}

impl Format {
    pub(super) fn of<T: JsonSchema>(name: &'static str, title: &str) -> Format {
        // Readers such as Python's follow no references.
        let settings =
            SchemaSettings::draft2020_12().for_serialize().with(|it| it.inline_subschemas = true);
        let made = settings.into_generator().into_root_schema_for::<T>().to_value();
        let Value::Object(mut members) = made else { panic!("{name}: a schema is an object") };
        members.insert("title".to_owned(), json!(title));
        let mut schema = Map::new();
        for first in ["$schema", "title", "description"] {
            schema.extend(members.remove_entry(first));
        }
        schema.extend(members);
        let mut schema = Value::Object(schema);
        restrict(&mut schema, name);
        Format { name, schema }
    }

    /// The path below docs.
    pub(super) fn file(&self) -> String {
        format!("schemas/{}.schema.json", self.name)
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let mut schema = self.schema.clone();
        unlink(&mut schema);
        serde_json::to_string_pretty(&schema).expect("names are strings") + "\n"
    }
}

/// Objects have no other members, each of which has a description. Rust's widths of numbers say
/// nothing to readers.
fn restrict(schema: &mut Value, name: &str) {
    assert!(schema.get("$ref").is_none(), "{name} has a type that contains itself");
    if let Value::Object(members) = schema {
        members.remove("format");
        if let Some(Value::Object(properties)) = members.get("properties") {
            for (member, property) in properties {
                let text = property["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{name}: {member} has no description");
            }
            members.insert("additionalProperties".to_owned(), json!(false));
        }
        if let Some(Value::String(text)) = members.get_mut("description") {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    for_each_part(schema, &mut |part| restrict(part, name));
}

/// Replaces the links of descriptions by their texts.
fn unlink(schema: &mut Value) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = unlinked(text);
    }
    for_each_part(schema, &mut unlink);
}

/// The text with the texts of its links in their places.
pub(super) fn unlinked(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some((begin, middle, end)) = link(&text) {
        text = format!("{}{}{}", &text[..begin], &text[begin + 1..middle], &text[end + 1..]);
    }
    text
}

/// The places of `[`, `]` and `)` of the first link.
fn link(text: &str) -> Option<(usize, usize, usize)> {
    let middle = text.find("](")?;
    let begin = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((begin, middle, end))
}

/// Calls `visit` with the schemas that a schema contains.
fn for_each_part(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Value::Object(members) = schema else { return };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("properties", Value::Object(parts)) => parts.values_mut().for_each(&mut *visit),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut *visit);
            }
            ("items" | "additionalProperties", part) => visit(part),
            _ => {}
        }
    }
}

#[test]
fn links_are_replaced_by_their_texts() {
    let mut schema = json!({"properties": {"a": {"description": "See [x](y.md#z), [b](c)."}}});
    unlink(&mut schema);
    assert_eq!(schema["properties"]["a"]["description"], "See x, b.");
}
