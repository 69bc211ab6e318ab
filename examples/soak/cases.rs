//! Agreements and tables drawn at random.

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::math::Randomness;
use diptych::release::diffgen::plan::Plan;
use diptych::release::plan;
use diptych::table::{Reading, Table, parse_csv};
use rand::RngExt;

/// Who has what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    OneParty,
    Vertical,
    OneClass(Role),
    Horizontal,
}

impl Form {
    pub const ALL: [Self; 5] = [
        Self::OneParty,
        Self::Vertical,
        Self::OneClass(Role::P1),
        Self::OneClass(Role::P2),
        Self::Horizontal,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::OneParty => "one party",
            Self::Vertical => "vertical, class at both",
            Self::OneClass(Role::P1) => "vertical, class at P1",
            Self::OneClass(Role::P2) => "vertical, class at P2",
            Self::Horizontal => "horizontal",
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
}

/// A column: its lines in the agreement, and what may stand in it.
struct Column {
    name: String,
    owner: Role,
    lines: String,
    values: Vec<String>,
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

fn pick<'a>(rng: &mut Randomness, words: &[&'a str]) -> &'a str {
    words[rng.random_range(0..words.len())]
}

fn try_draw(rng: &mut Randomness) -> Option<Case> {
    let form = Form::ALL[rng.random_range(0..Form::ALL.len())];
    let columns = columns(rng, form);
    let classes: Vec<String> =
        (0..rng.random_range(2..=4)).map(|class| format!("c{class}")).collect();
    let with_ids =
        form != Form::OneParty && form != Form::Horizontal || rng.random_range(0..4) == 0;
    let text = agreement(rng, form, &columns, &classes, with_ids);
    let agreement =
        Agreement::parse("soak.toml", text.as_bytes(), &|_| Err("no files".to_owned())).ok()?;
    match form {
        Form::OneParty => plan::alone(&agreement).ok()?,
        _ => plan::together(&agreement).ok()?,
    };
    Plan::new(&agreement).ok()?;
    let most = *[12, 40, 150, 400].get(rng.random_range(0..4))?;
    let common = people(rng, &columns, &classes, 5..=most, "id");
    let read = |people: &[&Person], owner: Option<Role>, with_id: bool| {
        let identifier = agreement.identifier().filter(|_| with_id);
        let (schema, max_records) = (&agreement.schema, agreement.max_records);
        let reading = Reading { schema, owner, identifier, max_records };
        parse_csv("soak.csv", csv(people, &columns, owner, form).as_bytes(), &reading, &|_| ()).ok()
    };
    let everybody: Vec<&Person> = common.iter().collect();
    let parties = match form {
        Form::OneParty => None,
        Form::Horizontal => {
            let (first, second) = everybody.split_at(rng.random_range(0..=everybody.len()));
            Some([read(first, None, true)?, read(second, None, true)?])
        }
        _ => {
            let mut party = |role: Role| {
                // Each has people that the other does not have, in an order of its own.
                let others = people(rng, &columns, &classes, 0..=20, &role.to_string());
                let mut all: Vec<&Person> = everybody.iter().copied().chain(&others).collect();
                for place in (1..all.len()).rev() {
                    all.swap(place, rng.random_range(0..=place));
                }
                read(&all, Some(role), true)
            };
            Some([party(Role::P1)?, party(Role::P2)?])
        }
    };
    let whole = read(&everybody, None, false)?;
    Some(Case { form, text, agreement, whole, parties })
}

fn columns(rng: &mut Randomness, form: Form) -> Vec<Column> {
    let count = rng.random_range(2..=5);
    let mut columns = Vec::new();
    for number in 0..count {
        // Each party has one at least.
        let owner = match number {
            0 => Role::P1,
            1 => Role::P2,
            _ => Role::BOTH[rng.random_range(0..2)],
        };
        let (lines, values) = if rng.random_range(0..3) == 0 {
            let max = rng.random_range(1..=60);
            let lines = format!("kind = \"numeric\"\nmin = 0\nmax = {max}\nstep = 1\n");
            (lines, (0..=max).map(|point| point.to_string()).collect())
        } else {
            taxonomy(rng, number)
        };
        let owner_line = match form {
            Form::OneParty | Form::Horizontal => String::new(),
            _ => format!("owner = \"{owner}\"\n").to_lowercase(),
        };
        let name = format!("a{number}");
        let lines = format!("[[attribute]]\nname = \"{name}\"\n{owner_line}{lines}");
        columns.push(Column { name, owner, lines, values });
    }
    columns
}

