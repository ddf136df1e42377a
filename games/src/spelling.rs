//! What error messages show of wrong input, and known words near a misspelt one.

/// Words longer than this are not compared: they are no slip of the pen, and
/// the comparison is quadratic.
const LONGEST: usize = 64;

/// Characters of wrong input that a message shows.
const SHOWN: usize = 40;

/// A text for a message, shortened if the message would drown in it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The known words that `word` may have been meant for, nearest first.
#[must_use]
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    if word.is_empty() || word.len() > LONGEST {
        return Vec::new();
    }
    // A third of the letters may be wrong, or two that changed places; in
    // very short words one.
    let letters = word.chars().count();
    let limit = if letters < 4 { 1 } else { (letters / 3).max(2) };
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let edits = distance(&word, candidate);
            let begins = word.len() >= 3 && (candidate.starts_with(&word) || word.starts_with(candidate));
            (edits <= limit || begins).then_some((edits, candidate))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Insertions, deletions and replacements that turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts() {
        assert_eq!(shortened("é"), "é");
        assert_eq!(shortened(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(shortened(&"é".repeat(41)), "é".repeat(40) + "...");
    }

    #[test]
    fn distances() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("rusian", "russian", 1),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn near_words() {
        let known = ["russian", "russian-giveaway", "english", "pool"];
        assert_eq!(near("Rusian", known), ["russian"]);
        assert_eq!(near("russian", known), ["russian", "russian-giveaway"]);
        assert_eq!(near("chess", known), Vec::<&str>::new());
        assert_eq!(near(&"russian".repeat(1000), known), Vec::<&str>::new());
    }
}
