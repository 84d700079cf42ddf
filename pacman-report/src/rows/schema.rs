//! From the schema of a row to that of columns.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::Rows;

impl<T: JsonSchema> JsonSchema for Rows<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ColumnsOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let row = generator.subschema_for::<T>().to_value();
        columns(row, false).try_into().expect("columns are an object")
    }
}

/// The columns of a value of this schema; some of its values are null if `nullable`.
fn columns(schema: Value, nullable: bool) -> Value {
    let Value::Object(mut members) = schema else { panic!("{schema} is no schema of a row") };
    assert!(!members.contains_key("$ref"), "a row has a type that contains itself");
    if let Some(object) = optional_object(&members) {
        let mut inside = columns(object, true);
        if let Some(text) = members.remove("description") {
            inside["description"] = text;
        }
        return inside;
    }
    let types = members.get("type").and_then(Value::as_array);
    let nullable = nullable || types.is_some_and(|it| it.contains(&json!("null")));
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for property in properties.values_mut() {
            *property = columns(property.take(), nullable);
        }
        members.remove("required");
        members.insert("type".to_owned(), json!("object"));
        return Value::Object(members);
    }
    if let Some(values) = members.get_mut("additionalProperties").filter(|it| it.is_object()) {
        *values = columns(values.take(), true);
        members.insert("type".to_owned(), json!("object"));
        return Value::Object(members);
    }
    let text = members.remove_entry("description");
    let is_list = members.get("type") == Some(&json!("array"));
    let one = Value::Object(members.clone());
    let items = if nullable { or_null(members) } else { one.clone() };
    let list = json!({"type": "array", "items": items});
    let column = if is_list { list } else { json!({"anyOf": [list, without_null(one)]}) };
    let Value::Object(column) = column else { unreachable!("it is an object") };
    Value::Object(text.into_iter().chain(column).collect())
}

/// The object of an `Option` of one.
fn optional_object(members: &Map<String, Value>) -> Option<Value> {
    let alternatives = members.get("anyOf")?.as_array()?;
    let is_object =
        |one: &&Value| one["properties"].is_object() || one["additionalProperties"].is_object();
    alternatives.iter().find(is_object).cloned()
}

/// The value that all rows have is not null.
fn without_null(mut schema: Value) -> Value {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            schema["type"] = only.clone();
        }
    }
    schema
}

/// The schema, or null.
fn or_null(mut members: Map<String, Value>) -> Value {
    // Words are listed, and null would have to be one of them.
    let is_plain = !members.contains_key("enum") && !members.contains_key("const");
    match members.get_mut("type") {
        Some(Value::Array(types)) if types.contains(&json!("null")) => {}
        Some(Value::Array(types)) if is_plain => types.push(json!("null")),
        Some(kind @ Value::String(_)) if is_plain => *kind = json!([kind.take(), "null"]),
        _ => return json!({"anyOf": [members, {"type": "null"}]}),
    }
    Value::Object(members)
}
