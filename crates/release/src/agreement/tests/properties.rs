//! Properties of every agreement and taxonomy, not only of the example.

use super::*;
use crate::table::{Taxonomy, TaxonomyBuilder, ValueId};
use proptest::prelude::*;

/// A random tree with names that need quoting in every format.
fn taxonomy() -> impl Strategy<Value = Taxonomy> {
    let step =
        (any::<bool>(), prop::sample::select(&["a", "é", "x y", "\"q\"", "a.b", "a;b", "日"][..]));
    prop::collection::vec(step, 0..25).prop_map(|steps| {
        let mut builder = TaxonomyBuilder::new();
        builder.open("Any").unwrap();
        let mut depth = 1;
        for (index, (down, name)) in steps.into_iter().enumerate() {
            if down && depth < 6 {
                builder.open(&format!("{name}{index}")).unwrap();
                depth += 1;
            } else if depth > 1 {
                builder.close();
                depth -= 1;
            }
        }
        builder.finish().unwrap()
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn as_toml(tree: &Taxonomy, value: ValueId, lists: bool) -> String {
    let children: Vec<ValueId> = tree.children(value).collect();
    if lists && children.iter().all(|child| tree.is_leaf(*child)) {
        let leaves: Vec<String> = children.iter().map(|leaf| quoted(tree.name(*leaf))).collect();
        return format!("[{}]", leaves.join(", "));
    }
    let entries: Vec<String> = children
        .iter()
        .map(|child| format!("{} = {}", quoted(tree.name(*child)), as_toml(tree, *child, lists)))
        .collect();
    format!("{{ {} }}", entries.join(", "))
}

fn as_json(tree: &Taxonomy, value: ValueId) -> serde_json::Value {
    let children: Vec<serde_json::Value> =
        tree.children(value).map(|child| as_json(tree, child)).collect();
    serde_json::json!({ "name": tree.name(value), "children": children })
}

fn as_csv(tree: &Taxonomy) -> String {
    let mut lines = String::new();
    for leaf in tree.leaves() {
        let path = std::iter::successors(Some(*leaf), |value| tree.parent(*value));
        let cells: Vec<String> =
            path.map(|value| format!("\"{}\"", tree.name(value).replace('"', "\"\""))).collect();
        lines.push_str(&cells.join(";"));
        lines.push('\n');
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_three_formats_of_a_taxonomy_agree(tree in taxonomy(), lists: bool) {
        let toml = format!("Any = {}", as_toml(&tree, tree.root(), lists));
        let json = as_json(&tree, tree.root()).to_string();
        for (format, text) in [
            (TaxonomyFormat::Toml, toml),
            (TaxonomyFormat::Json, json),
            (TaxonomyFormat::Csv, as_csv(&tree)),
        ] {
            let read = read_taxonomy(format, "t", text.as_bytes());
            prop_assert_eq!(read.as_ref(), Ok(&tree), "{}", text);
        }
    }

    #[test]
    fn the_canonical_form_reads_back_as_the_same_agreement(
        tree in taxonomy(), units in 1_u32..1_000_000, min in -1000_i64..1000, points in 2_i64..500,
    ) {
        let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
        let inline = format!("taxonomy = {{ Any = {} }}", as_toml(&tree, tree.root(), true));
        let epsilon = format!("\"{}.{:05}\"", units / 100_000, units % 100_000);
        let text = with(LOANS, "\"1.0\"", &epsilon);
        let text = with(&text, sex, &inline);
        let text = with(&text, "min = 18", &format!("min = {min}"));
        let text = with(&text, "max = 99", &format!("max = \"{}.0\"", min + points));
        let text = with(&text, "specializations = 10", "specializations = 1");
        let agreement = parse(&text).unwrap();
        let canonical = agreement.canonical();
        prop_assert_eq!(&Agreement::from_canonical(canonical.as_bytes()).unwrap(), &agreement);
        prop_assert!(agreement.plain_words().contains(&agreement.hash().to_string()));
    }

    #[test]
    fn the_same_said_differently_has_the_same_hash(
        order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
        zeros in 0..8_usize, literal: bool, comment in "[a-z ]{0,10}", windows: bool,
    ) {
        // Everything but the attributes, whose order means something, in any order.
        let start = LOANS.find("[release]").unwrap();
        let starts: Vec<usize> =
            ["[release]", "[parties.p1]", "[parties.p2]", "[id]", "[class]", "[[attribute]]"]
                .iter()
                .map(|title| LOANS.find(title).unwrap())
                .chain([LOANS.len()])
                .collect();
        let mut text = String::new();
        for section in order {
            text.push_str(&LOANS[starts[section]..starts[section + 1]]);
            text.push_str(&format!("\n# {comment}\n"));
        }
        prop_assert_eq!(starts[0], start);
        let mut text = with(&text, "\"1.0\"", &format!("\"1.{}\"", "0".repeat(zeros + 1)));
        text = with(&text, "min = 18", &format!("min = \"18.{}\"", "0".repeat(zeros + 1)));
        text = with(&text, "max = 99", "max = 0x63");
        if literal {
            text = with(&text, "\"Bank\"", "'Bank'");
            text = with(&text, "taxonomy_file = \"job.csv\"",
                "taxonomy.Any_Job = { Professional.Engineer = [], Professional.Lawyer = {}, Artist = [\"Dancer\", \"Writer\"] }");
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        prop_assert_eq!(parse(&text).unwrap().hash(), loans().hash());
    }

    #[test]
    fn any_change_of_a_byte_is_read_or_refused_but_never_panics(
        at in 0..LOANS.len(), byte: u8, cut in 0..LOANS.len(), length in 0..200_usize,
    ) {
        let mut changed = LOANS.as_bytes().to_vec();
        changed[at] = byte;
        if let Ok(agreement) = Agreement::parse("a.toml", &changed, &files) {
            let canonical = agreement.canonical();
            prop_assert_eq!(&Agreement::from_canonical(canonical.as_bytes()).unwrap(), &agreement);
        }
        let _ = Agreement::parse("a.toml", &LOANS.as_bytes()[..cut], &files);
        let mut spliced = LOANS.as_bytes().to_vec();
        spliced.drain(cut..(cut + length).min(LOANS.len()));
        let _ = Agreement::parse("a.toml", &spliced, &files);
    }

    #[test]
    fn any_change_of_a_canonical_form_is_refused_or_another_agreement(at in any::<prop::sample::Index>(), byte: u8) {
        let canonical = loans().canonical();
        let mut changed = canonical.clone().into_bytes();
        let at = at.index(changed.len());
        changed[at] = byte;
        if let Ok(agreement) = Agreement::from_canonical(&changed) {
            prop_assert_eq!(agreement == loans(), changed == canonical.as_bytes());
        }
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), text in ".{0,200}") {
        let _ = Agreement::parse("a.toml", &bytes, &files);
        let _ = Agreement::parse("a.toml", text.as_bytes(), &files);
        let _ = Agreement::from_canonical(&bytes);
        for format in [TaxonomyFormat::Toml, TaxonomyFormat::Json, TaxonomyFormat::Csv] {
            let _ = read_taxonomy(format, "t", &bytes);
            let _ = read_taxonomy(format, "t", text.as_bytes());
        }
    }
}

#[test]
fn hierarchies_that_are_no_trees_are_refused_with_their_line() {
    for (text, line, part) in [
        ("a;x;Any\nb;y;Other\n", 2, "second root"),
        ("a;x;Any\na;y;Any\n", 2, "`a` stands below `y` here, but below `x`"),
        ("a;x;Any\na;x;Any\n", 2, "twice"),
        ("a;x;Any\nx;Any\n", 2, "a leaf in this line and a parent in another"),
        ("a;;Any\n", 1, "empty"),
        ("a;Any\nb;a;Any\n", 1, "a leaf in this line and a parent in another"),
        ("", 1, "taxonomy is empty"),
        ("a;Any;a\n", 1, "`a` stands below `Any` here, but as the root"),
    ] {
        let problem = read_taxonomy(TaxonomyFormat::Csv, "t.csv", text.as_bytes()).unwrap_err();
        let shown = problem.to_string();
        assert_eq!(problem.location.unwrap().line, line, "{shown}");
        assert!(shown.contains(part), "{shown}");
    }
    let uneven = "White;White;Any\nBlack;Non-White;Any\n";
    let read = read_taxonomy(TaxonomyFormat::Csv, "t.csv", uneven.as_bytes()).unwrap();
    assert_eq!((read.len(), read.leaves().len()), (4, 2));
}

#[test]
fn json_taxonomies_of_another_shape_are_refused() {
    for (text, part) in [
        ("[]", "cannot be a list"),
        ("{\"children\": []}", "cannot be a table"),
        ("{\"name\": \"a\", \"kids\": []}", "`kids` is not expected"),
        ("{\"name\": \"a\", \"name\": \"b\"}", "`name` is not expected"),
        ("{\"name\": 1}", "`name` is not expected"),
        ("{\"name\": \"a\", \"children\": [\"b\"]}", "cannot be text"),
        (
            "{\"name\": \"a\",\n\"children\": [{\"name\": \"a\"}]}",
            "t.json:2:23: `a` is in the taxonomy twice",
        ),
        ("{\"name\": \"a\"", "cannot be read as JSON"),
    ] {
        let problem = read_taxonomy(TaxonomyFormat::Json, "t.json", text.as_bytes()).unwrap_err();
        let shown = problem.to_string();
        assert!(shown.contains(part), "{shown}");
    }
}
