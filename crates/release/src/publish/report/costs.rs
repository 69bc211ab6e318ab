//! What a run cost one party, as its private page shows it.

use serde_json::Value;

use super::html::Html;
use crate::net;
use crate::publish::run::costs;

/// The record under `private/`.
#[derive(Debug)]
pub struct Costs {
    party: String,
    records: u64,
    common: Option<u64>,
    /// Whether all messages of the release were those that the numbers of records and it lead to.
    as_forecast: Option<bool>,
    phases: net::Costs,
}

impl Costs {
    /// Reads a record; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let page: Value = serde_json::from_str(text).ok()?;
        Some(Self {
            party: page.get("party")?.as_str()?.to_uppercase(),
            records: page.get("records")?.as_u64()?,
            common: page.get("common_records")?.as_u64(),
            as_forecast: page.get("as_forecast").and_then(Value::as_bool),
            phases: costs::read(text)?,
        })
    }

    /// The section of the page.
    pub fn section(&self, html: &mut Html) {
        html.raw("<section id=\"costs\" aria-labelledby=\"costs-title\">\n<h2 id=\"costs-title\">")
            .raw("What the run cost this party</h2>\n<p>");
        html.text(&self.party).raw(" had ").text(self.records).raw(" records");
        if let Some(common) = self.common {
            html.raw(", ").text(common).raw(" of them about people whom both know");
        }
        html.raw(". Sizes and times are not protected by ε: do not pass this page on.");
        html.raw(match self.as_forecast {
            Some(true) => {
                " Every message of the release had the length that was forecast from the agreement, the \
                 numbers of records and the released tree (without ε: also from what was refused, or \
                 from how long both parties’ paths are): their lengths tell no more than these."
            }
            Some(false) => {
                " <strong>The messages of the release are not those that were forecast.</strong> That is \
                 a fault of one of the programs: report it."
            }
            None => "",
        });
        html.raw(
            "</p>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"costs-caption\">\
             <table><caption id=\"costs-caption\">By phase, in the order they ran</caption>\n\
             <thead><tr><th scope=\"col\">phase</th>\
             <th scope=\"col\" class=\"figure\">bytes sent</th>\
             <th scope=\"col\" class=\"figure\">bytes received</th>\
             <th scope=\"col\" class=\"figure\">rounds</th>\
             <th scope=\"col\" class=\"figure\">seconds</th>\
             <th scope=\"col\" class=\"figure\">CPU seconds</th></tr></thead>\n<tbody>\n",
        );
        for phase in &self.phases.phases {
            row(phase, html);
        }
        html.raw("</tbody>\n<tfoot>\n");
        row(&self.phases.total(), html);
        html.raw("</tfoot></table></div>\n</section>\n");
    }
}

fn row(phase: &net::meter::PhaseCost, html: &mut Html) {
    html.raw("<tr>");
    html.element("<th scope=\"row\">", &phase.phase, "</th>");
    let figures = [
        phase.bytes_sent.to_string(),
        phase.bytes_received.to_string(),
        phase.rounds.to_string(),
        format!("{:.2}", phase.wall.as_secs_f64()),
        format!("{:.2}", phase.cpu.as_secs_f64()),
    ];
    for figure in figures {
        html.element("<td class=\"figure\">", figure, "</td>");
    }
    html.raw("</tr>\n");
}
