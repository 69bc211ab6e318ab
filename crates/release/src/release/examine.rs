//! What anybody can see of a table that was released, whatever its model: whether it is as its
//! agreement requires, and what must stand beside it wherever it is shown.

use std::io::Read;

use super::groups::table::{Columns, read};
use super::groups::{Extremes, MOST_STEPS, Rule};
use super::model;
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::syntactic::Terms;
use crate::release::broken;
use crate::release::groups::too_many_steps;
use crate::table::Schema;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// What was checked beyond hashes, in a line.
    pub checked: Option<String>,
    /// The warning to show before it is used.
    pub warning: Option<String>,
}

/// Whether anything is to be seen at all: if not, the table need not be read.
pub fn is_needed(agreement: &Agreement) -> bool {
    model::of(agreement).is_examined()
}

/// Looks at the table of a release.
///
/// # Errors
/// If it is not as its agreement requires, or it would take too long to see.
pub fn released(agreement: &Agreement, mut csv: impl Read) -> Result<Seen, Error> {
    model::of(agreement).examine(agreement, &mut csv)
}

/// Tests the groups of a table again.
pub(super) fn groups(
    agreement: &Agreement,
    terms: &Terms,
    csv: &mut dyn Read,
) -> Result<Seen, Error> {
    let schema: &Schema = &agreement.schema;
    let quasi: Vec<usize> = terms.quasi(schema).collect();
    let names: Vec<&str> = quasi.iter().map(|place| &*schema.attributes[*place].name).collect();
    let sensitive = terms.sensitive.as_ref().map(|s| (s.attribute.as_str(), &s.protect[..]));
    let columns = Columns { quasi: &names, sensitive, count: Some("count") };
    let found = read(csv, &columns).map_err(|problem| broken(&problem))?;
    let mut rules = Rule::of(terms, schema);
    for place in rules.iter_mut().flat_map(|rule| &mut rule.attributes) {
        *place = quasi.iter().position(|known| known == place).unwrap_or(0);
    }
    let steps = rules.iter().map(|rule| found.groups.steps(rule)).fold(0, u64::saturating_add);
    if steps > MOST_STEPS {
        return Err(too_many_steps(steps));
    }
    let mut seen = Extremes::default();
    for rule in rules {
        let extremes = found.groups.test(&rule, None);
        if let Some(offender) = &extremes.offender {
            return Err(broken(&found.words(offender)));
        }
        seen = seen.and(extremes);
    }
    let (told, of) = seen.largest;
    let part = if told == 0 { String::new() } else { format!(", largest part {told} of {of}") };
    Ok(Seen {
        checked: Some(format!("every group is as agreed: smallest {}{part}", seen.smallest)),
        warning: Some(terms.warning(schema, found.groups.alone())),
    })
}
