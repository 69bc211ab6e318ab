//! The demo's data: generated loan applications in the style of the papers' example, with real
//! structure in them. The same people every time; nothing about them is secret.

use crate::net::Fingerprint;

/// What the two organisations are called.
pub const NAMES: [&str; 2] = ["Bank", "Loan company"];

/// The agreement of the local demo.
pub fn local_agreement() -> String {
    agreement("local", "leaf-max", 1_000_000, "", ["", "", "", ""])
}

/// The agreement of the vertical demo. The bank knows job and age, the loan company the rest.
pub fn vertical_agreement(fingerprints: [Fingerprint; 2], records: usize) -> String {
    let [p1, p2] = fingerprints;
    let [bank, company] = NAMES;
    let people = format!(
        r#"
[parties.p1]
name = "{bank}"
fingerprint = "{p1}"

[parties.p2]
name = "{company}"
fingerprint = "{p2}"

[id]
column = "id"
normalize = ["trim", "uppercase"]

[crypto]
paillier_bits = 3072
"#
    );
    let [bank, company] = ["owner = \"p1\"\n", "owner = \"p2\"\n"];
    // A bound that both could state without telling how many they have.
    let bound = records.next_power_of_two().max(8_192);
    agreement("vertical", "max", bound, &people, [bank, company, bank, company])
}

fn agreement(
    partition: &str,
    utility: &str,
    max_records: usize,
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
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    // SplitMix64: good enough for made-up people, and the same everywhere.
    let mut below = |bound: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    };
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

/// The two tables of the vertical demo, in different order and spelling. Each party knows nine
/// people in ten, so about eight in ten are known to both.
pub struct Divided {
    /// The tables of the bank and of the loan company, as CSV.
    pub csv: [String; 2],
    /// How many people each has.
    pub sizes: [usize; 2],
    /// How many are in both.
    pub common: usize,
}

/// Divides the people between the two.
pub fn divided(people: &[Person]) -> Divided {
    let tenth = people.len() / 10;
    let (bank, company) = (&people[..people.len() - tenth], &people[tenth..]);
    let mut first = String::from("id,job,age,approved\n");
    for Person { id, job, age, approved, .. } in bank {
        first += &format!("c-{id:06},{job},{age},{approved}\n");
    }
    let mut second = String::from("salary,sex,approved,id\n");
    for Person { id, sex, salary, approved, .. } in company.iter().rev() {
        second += &format!("{salary},{sex},{approved},C-{id:06} \n");
    }
    let sizes = [bank.len(), company.len()];
    Divided { csv: [first, second], sizes, common: people.len() - 2 * tenth }
}
