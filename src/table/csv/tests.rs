use super::super::{
    Attribute, Class, Column, Domain, NumericDomain, OnBadValue, Taxonomy, TaxonomyBuilder,
};
use super::*;
use proptest::prelude::*;

fn taxonomy(root: &str, leaves: &[&str]) -> Taxonomy {
    let mut builder = TaxonomyBuilder::new();
    builder.open(root).unwrap();
    leaves.iter().for_each(|leaf| builder.leaf(leaf).unwrap());
    builder.finish().unwrap()
}

fn schema() -> Schema {
    let attribute = |name: &str, owner, domain| Attribute {
        name: name.to_owned(),
        owner: Some(owner),
        domain,
        on_bad_value: OnBadValue::Refuse,
    };
    let jobs = taxonomy("Any_Job", &["Engineer", "Lawyer", "Caf\u{e9} owner"]);
    let age = NumericDomain::new(18.into(), 64.into(), 2.into()).unwrap();
    let codes = Domain::set(taxonomy("**", &["11", "12", "21"])).unwrap();
    Schema {
        attributes: vec![
            attribute("job", Role::P1, Domain::Categorical(jobs)),
            attribute("age", Role::P2, Domain::Numeric(age)),
            attribute("codes", Role::P2, codes),
        ],
        class: Class { column: "class".into(), owner: None, values: vec!["Y".into(), "N".into()] },
    }
}

fn read(schema: &Schema, csv: &[u8]) -> Result<Table, Error> {
    let reading = Reading { schema, owner: None, identifier: None, max_records: 1000 };
    parse_csv("t.csv", csv, &reading, &|_| {})
}

fn failure(csv: &str) -> String {
    read(&schema(), csv.as_bytes()).unwrap_err().to_string()
}

#[test]
fn columns_are_found_by_name_and_cells_become_codes() {
    let csv = "\u{feff}other,class, age ,codes,job\r\n\
               x,Y,18,11|21,Engineer\r\n\r\n\"a,\nb\",N, 64 ,\"12\",Cafe\u{301} owner\r\n";
    let table = read(&schema(), csv.as_bytes()).unwrap();
    assert_eq!(table.classes(), [0, 1]);
    assert!(table.column(0) == Some(&Column::Categorical(vec![0, 2])));
    assert!(table.column(1) == Some(&Column::Numeric(vec![0, 23])));
    let Some(Column::Set(sets)) = table.column(2) else { panic!("a set") };
    assert_eq!((sets.items(0), sets.items(1)), (&[0u16, 2][..], &[1u16][..]));
}

#[test]
fn decimals_are_read_like_whole_numbers() {
    let table = read(&schema(), b"class,age,codes,job\nY,19.99,11,Lawyer\nY,20.0,11|11,Lawyer\n");
    assert!(table.unwrap().column(1) == Some(&Column::Numeric(vec![0, 1])));
}

#[test]
fn a_bad_cell_is_named_with_line_column_value_and_the_nearest_one_allowed() {
    let head = "class,age,codes,job\nY,20,11,Lawyer\n\n";
    for (line, words) in [
        (
            "Y,20,11,Enginer",
            "t.csv:4: column `job` (field 4): `Enginer` is not a value of the taxonomy: did you mean \
             `Engineer`? Correct the file, or agree on an `on_bad_value` for this attribute",
        ),
        ("Y,20,11,Any_Job", "t.csv:4: column `job` (field 4): `Any_Job` is a general value"),
        (
            "Y,17,11,Lawyer",
            "column `age` (field 2): `17` is outside 18 to 64; the nearest value \
                            allowed is 18",
        ),
        ("Y,65.5,11,Lawyer", "`65.5` is outside 18 to 64; the nearest value allowed is 64"),
        ("Y,young,11,Lawyer", "`young` is not a number"),
        ("Y,,11,Lawyer", "`` is not a number"),
        ("Y,20,11|13,Lawyer", "`11|13` holds `13`, which is not a value of the taxonomy"),
        ("Y,20,,Lawyer", "`` holds no item"),
        ("y,20,11,Lawyer", "column `class` (field 1): `y` is not a class: did you mean `Y`?"),
        ("Y,20,11", "t.csv:4: 3 fields where the first line has 4"),
    ] {
        let said = failure(&format!("{head}{line}\n"));
        assert!(said.contains(words), "{said}\n{words}");
    }
    let latin1 = read(&schema(), b"class,age,codes,job\nY,20,11,Caf\xe9 owner\n").unwrap_err();
    assert!(latin1.to_string().contains("is not UTF-8"), "{latin1}");
}

