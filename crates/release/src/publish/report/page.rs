//! The page itself: headings, pictures and tables, in the order in which a reader asks.

use sha2::{Digest, Sha256};

use super::costs::Costs;
use super::facts::{Facts, Told};
use super::html::Html;
use crate::publish::width::SURE;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Rows that are printed.
const MOST_PRINTED: usize = 40;
/// Colours for classes; they repeat.
pub const COLOURS: usize = 6;

/// Values of a column that are listed.
const MOST_VALUES: usize = 24;

const PROMISED: &str = "What is promised to every person in the data";
const LEARNED: &str = "What the parties learn about each other's data";
const NOT_COVERED: &str = "What is not covered";

/// What a column of the table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Attribute,
    Class,
    Count,
    Constant,
}

impl Column {
    fn open_head(self) -> &'static str {
        match self {
            Self::Attribute => "<th scope=\"col\">",
            Self::Class => "<th scope=\"col\" class=\"class\">",
            Self::Count => "<th scope=\"col\" class=\"figure total\">",
            Self::Constant => "<th scope=\"col\" class=\"constant\">",
        }
    }

    fn open(self) -> &'static str {
        match self {
            Self::Attribute => "<td>",
            Self::Class => "<td class=\"class\">",
            Self::Count => "<td class=\"figure total\">",
            Self::Constant => "<td class=\"constant\">",
        }
    }
}

impl Facts {
    /// The page; with costs it is one for the party's own eyes.
    pub fn page(&self, costs: Option<&Costs>) -> String {
        let mut html = Html::default();
        self.head(costs.is_some(), &mut html);
        self.banner(costs.is_some(), &mut html);
        html.raw("<main id=\"main\">\n");
        if !self.trees.is_empty() {
            self.left(&mut html);
            self.pictures(&mut html);
        }
        self.promise(&mut html);
        self.table(&mut html);
        self.budget(&mut html);
        if let Some(costs) = costs {
            costs.section(&mut html);
        }
        self.proof(&mut html);
        self.agreement(&mut html);
        html.raw("</main>\n<footer>\n<p>Made by diptych ");
        html.text(&self.version);
        html.raw(
            " from manifest.json and release.csv. This page loads nothing and sends nothing.</p>\n\
             </footer>\n<script>",
        );
        html.raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
        html.into_string()
    }

    /// The picture alone, as a page without a script.
    pub fn picture(&self) -> String {
        let mut html = Html::default();
        self.head(false, &mut html);
        html.raw("<main id=\"main\">\n");
        if let Some(warning) = &self.warning {
            html.element("<p class=\"private\">", warning, "</p>\n");
        }
        self.mostly_constant(&mut html);
        self.pictures(&mut html);
        html.raw("</main>\n</body>\n</html>\n");
        html.into_string()
    }

