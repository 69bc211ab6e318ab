//! Agreements and tables drawn at random.

use std::ops::RangeInclusive;

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::math::Randomness;
use diptych::release::plan;
use diptych::table::{Reading, Table, parse_csv};
use rand::RngExt;

use crate::terms::{self, Column};

/// Who has what, who learns what, and by which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    OneParty,
    Vertical,
    OneClass(Role),
    Hidden(Role),
    Padded(Role),
    Horizontal,
    LkcSealed,
    LkcRows,
    LkcHorizontal,
}

impl Form {
    pub const ALL: [Self; 12] = [
        Self::OneParty,
        Self::Vertical,
        Self::OneClass(Role::P1),
        Self::OneClass(Role::P2),
        Self::Hidden(Role::P1),
        Self::Hidden(Role::P2),
        Self::Padded(Role::P1),
        Self::Padded(Role::P2),
        Self::Horizontal,
        Self::LkcSealed,
        Self::LkcRows,
        Self::LkcHorizontal,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::OneParty => "one party",
            Self::Vertical => "vertical, class at both",
            Self::OneClass(Role::P1) => "vertical, class at P1",
            Self::OneClass(Role::P2) => "vertical, class at P2",
            Self::Hidden(Role::P1) => "hidden, class at P1",
            Self::Hidden(Role::P2) => "hidden, class at P2",
            Self::Padded(Role::P1) => "hidden, padded, class at P1",
            Self::Padded(Role::P2) => "hidden, padded, class at P2",
            Self::Horizontal => "horizontal",
            Self::LkcSealed => "LKC, vertical, sealed",
            Self::LkcRows => "LKC, vertical, rows",
            Self::LkcHorizontal => "LKC, horizontal",
        }
    }

    pub fn is_horizontal(self) -> bool {
        matches!(self, Self::Horizontal | Self::LkcHorizontal)
    }

    pub fn is_vertical(self) -> bool {
        self != Self::OneParty && !self.is_horizontal()
    }

    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden(_) | Self::Padded(_))
    }

    pub fn is_lkc(self) -> bool {
        matches!(self, Self::LkcSealed | Self::LkcRows | Self::LkcHorizontal)
    }

    /// The party that alone has the class.
    pub fn class_owner(self) -> Option<Role> {
        match self {
            Self::OneClass(role) | Self::Hidden(role) | Self::Padded(role) => Some(role),
            _ => None,
        }
    }
}

/// One agreement with its tables.
pub struct Case {
    pub form: Form,
    pub text: String,
    pub agreement: Agreement,
    /// Everything that is released, at one party.
    pub whole: Table,
    /// What each party has; of one party, nothing.
    pub parties: Option<[Table; 2]>,
    /// Whether a hidden join has all its bins, which takes long, or few, as in quick tests.
    pub all_bins: bool,
}

/// One person: identifier, cells, class.
struct Person {
    id: String,
    cells: Vec<String>,
    class: String,
}

/// Draws a case. If what was drawn cannot be agreed on, that is counted, and another is drawn.
pub fn draw(rng: &mut Randomness, refused: &mut u64) -> Case {
    loop {
        match try_draw(rng) {
            Some(case) => return case,
            None => *refused += 1,
        }
    }
}

