use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::release::judge::generalize::Generalization;
use crate::table::{
    Attribute, Candidate, CellRules, Class, NumericDomain, OnBadValue, Reading, Schema,
    Specialization, TaxonomyBuilder, parse_csv,
};

/// A number with 70 points, a taxonomy with 40 leaves in parts of 25 and 15, and one with 3.
fn schema() -> Arc<Schema> {
    let tree = |name: &str, parts: &[usize]| {
        let mut builder = TaxonomyBuilder::new();
        builder.open(name).unwrap();
        for (part, leaves) in parts.iter().enumerate() {
            builder.open(&format!("{name}{part}")).unwrap();
            (0..*leaves).for_each(|leaf| builder.leaf(&format!("{name}{part}-{leaf}")).unwrap());
            builder.close();
        }
        Domain::Categorical(builder.finish().unwrap())
    };
    let numbers = NumericDomain::new(0.into(), 69.into(), 1.into()).unwrap();
    let attribute = |name: &str, domain| Attribute {
        name: name.to_owned(),
        owner: None,
        domain,
        on_bad_value: OnBadValue::Refuse,
        rules: CellRules::default(),
    };
    let attributes = vec![
        attribute("n", Domain::Numeric(numbers)),
        attribute("t", tree("t", &[25, 15])),
        attribute("s", tree("s", &[1, 2])),
    ];
    let class =
        Class { column: "c".into(), owner: None, values: vec!["y".to_owned(), "n".to_owned()] };
    Arc::new(Schema { attributes, class })
}

/// Where each attribute's units begin and end, by value on the cut.
fn unit_ranges(cuts: &Cuts) -> Vec<Vec<Range<u32>>> {
    let of = |place: usize| {
        let domain = &cuts.schema().attributes[place].domain;
        cuts.of(place).iter().map(|value| units(domain, *value).unwrap()).collect()
    };
    (0..3).map(of).collect()
}

/// The distance by definition: all concrete rows that a row of the release stands for, one by one.
fn by_definition(cuts: &Cuts, release: &Rows, records: &[[u32; 4]], table: &[usize]) -> f64 {
    let ranges = unit_ranges(cuts);
    let sizes = [70u32, 40, 3];
    let group = |place: usize, unit: u32| match place {
        3 => unit,
        // Counted out: how many units before this one begin a new group.
        place if sizes[place] <= 32 => unit,
        place => (0..32).filter(|g| (g + 1) * sizes[place] <= unit * 32).count() as u32,
    };
    let mut cells: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    let total: f64 = release.weights.iter().sum();
    for (row, weight) in release.weights.iter().enumerate() {
        let mut keys: Vec<(Vec<u32>, f64)> = vec![(Vec::new(), weight / total)];
        for place in table {
            let range = match place {
                3 => u32::from(release.classes[row])..u32::from(release.classes[row]) + 1,
                place => ranges[*place][release.columns[*place][row] as usize].clone(),
            };
            let each = 1.0 / f64::from(range.end - range.start);
            keys = keys
                .iter()
                .flat_map(|(key, weight)| {
                    let longer = move |unit| [key.clone(), vec![group(*place, unit)]].concat();
                    range.clone().map(move |unit| (longer(unit), weight * each))
                })
                .collect();
        }
        keys.into_iter().for_each(|(key, weight)| *cells.entry(key).or_default() += weight);
    }
    for record in records {
        let key = table.iter().map(|place| group(*place, record[*place])).collect();
        *cells.entry(key).or_default() -= 1.0 / records.len() as f64;
    }
    cells.values().map(|difference| difference.abs()).sum::<f64>() / 2.0
}