    fn head(&self, private: bool, html: &mut Html) {
        html.raw(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; \
             style-src &#39;sha256-",
        );
        html.text(base64(&Sha256::digest(STYLE))).raw("&#39;; script-src &#39;sha256-");
        html.text(base64(&Sha256::digest(SCRIPT)));
        html.raw(
            "&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        );
        html.text(&self.id).raw(if private {
            " – private report"
        } else {
            " – release report"
        });
        html.raw("</title>\n<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
    }

    fn banner(&self, private: bool, html: &mut Html) {
        html.raw("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n");
        if private {
            html.raw(
                "<p class=\"private\"><strong>Private.</strong> Holds sizes and times that ε ",
            )
            .raw("does not protect. Do not pass it on.</p>\n");
        }
        if let Some(warning) = &self.warning {
            html.element("<p class=\"private\">", warning, "</p>\n");
        }
        self.mostly_constant(html);
        html.raw(match self.promise {
            Told::Differential { .. } => "<p class=\"kind\">Differentially private release</p>\n",
            Told::Words(_) => "<p class=\"kind\">Release</p>\n",
        });
        html.element("<h1>", &self.id, "</h1>\n");
        html.raw("<p class=\"by\">by ");
        match &self.parties[..] {
            [p1, p2] => html.text(p1).raw(" and ").text(p2),
            _ => html.raw("one organisation"),
        };
        html.raw("</p>\n<dl class=\"key\">\n");
        let (rows, steps) = (self.all_rows.to_string(), self.steps.len().to_string());
        let promised = match &self.promise {
            Told::Differential { epsilon, delta } => {
                vec![("privacy loss ε", epsilon), ("failure chance δ, at most", delta)]
            }
            Told::Words(words) => vec![("promise", words)],
        };
        let sizes = [("rows", &rows), ("specializations", &steps)];
        let sizes = sizes.into_iter().take(if self.trees.is_empty() { 1 } else { 2 });
        for (name, value) in promised.into_iter().chain(sizes) {
            html.raw("<div>");
            html.element("<dt>", name, "</dt>");
            html.element("<dd>", value, "</dd></div>\n");
        }
        html.raw("</dl>\n<nav aria-label=\"On this page\"><ul>");
        if !self.trees.is_empty() {
            html.raw("<li><a href=\"#left\">Columns</a></li>");
            html.raw("<li><a href=\"#values\">Values</a></li>");
        }
        html.raw("<li><a href=\"#promise\">Promise</a></li>")
            .raw("<li><a href=\"#table\">Table</a></li>");
        if matches!(self.promise, Told::Differential { .. }) {
            html.raw("<li><a href=\"#budget\">Budget</a></li>");
        }
        if private {
            html.raw("<li><a href=\"#costs\">Costs</a></li>");
        }
        html.raw("<li><a href=\"#proof\">Proof</a></li>")
            .raw("<li><a href=\"#agreement\">Agreement</a></li></ul></nav>\n</header>\n");
    }

    fn promise(&self, html: &mut Html) {
        section("promise", "The promise", html);
        let (epsilon, delta) = match &self.promise {
            Told::Differential { epsilon, delta } => (epsilon, delta),
            Told::Words(words) => {
                html.element("<p class=\"lead\">", words, "</p>\n");
                self.words(&[PROMISED, LEARNED, NOT_COVERED], html);
                html.raw("</section>\n");
                return;
            }
        };
        html.raw(
            "<p class=\"lead\">This table would have been about as likely to come out without ",
        )
        .raw("any one person’s record as with it. How nearly is told by ε = ");
        html.text(epsilon).raw(" (less is safer) and δ ≤ ").text(delta);
        html.raw(
            ". Compared are any two collections of data that are <em>neighbours</em>: one is the \
             other with the record of one person added, and the agreement admits both.</p>\n",
        );
        self.words(&[PROMISED, LEARNED, NOT_COVERED], html);
        html.raw("</section>\n");
    }

    /// Sections of the agreement's plain words.
    fn words(&self, wanted: &[&str], html: &mut Html) {
        for (heading, items) in self.words.iter().filter(|(name, _)| wanted.contains(&&name[..])) {
            html.element("<h3>", heading, "</h3>\n<ul>\n");
            for item in items {
                html.raw("<li>");
                quoted(item, html);
                html.raw("</li>\n");
            }
            html.raw("</ul>\n");
        }
    }

    /// A warning where more than half of the columns hold one value.
    fn mostly_constant(&self, html: &mut Html) {
        let constant = self.trees.iter().filter(|tree| tree.released().len() == 1).count();
        if 2 * constant > self.trees.len() {
            html.raw("<p class=\"private\"><strong>Most columns are constant.</strong> ");
            html.text(constant).raw(" of ").text(self.trees.len());
            html.raw(" columns were not divided and have one value in every row: this release ")
                .raw("says nothing about them.</p>\n");
        }
    }

    /// What is left of each column: its released values and their counts.
    fn left(&self, html: &mut Html) {
        section("left", "What is left of each column", html);
        let noisy = matches!(self.promise, Told::Differential { .. });
        html.raw("<p>Nothing finer than these values is in the release. Beside each stands its ")
            .raw(if noisy { "noisy count" } else { "count" })
            .raw(", and a bar divides all people among them.</p>\n<dl class=\"left\">\n");
        for tree in &self.trees {
            let values = tree.released();
            html.element("<div><dt>", &tree.attribute, " <span>");
            match values.len() {
                1 => html.raw("not divided: constant in this release"),
                several => html.raw("divided into ").text(several).raw(" values"),
            };
            html.raw("</span></dt>\n<dd>");
            bar(&values, html);
            html.raw("<ul>");
            for (name, count) in values.iter().take(MOST_VALUES) {
                html.element("<li>", name, "");
                if let Some(count) = count {
                    html.element(" <b>", count, "</b>");
                }
                html.raw("</li> ");
            }
            if values.len() > MOST_VALUES {
                html.element("<li>and ", values.len() - MOST_VALUES, " more</li>");
            }
            html.raw("</ul></dd></div>\n");
        }
        html.raw("</dl>\n</section>\n");
    }

    fn pictures(&self, html: &mut Html) {
        section("values", "How the values were divided", html);
        let (privately, noisy) = match self.promise {
            Told::Differential { .. } => match self.spends.iter().any(|part| part.is_choice()) {
                true => (", chosen privately,", "noisy counts"),
                false => ("", "noisy counts"),
            },
            Told::Words(_) => ("", "counts"),
        };
        html.raw("<p>Every value begins as coarse as it can be. In each step one value")
            .raw(privately)
            .raw(" is replaced by finer ones; the circles number the steps. Bars and ")
            .raw("figures add up the ")
            .raw(noisy)
            .raw(if self.class.is_empty() { " of the table." } else { " of the table, by " });
        let classes = if self.class.is_empty() { &[][..] } else { &self.classes };
        if !self.class.is_empty() {
            html.element("<code>", &self.class, "</code>: ");
        }
        for (index, class) in classes.iter().enumerate() {
            html.raw(
                "<span class=\"legend\"><svg width=\"12\" height=\"12\" aria-hidden=\"true\">",
            )
            .raw("<rect class=\"class-");
            html.text(index % COLOURS).raw("\" width=\"12\" height=\"12\"/></svg> ");
            html.text(class).raw("</span> ");
        }
        html.raw("</p>\n<div class=\"trees\">\n");
        for (number, tree) in self.trees.iter().enumerate().filter(|(_, tree)| tree.is_divided()) {
            html.raw("<figure>\n");
            html.element("<figcaption>", &tree.attribute, "</figcaption>\n");
            html.append(&tree.svg(number)).raw("</figure>\n");
        }
        html.raw("</div>\n");
        let mut undivided = self.trees.iter().filter(|tree| !tree.is_divided()).peekable();
        if undivided.peek().is_some() {
            html.raw("<p class=\"undivided\">Never divided: ");
            for (place, tree) in undivided.enumerate() {
                html.raw(if place > 0 { ", " } else { "" });
                html.element("<b>", &tree.attribute, "</b>");
                html.raw("\u{a0}(").text(tree.topmost_name()).raw(")");
            }
            html.raw(".</p>\n");
        }
        html.raw("<h3>The steps in order</h3>\n");
        if self.steps.is_empty() {
            html.raw("<p>None: the table has one row for each class.</p>\n");
        } else {
            html.raw("<ol class=\"steps\">\n");
            for (attribute, value, into) in &self.steps {
                html.element("<li><b>", attribute, "</b>: ");
                html.text(value).raw(" <span aria-label=\"into\">→</span> ");
                html.element("", into.join(", "), "</li>\n");
            }
            html.raw("</ol>\n");
        }
        html.raw("</section>\n");
    }

    fn table(&self, html: &mut Html) {
        section("table", "The table", html);
        html.raw("<p>");
        if matches!(self.promise, Told::Differential { .. }) {
            html.raw("Every count carries random noise, also where nobody was counted");
            if let Some(width) = self.width {
                html.raw(": in ").text(SURE).raw(" of 100 cases at most ±").text(width);
                html.raw(", before negative counts were set to 0");
            }
            html.raw(". ");
        }
        if (self.rows.len() as u64) < self.all_rows {
            html.raw("Shown are the first ").text(self.rows.len()).raw(" of ").text(self.all_rows);
            html.raw(" rows; release.csv has all.");
        }
        html.raw(
            "</p>\n<div id=\"search-box\" role=\"search\" hidden>\
             <label for=\"search\">Search these rows</label> \
             <input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" \
             aria-controls=\"rows\"> <output id=\"found\" for=\"search\"></output></div>\n\
             <div class=\"wide long\" tabindex=\"0\" role=\"region\" aria-labelledby=\"rows-caption\">\
             <table id=\"rows\"><caption id=\"rows-caption\">",
        );
        html.raw(if (self.rows.len() as u64) < self.all_rows {
            "The first rows of release.csv"
        } else {
            "All rows of release.csv"
        });
        html.raw("</caption>\n<thead><tr>");
        let columns = self.columns();
        for (place, kind) in &columns {
            html.raw(kind.open_head()).text(&self.header[*place]).raw("</th>");
        }
        html.raw("</tr></thead>\n<tbody>\n");
        for (number, row) in self.rows.iter().enumerate() {
            html.raw(if number < MOST_PRINTED { "<tr>" } else { "<tr class=\"screen\">" });
            for (place, kind) in &columns {
                html.raw(kind.open()).text(&row[*place]).raw("</td>");
            }
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table></div>\n");
        if self.rows.len() > MOST_PRINTED {
            html.raw("<p class=\"printed\">Printed are the first ").text(MOST_PRINTED);
            html.raw(" of ").text(self.all_rows).raw(" rows; release.csv has all.</p>\n");
        }
        html.raw("</section>\n");
    }

    /// The columns as the page shows them: what differs, class and count, and then what is the same
    /// in every row.
    fn columns(&self) -> Vec<(usize, Column)> {
        let last = self.header.len().saturating_sub(1);
        let kind = |place: usize| match place {
            place if place == last => Column::Count,
            place if place + 1 == last => Column::Class,
            place if self.constant.contains(&place) => Column::Constant,
            _ => Column::Attribute,
        };
        let mut columns: Vec<_> =
            (0..self.header.len()).map(|place| (place, kind(place))).collect();
        columns.sort_by_key(|(_, kind)| *kind == Column::Constant);
        columns
    }

    fn budget(&self, html: &mut Html) {
        let Told::Differential { epsilon, .. } = &self.promise else { return };
        section("budget", "What was spent", html);
        html.raw("<p>The parts add up to ε = ").text(epsilon);
        html.raw("; decimals are rounded so that they do too.");
        if self.ledgers {
            html.raw(" Each party’s ledger was debited all of it before the data was used.");
        }
        html.raw(
            "</p>\n\
             <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"budget-caption\">\
             <table><caption id=\"budget-caption\">Privacy budget by step</caption>\n\
             <thead><tr><th scope=\"col\">step</th><th scope=\"col\" class=\"figure\">ε, exactly</th>\
             <th scope=\"col\" class=\"figure\">ε</th><td class=\"bar\"></td></tr></thead>\n<tbody>\n",
        );
        for spend in &self.spends {
            html.element("<tr><th scope=\"row\">", &spend.name, "</th>");
            html.element("<td class=\"figure\">", &spend.exact, "</td>");
            html.element("<td class=\"figure\">", &spend.decimal, "</td>");
            html.raw(
                "<td class=\"bar\"><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" ",
            )
            .raw("aria-hidden=\"true\"><rect class=\"class-0\" width=\"");
            html.text(spend.thousandths).raw("\" height=\"10\"/></svg></td></tr>\n");
        }
        html.element(
            "</tbody>\n<tfoot><tr><th scope=\"row\">together</th><td class=\"figure\">",
            epsilon,
            "</td>",
        );
        html.element("<td class=\"figure\">", epsilon, "</td><td class=\"bar\"></td></tr></tfoot>");
        html.raw("</table></div>\n</section>\n");
    }

    fn proof(&self, html: &mut Html) {
        section("proof", "Hashes and signatures", html);
        html.raw(
            "<p>When this page was made, the release was verified:</p>\n<ul class=\"checks\">\n",
        );
        for (what, found) in &self.checks {
            html.element("<li><b>", what, "</b>: ");
            html.text(found).raw("</li>\n");
        }
        html.raw("</ul>\n<p>A page can be forged, signatures cannot: check with <code>diptych ")
            .raw("verify</code> and the directory that holds release.csv and manifest.json, and ")
            .raw("compare the fingerprints with those that the organisations publish.</p>\n")
            .raw("<dl class=\"hashes\">\n");
        for (what, hash) in &self.hashes {
            html.element("<dt>SHA-256 of ", what, "</dt>");
            html.element("<dd><code>", hash, "</code></dd>\n");
        }
        for signed in &self.signatures {
            for (what, value) in [
                ("Fingerprint", &signed.fingerprint),
                ("Public key (Ed25519)", &signed.public_key),
                ("Signature", &signed.signature),
            ] {
                html.raw("<dt>").text(what).raw(" of ").text(&signed.name).raw("</dt>");
                html.element("<dd><code>", value, "</code></dd>\n");
            }
        }
        html.raw("</dl>\n</section>\n");
    }

    fn agreement(&self, html: &mut Html) {
        section("agreement", "The agreement", html);
        html.raw("<p>What was agreed before the run, in plain words.</p>\n");
        self.words(&["Who", "What is published", "How it is computed"], html);
        html.raw("</section>\n");
    }
}

/// All people, divided among the values of a column. The list below it says the same in words.
fn bar(values: &[(&str, Option<u64>)], html: &mut Html) {
    const LENGTH: u128 = 1000;
    let counts: Vec<u64> = values.iter().filter_map(|(_, count)| *count).collect();
    let all: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    html.raw(if values.len() == 1 { "<svg class=\"whole\"" } else { "<svg" });
    html.raw(" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut before = 0u128;
    for (place, count) in counts.iter().enumerate() {
        let from = before * LENGTH / all.max(1);
        before += u128::from(*count);
        let width = (before * LENGTH / all.max(1)) - from;
        html.raw(if place % 2 == 0 { "<rect class=\"part\"" } else { "<rect class=\"next part\"" });
        html.raw(" x=\"").text(from).raw("\" width=\"").text(width).raw("\" height=\"10\"/>");
    }
    html.raw("</svg>");
}

/// The agreement's words put names of columns and values between backticks.
fn quoted(text: &str, html: &mut Html) {
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('`') {
        let Some((name, after)) = tail.split_once('`') else { break };
        html.text(before);
        html.element("<code>", name, "</code>");
        rest = after;
    }
    html.text(rest);
}

fn section(id: &'static str, title: &'static str, html: &mut Html) {
    html.raw("<section id=\"").raw(id).raw("\" aria-labelledby=\"").raw(id).raw("-title\">\n");
    html.raw("<h2 id=\"").raw(id).raw("-title\">").raw(title).raw("</h2>\n");
}

/// As a content security policy writes hashes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) as usize & 63;
            text.push(if place <= chunk.len() { DIGITS[digit].into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::facts::{Signed, Spend};
    use super::super::tree::Tree;
    use super::*;

    /// Facts in which every text is this one.
    fn facts(text: &str) -> Facts {
        let s = || text.to_owned();
        let mut tree = Tree::topmost(text, text, 1);
        tree.divide(1, text, &[s(), s()]);
        Facts {
            id: s(),
            version: s(),
            promise: Told::Differential { epsilon: s(), delta: s() },
            warning: Some(s()),
            parties: vec![s(), s()],
            words: vec![(PROMISED.to_owned(), vec![s()]), ("Who".to_owned(), vec![s()])],
            trees: vec![tree],
            steps: vec![(s(), s(), vec![s(), s()])],
            class: s(),
            classes: vec![s()],
            header: vec![s(), s()],
            rows: vec![vec![s(), s()]],
            constant: Vec::new(),
            all_rows: 7,
            spends: vec![Spend { name: s(), exact: s(), decimal: s(), thousandths: 3 }],
            width: Some(3),
            ledgers: true,
            checks: vec![(s(), s())],
            hashes: vec![(s(), s())],
            signatures: vec![Signed {
                name: s(),
                fingerprint: s(),
                public_key: s(),
                signature: s(),
            }],
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_tag_or_attribute_comes_from_data(
            text in "\\PC{0,30}|[<>/\"'=& a]{0,30}|</(script|style|title|svg)><script>"
        ) {
            // Text between two backticks is put into an element of its own, and a class without a
            // name is none.
            let text = format!("a{}", text.replace('`', ""));
            let (page, plain) = (facts(&text).page(None), facts("ax").page(None));
            for mark in ['<', '>', '"', '\''] {
                prop_assert_eq!(page.matches(mark).count(), plain.matches(mark).count());
            }
        }
    }

    #[test]
    fn what_is_the_same_in_every_row_stands_last_and_few_rows_are_printed() {
        let names = ["same", "job", "class", "count"].map(str::to_owned).to_vec();
        let rows =
            (0..100).map(|row| ["x".into(), format!("j{row}"), "Y".into(), "1".into()].into());
        let facts = Facts {
            header: names,
            rows: rows.collect(),
            all_rows: 100,
            constant: vec![0],
            trees: vec![Tree::topmost("same", "x", 1)],
            ..facts("x")
        };
        let page = facts.page(None);
        let row = "<td>j0</td><td class=\"class\">Y</td><td class=\"figure total\">1</td>\
                   <td class=\"constant\">x</td>";
        assert!(page.contains(row));
        assert_eq!(page.matches("<tr class=\"screen\">").count(), 100 - MOST_PRINTED);
        assert!(page.contains("Printed are the first 40 of 100 rows"));
        assert!(page.contains("Never divided: <b>same</b>\u{a0}(x)."));
        assert!(!page.contains("<svg class=\"tree\""), "nothing is drawn of what was not divided");
        assert!(page.contains("<dt>same <span>not divided: constant in this release</span></dt>"));
        assert!(page.contains("1 of 1 columns were not divided"));
        let [left, picture] = ["id=\"left\"", "id=\"values\""].map(|it| page.find(it));
        assert!(left < picture, "what is left comes before how it came about");
        let [picture, promise] = ["id=\"values\"", "id=\"promise\""].map(|it| page.find(it));
        assert!(picture < promise, "the picture comes first");
    }

    #[test]
    fn what_is_left_of_a_column_is_a_bar_with_its_values_and_counts() {
        let mut tree = Tree::topmost("age", "[0..9]", 1);
        tree.divide(1, "[0..9]", &["[0..4]".to_owned(), "[5..9]".to_owned()]);
        tree.count("[0..4]", 0, 30);
        tree.count("[5..9]", 0, 10);
        tree.add_up();
        let page = Facts { trees: vec![tree], ..facts("x") }.page(None);
        assert!(page.contains("<dt>age <span>divided into 2 values</span></dt>"), "{page}");
        assert!(page.contains("<li>[0..4] <b>30</b></li> <li>[5..9] <b>10</b></li>"), "{page}");
        assert!(page.contains("<rect class=\"part\" x=\"0\" width=\"750\" height=\"10\"/>"));
        assert!(page.contains("<rect class=\"next part\" x=\"750\" width=\"250\""));
        assert!(!page.contains("Most columns are constant"));
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn style_and_script_cannot_end_early_nor_load_anything() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("http") && !text.contains("url("));
            assert!(!text.contains('\r'), "the parser would change it, and the hash would not fit");
        }
        let page = facts("x").page(None);
        assert!(!page.contains("style=\"") && !page.contains("onclick"), "the policy forbids them");
        assert!(!page.contains("src=") && !page.contains("http:") && !page.contains("https:"));
    }
}
