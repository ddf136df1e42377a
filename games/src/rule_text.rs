//! Reading rule files: a flat TOML table whose values are checked one by one,
//! so that every complaint can point at its place.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::spelling;

/// What is wrong with a rule file. The message is one line that names the
/// place, the key and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// Line and column, both from 1; `None` where a key is missing.
    pub place: Option<(usize, usize)>,
    /// The key concerned; `None` if the text is not TOML.
    pub key: Option<String>,
    /// What is wrong.
    pub kind: RuleErrorKind,
}

/// The ways in which a rule file can be wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleErrorKind {
    /// The text is not TOML; what the TOML reader says.
    Syntax(String),
    /// No such key.
    UnknownKey {
        /// The known keys, after those near it.
        known: String,
    },
    /// A key that these rules need is not there.
    Missing {
        /// What its value may be.
        expected: String,
    },
    /// The key has a value that it cannot have.
    Value {
        /// The value as written.
        found: String,
        /// What it may be.
        expected: String,
    },
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        let key = self.key.as_deref().unwrap_or_default();
        match &self.kind {
            RuleErrorKind::Syntax(message) => write!(f, "not valid TOML: {message}"),
            RuleErrorKind::UnknownKey { known } => write!(f, "unknown key `{}`; {known}", key.escape_debug()),
            RuleErrorKind::Missing { expected } => write!(f, "key `{key}` is missing; expected {expected}"),
            RuleErrorKind::Value { found, expected } => {
                write!(f, "key `{key}`: found {found}, expected {expected}")
            }
        }
    }
}

impl std::error::Error for RuleError {}

