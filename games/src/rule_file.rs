//! Rule files: the name of a game, words about it, and a value for each axis
//! of its family.

use std::fmt::{Debug, Write as _};

use crate::fingerprint::Fingerprint;
use crate::rule_text::{RuleError, RuleText};

/// The word that stands for the value of a void axis: one that has no meaning
/// beside the others' values.
pub(crate) const VOID: &str = "-";

/// Keys of every rule file, before the axes.
const HEAD: [&str; 4] = ["name", "family", "description", "source"];

/// The rules of a family as values of its axes.
pub trait Axes: Clone + PartialEq + Eq + Debug + Send + Sync + Sized {
    /// The name of the family, as in rule files.
    const FAMILY: &'static str;
    /// Every axis, in the order in which they are written.
    const AXES: &'static [&'static str];
    /// Axes that change names or start positions but no table.
    const NOT_IN_TABLES: &'static [&'static str];

    /// Reads the axes of a rule file.
    ///
    /// # Errors
    ///
    /// A missing axis, or a value that an axis cannot have.
    fn read(file: &RuleText<'_>) -> Result<Self, RuleError>;

    /// Every axis and its value in the words of the rule files, in their
    /// order; `-` for a void axis.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// The same rules in one spelling: equal for two rule sets exactly if
    /// their tables are the same by construction.
    fn normal(&self) -> Self;

    /// Writes the axes that are not void as [`read`](Self::read) reads them.
    fn write(&self, out: &mut String) {
        for (axis, value) in self.values() {
            write_axis(out, axis, &value);
        }
    }
}

/// The hash of every axis that can change a table's values.
pub(crate) fn fingerprint<R: Axes>(rules: &R) -> Fingerprint {
    let mut text = format!("petrov {} rules 1\n", R::FAMILY);
    for (axis, value) in rules.normal().values() {
        if value != VOID && !R::NOT_IN_TABLES.contains(&axis) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{axis}={value}");
        }
    }
    Fingerprint::of_text(&text)
}

/// Writes an axis in TOML, if it is not void.
pub(crate) fn write_axis(out: &mut String, axis: &str, value: &str) {
    let _ = match value {
        VOID => Ok(()),
        "yes" | "true" => writeln!(out, "{axis} = true"),
        "no" | "false" => writeln!(out, "{axis} = false"),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => writeln!(out, "{axis} = {number}"),
        other => writeln!(out, "{axis} = {}", toml_string(other)),
    };
}

/// A string with its quotes.
pub(crate) fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// What a rule file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleFile<R> {
    /// Name of the game.
    pub name: String,
    /// One line about the game; may be empty.
    pub description: String,
    /// Where the rules come from; may be empty.
    pub source: String,
    /// The rules, normalised as to void axes only.
    pub rules: R,
}

impl<R: Axes> RuleFile<R> {
    /// Reads the text of a rule file. `description` and `source` may be left
    /// out; void axes may, or be `"-"`.
    ///
    /// # Errors
    ///
    /// The first [`RuleError`] found: text that is not TOML, another family, an
    /// unknown key, a missing axis, or a value that an axis cannot have.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let file = RuleText::read(text)?;
        let expected = format!("\"{}\"", R::FAMILY);
        let family = file.required("family", &expected)?;
        if family.string() != Some(R::FAMILY) {
            return Err(family.unexpected(expected));
        }
        Self::of(&file)
    }

    /// Reads a rule file of this family.
    pub(crate) fn of(file: &RuleText<'_>) -> Result<Self, RuleError> {
        file.check_keys(&[&HEAD[..], R::AXES].concat())?;
        Ok(Self {
            name: file.name()?,
            description: file.line("description")?,
            source: file.line("source")?,
            rules: R::read(file)?,
        })
    }

    /// The rule file that [`parse`](Self::parse) reads back as `self`, with
    /// every axis that is not void.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        let head = [&self.name, R::FAMILY, &self.description, &self.source];
        for (key, value) in HEAD.iter().zip(head) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{key} = {}", toml_string(value));
        }
        out.push('\n');
        self.rules.write(&mut out);
        out
    }
}
