use super::super::{
    Attribute, CellRules, Class, Column, Domain, NumericDomain, OnBadValue, Taxonomy,
    TaxonomyBuilder,
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
        rules: CellRules::default(),
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
        (
            "Y,1234567890123456789,11,Lawyer",
            "`1234567890123456789` has more than 18 digits before the decimal point: write a number from \
             18 to 64",
        ),
        ("Y,17.999999999999999,11,Lawyer", "`17.999999999999999` is outside 18 to 64"),
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
fn cells_with_many_decimals_are_rounded_down_to_a_point_as_all_are() {
    let schema = schema();
    let few = read(&schema, b"class,age,codes,job\nY,20.6,11,Lawyer\nN,23,11,Lawyer\n").unwrap();
    let csv =
        "class,age,codes,job\nY,20.616666666666667,11,Lawyer\nN,23.000000000000004,11,Lawyer\n";
    assert!(read(&schema, csv.as_bytes()).unwrap().column(1) == few.column(1));
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
        assert!(missing.unwrap_err().message().contains("cannot be read"));
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
        for_each_record_end(bytes, Dialect::default(), |end| {
            let mut parts = records(&bytes[..end]);
            parts.extend(records(&bytes[end..]));
            assert_eq!(parts, records(bytes), "{text:?} at {end}");
        });
    }
}

const HEAD: &str = "class,age,codes,job\n";

#[test]
fn all_bad_values_come_in_one_go_with_counts_lines_and_the_nearest_legal_value() {
    let csv = format!(
        "{HEAD}Y,20,11,Enginer\nY,17,11,Lawyer\n\nY,20,11,Enginer\nx,20.5,011,Enginer\n\
         Y,\"20,5\",11,Lawyer\nY,20\nY,20,11,Enginer\n"
    );
    let error = read(&schema(), csv.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.csv: 6 bad values, found 9 times:\n\
         \u{20} t.csv:2: column `job` (field 4): `Enginer` is not a value of the taxonomy: did you \
         mean `Engineer`? (4 times: lines 2, 5, 6, …)\n\
         \u{20} t.csv:3: column `age` (field 2): `17` is outside 18 to 64; the nearest value allowed \
         is 18\n\
         \u{20} t.csv:6: column `codes` (field 3): `011` holds `011`, which is not a value of the \
         taxonomy: did you mean `11`?\n\
         \u{20} t.csv:6: column `class` (field 1): `x` is not a class: did you mean `Y`?\n\
         \u{20} t.csv:7: column `age` (field 2): `20,5` is not a number: did you mean `20.5`?\n\
         \u{20} t.csv:8: 2 fields where the first line has 4\n\
         correct the file, or agree on an `on_bad_value` for such an attribute"
    );
    let found = error.origin::<BadValues>().unwrap();
    let listed = found.to_csv();
    assert_eq!(listed.lines().count(), 7, "{listed}");
    let row = "\"job\",4,\"Enginer\",4,2,\"Engineer\",\"is not a value of the taxonomy: did you mean `Engineer`?\"";
    assert!(listed.contains(row), "{listed}");
}

#[test]
fn a_number_written_otherwise_is_recognized_among_values_that_are_digits() {
    let mut schema = schema();
    let digits = taxonomy("Any", &["5", "6", "10"]);
    schema.attributes[0].domain = Domain::Categorical(digits);
    for (written, meant) in [("6.0", "6"), ("06", "6"), ("10.00", "10")] {
        let said = read(&schema, format!("{HEAD}Y,20,11,{written}\n").as_bytes()).unwrap_err();
        assert!(said.to_string().contains(&format!("did you mean `{meant}`?")), "{said}");
    }
}

#[test]
fn thousands_of_bad_values_are_counted_in_bounded_room() {
    let mut csv = HEAD.to_owned();
    (0..30_000).for_each(|row| csv += &format!("Y,20,11,job{row}\n"));
    let schema = schema();
    let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 1 };
    let error = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {}).unwrap_err();
    let found = error.origin::<BadValues>().unwrap();
    assert_eq!((found.found.len(), found.left_out), (10_000, 20_000));
    let said = error.to_string();
    assert!(said.contains("more than 10000 bad values, found 30000 times"), "{said}");
    assert!(said.contains("and 9988 more bad values; --problems FILE"), "{said}");
}