#[test]
fn lines_are_counted_across_quoted_line_breaks_and_blocks() {
    let mut csv = String::from("class,age,codes,job,note\n");
    let rows = 3 * PIECE_BYTES * 2 * rayon::current_num_threads() / 30;
    for row in 0..rows {
        csv += if row % 2 == 0 {
            "Y,20,11,Lawyer,\"a\nb, \"\"c\"\"\"\n"
        } else {
            "N,30,12,Engineer,x\"\n"
        };
    }
    let schema = schema();
    let reading =
        Reading { schema: &schema, owner: None, identifier: None, max_records: rows as u64 };
    let table = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {}).unwrap();
    assert_eq!(table.len(), rows);
    assert!(table.classes().iter().enumerate().all(|(row, class)| usize::from(*class) == row % 2));
    csv += "Y,20,11,Layer,\n";
    let said = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {}).unwrap_err().to_string();
    // A line for the header, three for every two rows.
    let line = 1 + rows / 2 * 3 + rows % 2 * 2 + 1;
    assert!(said.starts_with(&format!("t.csv:{line}: column `job`")), "{said}");
}

#[test]
fn bad_values_are_dropped_or_mapped_as_the_agreement_says() {
    let mut schema = schema();
    schema.attributes[0].on_bad_value = OnBadValue::Drop;
    schema.attributes[1].on_bad_value = OnBadValue::MapToNumber(30.into());
    if let Domain::Set(codes) = &schema.attributes[2].domain {
        schema.attributes[2].on_bad_value = OnBadValue::MapToLeaf(codes.find("21").unwrap());
    }
    let csv = b"class,age,codes,job\nY,?,11,Lawyer\nN,20,?,Engineer\nY,20,11,?\nN,90,,Lawyer\n";
    let table = read(&schema, csv).unwrap();
    schema.attributes[1].on_bad_value = OnBadValue::Refuse;
    assert!(read(&schema, csv).is_err());
    let left_out = read(&schema, b"class,age,codes,job\n?,90,11,?\nY,20,11,Lawyer\n").unwrap();
    assert_eq!(left_out.len(), 1, "what a record holds does not matter once it is left out");
    assert_eq!(table.classes(), [0, 1, 1]);
    assert!(table.column(1) == Some(&Column::Numeric(vec![6, 1, 6])));
    let Some(Column::Set(sets)) = table.column(2) else { panic!("a set") };
    assert_eq!(sets.items(1), [2]);
    assert_eq!(sets.items(2), [2]);
}

#[test]
fn a_party_reads_its_own_columns_and_its_identifiers() {
    let identifier = Identifier {
        column: "id".into(),
        normalize: super::super::Normalization::parse(["trim", "uppercase"]).unwrap(),
    };
    let schema = schema();
    let reading = Reading {
        schema: &schema,
        owner: Some(Role::P1),
        identifier: Some(&identifier),
        max_records: 10,
    };
    let read = |csv: &str| parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {});
    let table = read("id,job,class\n a1 ,Lawyer,Y\nb2,Engineer,N\n").unwrap();
    assert_eq!(table.identifiers().unwrap(), ["A1", "B2"]);
    assert!(table.column(0).is_some() && table.column(1).is_none());
    let said = read("id,job,class\n  ,Lawyer,Y\n").unwrap_err().to_string();
    assert!(said.contains("column `id`") && said.contains("is empty"), "{said}");
}

