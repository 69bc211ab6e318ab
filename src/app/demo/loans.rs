//! The demo's data: generated loan applications in the style of the papers' example, with real
//! structure in them. The same people every time; nothing about them is secret.

use crate::net::Fingerprint;

/// The agreement of the local demo.
pub fn local_agreement() -> String {
    agreement("local", "leaf-max", 1_000_000, "", ["", "", "", ""])
}

/// The tables of two parties, and what there is to say about them.
pub struct Divided {
    /// What the two organisations are called.
    pub names: [&'static str; 2],
    /// Their tables, as CSV.
    pub csv: [String; 2],
    /// What each learns about the other's data besides the release, in words.
    pub learned: [String; 2],
    /// The agreement, but for the fingerprints.
    text: String,
}

impl Divided {
    /// The agreement between parties with these fingerprints.
    pub fn agreement(&self, [p1, p2]: [Fingerprint; 2]) -> String {
        self.text.replace("FINGERPRINT1", &p1.to_string()).replace("FINGERPRINT2", &p2.to_string())
    }
}

/// Two parties that know different columns: the bank job and age, the loan company the rest, in
/// different order and spelling. Each knows nine people in ten, so about eight in ten are common.
pub fn vertical(records: u32) -> Divided {
    divided_by_columns(records, true)
}

/// The same where the loan company alone has the class, and neither learns whom both have or how many
/// records there are.
pub fn hidden(records: u32) -> Divided {
    let mut data = divided_by_columns(records, false);
    let learned = "the other points at which ages and salaries were split, which ε covers; but \
                   neither which of its own people the other has, nor how many, nor how many \
                   records the other has";
    data.learned = [learned.to_owned(), learned.to_owned()];
    let pad = format!("[id]\nmembership = \"hidden\"\npad_to = {}\n", bound(records));
    data.text = data.text.replace("[id]\n", &pad).replace("[class]\n", "[class]\nowner = \"p2\"\n");
    data
}

/// `labelled`: whether the bank has the class too.
fn divided_by_columns(records: u32, labelled: bool) -> Divided {
    let people = people(records);
    let tenth = people.len() / 10;
    let (bank, company) = (&people[..people.len() - tenth], &people[tenth..]);
    let mut first = String::from(if labelled { "id,job,age,approved\n" } else { "id,job,age\n" });
    for Person { id, job, age, approved, .. } in bank {
        let class = if labelled { format!(",{approved}") } else { String::new() };
        first += &format!("c-{id:06},{job},{age}{class}\n");
    }
    let mut second = String::from("salary,sex,approved,id\n");
    for Person { id, sex, salary, approved, .. } in company.iter().rev() {
        second += &format!("{salary},{sex},{approved},C-{id:06} \n");
    }
    let names = ["Bank", "Loan company"];
    let (sizes, common) = ([bank.len(), company.len()], people.len() - 2 * tenth);
    let learned = [0, 1].map(|own: usize| {
        format!(
            "that {} has {} records, and which {common} of its own {} people are among them",
            names[1 - own],
            sizes[1 - own],
            sizes[own]
        )
    });
    let [p1, p2] = ["owner = \"p1\"\n", "owner = \"p2\"\n"];
    let who = parties(names) + "\n[id]\ncolumn = \"id\"\nnormalize = [\"trim\", \"uppercase\"]\n";
    let text = agreement("vertical", "max", bound(records), &who, [p1, p2, p1, p2]);
    Divided { names, csv: [first, second], learned, text }
}

/// Two parties that know the same columns of different people.
pub fn horizontal(records: u32) -> Divided {
    let people = people(records);
    let (first, second) = people.split_at(people.len() * 2 / 5);
    let names = ["North bank", "South bank"];
    let learned = "the other points at which ages and salaries were split, which ε covers; not \
                   even how many records there are"
        .to_owned();
    let text = agreement("horizontal", "max", bound(records), &parties(names), ["", "", "", ""])
        .replace("utility", "selection = \"permute-and-flip\"\nnoise = \"joint\"\nutility");
    let csv = [joined_csv(first), joined_csv(second)];
    Divided { names, csv, learned: [learned.clone(), learned], text }
}

/// A bound that both could state without revealing how many records they have.
fn bound(records: u32) -> u32 {
    records.next_power_of_two().max(8_192)
}

fn parties([p1, p2]: [&str; 2]) -> String {
    format!(
        r#"
[parties.p1]
name = "{p1}"
fingerprint = "FINGERPRINT1"

[parties.p2]
name = "{p2}"
fingerprint = "FINGERPRINT2"
"#
    )
}

fn agreement(
    partition: &str,
    utility: &str,
    max_records: u32,
    people: &str,
    [job, sex, age, salary]: [&str; 4],
) -> String {
    format!(
        r#"[release]
id = "demo-loans"
partition = "{partition}"
epsilon = "1.0"
specializations = 8
utility = "{utility}"
max_records = {max_records}
{people}
[class]
column = "approved"
values = ["Y", "N"]

[[attribute]]
name = "job"
{job}kind = "categorical"
taxonomy = {{ Any_Job = {{ Professional = ["Engineer", "Lawyer", "Doctor"], Artist = ["Dancer", "Writer"], Trade = ["Carpenter", "Welder", "Plumber"] }} }}

[[attribute]]
name = "sex"
{sex}kind = "categorical"
taxonomy = {{ Any_Sex = ["Male", "Female"] }}

[[attribute]]
name = "age"
{age}kind = "numeric"
min = 18
max = 75
step = 1

[[attribute]]
name = "salary"
{salary}kind = "numeric"
min = 18
max = 99
step = 1
"#
    )
}

const JOBS: [(&str, u64); 8] = [
    ("Engineer", 55),
    ("Lawyer", 62),
    ("Doctor", 70),
    ("Dancer", 24),
    ("Writer", 31),
    ("Carpenter", 38),
    ("Welder", 42),
    ("Plumber", 45),
];

/// One generated person.
pub struct Person {
    id: u32,
    job: &'static str,
    sex: &'static str,
    age: u64,
    salary: u64,
    approved: &'static str,
}

/// So many of them.
pub fn people(records: u32) -> Vec<Person> {
    let mut below = super::made_up(0x9e37_79b9_7f4a_7c15);
    let mut person = |id| {
        let (job, usual) = JOBS[below(8) as usize];
        let sex = ["Male", "Female"][below(2) as usize];
        let age = 18 + below(29) + below(30);
        let salary = (usual + below(13) + below(13) + age / 6).saturating_sub(16).clamp(18, 99);
        // Most are judged by salary and age, some by luck.
        let sound = salary >= 52 || (salary >= 40 && age >= 45);
        let approved = if below(10) == 0 { below(2) == 0 } else { sound };
        let approved = if approved { "Y" } else { "N" };
        Person { id, job, sex, age, salary, approved }
    };
    (1..=records).map(&mut person).collect()
}

/// All columns of all people.
pub fn joined_csv(people: &[Person]) -> String {
    let mut text = String::from("id,job,sex,age,salary,approved\n");
    for Person { id, job, sex, age, salary, approved } in people {
        text += &format!("{id},{job},{sex},{age},{salary},{approved}\n");
    }
    text
}