#[test]
fn files_written_in_another_way_are_recognized_in_the_message() {
    for (csv, words) in [
        (
            &b"class;age;codes;job\nY;20;11;Lawyer\n"[..],
            "is it separated by semicolons? Then say delimiter = \";\"",
        ),
        (b"class\tage\tcodes\tjob\n", "separated by tabs? Then say delimiter = \"\\t\""),
        (b"class|age|codes|job\n", "separated by vertical bars?"),
        (b"\xff\xfec\0l\0a\0s\0s\0,\0a\0", "looks like UTF-16"),
        (b"c\0l\0a\0s\0s\0,\0a\0g\0e\0\n\0", "encoding = \"utf-16\""),
    ] {
        let said = read(&schema(), csv).unwrap_err().to_string();
        assert!(said.starts_with("t.csv:1: ") && said.contains(words), "{said}");
    }
}

#[test]
fn a_dialect_reads_what_it_says() {
    let schema = schema();
    let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 9 };
    let text = "class;age;codes;job\nY;'20';11;'Caf\u{e9} owner'\nN;30;12;Lawyer\n";
    let utf16 = |units: Vec<u16>, low: bool| -> Vec<u8> {
        units.iter().flat_map(|u| if low { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    };
    let units = |mark: bool| -> Vec<u16> {
        let mark = mark.then_some(0xfeff);
        mark.into_iter().chain(text.encode_utf16()).collect()
    };
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for (encoding, bytes) in [
        (Encoding::Utf8, text.as_bytes().to_vec()),
        (Encoding::Utf16, utf16(units(true), true)),
        (Encoding::Utf16, utf16(units(true), false)),
        (Encoding::Utf16, utf16(units(false), true)),
        (Encoding::Windows1252, latin),
    ] {
        let dialect = Dialect { delimiter: b';', quote: b'\'', encoding, recognize: false };
        let table = parse_csv_as(dialect, "t.csv", &bytes[..], &reading, &|_| {}).unwrap();
        assert!(table.column(0) == Some(&Column::Categorical(vec![2, 1])), "{encoding:?}");
        assert!(table.column(1) == Some(&Column::Numeric(vec![1, 6])), "{encoding:?}");
    }
}

proptest! {
    #[test]
    fn whatever_a_file_is_said_to_be_there_is_a_table_or_an_error(
        csv in prop::collection::vec(any::<u8>(), 0..300), delimiter in prop::sample::select(b",;\t|".to_vec()),
        quote in prop::sample::select(b"\"'".to_vec()), encoding in 0..4_usize,
    ) {
        let known = [Encoding::Utf8, Encoding::Utf16, Encoding::Windows1252, Encoding::Recognized];
        let dialect = Dialect { delimiter, quote, encoding: known[encoding], recognize: false };
        let schema = schema();
        let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 9 };
        let _ = parse_csv_as(dialect, "t.csv", &csv[..], &reading, &|_| {});
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &csv).unwrap();
        let _ = outline_csv(file.path(), true);
    }

    #[test]
    fn utf16_is_decoded_however_the_bytes_arrive(text in "\\PC{0,40}", step in 1_usize..7, low: bool) {
        /// Gives a few bytes at a time.
        struct Drops<'a>(&'a [u8], usize);
        impl Read for Drops<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let count = self.1.min(buffer.len()).min(self.0.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes: Vec<u8> =
            units.flat_map(|u| if low { u.to_le_bytes() } else { u.to_be_bytes() }).collect();
        let mut decoded = String::new();
        Encoding::Utf16.decoded(Drops(&bytes, step)).read_to_string(&mut decoded).unwrap();
        prop_assert_eq!(decoded.trim_start_matches('\u{feff}'), text.trim_start_matches('\u{feff}'));
    }
}