/// The words of an axis and what they stand for.
pub(crate) type Words<T> = [(T, &'static str)];

/// The words of an axis that is either so or not.
pub(crate) const YES_NO: &Words<bool> = &[(true, "yes"), (false, "no")];

/// The word for a value.
pub(crate) fn word<T: Copy + PartialEq>(words: &Words<T>, value: T) -> &'static str {
    // Every value of an axis is in its list, which the tests check.
    words.iter().find(|(v, _)| *v == value).map_or("?", |(_, word)| word)
}

/// Longest `name`; names become names of folders.
const LONGEST_NAME: usize = 64;

/// A rule file split into keys and values.
pub struct RuleText<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl<'a> RuleText<'a> {
    /// Splits the text; an error if it is not TOML.
    pub(crate) fn read(text: &'a str) -> Result<Self, RuleError> {
        let table = DeTable::parse(text).map_err(|error| RuleError {
            place: error.span().map(|span| place(text, span.start)),
            key: None,
            kind: RuleErrorKind::Syntax(error.message().trim().replace('\n', "; ")),
        })?;
        let table = table.into_inner();
        Ok(Self { text, table })
    }

    /// An error if there is a key that is none of the `known` ones.
    pub(crate) fn check_keys(&self, known: &[&str]) -> Result<(), RuleError> {
        let stranger = self
            .table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        match stranger {
            Some(key) => Err(unknown_key(
                self.text,
                key.span().start,
                key.get_ref(),
                key.get_ref(),
                known,
            )),
            None => Ok(()),
        }
    }

    fn get(&self, key: &str) -> Option<&Spanned<DeValue<'a>>> {
        self.table
            .iter()
            .find(|(name, _)| name.get_ref().as_ref() == key)
            .map(|(_, value)| value)
    }

    /// The value of a key that must be there.
    pub(crate) fn required(&self, key: &'static str, expected: &str) -> Result<Entry<'_>, RuleError> {
        self.optional(key).ok_or_else(|| RuleError {
            place: None,
            key: Some(key.to_owned()),
            kind: RuleErrorKind::Missing {
                expected: expected.to_owned(),
            },
        })
    }

    /// The value of a key, if it is there.
    pub(crate) fn optional(&self, key: &'static str) -> Option<Entry<'_>> {
        let value = self.get(key)?;
        Some(Entry {
            text: self.text,
            key: key.to_owned(),
            value: value.get_ref(),
            span: value.span(),
        })
    }

    /// One of the words of an axis. With `void`, the axis has no meaning for
    /// the others' values: it may be left out or be `-`, any word of the axis
    /// is let pass, and the value is that of `void`.
    pub(crate) fn choice<T: Copy + PartialEq>(
        &self,
        key: &'static str,
        words: &'static Words<T>,
        void: Option<T>,
    ) -> Result<T, RuleError> {
        let expected = expected_words(words, &[]);
        let entry = match void {
            Some(fixed) => match self.optional(key) {
                Some(entry) if entry.string() != Some("-") => entry,
                _ => return Ok(fixed),
            },
            None => self.required(key, &expected)?,
        };
        let found = words.iter().find(|(_, word)| entry.string() == Some(word));
        let (value, _) = found.ok_or_else(|| entry.unexpected(expected))?;
        Ok(void.unwrap_or(*value))
    }

    /// As [`choice`](Self::choice) between `yes` and `no`, which may also be
    /// written as TOML booleans.
    pub(crate) fn yes_no(&self, key: &'static str, void: Option<bool>) -> Result<bool, RuleError> {
        match self.optional(key).and_then(|entry| entry.boolean()) {
            Some(value) => Ok(void.unwrap_or(value)),
            None => self.choice(key, YES_NO, void).map_err(|mut error| {
                if let RuleErrorKind::Missing { expected } | RuleErrorKind::Value { expected, .. } = &mut error.kind {
                    *expected = expected_words(YES_NO, &["true", "false"]);
                }
                error
            }),
        }
    }
}

impl RuleText<'_> {
    /// One of the words of an axis that may be left out and then has the value
    /// `default`. `void` is as in [`choice`](Self::choice).
    pub(crate) fn choice_or<T: Copy + PartialEq>(
        &self,
        key: &'static str,
        words: &'static Words<T>,
        void: Option<T>,
        default: T,
    ) -> Result<T, RuleError> {
        if void.is_none() && self.optional(key).is_none() {
            return Ok(default);
        }
        self.choice(key, words, void)
    }

    /// The `name`, which has to be there.
    pub(crate) fn name(&self) -> Result<String, RuleError> {
        let expected = format!("letters, digits, `-`, `_` and `.`, a letter or digit first, at most {LONGEST_NAME}");
        let entry = self.required("name", &expected)?;
        // The name is a folder below the tables' one and must stay there.
        let good = entry.string().filter(|name| {
            name.len() <= LONGEST_NAME
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        });
        good.map(str::to_owned).ok_or_else(|| entry.unexpected(expected))
    }

    /// A line of text; empty if it is not there.
    pub(crate) fn line(&self, key: &'static str) -> Result<String, RuleError> {
        let Some(entry) = self.optional(key) else {
            return Ok(String::new());
        };
        let good = entry.string().filter(|text| !text.contains(char::is_control));
        good.map(str::to_owned)
            .ok_or_else(|| entry.unexpected("one line of text"))
    }
}

/// The error for a key that is none of the `known` ones; `path` is the key
/// with those of the tables around it.
fn unknown_key(text: &str, start: usize, key: &str, path: &str, known: &[&str]) -> RuleError {
    let near = spelling::near(key, known.iter().copied());
    let list = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    RuleError {
        place: Some(place(text, start)),
        key: Some(path.to_owned()),
        kind: RuleErrorKind::UnknownKey {
            known: format!(
                "{}known keys are {}",
                if near.is_empty() {
                    String::new()
                } else {
                    format!("did you mean {}? ", list(&near))
                },
                list(known)
            ),
        },
    }
}

/// `one of "a", "b", true, false`.
fn expected_words<T>(words: &Words<T>, bare: &[&str]) -> String {
    let quoted = words.iter().map(|(_, word)| format!("\"{word}\""));
    let all: Vec<String> = quoted.chain(bare.iter().map(|&word| word.to_owned())).collect();
    format!("{}{}", if all.len() > 1 { "one of " } else { "" }, all.join(", "))
}

/// One value of a rule file.
pub(crate) struct Entry<'a> {
    text: &'a str,
    key: String,
    value: &'a DeValue<'a>,
    span: Range<usize>,
}

