//! The schemas of docs/schemas.

use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

pub(super) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    pub(super) fn of(format: &str) -> Schema {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas");
        let file = folder.join(format!("{format}.schema.json"));
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let schema = serde_json::from_str(&text).expect("a schema is JSON");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(format, schema).expect("one resource");
        let index = compiler.compile(format, &mut schemas).expect("a schema");
        Schema { schemas, index }
    }

    fn fault(&self, document: &Value) -> Option<String> {
        self.schemas.validate(document, self.index).err().map(|error| error.to_string())
    }

    /// The document fits; without any one of its members that must be there, or with another one, it
    /// does not.
    pub(super) fn holds(&self, what: &str, document: &Value) {
        assert_eq!(self.fault(document), None, "{what}");
        let mut first = document;
        if let Some(list) = document.as_array() {
            let Some(one) = list.first() else { return };
            first = one;
        }
        let put = |changed: Value| match document {
            Value::Array(_) => json!([changed]),
            _ => changed,
        };
        let members = first.as_object().expect("documents are objects");
        for name in members.keys() {
            let mut less = first.clone();
            less.as_object_mut().expect("an object").remove(name);
            assert!(self.fault(&put(less)).is_some(), "{what}: nothing misses {name}");
        }
        let mut more = first.clone();
        more["made_up"] = json!(1);
        assert!(self.fault(&put(more)).is_some(), "{what}: a made-up member is not noticed");
    }
}