#[test]
fn headers_that_lack_or_repeat_a_column_and_files_that_are_too_large_are_refused() {
    assert!(failure("").contains("the file is empty"));
    assert!(failure("\n\n").contains("first line"));
    let said = failure("class,age,codes,Job\n");
    assert!(said.contains("`job` is missing (is it the one called `Job`?)"), "{said}");
    assert!(failure("class,age,codes,job,job\n").contains("`job` is there twice"));
    let many = "class,age,codes,job\n".to_owned() + &"Y,20,11,Lawyer\n".repeat(1001);
    assert!(failure(&many).contains("more than 1000 records"));
    let open = "class,age,codes,job\n\"".to_owned() + &"a,b\n".repeat(20 << 20);
    assert!(failure(&open).contains("is a quote left open?"));
}

#[test]
fn a_table_without_records_and_a_missing_file_are_told_apart() {
    let table = read(&schema(), b"class,age,codes,job").unwrap();
    assert!(table.is_empty() && table.column(0).is_some());
    let schema = schema();
    let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 1 };
    for path in ["/nonexistent/t.csv", "/"] {
        let missing = read_csv(Path::new(path), &reading, &|_| {});
        assert!(matches!(missing, Err(Error::Unreadable { .. })));
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(csv in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&schema(), &csv);
        let mut behind = b"class,age,codes,job\n".to_vec();
        behind.extend(csv);
        let _ = read(&schema(), &behind);
    }

    #[test]
    fn nearly_right_files_give_a_table_or_an_error_with_a_place(
        cells in prop::collection::vec("[YN,\"\n|]|20|Lawyer|11|\r\n", 0..60)
    ) {
        let csv = format!("class,age,codes,job\n{}", cells.concat());
        if let Err(error) = read(&schema(), csv.as_bytes()) {
            prop_assert!(error.to_string().starts_with("t.csv:"), "{}", error);
        }
    }

    #[test]
    fn blocks_end_where_the_reader_sees_a_record_end(text in "[a,\"\n\r]{0,60}") {
        // Reading the parts before and after any record end gives the records of the whole.
        let records = |bytes: &[u8]| -> Vec<Vec<Vec<u8>>> {
            let mut reader =
                ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
            let all = reader.byte_records().map(|r| r.unwrap().iter().map(<[u8]>::to_vec).collect());
            all.collect()
        };
        let bytes = text.as_bytes();
        for_each_record_end(bytes, |end| {
            let mut parts = records(&bytes[..end]);
            parts.extend(records(&bytes[end..]));
            assert_eq!(parts, records(bytes), "{text:?} at {end}");
        });
    }
}

#[test]
fn the_class_is_read_by_whoever_has_it_and_others_need_no_such_column() {
    let mut schema = schema();
    schema.class.owner = Some(Role::P1);
    let read = |owner, csv: &str| {
        let reading = Reading { schema: &schema, owner, identifier: None, max_records: 1000 };
        parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {})
    };
    let first = "job,class\nLawyer,N\nEngineer,Y\n";
    assert_eq!(read(Some(Role::P1), first).unwrap().classes(), [1, 0]);
    // A column of that name is somebody else's business.
    for second in ["age,codes\n20,11\n30,12\n", "age,codes,class\n20,11,N\n30,12,nonsense\n"] {
        assert_eq!(read(Some(Role::P2), second).unwrap().classes(), [0, 0]);
    }
    let missing = read(Some(Role::P1), "job\nLawyer\n").unwrap_err().to_string();
    assert!(missing.contains("the column `class` is missing"), "{missing}");
    assert!(read(None, "job,age,codes\nLawyer,20,11\n").is_err(), "who has everything has it");
}
