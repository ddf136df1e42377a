//! A reader for the oracles, as much of JSON as they use.

use std::collections::BTreeMap;

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// The value of a key that must be there.
    pub(crate) fn get(&self, key: &str) -> &Self {
        match self {
            Self::Object(entries) => entries.get(key).unwrap_or_else(|| panic!("no {key}")),
            other => panic!("{other:?} instead of an object with {key}"),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("{other:?} instead of a string"),
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            other => panic!("{other:?} instead of a list"),
        }
    }

    pub(crate) fn integer(&self) -> u64 {
        match self {
            Self::Number(number) => *number as u64,
            other => panic!("{other:?} instead of a number"),
        }
    }
}

/// Reads a text; panics if it is not what the oracles are written in.
pub(crate) fn parse(text: &str) -> Json {
    let mut reader = Reader { rest: text };
    let value = reader.value();
    assert_eq!(reader.rest.trim(), "", "more after the value");
    value
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Json {
        if self.take("{") {
            let mut entries = BTreeMap::new();
            while !self.take("}") {
                assert!(self.take("\""));
                let key = self.string().to_owned();
                assert!(self.take(":"), "no value of {key}");
                entries.insert(key, self.value());
                let _ = self.take(",");
            }
            Json::Object(entries)
        } else if self.take("[") {
            let mut list = Vec::new();
            while !self.take("]") {
                list.push(self.value());
                let _ = self.take(",");
            }
            Json::List(list)
        } else if self.take("\"") {
            Json::Text(self.string().to_owned())
        } else if self.take("null") {
            Json::Null
        } else {
            let end = self.rest.find([',', '}', ']', '\n']).unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            Json::Number(
                number
                    .trim()
                    .parse()
                    .unwrap_or_else(|_| panic!("{number:?} is no value")),
            )
        }
    }

    /// The rest of a string after its opening quote.
    fn string(&mut self) -> &'a str {
        let (text, rest) = self.rest.split_once('"').expect("an unfinished string");
        assert!(!text.contains('\\'), "an escape in {text}");
        self.rest = rest;
        text
    }
}