/// A tree of two levels; some values of the first are leaves.
fn taxonomy(rng: &mut Randomness, number: usize) -> (String, Vec<String>) {
    let (mut parts, mut leaves) = (Vec::new(), Vec::new());
    for child in 0..rng.random_range(2..=4) {
        let below = rng.random_range(0..=3);
        let name = format!("v{number}x{child}");
        if below < 2 {
            parts.push(format!("{name} = []"));
            leaves.push(name);
            continue;
        }
        let names: Vec<String> = (0..below).map(|leaf| format!("{name}y{leaf}")).collect();
        parts.push(format!("{name} = [{}]", quoted(&names)));
        leaves.extend(names);
    }
    let tree = format!("taxonomy = {{ any{number} = {{ {} }} }}", parts.join(", "));
    (format!("kind = \"categorical\"\n{tree}\n"), leaves)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn people(
    rng: &mut Randomness,
    columns: &[Column],
    classes: &[String],
    count: std::ops::RangeInclusive<usize>,
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
    let with_class = match (form, owner) {
        (Form::OneClass(holder), Some(owner)) => holder == owner,
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

fn agreement(
    rng: &mut Randomness,
    form: Form,
    columns: &[Column],
    classes: &[String],
    with_ids: bool,
) -> String {
    let partition = match form {
        Form::OneParty => "local",
        Form::Horizontal => "horizontal",
        _ => "vertical",
    };
    let mut text = format!(
        "[release]\nid = \"soak\"\npartition = \"{partition}\"\nmax_records = 1000\nepsilon = \"{}\"\n",
        pick(rng, &["0.1", "0.5", "1", "2", "5", "12"])
    );
    text += &terms(rng, form);
    if form == Form::Horizontal && with_ids {
        text += "overlap_check = true\n";
    }
    if form != Form::OneParty {
        for (role, digits) in [("p1", "11"), ("p2", "22")] {
            let fingerprint = digits.repeat(32);
            text += &format!(
                "[parties.{role}]\nname = \"{role}\"\nfingerprint = \"sha256:{fingerprint}\"\n"
            );
        }
    }
    if form != Form::OneParty && with_ids {
        text += "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n";
        if form != Form::Horizontal && rng.random_range(0..2) == 0 {
            let matching = pick(rng, &["oprf", "ristretto255", "ristretto255", "ffdhe3072"]);
            text += &format!("matching = \"{matching}\"\n");
        }
    }
    if form != Form::OneParty {
        text += &format!("[crypto]\ntransfers = \"{}\"\n", pick(rng, &["auto", "no-lpn"]));
        if form == Form::Vertical && rng.random_range(0..5) == 0 {
            text += "count_table = \"paillier\"\n";
        }
    }
    text += &format!("[class]\ncolumn = \"class\"\nvalues = [{}]\n", quoted(classes));
    if let Form::OneClass(role) = form {
        text += &format!("owner = \"{role}\"\n").to_lowercase();
    }
    columns.iter().for_each(|column| text += &column.lines);
    text
}

/// How choices are made and noise is added; what is left out is the default.
fn terms(rng: &mut Randomness, form: Form) -> String {
    let mut text = String::new();
    let paper = rng.random_range(0..8) == 0;
    if paper {
        text += &format!("profile = \"paper\"\nspecializations = {}\n", rng.random_range(1..=4));
        if form == Form::Horizontal {
            text += "taylor_degree = 3\n";
        }
        return text;
    }
    match rng.random_range(0..4) {
        0 => {}
        1 => text += "expected_records = 60\n",
        _ => text += &format!("specializations = {}\n", rng.random_range(0..=6)),
    }
    if rng.random_range(0..3) > 0 {
        let utilities: &[&str] = match form {
            Form::OneParty | Form::Vertical => &["max", "leaf-max", "info-gain"],
            _ => &["max", "leaf-max"],
        };
        text += &format!("utility = \"{}\"\n", pick(rng, utilities));
    }
    if rng.random_range(0..3) > 0 {
        let selection = pick(rng, &["exponential", "permute-and-flip"]);
        text += &format!("selection = \"{selection}\"\n");
        if form == Form::Horizontal && selection == "exponential" {
            text += "taylor_digits = 3\ntaylor_degree = 4\n";
        }
    }
    if form != Form::OneParty && rng.random_range(0..2) == 0 {
        text += &format!("noise = \"{}\"\n", pick(rng, &["joint", "two-party"]));
    }
    if rng.random_range(0..3) == 0 {
        text += &format!("structure_share = \"{}\"\n", pick(rng, &["0.3", "0.5", "0.9"]));
    }
    text
}
