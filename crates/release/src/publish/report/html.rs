//! Text that becomes HTML: markup comes from the program alone, and everything else is escaped.

use std::fmt::Display;

/// A piece of a page. Markup can only be a literal of the program, so no data can become markup.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Markup that is constant in the program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Anything else, escaped for text and for quoted attributes alike.
    pub fn text(&mut self, text: impl Display) -> &mut Self {
        for character in text.to_string().chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other if is_misleading(other) => self.0.push('\u{fffd}'),
                other => self.0.push(other),
            }
        }
        self
    }

    /// An element without attributes that holds a text; `name` begins no tag of its own.
    pub fn element(&mut self, open: &'static str, text: impl Display, close: &'static str) {
        self.raw(open).text(text).raw(close);
    }

    /// Another piece.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// The page.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Characters that are not seen themselves but change how others are: controls, and marks that
/// turn the direction of writing for what follows.
fn is_misleading(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Html;

    proptest! {
        #[test]
        fn no_text_becomes_markup_and_none_is_lost(text in "\\PC{0,40}|[<>&\"'a;#]{0,20}") {
            let mut html = Html::default();
            html.text(&text);
            let html = html.into_string();
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
            let back = html
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
            let turned = text.chars().any(super::is_misleading);
            prop_assert!(turned || back == text, "{html}");
        }
    }

    #[test]
    fn characters_that_mislead_the_eye_are_shown_as_unknown() {
        let mut html = Html::default();
        html.text("a\u{202e}b\u{0}c\u{1b}");
        assert_eq!(html.into_string(), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }
}
