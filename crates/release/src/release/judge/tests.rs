use proptest::prelude::*;

use super::distance::distances;
use super::tree::{Kind, Rows, Tree, UNSEEN};
use crate::math::Randomness;

#[test]
fn trees_prune_noise_and_keep_what_is_there() {
    // Two attributes: the first tells the class, the second nothing.
    let mut rows = Rows {
        kinds: vec![Kind::Nominal(2), Kind::Nominal(50), Kind::Ordered],
        columns: vec![Vec::new(); 3],
        class_count: 2,
        ..Rows::default()
    };
    for value in 0..50 {
        for side in 0..2 {
            for class in 0..2u8 {
                let hit = u32::from(class) == side;
                rows.columns[0].push(side);
                rows.columns[1].push(value);
                rows.columns[2].push(value * 7 % 50);
                rows.classes.push(class);
                rows.weights.push(if hit { 8.0 } else { f64::from(value % 3) });
            }
        }
    }
    let tree = Tree::learn(&rows);
    assert_eq!(tree.leaves(), 2);
    assert_eq!((tree.classify(|_| 0), tree.classify(|_| 1)), (0, 1));
    let weights = rows.class_weights();
    assert_eq!(weights[0], weights[1]);
    let right = 50.0 * 8.0 * 2.0;
    assert_eq!(tree.accuracy(&rows), Some(right / (weights[0] + weights[1])));
}

#[test]
fn a_weight_is_worth_as_many_copies() {
    let mut rng = Randomness::seeded(3);
    let mut weighted = Rows {
        kinds: vec![Kind::Nominal(4), Kind::Ordered],
        columns: vec![Vec::new(); 2],
        class_count: 3,
        ..Rows::default()
    };
    for _ in 0..200 {
        let [a, b, c, d] = rng.array::<4>();
        weighted.columns[0].push(u32::from(a % 4));
        weighted.columns[1].push(u32::from(b));
        weighted.classes.push(if a % 4 == 1 || b > 180 { c % 3 } else { u8::from(b > 90) });
        weighted.weights.push(f64::from(d % 7));
    }
    let mut copied = Rows { columns: vec![Vec::new(); 2], ..weighted.clone() };
    (copied.classes, copied.weights) = (Vec::new(), Vec::new());
    for row in 0..weighted.len() {
        for _ in 0..weighted.weights[row] as usize {
            (0..2).for_each(|column| copied.columns[column].push(weighted.columns[column][row]));
            copied.classes.push(weighted.classes[row]);
            copied.weights.push(1.0);
        }
    }
    // Rows without weight could still be places to split at: a release's reader leaves them out.
    let kept: Vec<usize> = (0..weighted.len()).filter(|row| weighted.weights[*row] > 0.0).collect();
    let mut without = weighted.clone();
    without.columns =
        weighted.columns.iter().map(|c| kept.iter().map(|row| c[*row]).collect()).collect();
    without.classes = kept.iter().map(|row| weighted.classes[*row]).collect();
    without.weights = kept.iter().map(|row| weighted.weights[*row]).collect();
    let tree = Tree::learn(&without);
    assert!(tree.leaves() > 3);
    assert_eq!(tree, Tree::learn(&copied));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_rows_give_a_tree_that_is_no_worse_than_the_class_alone(
        cells in prop::collection::vec((0u32..5, 0u32..40, 0u8..3, 0u32..9), 0..60)
    ) {
        let rows = Rows {
            kinds: vec![Kind::Nominal(5), Kind::Ordered],
            columns: vec![
                cells.iter().map(|cell| cell.0).collect(),
                cells.iter().map(|cell| cell.1).collect(),
            ],
            classes: cells.iter().map(|cell| cell.2).collect(),
            weights: cells.iter().map(|cell| f64::from(cell.3)).collect(),
            class_count: 3,
        };
        let tree = Tree::learn(&rows);
        let weights = rows.class_weights();
        let total: f64 = weights.iter().sum();
        match tree.accuracy(&rows) {
            None => prop_assert_eq!(total, 0.0),
            Some(accuracy) => {
                let largest = weights.iter().copied().fold(0.0, f64::max);
                prop_assert!(accuracy >= largest / total - 1e-9);
            }
        }
        prop_assert!(tree.classify(|_| UNSEEN) < 3);
    }

    #[test]
    fn distances_are_between_none_and_all(
        cells in prop::collection::vec((0u32..3, 0u8..2, 0u32..9, 0u32..9), 1..20)
    ) {
        let side = |weights: Vec<f64>| Rows {
            kinds: vec![Kind::Nominal(3)],
            columns: vec![cells.iter().map(|cell| cell.0).collect()],
            classes: cells.iter().map(|cell| cell.1).collect(),
            weights,
            class_count: 2,
        };
        let a = side(cells.iter().map(|cell| f64::from(cell.2)).collect());
        let b = side(cells.iter().map(|cell| f64::from(cell.3)).collect());
        let (there, back) = (distances(&a, &b), distances(&b, &a));
        let two_way = there.two_way.unwrap();
        prop_assert!((0.0..=1.0 + 1e-9).contains(&there.one_way));
        // A pair tells more than each of its columns.
        prop_assert!(two_way <= 1.0 + 1e-9 && two_way >= there.one_way - 1e-9);
        prop_assert!((there.one_way - back.one_way).abs() < 1e-12);
        prop_assert!(distances(&a, &a).two_way.unwrap() < 1e-12);
    }
}