#[test]
fn an_outline_tells_names_and_kinds_and_values_only_when_asked() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("t.csv");
    let mut csv = String::from("\u{feff}id; age ;job;empty;day;ill;once;flag\n");
    for row in 0..60 {
        let (job, ill) = (["a", "b"][row % 2], ["Yes", "", "f"][row % 3]);
        csv += &format!("p{row};{row}.5;{job};;2026-11-{:02};{ill};n;{}\n", 1 + row % 30, row % 2);
    }
    std::fs::write(&path, csv).unwrap();
    let columns = outline_csv(&path, false).unwrap().columns;
    let looks: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.looks)).collect();
    let expected = [
        ("id", Looks::Text),
        ("age", Looks::Numeric),
        ("job", Looks::Text),
        ("empty", Looks::Empty),
        ("day", Looks::Date),
        ("ill", Looks::Boolean),
        ("once", Looks::Text),
        ("flag", Looks::Numeric),
    ];
    assert_eq!(looks, expected);
    let with_empty: Vec<_> = columns.iter().filter(|c| c.has_empty).map(|c| &c.name).collect();
    assert_eq!(with_empty, ["empty", "ill"]);
    assert!(columns.iter().all(|column| column.values.is_none()));
    let columns = outline_csv(&path, true).unwrap().columns;
    assert_eq!(columns[2].values, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(columns[0].values, None, "sixty values in sixty records are people's own");
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

/// A table in memory whose last column, if it is asked for, is of no use.
struct Memory {
    names: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Cells for Memory {
    fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn records(&self) -> usize {
        self.rows.len()
    }

    fn refusal(&self, column: usize) -> Option<String> {
        (self.names[column] == "blob").then(|| "its type is binary".to_owned())
    }

    fn write(&self, record: usize, column: usize, text: &mut Vec<u8>) {
        text.extend_from_slice(self.rows[record][column].as_bytes());
    }
}

fn read_memory(schema: &Schema, memory: &Memory) -> Result<Table, Error> {
    let identifier = Identifier { column: "id".into(), normalize: Default::default() };
    let identifier = memory.names.contains(&"id").then_some(&identifier);
    let reading = Reading { schema, owner: None, identifier, max_records: 1000 };
    read_cells("the table", memory, &reading, &|_| {})
}

fn memory(names: &[&'static str], rows: &[&[&str]]) -> Memory {
    let row = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
    Memory { names: names.to_vec(), rows: rows.iter().map(row).collect() }
}

proptest! {
    #[test]
    fn a_table_in_memory_is_read_like_the_file_that_it_would_make(
        rows in proptest::collection::vec(
            (
                prop_oneof![Just("Engineer"), Just("Lawyer "), Just("Cafe\u{301} owner"), Just("a\n\"b")],
                prop_oneof![Just("18"), Just(" 64"), Just("33.5"), Just("-1"), Just("")],
                prop_oneof![Just("11"), Just("21|12"), Just("")],
                prop_oneof![9 => Just("Y"), 9 => Just("N"), 1 => Just("?")],
            ),
            0..60,
        ),
        good in any::<bool>(),
    ) {
        let fits = |row: &&(&str, &str, &str, &str)| {
            !good || (!row.0.starts_with('a') && row.1.len() > 1 && row.1 != "-1" && !row.2.is_empty() && row.3 != "?")
        };
        let rows: Vec<Vec<String>> = rows
            .iter()
            .filter(fits)
            .map(|(job, age, codes, class)| [class, age, job, codes, &""].map(|it| (*it).to_owned()).to_vec())
            .collect();
        let names = vec!["class", "age", "job", "codes", "blob"];
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(&names).unwrap();
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        let csv = writer.into_inner().unwrap();
        let from_file = read(&schema(), &csv);
        match (from_file, read_memory(&schema(), &Memory { names, rows })) {
            (Ok(file), Ok(memory)) => prop_assert!(file == memory),
            (Err(file), Err(memory)) => {
                let told = |all: &BadValues| -> Vec<(Option<String>, String, u64, String)> {
                    let one = |it: &BadValue| (it.column.clone(), it.value.clone(), it.count, it.problem.clone());
                    let mut all: Vec<_> = all.found.iter().map(one).collect();
                    all.sort();
                    all
                };
                let [file, memory] = [&file, &memory].map(|error| error.origin().map(told));
                prop_assert!(file.is_some());
                prop_assert_eq!(file, memory);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn what_is_wrong_with_a_table_in_memory_is_told_by_row_and_column() {
    let told = |names: &[&'static str], rows: &[&[&str]]| {
        read_memory(&schema(), &memory(names, rows)).unwrap_err().to_string()
    };
    let names = ["class", "age", "codes", "job"];
    let good = ["Y", "20", "11", "Lawyer"];
    assert_eq!(
        told(&names, &[&good, &["Y", "20", "11", "Enginer"]]),
        "the table, row 2: column `job` (field 4): `Enginer` is not a value of the taxonomy: did you \
         mean `Engineer`? Correct the table, or agree on an `on_bad_value` for this attribute"
    );
    let twice = told(&names, &[&["Y", "1", "11", "Lawyer"], &good, &["Y", "1", "11", "Lawyer"]]);
    assert!(twice.contains("  the table, row 1: column `age`"), "{twice}");
    assert!(twice.contains("(2 times: rows 1, 3)"), "{twice}");
    assert!(
        twice.ends_with("correct the table, or agree on an `on_bad_value` for such an attribute")
    );
    assert_eq!(
        told(&["class", "age", "codes", "jobs"], &[]),
        "the table: the column `job` is missing (is it the one called `jobs`?): name it as the \
         agreement does"
    );
    let mut schema = schema();
    schema.class.column = "blob".into();
    let refused = read_memory(&schema, &memory(&["blob", "age", "codes", "job"], &[]));
    let said = refused.unwrap_err().to_string();
    assert_eq!(said, "the table: column `blob`: its type is binary");
}

#[test]
fn rows_of_a_table_in_memory_keep_their_numbers_and_its_bound() {
    let names = ["id", "class", "age", "codes", "job"];
    let rows: Vec<[&str; 5]> = vec![["x", "Y", "20", "11", "Lawyer"]; 1001];
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
    let table = read_memory(&schema(), &memory(&names, &rows[..1000])).unwrap();
    assert_eq!((table.len(), table.line(0), table.line(999)), (1000, Some(1), Some(1000)));
    let over = read_memory(&schema(), &memory(&names, &rows));
    assert!(over.unwrap_err().message().contains("more than 1000 records"));
    let empty = read_memory(&schema(), &memory(&names, &[])).unwrap();
    assert!(empty.is_empty() && empty.column(0).is_some());
}

#[test]
fn empty_and_repeated_identifiers_are_named_in_one_error() {
    let schema = schema();
    let normalize = crate::table::Normalization::parse(["trim", "uppercase"]).unwrap();
    let identifier = Identifier { column: "id".into(), normalize };
    let (owner, max_records) = (Some(Role::P1), 10);
    let reading = Reading { schema: &schema, owner, identifier: Some(&identifier), max_records };
    let csv = "id,job,class\na1,Lawyer,Y\n,Lawyer,Y\nA1 ,Engineer,N\n";
    let error = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| {}).unwrap_err().to_string();
    assert!(
        error.starts_with("t.csv:3: column `id` (field 1): `` is not an identifier"),
        "{error}"
    );
    let repeated = "\nt.csv, column `id`: 1 record(s) repeat the identifier of another after trim, \
                    uppercase: lines 2 and 4; keep one record per individual";
    assert!(error.ends_with(repeated), "{error}");
}

#[test]
fn the_delimiter_and_a_byte_order_mark_are_recognized() {
    let schema = schema();
    let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 10 };
    let read = |bytes: &[u8]| {
        let table = parse_csv_as(Dialect::recognized(), "t.csv", bytes, &reading, &|_| ());
        let (_, words, _) = Dialect::recognized().look(bytes).unwrap();
        (table.unwrap().len(), words)
    };
    for (delimiter, words) in [
        (",", None),
        (";", Some("cells separated by semicolons")),
        ("\t", Some("cells separated by tabs")),
    ] {
        let text = ["class,age,codes,job\n", "Y,18,11,Lawyer\n"].concat().replace(',', delimiter);
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert_eq!(read(text.as_bytes()), (1, words.map(str::to_owned)));
        assert_eq!(read(&marked), (1, words.map(str::to_owned)));
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let utf16: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        let (records, told) = read(&utf16);
        assert_eq!((records, told.unwrap().ends_with("UTF-16")), (1, true));
    }
    let explicit = Dialect { recognize: false, ..Dialect::recognized() };
    assert!(
        parse_csv_as(explicit, "t.csv", &b"class;age;codes;job\n"[..], &reading, &|_| ()).is_err()
    );
}
