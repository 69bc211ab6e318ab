//! The vectors of scalar products and count tables. Each message is read as its receiver reads it
//! and made as its sender makes it, on the portable and on the vector path; an invalid test must be
//! rejected for the reason in its flag.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::field::{
    self, check_groups, expect_equal, judge, list, number, numbers, parse_number, small, text,
};
use super::keys;
use crate::Error;
use crate::crypto::paillier::{Ciphertext, Fresh, GroupSums, Returned, SecretKey};
use crate::net::codec;
use crate::paper::scalar_product::{
    Entries, Opening, ProductPlan, PublicNumbers, TablePlan, TableShape, VectorShape,
    ideal_product, ideal_table,
};
use crate::role::Role;

/// Checks a document whose algorithm is `scalar product`.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_groups(document, &[], |group| {
        // Preparing a key takes longer than most tests: once per group.
        let keys = keys(&group["key"]);
        Box::new(move |test| {
            let examine = match text(group, "type") {
                "Product" => product,
                "Table" => table,
                other => return Err(format!("no such type of group: {other:?}")),
            };
            let keys = keys.as_ref().map_err(String::clone)?;
            judge(test, keys.iter().try_for_each(|key| examine(key, test)))
        })
    })
}

type Difference = field::Difference<Error>;

/// The outcome of a test: no difference, a difference, or an error of the code under test.
type Outcome = Result<(), Difference>;

fn product(key: &SecretKey, test: &Value) -> Outcome {
    let [p1, p2] = [numbers(test, "p1")?, numbers(test, "p2")?];
    let entries = match list(test, "entryBits") {
        [] => Entries::Binary,
        bits => Entries::Signed([small(&bits[0])?, small(&bits[1])?]),
    };
    let shape = VectorShape { length: p1.len(), entries, sigma: small(&test["sigma"])? };
    let ideal = ideal_product(&shape, &p1, &p2)?;
    let (encrypting, own, other) = match text(test, "encrypts") {
        "P1" => (Role::P1, &p1, &p2),
        _ => (Role::P2, &p2, &p1),
    };
    let plan = ProductPlan::new(&shape, encrypting, key.public())?;
    let messages = Messages::read(key, test, shape.length, 1)?;
    let opened = plan.open(&key.decrypt(&messages.returned[0]))?;

    let plaintexts = own.iter().map(|entry| plan.plaintext(*entry));
    messages.check_sent(key, test, shape.numbers(), &plaintexts.collect::<Result<Vec<_>, _>>()?)?;
    let mut sums = plan.start();
    plan.add(&mut sums, &messages.fresh, other, &|_| ())?;
    let mask: BigUint = number(test, "mask")?;
    let masked = key.public().add_plain(&plan.finish(sums)?, &mask).map_err(Error::from)?;
    messages.check_returned(key, &[masked], std::slice::from_ref(&test["nonce"]))?;

    let shares = match encrypting {
        Role::P1 => [opened, -BigInt::from(mask)],
        Role::P2 => [-BigInt::from(mask), opened],
    };
    same("share1", &number(test, "share1")?, &shares[0])?;
    same("share2", &number(test, "share2")?, &shares[1])?;
    same("product", &number(test, "product")?, &ideal)?;
    same("sum of the shares", &ideal, &(&shares[0] + &shares[1]))
}

fn table(key: &SecretKey, test: &Value) -> Outcome {
    let [p1, p2] = [cells(test, "p1")?, cells(test, "p2")?];
    let counts = [small(&test["cells"][0])? as usize, small(&test["cells"][1])? as usize];
    let (sigma, bits) = (small(&test["sigma"])?, small(&test["bits"])?);
    let shape = TableShape { records: p1.len(), cells: counts, sigma, bits };
    let plan = TablePlan::new(&shape, key.public())?;
    let ideal = ideal_table(&shape, &p1, &p2)?;
    let encrypting = shape.encrypting_role();
    let (own, other) = if encrypting == Role::P1 { (&p1, &p2) } else { (&p2, &p1) };
    same("slotBits", &small(&test["slotBits"])?, &(plan.width() as u32))?;
    let messages = Messages::read(key, test, plan.sent(), plan.returned())?;
    let mut opened = vec![0; plan.entries()];
    for (place, plaintext) in key.decrypt_all(&messages.returned, &|_| ()).iter().enumerate() {
        plan.unpack(place, plaintext, &mut opened)?;
    }

    let plaintexts: Vec<_> = (0..plan.sent()).map(|item| plan.plaintext(item, own)).collect();
    messages.check_sent(key, test, shape.numbers(), &plaintexts)?;
    let groups: Vec<_> = (0..plan.sent()).map(|item| plan.group(item, other)).collect();
    let mut sums = GroupSums::new(key.public(), plan.returned());
    sums.add(&messages.fresh, &groups, &|_| ()).map_err(Error::from)?;
    let masks: Vec<BigUint> = numbers(test, "masks")?;
    let narrow = masks.iter().all(|mask| mask.bits() <= u64::from(plan.mask_bits()));
    same("masks in range", &true, &narrow)?;
    let (masked, words) = plan.mask(key.public(), &sums.finish(), masks.into_iter())?;
    messages.check_returned(key, &masked, list(test, "nonces"))?;

    let mask = u64::MAX >> (64 - bits);
    let reduced = |words: Vec<u64>| words.into_iter().map(|word| word & mask).collect::<Vec<_>>();
    let (opened, words) = (reduced(opened), reduced(words));
    let (first, second) = if encrypting == Role::P1 { (opened, words) } else { (words, opened) };
    let sums = first.iter().zip(&second).map(|(a, b)| a.wrapping_add(*b) & mask).collect();
    same("sums of the shares", &ideal, &sums)?;
    for (name, found) in [("shares1", first), ("shares2", second)] {
        same(name, &numbers(test, name)?, &found)?;
    }
    let counts: Vec<u64> = list(test, "counts").iter().filter_map(Value::as_u64).collect();
    same("counts", &counts, &ideal)
}

