//! Groups from any table in CSV: a release with counts, or one row for each person.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::{Groups, Offender, protected};

/// Which columns of a table mean what.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// What an attacker may know.
    pub quasi: &'a [&'a str],
    /// The sensitive column and its protected values.
    pub sensitive: Option<(&'a str, &'a [String])>,
    /// How many people a row stands for; without it, one.
    pub count: Option<&'a str>,
}

/// The groups of a table, with the names of columns and values.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The groups; attributes are the columns that somebody may know.
    pub groups: Groups,
    columns: Vec<String>,
    protected: Vec<String>,
    /// The sensitive values that occur.
    sensitive: BTreeSet<String>,
    /// Per column, the values in the order in which they came.
    names: Vec<Vec<String>>,
}

/// Reads a table.
///
/// # Errors
/// What is wrong with it, and where.
pub fn read(source: impl io::Read, wanted: &Columns<'_>) -> Result<Named, String> {
    let mut reader = csv::ReaderBuilder::new().from_reader(source);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |name: &str| {
        let found = header.iter().position(|known| known.trim() == name);
        found.ok_or_else(|| format!("there is no column `{name}`"))
    };
    let quasi = wanted.quasi.iter().map(|name| place(name)).collect::<Result<Vec<_>, _>>()?;
    let sensitive = wanted.sensitive.map(|(name, _)| place(name)).transpose()?;
    let count = wanted.count.map(place).transpose()?;
    let protect = protected::trimmed(wanted.sensitive.map_or(&[][..], |(_, values)| values));
    let mut found = Named {
        groups: Groups::new(quasi.len(), protect.len()),
        columns: wanted.quasi.iter().map(|name| (*name).to_owned()).collect(),
        protected: protect.clone(),
        sensitive: BTreeSet::new(),
        names: vec![Vec::new(); quasi.len()],
    };
    let mut codes: Vec<HashMap<String, u32>> = vec![HashMap::new(); quasi.len()];
    let mut index: HashMap<Vec<u32>, usize> = HashMap::new();
    let (wide, mut record, mut people_in_all) = (protect.len() + 1, csv::StringRecord::new(), 0u64);
    while reader.read_record(&mut record).map_err(|error| error.to_string())? {
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |place: usize| record.get(place).unwrap_or_default().trim();
        let people: u64 = match count {
            Some(place) => cell(place)
                .parse()
                .map_err(|_| format!("line {line}: `{}` is not a count", cell(place)))?,
            None => 1,
        };
        people_in_all = people_in_all.checked_add(people).ok_or("the counts are too large")?;
        if people == 0 {
            continue;
        }
        let mut key = Vec::with_capacity(quasi.len());
        for ((place, codes), names) in quasi.iter().zip(&mut codes).zip(&mut found.names) {
            let value = cell(*place);
            key.push(match codes.get(value) {
                Some(code) => *code,
                None => {
                    let code = names.len() as u32;
                    codes.insert(value.to_owned(), code);
                    names.push(value.to_owned());
                    code
                }
            });
        }
        let next = index.len();
        let group = *index.entry(key.clone()).or_insert(next);
        if group == next {
            found.groups.values.iter_mut().zip(key).for_each(|(column, code)| column.push(code));
            found.groups.counts.resize((next + 1) * wide, 0);
        }
        let counts = &mut found.groups.counts[group * wide..][..wide];
        counts[0] += people;
        let told = sensitive.map(cell);
        if let Some(value) = protect.iter().position(|value| Some(value.as_str()) == told) {
            counts[value + 1] += people;
        }
        if let Some(value) = told.filter(|value| !found.sensitive.contains(*value)) {
            found.sensitive.insert(value.to_owned());
        }
    }
    let widths = found.names.iter().map(|names| names.len() as u32).collect();
    found.groups.widths = widths;
    Ok(found)
}

impl Named {
    /// Sees that the protected values differ and occur, and that there are some if their part is
    /// `limited`.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn check_protected(&self, limited: bool) -> Result<(), String> {
        protected::check(&self.protected, limited, self.sensitive.iter().map(String::as_str))
    }

    /// A combination that breaks a rule, in words.
    pub fn words(&self, offender: &Offender) -> String {
        let value = |place: &usize| {
            let code = self.groups.values[*place].get(offender.group).copied().unwrap_or(0);
            let name = self.names[*place].get(code as usize).map_or("", String::as_str);
            format!("{} {name}", self.columns[*place])
        };
        let values: Vec<String> = offender.attributes.iter().map(value).collect();
        let who = if values.is_empty() { "all".to_owned() } else { values.join(", ") };
        match offender.told {
            None => format!("{who}: {} people", offender.people),
            Some((value, told)) => {
                let name = self.protected.get(value).map_or("", String::as_str);
                format!("{who}: of {} people {told} have {name}", offender.people)
            }
        }
    }
}
