//! `diptych model lkc game`: what owners of columns would contribute and get, played on a joined table.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::Error;
use crate::agreement::syntactic::{Search, Terms};
use crate::agreement::{Agreement, Model};
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::app::write_json;
use crate::math::Rational;
use crate::publish::data::Source;
use crate::release::lkc::game::{
    Bid, MOST_OWNERS, Owner, Played, Round, Silence, Strategies, discount_of_equal_shares,
    discount_of_turns, play, smallest_discount,
};
use crate::role::Role;
use crate::table::{Decimal, Reading, Table};

/// Simulate what two to five owners of the columns would contribute
///
/// In every round each owner offers its best value to be specialized, or keeps
/// silent; the highest score wins. Under the rule `fair` an owner keeps silent
/// while it has contributed more than another owner plus the slack. Prints every round, what each
/// owner contributes and gets, what it would get if it never offered anything, the discount from
/// which on that does not pay, and what the rule costs. Nothing is sent and nothing is released:
/// the simulation needs the whole table. The rule says when to stop; it is not security against
/// an owner that lies, and an owner with nothing to offer stops everybody.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych model lkc game --agreement lkc.toml --data joined.csv \
                        --owner Bank=job,salary --owner Registry=sex,age")]
pub struct GameArgs {
    /// The agreement, in TOML, with model = "lkc"
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// The joined table: CSV with a header line
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// An owner and its columns; two to five owners [default: those of the agreement]
    #[arg(long = "owner", value_name = "NAME=COLUMNS")]
    owners: Vec<String>,
    /// Whether owners that are ahead keep silent
    #[arg(long, value_enum, default_value = "fair")]
    rule: WhichRule,
    /// By how much an owner may be ahead and still offer
    #[arg(long, value_name = "SCORE", default_value = "0.01")]
    slack: String,
    /// An owner that never offers anything; may be given several times
    #[arg(long, value_name = "NAME")]
    defect: Vec<String>,
    /// Write all results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhichRule {
    /// No owner waits for another
    Off,
    /// Owners that are ahead keep silent
    Fair,
}

/// Everything that a game is played with.
struct Stage {
    agreement: Agreement,
    terms: Terms,
    table: Table,
    owners: Vec<Owner>,
    slack: Rational,
}

/// The games that are compared.
struct Found<'t> {
    played: Played<'t>,
    free: Played<'t>,
    fair: Played<'t>,
    /// Of each owner, if it alone never offers anything.
    alone: Vec<Played<'t>>,
}

pub(super) fn run(arguments: &GameArgs, console: &Console) -> Result<(), Error> {
    let stage = Stage::prepare(arguments, console)?;
    let defecting = arguments.defect.iter().map(|name| stage.place(name));
    let defecting = defecting.collect::<Result<Vec<usize>, Error>>()?;
    let fair = (arguments.rule == WhichRule::Fair).then(|| stage.slack.clone());
    let alone = |owner| stage.play(fair.clone(), &[owner]);
    let found = Found {
        played: stage.play(fair.clone(), &defecting)?,
        free: stage.play(None, &[])?,
        fair: stage.play(Some(stage.slack.clone()), &[])?,
        alone: (0..stage.owners.len()).map(alone).collect::<Result<_, _>>()?,
    };
    // What one that defects is compared with plays by the same rule.
    let honest = if fair.is_some() { &found.fair } else { &found.free };
    for line in stage.lines(&found, honest) {
        console.result(line);
    }
    console.say(
        "this is a rule for stopping, not security: losing offers cannot be checked, and an owner \
         that has nothing to offer looks like one that refuses to",
    );
    if let Some(path) = &arguments.json {
        write_json(path, &stage.as_json(&found, honest))?;
    }
    Ok(())
}

/// A decimal that is not negative.
fn slack(text: &str) -> Result<Rational, Error> {
    let (above, below) = Decimal::parse(text)?.ratio();
    let above = u64::try_from(above).ok();
    let slack = above.and_then(|above| Rational::new(above, below));
    slack.ok_or_else(|| Error::input("--slack is negative"))
}

