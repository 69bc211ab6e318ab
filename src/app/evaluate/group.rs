//! Releases under the same terms, summed up and drawn.

use serde_json::{Value, json};

use crate::app::evaluate::{Assessment, Judged};
use crate::app::plot::{Chart, Level, Point, Scale, Series};
use crate::release::judge::distance::Distances;

/// Releases under the same terms, in the order in which they were named.
pub(super) struct Group<'j> {
    pub(super) members: Vec<&'j Judged>,
}

/// Mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The sum by the number of values.
    pub mean: f64,
    /// With n − 1; 0 for one.
    pub deviation: f64,
}

impl Summary {
    /// Of some numbers; zeros of none.
    pub fn of(numbers: &[f64]) -> Self {
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        Self { mean, deviation: (squares / (n - 1.0).max(1.0)).sqrt() }
    }
}

/// Groups by terms, ε and h, in the order of their first members.
pub(super) fn groups(found: &[Judged]) -> Vec<Group<'_>> {
    let key = |one: &Judged| (one.terms.clone(), one.epsilon.clone(), one.agreed.clone());
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in found {
        match groups.iter_mut().find(|group| key(group.members[0]) == key(one)) {
            Some(group) => group.members.push(one),
            None => groups.push(Group { members: vec![one] }),
        }
    }
    groups
}

impl Group<'_> {
    /// A number of each member, summed up.
    pub(super) fn of(&self, number: impl Fn(&Assessment) -> f64) -> Summary {
        let numbers: Vec<f64> = self.members.iter().map(|one| number(&one.assessment)).collect();
        Summary::of(&numbers)
    }

    /// The mean of a distance, if all members have it.
    pub(super) fn distance(&self, which: impl Fn(Distances) -> Option<f64>) -> Option<f64> {
        let distances = self.members.iter().map(|one| which(one.assessment.distances?));
        Some(Summary::of(&distances.collect::<Option<Vec<f64>>>()?).mean)
    }

    /// The mean of a distance at the granularity of the data, if all members have it.
    pub(super) fn fine(&self, ways: usize) -> Option<f64> {
        let distances = self.members.iter().map(|one| one.fine.as_ref()?.means[ways].distance);
        Some(Summary::of(&distances.collect::<Option<Vec<f64>>>()?).mean)
    }

    pub(super) fn as_json(&self) -> Value {
        let first = self.members[0];
        let accuracy = self.of(|one| one.accuracy);
        json!({
            "terms": first.terms,
            "epsilon": first.epsilon,
            "specializations": { "agreed": first.agreed, "mean": self.specializations() },
            "releases": self.members.len(),
            "accuracy": { "mean": accuracy.mean, "deviation": accuracy.deviation },
            "leaves": { "mean": self.of(|one| one.leaves as f64).mean },
            "total": { "mean": self.of(|one| one.total).mean },
            "at_the_granularity_of_the_release": {
                "one_way_distance": { "mean": self.distance(|distances| Some(distances.one_way)) },
                "two_way_distance": { "mean": self.distance(|distances| distances.two_way) },
            },
            "at_the_granularity_of_the_data": {
                "one_way_distance": { "mean": self.fine(0) },
                "two_way_distance": { "mean": self.fine(1) },
                "three_way_distance": { "mean": self.fine(2) },
            },
        })
    }

    fn epsilon(&self) -> f64 {
        self.members[0].epsilon.parse().unwrap_or(0.0)
    }

    /// The mean of how many were made.
    fn specializations(&self) -> f64 {
        let made: Vec<f64> = self.members.iter().map(|one| one.specializations as f64).collect();
        Summary::of(&made).mean
    }

    /// How many were made, or their mean where that differs.
    pub(super) fn specializations_in_words(&self) -> String {
        let first = self.members[0].specializations;
        match self.members.iter().all(|one| one.specializations == first) {
            true => first.to_string(),
            false => format!("{:.1}", self.specializations()),
        }
    }
}

/// The accuracy over h with a line per ε, and over ε with a line per h.
pub(super) fn charts(groups: &[Group<'_>], found: &[Judged]) -> [Chart; 2] {
    let several = groups.iter().any(|group| group.members[0].terms != groups[0].members[0].terms);
    let titled = |group: &Group<'_>, name: String| {
        if several { format!("{name}, {}", group.members[0].terms) } else { name }
    };
    let epsilon = |group: &Group<'_>| format!("ε = {}", group.members[0].epsilon);
    let h = |group: &Group<'_>| format!("h = {}", group.members[0].agreed);
    let by_specializations =
        series(groups, |group| (titled(group, epsilon(group)), group.specializations()));
    let by_epsilon = series(groups, |group| (titled(group, h(group)), group.epsilon()));
    [
        chart("specializations (h)", Scale::Linear, by_specializations, found),
        chart("ε", Scale::Logarithmic, by_epsilon, found),
    ]
}

fn series(groups: &[Group<'_>], place: impl Fn(&Group<'_>) -> (String, f64)) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for group in groups {
        let (name, x) = place(group);
        let accuracy = group.of(|one| one.accuracy);
        let point = Point { x, y: accuracy.mean * 100.0, deviation: accuracy.deviation * 100.0 };
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name, points: vec![point] }),
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    all
}

fn chart(x_label: &str, x_scale: Scale, series: Vec<Series>, found: &[Judged]) -> Chart {
    let mut levels = Vec::new();
    if let Some(first) = found.first() {
        if let Some(accuracy) = first.raw_accuracy {
            levels.push(Level { name: "raw records".to_owned(), y: accuracy * 100.0 });
        }
        if let Some(accuracy) = first.class_only {
            levels.push(Level { name: "larger class".to_owned(), y: accuracy * 100.0 });
        }
    }
    Chart {
        title: "Accuracy on held-out records".to_owned(),
        x_label: x_label.to_owned(),
        y_label: "accuracy in %".to_owned(),
        x_scale,
        y_scale: Scale::Linear,
        series,
        levels,
    }
}
