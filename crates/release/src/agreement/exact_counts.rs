//! The terms of [`Model::ExactCounts`], the smallest model: it has none.

use super::form::Form;
use super::model::{Model, ModelTerms, Sections};
use super::read::Divided;
use super::words::{Page, Wording};
use super::{Agreement, Parties};

pub(super) struct ExactCounts;

impl ModelTerms for ExactCounts {
    fn word(&self) -> &'static str {
        "exact-counts"
    }
}

pub(super) fn read(
    form: &mut Form<'_>,
    Sections { release, top, .. }: Sections<'_>,
    _: Option<Divided>,
) -> Option<(Model, usize)> {
    form.refuse(top, "crypto", "exact counts are not encrypted");
    Some((Model::ExactCounts, release.at()))
}

impl Wording for ExactCounts {
    fn table(&self) -> &'static str {
        "The values are the coarsest there are, and every count is exact."
    }

    fn promised(&self, page: &mut Page, _: &Agreement) {
        page.item("Nothing: the counts are exact.");
    }

    fn learned(&self, page: &mut Page, _: &Agreement, _: &Parties) {
        page.item("Each learns the other's counts, from the release and its own.");
    }

    fn not_covered(&self, page: &mut Page, _: &Agreement) {
        page.item("Everything: this model is for tests.");
    }

    fn computed(&self, page: &mut Page, _: &Agreement) {
        page.item("Records are counted by class.");
    }
}