fn try_draw(rng: &mut Randomness) -> Option<Case> {
    let form = Form::ALL[rng.random_range(0..Form::ALL.len())];
    let columns = terms::columns(rng, form);
    let classes: Vec<String> =
        (0..rng.random_range(2..=4)).map(|class| format!("c{class}")).collect();
    let matching = terms::matching(rng, form);
    // Powers in that group take milliseconds each.
    let slow = matching == Some("ffdhe3072");
    let most = if slow { 12 } else { *[12, 40, 150, 400].get(rng.random_range(0..4))? };
    let least = if form.is_hidden() || rng.random_range(0..8) == 0 { 0 } else { 5 };
    let common = people(rng, &columns, &classes, least..=most, "id");
    // Each has people that the other does not have.
    let strangers = if slow { 0..=3 } else { 0..=20 };
    let mut of =
        |role: Role| people(rng, &columns, &classes, strangers.clone(), &format!("{role}-"));
    let others = Role::BOTH.map(&mut of);
    let largest = common.len() + others[0].len().max(others[1].len());
    let drawn = terms::Drawn { form, columns: &columns, classes: &classes, matching, largest };
    let text = terms::agreement(rng, &drawn, common.is_empty());
    let agreement =
        Agreement::parse("soak.toml", text.as_bytes(), &|_| Err("no files".to_owned())).ok()?;
    match form {
        Form::OneParty => plan::alone(&agreement).ok()?,
        _ => plan::together(&agreement).ok()?,
    };
    let read = |people: &[&Person], owner: Option<Role>, with_id: bool| {
        let identifier = agreement.identifier().filter(|_| with_id);
        let (schema, max_records) = (&agreement.schema, agreement.max_records);
        let reading = Reading { schema, owner, identifier, max_records };
        parse_csv("soak.csv", csv(people, &columns, owner, form).as_bytes(), &reading, &|_| ()).ok()
    };
    let everybody: Vec<&Person> = common.iter().collect();
    let parties = if form == Form::OneParty {
        None
    } else if form.is_horizontal() {
        let (first, second) = everybody.split_at(rng.random_range(0..=everybody.len()));
        Some([read(first, None, true)?, read(second, None, true)?])
    } else {
        let mut party = |role: Role| {
            let own = everybody.iter().copied().chain(&others[role as usize]);
            read(&in_any_order(rng, own.collect()), Some(role), true)
        };
        Some([party(Role::P1)?, party(Role::P2)?])
    };
    for table in parties.iter().flatten() {
        plan::check_records(&agreement, table.len()).ok()?;
    }
    let whole = read(&everybody, None, false)?;
    let all_bins = rng.random_range(0..8) == 0;
    Some(Case { form, text, agreement, whole, parties, all_bins })
}

fn in_any_order<'a>(rng: &mut Randomness, mut all: Vec<&'a Person>) -> Vec<&'a Person> {
    for place in (1..all.len()).rev() {
        all.swap(place, rng.random_range(0..=place));
    }
    all
}

fn people(
    rng: &mut Randomness,
    columns: &[Column],
    classes: &[String],
    count: RangeInclusive<usize>,
    prefix: &str,
) -> Vec<Person> {
    let count = rng.random_range(count);
    let mut person = |number: usize| {
        let class = rng.random_range(0..classes.len());
        let cell = |column: &Column, rng: &mut Randomness| {
            // Half of the time the class tells something.
            let values = column.values.len();
            let lean = if rng.random_range(0..2) == 0 { class * values / classes.len() } else { 0 };
            column.values[(rng.random_range(0..values) / 2 + lean) % values].clone()
        };
        let cells = columns.iter().map(|column| cell(column, rng)).collect();
        Person { id: format!("{prefix}{number}"), cells, class: classes[class].clone() }
    };
    (0..count).map(&mut person).collect()
}

fn csv(people: &[&Person], columns: &[Column], owner: Option<Role>, form: Form) -> String {
    let own = |column: &&Column| owner.is_none_or(|owner| column.owner == owner);
    let with_class = match (form.class_owner(), owner) {
        (Some(holder), Some(owner)) => holder == owner,
        _ => true,
    };
    let mut header: Vec<&str> = vec!["id"];
    header.extend(columns.iter().filter(own).map(|column| column.name.as_str()));
    header.extend(with_class.then_some("class"));
    let mut text = header.join(",") + "\n";
    for person in people {
        let mut cells: Vec<&str> = vec![&person.id];
        let all = columns.iter().zip(&person.cells);
        cells.extend(all.filter(|(column, _)| own(column)).map(|(_, cell)| cell.as_str()));
        cells.extend(with_class.then_some(person.class.as_str()));
        text += &(cells.join(",") + "\n");
    }
    text
}
