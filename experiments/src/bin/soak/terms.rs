//! Agreements as text: what is agreed on is drawn at random, and what is left out is the default.

use diptych::Role;
use diptych::math::Randomness;
use rand::RngExt;

use crate::cases::Form;

/// A column: its lines in the agreement, and what may stand in it.
pub struct Column {
    pub name: String,
    pub owner: Role,
    pub values: Vec<String>,
    lines: String,
    categorical: bool,
}

/// What was drawn before the agreement was written.
pub struct Drawn<'a> {
    pub form: Form,
    pub columns: &'a [Column],
    pub classes: &'a [String],
    pub matching: Option<&'static str>,
    /// Records of the larger table.
    pub largest: usize,
}

fn pick<'a>(rng: &mut Randomness, words: &[&'a str]) -> &'a str {
    words[rng.random_range(0..words.len())]
}

/// Whether something happens that happens once in so many times.
fn once_in(rng: &mut Randomness, times: u32) -> bool {
    rng.random_range(0..times) == 0
}

pub fn columns(rng: &mut Randomness, form: Form) -> Vec<Column> {
    let count = rng.random_range(2..=5);
    let mut columns = Vec::new();
    for number in 0..count {
        // Each party has one at least.
        let owner = match number {
            0 => Role::P1,
            1 => Role::P2,
            _ => Role::BOTH[rng.random_range(0..2)],
        };
        let categorical = !once_in(rng, 3);
        let (lines, values) = if categorical {
            taxonomy(rng, number)
        } else {
            let max = rng.random_range(1..=60);
            let lines = format!("kind = \"numeric\"\nmin = 0\nmax = {max}\nstep = 1\n");
            (lines, (0..=max).map(|point| point.to_string()).collect())
        };
        let owner_line =
            if form.is_vertical() { format!("owner = \"{owner}\"\n") } else { String::new() };
        let name = format!("a{number}");
        let lines = format!("[[attribute]]\nname = \"{name}\"\n{owner_line}{lines}");
        columns.push(Column { name, owner, values, lines, categorical });
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

/// How common people are found, where that is said.
pub fn matching(rng: &mut Randomness, form: Form) -> Option<&'static str> {
    let said = form.is_vertical() && !form.is_hidden() && once_in(rng, 2);
    said.then(|| pick(rng, &["oprf", "oprf", "ristretto255", "ristretto255", "ffdhe3072"]))
}

/// The agreement; of a vertical one it is said whether nobody is common.
pub fn agreement(rng: &mut Randomness, drawn: &Drawn<'_>, nobody: bool) -> String {
    let form = drawn.form;
    let partition = match form {
        Form::OneParty => "local",
        _ if form.is_horizontal() => "horizontal",
        _ => "vertical",
    };
    let mut text = format!(
        "[release]\nid = \"soak\"\npartition = \"{partition}\"\nmax_records = 1000\n{}",
        if form.is_lkc() { lkc_release(form) } else { diffgen(rng, form) }
    );
    let with_ids = form.is_vertical() || form.is_horizontal() && once_in(rng, 4);
    if form.is_horizontal() && with_ids {
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
    if with_ids {
        text += &identifiers(rng, drawn, nobody);
    }
    if form.is_lkc() {
        text += &lkc(rng, drawn);
    } else if form != Form::OneParty {
        text += &format!("[crypto]\ntransfers = \"{}\"\n", pick(rng, &["auto", "no-lpn"]));
        if form == Form::Vertical && once_in(rng, 5) {
            text += "count_table = \"paillier\"\n";
        }
    }
    text += &format!("[class]\ncolumn = \"class\"\nvalues = [{}]\n", quoted(drawn.classes));
    if let Some(role) = form.class_owner() {
        text += &format!("owner = \"{role}\"\n");
    }
    drawn.columns.iter().for_each(|column| text += &column.lines);
    text
}

fn identifiers(rng: &mut Randomness, drawn: &Drawn<'_>, nobody: bool) -> String {
    let mut text = "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n".to_owned();
    if let Some(matching) = drawn.matching {
        text += &format!("matching = \"{matching}\"\n");
    }
    match drawn.form {
        Form::Hidden(_) => text += "membership = \"hidden\"\n",
        Form::Padded(_) => {
            // As many as there are, or more.
            let more = if once_in(rng, 3) { 0 } else { rng.random_range(0..100) };
            let pad_to = (drawn.largest + more).max(1);
            text += &format!("membership = \"hidden\"\npad_to = {pad_to}\n");
        }
        form if form.is_vertical() && nobody => text += "min_common = 0\n",
        _ => {}
    }
    text
}

/// How choices are made and noise is added.
fn diffgen(rng: &mut Randomness, form: Form) -> String {
    let epsilon = pick(rng, &["0.1", "0.5", "1", "2", "5", "12"]);
    let mut text = format!("epsilon = \"{epsilon}\"\n");
    if !form.is_hidden() && once_in(rng, 8) {
        text += &format!("profile = \"paper\"\nspecializations = {}\n", rng.random_range(1..=4));
        if form == Form::Horizontal {
            text += "taylor_degree = 3\n";
        }
        return text;
    }
    match rng.random_range(0..6) {
        0 => {}
        1 => text += "specializations = \"auto\"\n",
        2 => text += "expected_records = 60\n",
        _ => text += &format!("specializations = {}\n", rng.random_range(0..=6)),
    }
    if !once_in(rng, 3) {
        let utilities: &[&str] = match form {
            Form::OneParty | Form::Vertical => &["max", "leaf-max", "info-gain"],
            _ if form.is_hidden() => &["max"],
            _ => &["max", "leaf-max"],
        };
        text += &format!("utility = \"{}\"\n", pick(rng, utilities));
    }
    if !once_in(rng, 3) && !form.is_hidden() {
        let selection = pick(rng, &["exponential", "permute-and-flip"]);
        text += &format!("selection = \"{selection}\"\n");
        if form == Form::Horizontal && selection == "exponential" {
            text += "taylor_digits = 3\ntaylor_degree = 4\n";
        }
    }
    if form != Form::OneParty && !form.is_hidden() && once_in(rng, 2) {
        text += &format!("noise = \"{}\"\n", pick(rng, &["joint", "two-party"]));
    }
    if once_in(rng, 3) {
        text += &format!("structure_share = \"{}\"\n", pick(rng, &["0.3", "0.5", "0.9"]));
    }
    text
}

fn lkc_release(form: Form) -> String {
    let profile = if form == Form::LkcRows { "profile = \"paper\"\n" } else { "" };
    format!("model = \"lkc\"\n{profile}")
}

/// What is required of every group.
fn lkc(rng: &mut Randomness, drawn: &Drawn<'_>) -> String {
    let mut text = "[lkc]\nacknowledge = \"not differentially private\"\n".to_owned();
    if drawn.form != Form::LkcHorizontal && !once_in(rng, 3) {
        text += &format!("score = \"{}\"\n", pick(rng, &["info-gain", "gain-ratio", "max"]));
    }
    if once_in(rng, 3) {
        text += "beneficial = false\n";
    }
    let sensitive = drawn.columns.iter().rfind(|column| column.categorical);
    let sensitive = sensitive.filter(|_| !once_in(rng, 3));
    if let Some(column) = sensitive {
        let protect = &column.values[..rng.random_range(1..=column.values.len().min(3))];
        text += &format!("sensitive = \"{}\"\nprotect = [{}]\n", column.name, quoted(protect));
    }
    let requirement = |rng: &mut Randomness| {
        let mut text = format!("k = {}\n", rng.random_range(2..=8));
        if sensitive.is_some() {
            text += &format!("c = \"{}\"\n", pick(rng, &["1", "0.8", "0.5", "0.34"]));
        }
        if !once_in(rng, 4) {
            text += &format!("l = {}\n", rng.random_range(1..=3));
        }
        text
    };
    if !once_in(rng, 3) {
        return text + &requirement(rng);
    }
    // Several, one of which names what it is about.
    let (whole, part) = (requirement(rng), requirement(rng));
    let others = drawn.columns.iter().filter(|one| sensitive.is_none_or(|s| s.name != one.name));
    let names: Vec<String> = others.take(2).map(|column| column.name.clone()).collect();
    text + &format!(
        "[[lkc.requirement]]\n{whole}[[lkc.requirement]]\nattributes = [{}]\n{part}",
        quoted(&names)
    )
}
