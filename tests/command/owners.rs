//! `diptych model lkc game` and `diptych model presence`: who would contribute what, and what joined
//! tables tell about who is where.

use std::fs;
use std::path::Path;

use crate::program::diptych;

/// The command in the directory of the package, where the examples are.
fn run(arguments: &[&str]) -> (i32, String, String) {
    diptych(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

const GAME: [&str; 7] = [
    "model",
    "lkc",
    "game",
    "--agreement",
    "examples/game/agreement.toml",
    "--data",
    "examples/game/joined.csv",
];

#[test]
fn the_game_is_played_as_the_page_shows() {
    let (status, played, told) =
        run(&[&GAME[..], &["--owner", "A=job,sex", "--owner", "B=salary"]].concat());
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("a rule for stopping, not security"), "{told}");
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/participation.md"));
    let page = page.unwrap();
    for line in played.lines() {
        assert!(page.contains(line.trim_end()), "the page does not have: {line}");
    }
}

#[test]
fn games_are_compared_and_owners_that_do_not_fit_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let json = place.path().join("game.json");
    let owners = ["--owner", "A=sex", "--owner", "B=job,salary", "--defect", "B", "--json"];
    let (status, played, told) = run(&[&GAME[..], &owners, &[json.to_str().unwrap()]].concat());
    assert_eq!(status, 0, "{told}");
    assert!(played.contains("B is silent, defects: A gives 0.1348"), "{played}");
    let written: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(written["owners"], serde_json::json!(["A", "B"]));
    assert_eq!(written["played"]["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(written["smallestDiscounts"], serde_json::json!([0.0, 1.0]));
    for (owners, words) in [
        (vec!["--owner", "A=sex"], "the number of owners is 1, not two to five"),
        (
            vec!["--owner", "A=sex", "--owner", "B=job"],
            "\"salary\" does not have exactly one owner",
        ),
        (vec!["--owner", "A=sex,job,salary", "--owner", "A=sex"], "\"A\" is named twice"),
        (vec!["--owner", "A=sex,class", "--owner", "B=job"], "is not an attribute"),
        (vec!["--owner", "A", "--owner", "B=job"], "give a name, = and columns"),
        (vec!["--owner", "A=sex", "--owner", "B=job,salary", "--defect", "C"], "no owner \"C\""),
        (vec!["--owner", "A=sex", "--owner", "B=job,salary", "--slack=-1"], "--slack is negative"),
    ] {
        let (status, _, told) = run(&[&GAME[..], &owners].concat());
        assert_eq!(status, 2, "{told}");
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn a_release_is_held_against_a_sites_table() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("own.csv", "age,job\n30,Mover\n40,Mover\n55,Lawyer\n60,Lawyer\n65,Janitor\n70,Janitor\n");
    write("50.csv", "age,count\n\"[0, 50)\",2\n\"[50, 99]\",2\n");
    write("60.csv", "age,count\n\"[0, 60)\",2\n\"[60, 99]\",2\n");
    write("jobs.csv", "job\nBlue\nBlue\nWhite\n");
    let check = |release: &str, more: &[&str]| {
        let arguments = ["model", "presence", "check", "--release", release, "--site", "own.csv"];
        diptych(place.path(), &[&arguments, more].concat())
    };
    let ages = ["--columns", "age", "--delta", "0.7", "--count", "count"];
    let (status, said, told) = check("50.csv", &ages);
    assert_eq!(status, 1, "{told}");
    assert!(said.contains("first that tells more   age [0, 50): 2 of 2 people"), "{said}");
    let (status, said, told) = check("60.csv", &ages);
    assert_eq!(status, 0, "{told}");
    assert!(said.contains("largest part            2 of 3\npeople certainly in it  0\n"), "{said}");
    assert!(told.contains("not differential privacy"), "{told}");
    let agreement = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/game/agreement.toml");
    let (status, said, told) =
        check("jobs.csv", &["--columns", "job", "--delta", "0.5", "--agreement", agreement]);
    assert_eq!(status, 0, "{told}");
    assert!(said.contains("largest part            2 of 4"), "{said}");
    let (status, _, told) = check("60.csv", &["--columns", "hour", "--delta", "0.5"]);
    assert_eq!(status, 2);
    assert!(told.contains("there is no column `hour`"), "{told}");
}

#[test]
fn simulations_are_drawn_over_delta_and_what_cannot_be_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let mut people = "age,hours,job\n".to_owned();
    for person in 0..300 {
        people +=
            &format!("{},{},{}\n", 20 + person * 7 % 50, person * 13 % 60, ["x", "y"][person % 2]);
    }
    fs::write(place.path().join("people.csv"), people).unwrap();
    let simulate = |more: &[&str]| {
        let arguments = ["model", "presence", "simulate", "--data", "people.csv", "--a", "age,job"];
        let sizes = ["--b", "hours", "--common", "60", "--only", "60", "--runs", "3"];
        diptych(place.path(), &[&arguments[..], &sizes, more].concat())
    };
    let files = ["--delta", "1,0.75,0.4", "--plot", "p.svg", "--json", "p.json"];
    let (status, said, told) = simulate(&files);
    assert_eq!(status, 0, "{told}");
    assert!(
        said.contains("0.4      not even the whole population is as required: 60 common"),
        "{said}"
    );
    let plot = fs::read_to_string(place.path().join("p.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("sum of squared sizes"), "{plot}");
    let found = fs::read(place.path().join("p.json")).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["rows"][0]["groups"].as_array().unwrap().len(), 3);
    let again = simulate(&files).1;
    assert_eq!(said, again, "the same seed gives the same draws");
    for (more, words) in [
        (vec!["--alpha", "2"], "--alpha is not between"),
        (vec!["--runs", "0"], "--runs is not between"),
        (vec!["--delta", "0"], "--delta is not above 0"),
        (vec!["--common", "301"], "people are wanted and the population has 300"),
        (vec!["--sensitive", "illness"], "there is no column `illness`"),
    ] {
        let arguments: Vec<&str> = ["model", "presence", "simulate", "--data", "people.csv", "--a"]
            .into_iter()
            .chain(["age", "--b", "hours"])
            .chain(more)
            .collect();
        let (status, _, told) = diptych(place.path(), &arguments);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains(words), "{told}");
    }
}