/// `NAME=COLUMN,COLUMN`.
fn owner(text: &str, agreement: &Agreement, terms: &Terms) -> Result<Owner, Error> {
    let wrong = |why: String| Error::input(format!("--owner {text:?}: {why}"));
    let (name, columns) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| wrong("give a name, = and columns, such as Bank=job,salary".to_owned()))?;
    let place = |column: &str| {
        let of = |place: &usize| agreement.schema.attributes[*place].name == column;
        terms.quasi(&agreement.schema).find(of).ok_or_else(|| {
            wrong(format!("{column:?} is not an attribute that the agreement generalizes"))
        })
    };
    let attributes = columns.split(',').map(place).collect::<Result<Vec<usize>, Error>>()?;
    Ok(Owner { name: name.to_owned(), attributes })
}

impl Stage {
    fn prepare(arguments: &GameArgs, console: &Console) -> Result<Self, Error> {
        let agreement = crate::app::agreement::load(&arguments.agreement)?;
        let terms = match &agreement.model {
            Model::Syntactic(terms) if matches!(terms.search, Search::TopDown { .. }) => {
                terms.clone()
            }
            _ => {
                return Err(Error::input("the agreement is for another model")
                    .advise("the game is about model = \"lkc\""));
            }
        };
        let owners = owners(&arguments.owners, &agreement, &terms)?;
        let (schema, max_records) = (&agreement.schema, agreement.max_records);
        let reading = Reading { schema, owner: None, identifier: None, max_records };
        let table = Source::file(&arguments.data).read(&reading, &Screen::new(console))?;
        let slack = slack(&arguments.slack)?;
        Ok(Self { terms, owners, table, slack, agreement })
    }

    fn place(&self, name: &str) -> Result<usize, Error> {
        let found = self.owners.iter().position(|owner| owner.name == name);
        found.ok_or_else(|| Error::input(format!("--defect: there is no owner {name:?}")))
    }

    fn play(&self, slack: Option<Rational>, defecting: &[usize]) -> Result<Played<'_>, Error> {
        let how = Strategies { slack, defecting: defecting.to_vec() };
        let schema = &self.agreement.schema;
        play(schema, &self.terms, &self.table, &self.owners, &how)
    }

    fn words(&self, bid: &Bid) -> String {
        match bid {
            Bid::Offers { what, score } => format!("offers {what} ({score})"),
            Bid::Silent(Silence::Ahead { of }) => {
                format!("is silent, ahead of {}", self.owners[*of].name)
            }
            Bid::Silent(Silence::NothingValid) => "is silent, has nothing valid".to_owned(),
            Bid::Silent(Silence::Defects) => "is silent, defects".to_owned(),
        }
    }

    fn round(&self, number: usize, round: &Round) -> String {
        let each = self.owners.iter().zip(&round.bids);
        let bids: Vec<String> =
            each.map(|(owner, bid)| format!("{} {}", owner.name, self.words(bid))).collect();
        let end = match &round.won {
            Some((winner, score)) => {
                format!("{} gives {}", self.owners[*winner].name, number_of(score))
            }
            None => "end".to_owned(),
        };
        format!("round {:<3} {}: {end}", number + 1, bids.join("; "))
    }

    fn lines(&self, found: &Found<'_>, honest: &Played<'_>) -> Vec<String> {
        let played = &found.played;
        let rounds = played.rounds.iter().enumerate();
        let mut lines: Vec<String> = rounds.map(|(n, round)| self.round(n, round)).collect();
        lines.push(String::new());
        lines.push(format!(
            "{:<12} {:>12} {:>12} {:>12} {:>14} {:>12}",
            "owner", "contributes", "gets", "if honest", "if it defects", "honest pays"
        ));
        for (place, owner) in self.owners.iter().enumerate() {
            let pays = discount(honest, &found.alone[place], place);
            lines.push(format!(
                "{:<12} {:>12} {:>12} {:>12} {:>14} {:>12}",
                owner.name,
                number_of(&played.contributions[place]),
                number_of(&played.benefit(place)),
                number_of(&honest.benefit(place)),
                number_of(&found.alone[place].benefit(place)),
                pays.map_or("never".to_owned(), |delta| format!("δ ≥ {delta:.4}")),
            ));
        }
        let n = self.owners.len();
        lines.push(format!(
            "theorem 1 of the game paper, {n} owners: δ ≥ {:.4} in equal shares, {:.4} in turns for \
             whoever pays first",
            discount_of_equal_shares(n),
            discount_of_turns(n)
        ));
        lines.push(String::new());
        lines.push(format!(
            "{:<12} {:>16} {:>8} {:>16} {:>22}",
            "", "specializations", "groups", "discernibility", "of their majority"
        ));
        for (name, game) in [("this game", played), ("fair", &found.fair), ("no rule", &found.free)]
        {
            let quality = &game.quality;
            let part = quality.majority as f64 / quality.people.max(1) as f64;
            lines.push(format!(
                "{name:<12} {:>16} {:>8} {:>16} {:>22}",
                game.cuts().made().len(),
                quality.groups,
                quality.discernibility,
                format!("{} ({:.2} %)", quality.majority, part * 100.0),
            ));
        }
        lines
    }

    fn as_json(&self, found: &Found<'_>, honest: &Played<'_>) -> Value {
        let game = |played: &Played<'_>| {
            let rounds: Vec<Value> =
                played.rounds.iter().map(|round| self.round_json(round)).collect();
            let numbers = |numbers: Vec<Rational>| {
                numbers.iter().map(ToString::to_string).collect::<Vec<String>>()
            };
            let benefits = (0..self.owners.len()).map(|owner| played.benefit(owner)).collect();
            let quality = &played.quality;
            json!({
                "rounds": rounds,
                "contributions": numbers(played.contributions.clone()),
                "benefits": numbers(benefits),
                "specializations": played.cuts().made().len(),
                "people": quality.people,
                "groups": quality.groups,
                "discernibility": quality.discernibility.to_string(),
                "majority": quality.majority,
            })
        };
        let names: Vec<&str> = self.owners.iter().map(|owner| owner.name.as_str()).collect();
        let alone: Vec<Value> = found.alone.iter().map(game).collect();
        let discounts: Vec<Option<f64>> =
            (0..names.len()).map(|place| discount(honest, &found.alone[place], place)).collect();
        json!({
            "format": "diptych game v1",
            "owners": names,
            "slack": self.slack.to_string(),
            "played": game(&found.played),
            "fair": game(&found.fair),
            "noRule": game(&found.free),
            "oneDefects": alone,
            "smallestDiscounts": discounts,
        })
    }

    fn round_json(&self, round: &Round) -> Value {
        let bids: Vec<String> = round.bids.iter().map(|bid| self.words(bid)).collect();
        let winner = round.won.as_ref().map(|(owner, _)| self.owners[*owner].name.as_str());
        let score = round.won.as_ref().map(|(_, score)| score.to_string());
        json!({ "bids": bids, "winner": winner, "score": score })
    }
}

