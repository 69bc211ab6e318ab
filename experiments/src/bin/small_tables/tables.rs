//! The tables: what each is, its public domains, and which records are held out. `tables.py` beside
//! this file makes the files.

use diptych::Error;
use diptych::agreement::Agreement;
use diptych::table::{Reading, Table, parse_csv};
use std::path::Path;

/// A table as a package has it.
pub struct Source {
    /// Of the file, without its ending.
    pub name: &'static str,
    /// Column, and its values.
    pub class: (&'static str, &'static [&'static str]),
    /// A line per attribute: its name, and `min max step` or its values by `|`.
    pub attributes: &'static str,
}

/// `fair` of statsmodels, the class being whether `affairs` is above 0.
const FAIR: Source = Source {
    name: "fair",
    class: ("affair", &["no", "yes"]),
    attributes: "rate_marriage: 1 5 1\nage: 17 43 0.5\nyrs_married: 0 25 0.5\nchildren: 0 6 0.5\n\
                 religious: 1 4 1\neduc: 9 20 1\noccupation: 1 6 1\noccupation_husb: 1 6 1",
};

/// `wa_churn` of R's modeldata without missing values; 0 and 1 as no and yes, charges rounded.
const CHURN: Source = Source {
    name: "wa_churn",
    class: ("churn", &["No", "Yes"]),
    attributes: "female: yes|no\nsenior_citizen: yes|no\npartner: yes|no\ndependents: yes|no\n\
                 tenure: 0 72 1\nphone_service: yes|no\n\
                 multiple_lines: No phone service|No|Yes\ninternet_service: DSL|Fiber optic|No\n\
                 online_security: Yes|No|No internet service\n\
                 online_backup: Yes|No|No internet service\n\
                 device_protection: Yes|No|No internet service\n\
                 tech_support: Yes|No|No internet service\n\
                 streaming_tv: Yes|No|No internet service\n\
                 streaming_movies: Yes|No|No internet service\n\
                 contract: Month-to-month|One year|Two year\npaperless_billing: yes|no\n\
                 payment_method: Electronic check|Mailed check|Bank transfer (automatic)|\
                 Credit card (automatic)\nmonthly_charges: 0 150 1\ntotal_charges: 0 10000 10",
};

/// `WVS` of R's carData.
const WVS: Source = Source {
    name: "WVS",
    class: ("poverty", &["Too Little", "About Right", "Too Much"]),
    attributes: "religion: yes|no\ndegree: yes|no\ncountry: Australia|Norway|Sweden|USA\n\
                 age: 18 99 1\ngender: female|male",
};

/// `Satellite` of R's mlbench: the four spectral bands of the middle pixel and of two neighbours.
const SATELLITE: Source = Source {
    name: "Satellite",
    class: (
        "classes",
        &[
            "red soil",
            "cotton crop",
            "grey soil",
            "damp grey soil",
            "vegetation stubble",
            "very damp grey soil",
        ],
    ),
    attributes: "x.17: 0 255 1\nx.18: 0 255 1\nx.19: 0 255 1\nx.20: 0 255 1\nx.1: 0 255 1\n\
                 x.2: 0 255 1\nx.3: 0 255 1\nx.4: 0 255 1\nx.33: 0 255 1\nx.34: 0 255 1\n\
                 x.35: 0 255 1\nx.36: 0 255 1",
};

/// `HealthInsurance` of R's AER.
const INSURANCE: Source = Source {
    name: "HealthInsurance",
    class: ("insurance", &["yes", "no"]),
    attributes: "health: yes|no\nage: 18 65 1\nlimit: yes|no\ngender: female|male\n\
                 married: yes|no\nselfemp: yes|no\nfamily: 1 20 1\n\
                 region: northeast|midwest|south|west\nethnicity: cauc|afam|other\n\
                 education: none|ged|highschool|bachelor|master|phd|other",
};

/// `credit_data` of R's modeldata without missing values.
const CREDIT: Source = Source {
    name: "credit_data",
    class: ("Status", &["good", "bad"]),
    attributes: "Seniority: 0 60 1\nHome: rent|owner|parents|priv|other|ignore\nTime: 0 72 6\n\
                 Age: 18 80 1\nMarital: married|widow|single|separated|divorced\n\
                 Records: no|yes\nJob: freelance|fixed|partime|others\nExpenses: 0 200 1\n\
                 Income: 0 1000 1\nAssets: 0 300000 1\nDebt: 0 30000 1\nAmount: 0 5000 1\n\
                 Price: 0 12000 1",
};

/// `BEPS` of R's carData.
const BEPS: Source = Source {
    name: "BEPS",
    class: ("vote", &["Conservative", "Labour", "Liberal Democrat"]),
    attributes: "age: 18 100 1\neconomic.cond.national: 1 5 1\neconomic.cond.household: 1 5 1\n\
                 Blair: 1 5 1\nHague: 1 5 1\nKennedy: 1 5 1\nEurope: 1 11 1\n\
                 political.knowledge: 0 3 1\ngender: female|male",
};

/// `Chile` of R's carData without missing values; `statusquo` to two digits.
const CHILE: Source = Source {
    name: "Chile",
    class: ("vote", &["A", "N", "U", "Y"]),
    attributes: "region: C|M|N|S|SA\npopulation: 0 250000 1250\nsex: F|M\nage: 18 70 1\n\
                 education: P|PS|S\nincome: 0 200000 2500\nstatusquo: -2 3 0.01",
};

/// `hpc_data` of R's modeldata: jobs of a computer and how long they took; `hour` in quarters.
const JOBS: Source = Source {
    name: "hpc_data",
    class: ("class", &["VF", "F", "M", "L"]),
    attributes: "protocol: A|C|D|E|F|G|H|I|J|K|L|M|N|O\ncompounds: 0 15000 1\n\
                 input_fields: 0 60000 1\niterations: 0 200 1\nnum_pending: 0 6000 1\n\
                 hour: 0 24 0.25\nday: Mon|Tue|Wed|Thu|Fri|Sat|Sun",
};

/// `flchain` of R's survival without missing values: a blood test of people above 50, and who of them
/// died later.
const LIGHT_CHAINS: Source = Source {
    name: "flchain",
    class: ("death", &["no", "yes"]),
    attributes: "age: 0 120 1\nsex: F|M\nsample.yr: 1990 2010 1\nkappa: 0 50 0.01\n\
                 lambda: 0 50 0.01\ncreatinine: 0 15 0.1\nmgus: yes|no",
};

/// All but Adult.
pub const SOURCES: [&Source; 10] =
    [&FAIR, &CHURN, &WVS, &SATELLITE, &INSURANCE, &CREDIT, &BEPS, &CHILE, &JOBS, &LIGHT_CHAINS];

impl Source {
    /// An agreement of one party with these lines for `[release]`.
    pub fn agreement(&self, terms: &str) -> Result<Agreement, Error> {
        let (column, values) = self.class;
        let mut text = format!(
            "[release]\nid = \"small\"\npartition = \"local\"\nmax_records = 50000\n{terms}\n\
             [class]\ncolumn = \"{column}\"\nvalues = {values:?}\n"
        );
        for line in self.attributes.lines() {
            let (name, domain) = line.trim().split_once(": ").unwrap_or((line, ""));
            text += &format!("[[attribute]]\nname = \"{name}\"\n");
            text += &match domain.split(' ').collect::<Vec<_>>()[..] {
                [min, max, step] if !domain.contains('|') => format!(
                    "kind = \"numeric\"\nmin = \"{min}\"\nmax = \"{max}\"\nstep = \"{step}\"\n"
                ),
                _ => format!(
                    "kind = \"categorical\"\ntaxonomy = {{ \"any {name}\" = {:?} }}\n",
                    domain.split('|').collect::<Vec<_>>()
                ),
            };
        }
        Agreement::parse("small.toml", text.as_bytes(), &|_| Err("no files".to_owned()))
            .map_err(Error::input)
    }

    /// Training and test records, two thirds and one: nothing where the file is not.
    pub fn read(&self, place: &Path) -> Result<Option<[Table; 2]>, Error> {
        let path = place.join(format!("{}.csv", self.name));
        if !path.exists() {
            return Ok(None);
        }
        let file = std::fs::read_to_string(&path);
        let table = self.parse(&file.map_err(|error| Error::file(&path, "read", &error))?)?;
        Ok(Some(divided(&table, 3, 0)))
    }

    /// The records of a CSV file with a header.
    pub fn parse(&self, csv: &str) -> Result<Table, Error> {
        let agreement = self.agreement("epsilon = \"1\"\nspecializations = 1")?;
        parse(&agreement, self.name, csv)
    }
}

/// The records of a CSV file with a header, in the agreement's domains.
pub fn parse(agreement: &Agreement, name: &str, csv: &str) -> Result<Table, Error> {
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    parse_csv(name, csv.as_bytes(), &reading, &|_| {})
}

/// The records outside and inside one of so many parts; which record is where is always the same.
pub fn divided(table: &Table, parts: usize, part: usize) -> [Table; 2] {
    let mut order: Vec<(u64, usize)> =
        (0..table.len()).map(|record| (scrambled(record as u64), record)).collect();
    order.sort_unstable();
    [false, true].map(|inside| {
        let places = order.iter().enumerate();
        let chosen = places.filter(|(place, _)| (place % parts == part) == inside);
        table.select(&chosen.map(|(_, (_, record))| *record).collect::<Vec<_>>())
    })
}

/// A number that looks like chance and is always the same.
pub fn scrambled(record: u64) -> u64 {
    let mut x = record.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
