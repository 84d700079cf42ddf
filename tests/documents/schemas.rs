//! docs/output.md names every schema, and every member that a schema has.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{files, markdown, read, root};

#[test]
fn the_page_of_formats_names_every_member() {
    let page = read(&root().join("docs/output.md"));
    let mut named = BTreeSet::new();
    let text: Vec<&str> = markdown::prose(&page).map(|(_, line)| line).collect();
    // A code span never goes over the end of a line.
    for line in &text {
        named.extend(line.split('`').skip(1).step_by(2));
    }
    let mut schemas = 0;
    for file in files(&root().join("docs/schemas"), "json") {
        let name = file.file_name().expect("a file").to_string_lossy().into_owned();
        assert!(
            page.contains(&format!("(schemas/{name})")),
            "docs/output.md has no link to {name}"
        );
        let schema: Value = serde_json::from_str(&read(&file)).expect("a schema is JSON");
        let mut members = BTreeSet::new();
        collect(&schema, &mut members);
        let missing: Vec<&String> =
            members.iter().filter(|it| !named.contains(it.as_str())).collect();
        assert!(missing.is_empty(), "docs/output.md lacks members of {name}: {missing:?}");
        schemas += 1;
    }
    assert!(schemas >= 15, "{schemas} schemas");
}

/// The names of members, and that each has a description.
fn collect(schema: &Value, members: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                for (name, property) in properties {
                    let described =
                        property["description"].as_str().is_some_and(|it| !it.is_empty());
                    assert!(described, "{name} has no description");
                    members.insert(name.clone());
                }
                assert_eq!(fields["additionalProperties"], false, "other members are refused");
            }
            fields.values().for_each(|field| collect(field, members));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, members)),
        _ => {}
    }
}
