//! A JSON object whose members stay text until one is replaced: a report may have a million numbers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) struct Members<'a>(Vec<(String, Member<'a>)>);

pub(super) enum Member<'a> {
    Text(&'a RawValue),
    Made(Value),
    List(Vec<Members<'a>>),
}

impl<'a> Members<'a> {
    pub(super) fn read(text: &'a RawValue) -> serde_json::Result<Members<'a>> {
        serde_json::from_str(text.get())
    }

    /// The text of a member that was not replaced.
    pub(super) fn text(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find_map(|(own, member)| match member {
            Member::Text(text) if own == name => Some(*text),
            _ => None,
        })
    }

    /// The member as a value, if it is there and of that type.
    pub(super) fn value<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.text(name)?.get()).ok()
    }

    /// The members of a list of objects; empty if there is none.
    pub(super) fn list(&self, name: &str) -> serde_json::Result<Vec<&'a RawValue>> {
        self.text(name).map_or(Ok(Vec::new()), |text| serde_json::from_str(text.get()))
    }

    /// The length of the object's text, without what was replaced.
    pub(super) fn length(&self) -> usize {
        let length = |(name, member): &(String, Member)| match member {
            Member::Text(text) => name.len() + text.get().len(),
            _ => name.len(),
        };
        self.0.iter().map(length).sum()
    }

    /// Replaces a member, or adds it.
    pub(super) fn set(&mut self, name: &str, member: Member<'a>) {
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = member,
            None => self.0.push((name.to_owned(), member)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(own, _)| own != name);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, text)) = map.next_entry()? {
                    members.push((name, Member::Text(text)));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, member) in &self.0 {
            match member {
                Member::Text(text) => map.serialize_entry(name, text)?,
                Member::Made(value) => map.serialize_entry(name, value)?,
                Member::List(members) => map.serialize_entry(name, members)?,
            }
        }
        map.end()
    }
}
