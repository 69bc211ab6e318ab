//! The demo's data: generated loan applications in the style of the papers' example, with real
//! structure in them. The same records every time; nothing about them is secret.

/// The agreement of the local demo.
pub const LOCAL_AGREEMENT: &str = r#"
[release]
id = "demo-loans"
partition = "local"
epsilon = "1.0"
specializations = 8
utility = "leaf-max"
max_records = 1000000

[class]
column = "approved"
values = ["Y", "N"]

[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any_Job = { Professional = ["Engineer", "Lawyer", "Doctor"], Artist = ["Dancer", "Writer"], Trade = ["Carpenter", "Welder", "Plumber"] } }

[[attribute]]
name = "sex"
kind = "categorical"
taxonomy = { Any_Sex = ["Male", "Female"] }

[[attribute]]
name = "age"
kind = "numeric"
min = 18
max = 75
step = 1

[[attribute]]
name = "salary"
kind = "numeric"
min = 18
max = 99
step = 1
"#;

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

/// The table as CSV.
pub fn csv(records: u32) -> String {
    let mut text = String::from("id,job,sex,age,salary,approved\n");
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    // SplitMix64: good enough for made-up people, and the same everywhere.
    let mut below = |bound: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    };
    for id in 1..=records {
        let (job, usual) = JOBS[below(8) as usize];
        let sex = ["Male", "Female"][below(2) as usize];
        let age = 18 + below(29) + below(30);
        let salary = (usual + below(13) + below(13) + age / 6).saturating_sub(16).clamp(18, 99);
        // Most are judged by salary and age, some by luck.
        let sound = salary >= 52 || (salary >= 40 && age >= 45);
        let approved = if below(10) == 0 { below(2) == 0 } else { sound };
        let approved = if approved { "Y" } else { "N" };
        text += &format!("{id},{job},{sex},{age},{salary},{approved}\n");
    }
    text
}
