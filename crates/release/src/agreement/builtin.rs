//! Taxonomies of what everybody has, from public classifications: `taxonomy = "builtin:sex"`.
//!
//! Each is a file of its own, with edition and source. In the canonical form it is written out like
//! any other, so an agreement never depends on what a version of the program has built in.

use super::problem::Problem;
use super::taxonomies::{TaxonomyFormat, read_taxonomy};
use crate::table::{Taxonomy, nearest};

/// The prefix of the name of a built-in taxonomy.
pub(super) const PREFIX: &str = "builtin:";

const FILES: &[(&str, &str)] = &[
    ("age-bands", include_str!("builtin/age-bands.txt")),
    ("countries", include_str!("builtin/countries.txt")),
    ("isced-2011", include_str!("builtin/isced-2011.txt")),
    ("isco-08", include_str!("builtin/isco-08.txt")),
    ("months", include_str!("builtin/months.txt")),
    ("nace-2", include_str!("builtin/nace-2.txt")),
    ("nace-2.1", include_str!("builtin/nace-2.1.txt")),
    ("sex", include_str!("builtin/sex.txt")),
];

/// A built-in taxonomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, after `builtin:`.
    pub name: &'static str,
    text: &'static str,
}

impl Builtin {
    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        FILES.iter().map(|(name, text)| Self { name, text })
    }

    /// What it is.
    pub fn title(self) -> &'static str {
        self.about("title")
    }

    /// Of which edition.
    pub fn edition(self) -> &'static str {
        self.about("edition")
    }

    /// Where it comes from.
    pub fn source(self) -> &'static str {
        self.about("source")
    }

    /// How its leaves can be written in the data, such as `code` or `name`. The first is what
    /// `builtin:NAME` means; the others are `builtin:NAME/SPELLING`.
    pub fn spellings(self) -> Vec<&'static str> {
        self.about("spellings").split(' ').collect()
    }

    /// Every text that names it in an agreement.
    pub fn references(self) -> Vec<String> {
        let others = self.spellings().into_iter().skip(1);
        let others = others.map(|spelling| format!("{PREFIX}{}/{spelling}", self.name));
        std::iter::once(format!("{PREFIX}{}", self.name)).chain(others).collect()
    }

    fn about(self, key: &str) -> &'static str {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("# "));
        let mut entries = lines.filter_map(|line| line.split_once(": "));
        entries.find(|(there, _)| *there == key).map_or("", |(_, value)| value)
    }

    /// The tree with its leaves in one spelling.
    fn taxonomy(self, spelling: usize) -> Result<Taxonomy, Problem> {
        let spellings = self.spellings().len();
        let mut lines = String::new();
        for line in self.text.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split(';').collect();
            let path = cells.iter().skip(spellings);
            let path: Vec<&str> = cells.get(spelling).into_iter().chain(path).copied().collect();
            lines.push_str(&path.join(";"));
            lines.push('\n');
        }
        let name = format!("{PREFIX}{}", self.name);
        read_taxonomy(TaxonomyFormat::Csv, &name, lines.as_bytes())
    }
}

/// The taxonomy that a text of an agreement names, or what to write instead.
pub(super) fn find(reference: &str) -> Result<Taxonomy, String> {
    for builtin in Builtin::all() {
        let place = builtin.references().iter().position(|known| known == reference);
        if let Some(spelling) = place {
            return builtin.taxonomy(spelling).map_err(|problem| problem.message);
        }
    }
    let known: Vec<String> = Builtin::all().flat_map(Builtin::references).collect();
    Err(match nearest(reference, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean {meant:?}? `diptych agreement builtin` lists all"),
        None => format!(
            "write a table such as {{ Any = [\"a\", \"b\"] }}, or one of: {}",
            known.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_taxonomy_has_a_title_an_edition_a_source_and_a_tree_in_each_spelling() {
        for builtin in Builtin::all() {
            for about in [builtin.title(), builtin.edition(), builtin.source()] {
                assert!(about.len() > 2, "{}", builtin.name);
            }
            let leaves: Vec<usize> = builtin
                .references()
                .iter()
                .map(|reference| find(reference).unwrap().leaves().len())
                .collect();
            assert!(!leaves.is_empty() && leaves.iter().all(|count| *count == leaves[0]));
            assert!(leaves[0] >= 2, "{}", builtin.name);
        }
    }

    #[test]
    fn the_builtin_taxonomies_have_as_many_leaves_as_their_standards() {
        for (reference, count) in [
            ("builtin:sex", 2),
            ("builtin:months", 12),
            ("builtin:age-bands", 18),
            ("builtin:countries", 249),
            ("builtin:isco-08", 10),
            ("builtin:nace-2", 21),
            ("builtin:nace-2.1", 22),
            ("builtin:isced-2011", 9),
        ] {
            assert_eq!(find(reference).unwrap().leaves().len(), count, "{reference}");
        }
    }

    #[test]
    fn places_known_from_school_lie_where_they_should() {
        let countries = find("builtin:countries/name").unwrap();
        for (country, region) in [
            ("Germany", "Western Europe"),
            ("Kenya", "Sub-Saharan Africa"),
            ("Mexico", "Central America"),
            ("Japan", "Asia"),
            ("Tonga", "Polynesia"),
        ] {
            let [country, region] = [country, region].map(|name| countries.find(name).unwrap());
            assert!(countries.generalizes(region, country));
        }
        let codes = find("builtin:countries/alpha-3").unwrap();
        assert!(codes.generalizes(codes.find("Europe").unwrap(), codes.find("DEU").unwrap()));
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest_or_with_all() {
        assert!(find("builtin:sexx").unwrap_err().contains("did you mean \"builtin:sex\"?"));
        assert!(find("colours of the rainbow").unwrap_err().contains("builtin:isco-08/name"));
    }
}
