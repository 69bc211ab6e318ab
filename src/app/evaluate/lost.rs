//! What releases lost, printed: distances at both granularities, and constant columns.

use serde_json::{Value, json};

use super::group::Group;
use super::{Judged, different};
use crate::release::judge::fine::MOST_GROUPS;

/// For releases by two parties.
pub const JOINED: &str = "a release by two parties: neither has the joined records, so neither can evaluate the \
     release against them. These figures are for whoever may see all records, as of old or made-up data";

/// A block with distances where there are any, and a line for each column that is constant.
pub fn lines(found: &[Judged], groups: &[Group<'_>]) -> Vec<String> {
    let mut lines = distances(found, groups);
    let columns = found.iter().flat_map(|one| &one.attributes).map(|(name, _)| name);
    for name in different(columns) {
        let constant = |one: &&Judged| one.attributes.contains(&(name.clone(), true));
        match (found.iter().filter(constant).count(), found.len()) {
            (0, _) => {}
            (1, 1) => lines.push(format!("{name}: constant in this release")),
            (some, all) => lines.push(format!("{name}: constant in {some} of {all} releases")),
        }
    }
    lines
}

fn distances(found: &[Judged], groups: &[Group<'_>]) -> Vec<String> {
    if found.iter().all(|one| one.fine.is_none()) {
        return Vec::new();
    }
    let short = |part: Option<f64>| part.map_or(String::new(), |part| format!("{part:.4}"));
    let line = |name: &str, coarse: [Option<f64>; 2], fine: [Option<f64>; 3]| {
        let cells = coarse.into_iter().chain(fine).map(|part| format!(" {:>8}", short(part)));
        format!("{name:<40}{}", cells.collect::<String>()).trim_end().to_owned()
    };
    let mut lines = vec![
        "how far tables are from the raw records (total variation: 0 equal, 1 disjoint)".to_owned(),
        format!("{:<40}    of the release      of the data", "at the granularity"),
        format!("{:<40}    1-way    2-way    1-way    2-way    3-way", "release"),
    ];
    for one in found {
        let coarse = one.assessment.distances;
        let coarse = [coarse.map(|it| it.one_way), coarse.and_then(|it| it.two_way)];
        let fine = one.fine.as_ref().map_or([None; 3], |fine| fine.means.map(|it| it.distance));
        lines.push(line(&one.directory.display().to_string(), coarse, fine));
    }
    for group in groups.iter().filter(|group| group.members.len() > 1) {
        let coarse = [group.distance(|it| Some(it.one_way)), group.distance(|it| it.two_way)];
        let fine = [0, 1, 2].map(|ways| group.fine(ways));
        lines.push(line(&format!("mean of {}", group.members.len()), coarse, fine));
    }
    lines.push(format!(
        "the granularity of the data is at most {MOST_GROUPS} groups of values for each column, and of the \
         release it sees rows that are uniform inside its values"
    ));
    let thinned = found.iter().filter_map(|one| one.fine.as_ref()).flat_map(|fine| fine.means);
    let thinned = thinned.filter(|mean| mean.compared < mean.all);
    for (compared, all) in different(thinned.map(|mean| (mean.compared, mean.all))) {
        lines.push(format!(
            "{compared} of {all} tables were compared, evenly spaced in the order of the columns"
        ));
    }
    lines
}

/// The columns with one value in every row.
pub fn constant(one: &Judged) -> Vec<&str> {
    let constant = one.attributes.iter().filter(|(_, constant)| *constant);
    constant.map(|(name, _)| name.as_str()).collect()
}

/// The distances of one release at the granularity of the data.
pub fn as_json(one: &Judged) -> Value {
    let Some(fine) = &one.fine else { return Value::Null };
    let [one_way, two_way, three_way] = fine.means;
    let column = |(place, distance): &(usize, f64)| {
        let (name, constant) = &one.attributes[*place];
        json!({ "name": name, "one_way_distance": distance, "constant": constant })
    };
    json!({
        "most_groups": MOST_GROUPS,
        "one_way_distance": one_way.distance,
        "two_way_distance": two_way.distance,
        "three_way_distance": three_way.distance,
        "tables_compared": [one_way.compared, two_way.compared, three_way.compared],
        "tables": [one_way.all, two_way.all, three_way.all],
        "columns": fine.attributes.iter().map(column).collect::<Vec<_>>(),
    })
}
