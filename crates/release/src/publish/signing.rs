//! The agreement before it is signed: whether it can be run, and one page to print and sign.

use std::path::Path;

use crate::Error;
use crate::agreement::{Agreement, Block};
use crate::privacy::ledger;
use crate::publish::clock;
use crate::publish::files::write_whole;
use crate::publish::report::html::Html;
use crate::release::plan;

const STYLE: &str = include_str!("signing/style.css");

/// The page, in HTML: it loads nothing, and holds all values of every attribute.
pub fn page(agreement: &Agreement) -> String {
    let mut page = Html::default();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    page.raw("style-src 'unsafe-inline'\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.element("<title>", format!("Agreement on {}", agreement.id), "</title>\n");
    page.raw("<style>").raw(STYLE).raw("</style>\n<main>\n");
    let blocks = agreement.page();
    let mut open = Open::default();
    for block in &blocks {
        open.before(block, &mut page);
        match block {
            Block::Title(title) => page.element("<h1>", title, "</h1>\n"),
            Block::Hash(hash) => page.element(
                "<p class=\"hash\">SHA-256 <code>",
                hash,
                "</code><br>Both parties must see the same.</p>\n",
            ),
            Block::Heading(heading) => page.element("<section><h2>", heading, "</h2>\n"),
            Block::Item(item) => {
                page.raw("<li>");
                words(&mut page, item);
            }
            Block::Verbatim(text) => page.element("<br><code>", text, "</code>"),
            Block::Values { all, .. } => page.element("<p class=\"values\">", all, "</p>"),
            Block::Signature { name, cap } => {
                page.element("<div class=\"sign\"><p>for ", name, "</p>");
                if let Some(cap) = cap {
                    page.element("<p><span></span>", cap, "</p>");
                }
                page.raw(
                    "<p><span></span>place and date</p><p><span></span>name and signature</p>",
                );
                page.raw("</div>\n");
            }
        }
    }
    open.end(&mut page);
    page.raw("</main>\n</html>\n");
    page.into_string()
}

/// Checks that a run under this agreement would not be rejected; the lines say what to expect of
/// it.
///
/// # Errors
/// What the model rejects, and an agreement that is no longer valid.
pub fn check(agreement: &Agreement) -> Result<Vec<String>, Error> {
    let planned =
        clock::check_valid(agreement, ledger::now()).and_then(|()| match agreement.parties() {
            Some(_) => plan::together(agreement),
            None => plan::alone(agreement),
        });
    planned.map_err(|error| {
        let message = format!("a run would be refused: {}", error.message());
        error.reworded(message)
    })?;
    plan::outlook(agreement, None)
}

/// Writes a page to a file, all of it or nothing; an older one is replaced.
///
/// # Errors
/// If it cannot be written.
pub fn write(out: &Path, page: &str) -> Result<(), Error> {
    write_whole(out, page, 0o644).map_err(|error| Error::file(out, "write", &error))
}

/// A statement, whose names in backquotes become code.
fn words(page: &mut Html, text: &str) {
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            page.element("<code>", part, "</code>");
        } else {
            page.text(part);
        }
    }
}

/// What is begun and must be ended.
#[derive(Default)]
struct Open {
    item: bool,
    list: bool,
    section: bool,
}

impl Open {
    fn before(&mut self, next: &Block, page: &mut Html) {
        let is_item = matches!(next, Block::Item(_));
        let below = matches!(next, Block::Verbatim(_) | Block::Values { .. });
        if self.item && !below {
            page.raw("</li>\n");
            self.item = false;
        }
        if self.list && !is_item && !below {
            page.raw("</ul>\n");
            self.list = false;
        }
        if is_item {
            if !self.list {
                page.raw("<ul>\n");
            }
            (self.item, self.list) = (true, true);
        }
        if matches!(next, Block::Heading(_)) {
            if self.section {
                page.raw("</section>\n");
            }
            self.section = true;
        }
    }

    fn end(&mut self, page: &mut Html) {
        for (open, close) in
            [(self.item, "</li>\n"), (self.list, "</ul>\n"), (self.section, "</section>\n")]
        {
            if open {
                page.raw(close);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_statement_every_value_and_no_markup_of_names() {
        let text = include_str!("../../../../examples/loans/agreement.toml")
            .replace("taxonomy_file = \"job.csv\"", "taxonomy = \"builtin:countries/name\"")
            .replace("\"Bank\"", "\"<b>Bank</b>\"");
        let agreement =
            Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new())).unwrap();
        let page = page(&agreement);
        assert!(page.contains(&agreement.hash().to_string()));
        assert!(page.contains("Zimbabwe") && page.contains("Tuvalu"), "all values are listed");
        assert!(!page.contains("<b>") && page.contains("&lt;b&gt;Bank"));
        assert_eq!(page.matches("class=\"sign\"").count(), 2);
        for tag in ["section", "ul", "li", "p", "code", "div"] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        let statements = agreement.page().iter().filter(|b| matches!(b, Block::Item(_))).count();
        assert_eq!(page.matches("<li>").count(), statements);
    }
}