/// The owners that were named, or else the two of the agreement. Each attribute has one.
fn owners(named: &[String], agreement: &Agreement, terms: &Terms) -> Result<Vec<Owner>, Error> {
    let schema = &agreement.schema;
    let owners: Vec<Owner> = match named {
        [] => {
            let of = |role: Role| {
                let own = |place: &usize| schema.attributes[*place].owner == Some(role);
                Owner {
                    name: role.to_string(),
                    attributes: terms.quasi(schema).filter(own).collect(),
                }
            };
            Role::BOTH.map(of).to_vec()
        }
        _ => named.iter().map(|text| owner(text, agreement, terms)).collect::<Result<_, _>>()?,
    };
    if !(2..=MOST_OWNERS).contains(&owners.len()) {
        return Err(Error::input(format!(
            "the number of owners is {}, not two to five",
            owners.len()
        ))
        .advise("give --owner NAME=COLUMNS once for each"));
    }
    let twice = |place: usize| owners[..place].iter().any(|other| other.name == owners[place].name);
    if let Some(place) = (0..owners.len()).find(|place| twice(*place)) {
        return Err(Error::input(format!("{:?} is named twice", owners[place].name)));
    }
    for place in terms.quasi(schema) {
        let holders = owners.iter().flat_map(|owner| &owner.attributes).filter(|a| **a == place);
        if holders.count() != 1 {
            let name = &schema.attributes[place].name;
            return Err(Error::input(format!("{name:?} does not have exactly one owner"))
                .advise("name it in one --owner"));
        }
    }
    Ok(owners)
}

fn number_of(score: &Rational) -> String {
    score.decimal_nearest(4)
}

/// From which δ on it pays to play by the rule.
fn discount(honest: &Played<'_>, alone: &Played<'_>, owner: usize) -> Option<f64> {
    let numbers = |played: &Played<'_>| {
        let payoffs = played.payoffs(owner);
        payoffs
            .iter()
            .map(|one| one.decimal_nearest(15).parse().unwrap_or(0.0))
            .collect::<Vec<f64>>()
    };
    smallest_discount(&numbers(honest), &numbers(alone))
}