/// A key of a table within a rule file, with its value.
pub(crate) struct Member<'a> {
    /// The key within its table.
    pub(crate) name: &'a str,
    /// The value; its key is the whole path.
    pub(crate) entry: Entry<'a>,
    start: usize,
}

impl Member<'_> {
    /// The error that the table can have no such key.
    pub(crate) fn unknown(&self, known: &[&str]) -> RuleError {
        unknown_key(self.entry.text, self.start, self.name, &self.entry.key, known)
    }

    /// The error that the key is not of the form expected.
    pub(crate) fn unexpected(&self, expected: impl Into<String>) -> RuleError {
        RuleError {
            place: Some(place(self.entry.text, self.start)),
            key: Some(self.entry.key.clone()),
            kind: RuleErrorKind::Value {
                found: format!("the key {}", quoted(self.name)),
                expected: expected.into(),
            },
        }
    }
}

impl<'a> Entry<'a> {
    /// The members in the order of the file, if the value is a table.
    pub(crate) fn members(&self) -> Option<Vec<Member<'a>>> {
        let table = self.value.as_table()?;
        let mut members: Vec<Member<'a>> = table
            .iter()
            .map(|(key, value)| Member {
                name: key.get_ref(),
                start: key.span().start,
                entry: Entry {
                    text: self.text,
                    key: format!("{}.{}", self.key, key.get_ref()),
                    value: value.get_ref(),
                    span: value.span(),
                },
            })
            .collect();
        members.sort_by_key(|member| member.start);
        Some(members)
    }

    /// The elements, if the value is an array.
    pub(crate) fn elements(&self) -> Option<Vec<Entry<'a>>> {
        let array = self.value.as_array()?;
        let elements = array.iter().map(|value| Entry {
            text: self.text,
            key: self.key.clone(),
            value: value.get_ref(),
            span: value.span(),
        });
        Some(elements.collect())
    }

    /// The value, if it is a TOML boolean.
    pub(crate) fn boolean(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// The value, if it is a string.
    pub(crate) fn string(&self) -> Option<&str> {
        self.value.as_str()
    }

    /// The value, if it is an integer that fits.
    pub(crate) fn integer(&self) -> Option<i64> {
        let integer = self.value.as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// Files and ranks, if the value is a size such as `8x8`, in one spelling
    /// only: no sign, no leading zero.
    pub(crate) fn size(&self) -> Option<(u8, u8)> {
        let text = self.string()?;
        let (files, ranks) = text.split_once('x')?;
        let (files, ranks) = (files.parse().ok()?, ranks.parse().ok()?);
        (size_text(files, ranks) == text).then_some((files, ranks))
    }

    /// The error that the value is none of what was expected.
    pub(crate) fn unexpected(&self, expected: impl Into<String>) -> RuleError {
        let found: Cow<'_, str> = match self.value {
            DeValue::Array(_) => "an array".into(),
            DeValue::Table(_) => "a table".into(),
            DeValue::String(string) => quoted(string).into(),
            _ => self.text.get(self.span.clone()).unwrap_or_default().into(),
        };
        RuleError {
            place: Some(place(self.text, self.span.start)),
            key: Some(self.key.clone()),
            kind: RuleErrorKind::Value {
                found: found.into_owned(),
                expected: expected.into(),
            },
        }
    }
}

/// Files and ranks of a board, such as `8x8`.
pub(crate) fn size_text(files: u8, ranks: u8) -> String {
    format!("{files}x{ranks}")
}

/// A string in quotes, shortened if need be.
fn quoted(string: &str) -> String {
    format!("\"{}\"", spelling::shortened(string).escape_debug())
}

/// Line and column (in characters) of a byte offset, both from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
