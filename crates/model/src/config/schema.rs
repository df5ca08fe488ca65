//! JSON Schemas of the files, for editors and for whoever writes the files by program.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::written;

/// The schema (draft 2020-12) of a project's `fumehood.toml`: indented JSON with a line end.
pub fn project() -> String {
    let mut schema = value::<written::Project>();
    // The two files have one type of server, and this is not for a project to say.
    let server = schema.pointer_mut("/$defs/Server/properties").and_then(Value::as_object_mut);
    if let Some(properties) = server {
        properties.remove("profile");
    }
    let definitions = schema.pointer_mut("/$defs").and_then(Value::as_object_mut);
    if let Some(definitions) = definitions {
        definitions.remove("Guarding");
    }
    format!("{schema:#}\n")
}

/// The schema (draft 2020-12) of the operator's `config.toml`: indented JSON with a line end.
pub fn operator() -> String {
    format!("{:#}\n", value::<written::Operator>())
}

fn value<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// An optional key may be left out; it cannot be null, which TOML does not have.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}
