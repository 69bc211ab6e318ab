//! Many problems at once, and files that are not agreements at all.

use super::*;

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let text = with(LOANS, "step = 1", "step = 0");
    let text = with(&text, "\"1.0\"", "\"one\"");
    let text = with(&text, "\"Y\", \"N\"", "\"Y\"");
    let problems = parse(&text).unwrap_err();
    let lines: Vec<usize> =
        problems.iter().map(|problem| problem.location.as_ref().unwrap().line).collect();
    assert_eq!(lines.len(), 3, "{problems}");
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn a_flood_of_problems_is_cut_short() {
    let flood: String = (0..100_000).map(|key| format!("k{key} = 1\n")).collect();
    let problems = parse(&format!("{flood}{LOANS}")).unwrap_err();
    assert_eq!(problems.count(), 100_000);
    assert!(problems.iter().count() <= 40);
    assert!(problems.to_string().ends_with("more"));
}

#[test]
fn bytes_that_are_no_toml_are_refused_with_their_place() {
    assert_refused("[release\n", Rule::Syntax, &["a.toml:1:", "this is not TOML"]);
    assert_refused("a = 1\na = 2\n", Rule::Syntax, &["a.toml:2:1", "duplicate key"]);
    let error = Agreement::parse("a.toml", b"a = 1\nb = \"\xff\"", &files).unwrap_err();
    assert!(error.to_string().starts_with("a.toml:2:6: the file is not UTF-8"), "{error}");
    let huge = vec![b'#'; MAX_FILE_BYTES + 1];
    let error = Agreement::parse("a.toml", &huge, &files).unwrap_err();
    assert!(error.to_string().contains("larger than 4 MiB"), "{error}");
    let with_mark = format!("\u{feff}{LOANS}");
    assert_eq!(parse(&with_mark).unwrap(), loans());
}

#[test]
fn deep_nesting_is_refused_whatever_it_is_made_of() {
    let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
    let dotted = vec!["a"; 79].join(".");
    let inline = format!("{}1{}", format!("{{ {dotted} = ").repeat(70), "}".repeat(70));
    let tables = format!("{}[]{}", "{ a = ".repeat(50_000), "}".repeat(50_000));
    let lists = format!("{{ a = {}{} }}", "[".repeat(50_000), "]".repeat(50_000));
    for deep in [inline, tables, lists] {
        let problems = parse(&with(LOANS, sex, &format!("taxonomy = {deep}"))).unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert!(matches!(problem.rule, Rule::TooLarge | Rule::Syntax), "{problem}");
    }
    let json = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Agreement::from_canonical(json.as_bytes()).is_err());
    let deepest = |levels: usize| {
        let open: String = (0..levels - 1).map(|level| format!("{{ v{level} = ")).collect();
        let tree = format!("{open}[\"leaf\"]{}", "}".repeat(levels - 1));
        parse(&with(LOANS, sex, &format!("taxonomy = {tree}")))
    };
    let agreement = deepest(crate::table::MAX_DEPTH).unwrap();
    assert_eq!(Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap(), agreement);
    let (rule, shown) = match deepest(crate::table::MAX_DEPTH + 1) {
        Err(problems) => {
            let problem = problems.iter().next().unwrap();
            (problem.rule, problem.to_string())
        }
        Ok(_) => panic!("accepted"),
    };
    assert!(rule == Rule::Taxonomy && shown.contains("flatter"), "{shown}");
}

#[test]
fn thousands_of_levels_of_dotted_keys_do_not_exhaust_a_small_stack() {
    let sex = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";
    let dotted = vec!["a"; 79].join(".");
    let inline = format!("{}1{}", format!("{{ {dotted} = ").repeat(79), "}".repeat(79));
    let text = with(LOANS, sex, &format!("taxonomy = {inline}"));
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let reader = small.spawn(move || parse(&text).unwrap_err().to_string()).unwrap();
    assert!(reader.join().unwrap().contains("nested too deeply"));
}

#[test]
fn many_large_taxonomies_are_refused_before_they_fill_the_memory() {
    let lines: String = (1..crate::table::MAX_VALUES).map(|leaf| format!("{leaf};Any\n")).collect();
    let mut text = local();
    for attribute in 0..5 {
        text += &format!(
            "\n[[attribute]]\nname = \"a{attribute}\"\nkind = \"categorical\"\n\
             taxonomy_file = \"big.csv\"\n"
        );
    }
    let read =
        |name: &str| if name == "big.csv" { Ok(lines.clone().into_bytes()) } else { files(name) };
    let error = Agreement::parse("a.toml", text.as_bytes(), &read).unwrap_err();
    assert!(error.to_string().contains("together have more than 262144 values"), "{error}");
}

#[test]
fn pipes_and_directories_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let error = Agreement::load(place.path()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    for path in [&place.path().join("missing.toml"), Path::new("/dev/zero")] {
        let error = Agreement::load(path).unwrap_err();
        assert!(error.message().contains("cannot be read"), "{error}");
    }
}