fn read(schema: &Schema, records: &[[u32; 4]]) -> Table {
    let mut csv = "n,t,s,c\n".to_owned();
    for [n, t, s, c] in records {
        let t = if *t < 25 { format!("t0-{t}") } else { format!("t1-{}", t - 25) };
        let s = if *s < 1 { "s0-0".to_owned() } else { format!("s1-{}", s - 1) };
        csv += &format!("{n},{t},{s},{}\n", ["y", "n"][*c as usize]);
    }
    let reading = Reading { schema, owner: None, identifier: None, max_records: 1000 };
    parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

/// Cuts with these splits of the number, and with the taxonomies divided or not.
fn cuts(splits: &[u32], divided: [bool; 2]) -> Cuts {
    let mut cuts = Cuts::topmost(&schema());
    for split in splits {
        let holds = |value: &&CutValue| matches!(value, CutValue::Interval { start, end } if start < split && split < end);
        if let Some(value) = cuts.of(0).iter().find(holds).copied() {
            let candidate = Candidate { attribute: 0, value };
            cuts.specialize(&Specialization { candidate, split: Some(*split) }).unwrap();
        }
    }
    for (attribute, _) in [1, 2].into_iter().zip(divided).filter(|(_, divided)| *divided) {
        let candidate = Candidate { attribute, value: cuts.of(attribute)[0] };
        cuts.specialize(&Specialization { candidate, split: None }).unwrap();
    }
    cuts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_table_is_as_far_off_as_by_definition(
        splits in prop::collection::vec(1u32..70, 0..4),
        divided in any::<[bool; 2]>(),
        rows in prop::collection::vec((any::<[u8; 3]>(), 0u8..2, 0u32..9), 1..8),
        records in prop::collection::vec((0u32..70, 0u32..40, 0u32..3, 0u32..2), 1..20),
    ) {
        let cuts = cuts(&splits, divided);
        let code = |place: usize, byte: u8| u32::from(byte) % cuts.of(place).len() as u32;
        let release = Rows {
            kinds: Generalization::new(&cuts).kinds(),
            columns: (0..3).map(|at| rows.iter().map(|row| code(at, row.0[at])).collect()).collect(),
            classes: rows.iter().map(|row| row.1).collect(),
            weights: rows.iter().map(|row| f64::from(row.2) + 1.0).collect(),
            class_count: 2,
        };
        let records: Vec<[u32; 4]> = records.iter().map(|r| [r.0, r.1, r.2, r.3]).collect();
        let found = fine_distances(&cuts, &release, &read(&schema(), &records)).unwrap();
        let truth = |table: &[usize]| by_definition(&cuts, &release, &records, table);
        let mut last = 0.0;
        for (ways, mean) in [1, 2, 3].into_iter().zip(found.means) {
            let tables = chosen(4, ways, MOST_TABLES);
            prop_assert_eq!((mean.compared, mean.all), (tables.len(), tables.len()));
            let expected = tables.iter().map(|table| truth(table)).sum::<f64>() / tables.len() as f64;
            let distance = mean.distance.unwrap();
            prop_assert!((distance - expected).abs() < 1e-9, "{} {} {}", ways, distance, expected);
            prop_assert!(distance >= last - 1e-9, "more columns tell more");
            last = distance;
        }
        for (place, distance) in found.attributes {
            prop_assert!((distance - truth(&[place])).abs() < 1e-9);
        }
    }
}

#[test]
fn a_column_that_was_not_divided_is_far_off_though_it_agrees_at_the_release() {
    let cuts = cuts(&[], [false; 2]);
    let records: Vec<[u32; 4]> = (0..10).map(|index| [5, 0, 0, index % 2]).collect();
    let release = Rows {
        kinds: Generalization::new(&cuts).kinds(),
        columns: vec![vec![0, 0]; 3],
        classes: vec![0, 1],
        weights: vec![5.0, 5.0],
        class_count: 2,
    };
    let table = read(&schema(), &records);
    let generalized = Generalization::new(&cuts).records(&table).unwrap();
    let coarse = crate::release::judge::distance::distances(&release, &generalized);
    assert_eq!(coarse.one_way, 0.0);
    let fine = fine_distances(&cuts, &release, &table).unwrap();
    // In one group are the points 5 and 6 of 70, the leaves 0 and 1 of 40, and leaf 0 of 3.
    let expected = [1.0 - 2.0 / 70.0, 1.0 - 2.0 / 40.0, 1.0 - 1.0 / 3.0];
    for ((_, found), expected) in fine.attributes.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn nothing_is_as_far_from_something_as_can_be() {
    let cuts = cuts(&[], [false; 2]);
    let nobody = Rows {
        kinds: Generalization::new(&cuts).kinds(),
        columns: vec![Vec::new(); 3],
        class_count: 2,
        ..Rows::default()
    };
    let one = fine_distances(&cuts, &nobody, &read(&schema(), &[[1, 1, 1, 1]])).unwrap();
    assert_eq!(one.means.map(|mean| mean.distance), [Some(1.0); 3]);
    let none = fine_distances(&cuts, &nobody, &read(&schema(), &[])).unwrap();
    assert_eq!(none.means.map(|mean| mean.distance), [Some(0.0); 3]);
}

#[test]
fn tables_are_numbered_in_order_and_too_many_are_thinned_evenly() {
    assert_eq!(chosen(4, 3, 9), [vec![0, 1, 2], vec![0, 1, 3], vec![0, 2, 3], vec![1, 2, 3]]);
    assert_eq!(chosen(4, 2, 3), [vec![0, 1], vec![0, 3], vec![1, 3]]);
    assert!(chosen(2, 3, 9).is_empty());
    let all = chosen(257, 3, MOST_TABLES);
    assert_eq!((all.len(), combinations(257, 3)), (MOST_TABLES, 257 * 256 * 255 / 6));
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(all.iter().all(|table| table[0] < table[1] && table[1] < table[2] && table[2] < 257));
}
