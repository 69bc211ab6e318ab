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
    ("atc", include_str!("builtin/atc.txt")),
    ("countries", include_str!("builtin/countries.txt")),
    ("icd-10", include_str!("builtin/icd-10.txt")),
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
            ("builtin:icd-10", 263),
            ("builtin:atc", 94),
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

    /// The first and the last code of a value such as `A00-A09` or `II Neoplasms (C00-D48)`.
    fn codes(name: &str) -> (&str, &str) {
        let range = name.trim_end_matches(')').rsplit('(').next().unwrap();
        let (first, last) = range.split_once('-').unwrap();
        for code in [first, last] {
            let digits = code.strip_prefix(|letter: char| letter.is_ascii_uppercase()).unwrap();
            assert!(digits.len() == 2 && digits.parse::<u8>().is_ok(), "{name}");
        }
        assert!(first <= last, "{name}");
        (first, last)
    }

    #[test]
    fn the_blocks_of_icd_10_are_in_order_disjoint_and_inside_their_chapters() {
        let icd = find("builtin:icd-10").unwrap();
        for value in icd.values().skip(1).filter(|value| !icd.is_leaf(*value)) {
            let (first, last) = codes(icd.name(value));
            let below: Vec<_> = icd.children(value).map(|child| codes(icd.name(child))).collect();
            assert!(below.is_sorted_by(|one, next| one.1 < next.0), "{}", icd.name(value));
            // Every chapter and every block with blocks begins and ends with one of them.
            assert_eq!((below[0].0, below[below.len() - 1].1), (first, last));
        }
        let chapters: Vec<_> = icd.children(icd.root()).map(|chapter| icd.name(chapter)).collect();
        let numbers: Vec<_> = chapters.iter().map(|name| name.split(' ').next().unwrap()).collect();
        assert_eq!(
            numbers.join(" "),
            "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII"
        );
        // Chapter XXII (U00-U85) was added last and stands behind Z.
        let mut ranges: Vec<_> = chapters.iter().map(|name| codes(name)).collect();
        ranges.sort_unstable();
        assert!(ranges.is_sorted_by(|one, next| one.1 < next.0), "{ranges:?}");
    }

    #[test]
    fn the_groups_of_atc_are_in_order_below_the_letter_that_they_begin_with() {
        let atc = find("builtin:atc").unwrap();
        let groups: Vec<_> = atc.children(atc.root()).map(|group| atc.name(group)).collect();
        let letters: String = groups.iter().filter_map(|name| name.chars().next()).collect();
        assert_eq!(letters, "ABCDGHJLMNPRSV");
        for leaf in atc.leaves() {
            let (letter, digits) = atc.name(*leaf).split_at(1);
            assert!(digits.len() == 2 && digits.parse::<u8>().is_ok(), "{letter}{digits}");
            let group = atc.name(atc.parent(*leaf).unwrap());
            assert!(group.starts_with(&format!("{letter} ")), "{letter}{digits} in {group}");
        }
        assert!(atc.leaves().is_sorted_by_key(|leaf| atc.name(*leaf)));
    }

    #[test]
    fn well_known_diagnoses_and_medicines_lie_where_they_should() {
        for (reference, general, value) in [
            (
                "builtin:icd-10",
                "IV Endocrine, nutritional and metabolic diseases (E00-E90)",
                "E10-E14",
            ),
            (
                "builtin:icd-10/name",
                "Malignant neoplasms (C00-C97)",
                "Malignant neoplasm of breast",
            ),
            (
                "builtin:icd-10/name",
                "Transport accidents (V01-V99)",
                "Car occupant in transport accident",
            ),
            ("builtin:atc", "A Alimentary tract and metabolism", "A10"),
            ("builtin:atc/name", "C Cardiovascular system", "Diuretics"),
        ] {
            let taxonomy = find(reference).unwrap();
            let [general, value] = [general, value].map(|name| taxonomy.find(name).unwrap());
            assert!(taxonomy.generalizes(general, value), "{}", taxonomy.name(value));
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest_or_with_all() {
        assert!(find("builtin:sexx").unwrap_err().contains("did you mean \"builtin:sex\"?"));
        assert!(find("colours of the rainbow").unwrap_err().contains("builtin:isco-08/name"));
    }
}