/// The messages of a test, as their receivers read them.
struct Messages {
    opening: Vec<u8>,
    sent: Vec<u8>,
    fresh: Vec<Ciphertext>,
    back: Vec<u8>,
    returned: Vec<Returned>,
}

impl Messages {
    fn read(key: &SecretKey, test: &Value, sent: usize, back: usize) -> Result<Self, Difference> {
        let message =
            |name: &str| field::bytes(&test[name]).map_err(|wrong| format!("field {name} {wrong}"));
        let (opening, fresh) = (message("opening")?, message("fresh")?);
        let returned = message("returned")?;
        Ok(Self {
            opening,
            fresh: key.public().read(&fresh, sent).map_err(Error::from)?,
            sent: fresh,
            returned: key.read(&returned, back).map_err(Error::from)?,
            back: returned,
        })
    }

    /// What the encrypting party sends, with the randomness of the test.
    fn check_sent(
        &self,
        key: &SecretKey,
        test: &Value,
        numbers: PublicNumbers,
        plaintexts: &[BigUint],
    ) -> Outcome {
        let opening = codec::encode(&Opening { numbers, key: key.public().to_bytes() });
        same("opening", &Ok(self.opening.clone()), &opening)?;
        let exponents = list(test, "exponents");
        same("number of exponents", &plaintexts.len(), &exponents.len())?;
        let mut bytes = Vec::new();
        for (plaintext, exponent) in plaintexts.iter().zip(exponents) {
            let fresh = key.encrypt_with_exponent(plaintext, &parse_number(exponent)?);
            Fresh::write(&fresh.map_err(Error::from)?, &mut bytes);
        }
        same("fresh", &self.sent, &bytes)
    }

    /// What the other party returns, with the randomness of the test.
    fn check_returned(&self, key: &SecretKey, masked: &[Ciphertext], nonces: &[Value]) -> Outcome {
        same("number of nonces", &masked.len(), &nonces.len())?;
        let mut bytes = Vec::new();
        for (masked, nonce) in masked.iter().zip(nonces) {
            let returned = key.public().rerandomise_with_nonce(masked, &parse_number(nonce)?);
            returned.map_err(Error::from)?.write(&mut bytes);
        }
        same("returned", &self.back, &bytes)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Outcome {
    Ok(expect_equal(what, expected, found)?)
}

fn cells(test: &Value, field: &str) -> Result<Vec<u32>, String> {
    list(test, field).iter().map(small).collect()
}

impl From<Error> for Difference {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, document};
    use super::*;

    #[test]
    fn every_vector_passes() {
        assert_all_pass("scalar_product", check);
    }

    /// The small valid tests: all fields of a product and of a table, one changed at a time.
    #[test]
    fn a_vector_that_was_tampered_with_is_found_in_every_field() {
        for (group, comment) in [(0, "signed"), (1, "one record")] {
            let mut document = document("scalar_product");
            let group = document["testGroups"][group].take();
            let tests = group["tests"].as_array().unwrap();
            let good = tests.iter().find(|test| test["comment"] == comment).unwrap();
            let fields = good.as_object().unwrap().keys();
            let named = ["tcId", "comment", "flags", "result"];
            let mut tampered = Vec::new();
            for name in fields.filter(|name| !named.contains(&name.as_str())) {
                let mut test = good.clone();
                test["comment"] = name.as_str().into();
                test[name] = match &good[name] {
                    Value::String(_) => "03".into(),
                    Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
                    _ => vec![Value::from(1), Value::from(2)].into(),
                };
                tampered.push(test);
            }
            assert!(tampered.len() >= 14);
            document["testGroups"] = vec![group].into();
            document["testGroups"][0]["tests"] = tampered.into();
            for verdict in check(&document) {
                assert!(verdict.failure.is_some(), "another {}", verdict.comment);
            }
        }
    }

    #[test]
    fn an_invalid_vector_must_be_refused_for_the_reason_given() {
        let mut document = document("scalar_product");
        for group in document["testGroups"].as_array_mut().unwrap() {
            let tests = group["tests"].as_array_mut().unwrap();
            tests.retain(|test| test["result"] == "invalid");
            tests.iter_mut().for_each(|test| test["flags"][0] = "Otherwise".into());
        }
        assert!(check(&document).iter().all(|verdict| verdict.failure.is_some()));
    }
}
