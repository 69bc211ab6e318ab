//! The papers' protocols abort the run of a peer that announces far too much, as all protocols do.

use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Randomness;
use crate::paper::polynomial::{self, NoWrap};
use crate::paper::random_value;
use crate::paper::scalar_product::{self, ExpectedKey, Key, TableShape};
use crate::protocol::announced::{assert_kinds, ending};
use crate::protocol::shares::{Ring, Share};
use crate::role::Role;

#[test]
fn encrypted_count_tables_refuse_what_is_overstated() {
    let key = small_key();
    assert_kinds(&[b"ssp0", b"ssp1", b"ssp2"], |session| {
        let shape = TableShape { records: 4, cells: [2, 3], sigma: 64, bits: 40 };
        let key = match session.role {
            Role::P1 => Key::Own(&key),
            Role::P2 => Key::Peer(ExpectedKey::for_tests(512, Tuning::default())),
        };
        ending(scalar_product::count_table(session, key, &shape, &[0, 1, 1, 0], &|_| ()))
    });
}

#[test]
fn polynomials_refuse_what_is_overstated() {
    let key = small_key();
    let five = [5u8.into(), 5u8.into()];
    let bound = NoWrap::from_inputs(key.public(), &10u8.into(), &five).unwrap();
    assert_kinds(&[b"ope1", b"ope2"], |session| {
        let polynomials = [vec![1.into(), 2.into()]];
        match session.role {
            Role::P1 => {
                ending(polynomial::send(session, key.public(), &bound, &polynomials, &|_| ()))
            }
            Role::P2 => ending(polynomial::receive(session, &key, &bound, &[3.into()], &|_| ())),
        }
    });
}

#[test]
fn random_values_refuse_what_is_overstated() {
    let circuit = [b"otbs", b"otbr", b"otex", b"ysed", b"ytab", b"ydec", b"rvp1"];
    assert_kinds(&circuit, |session| {
        let bound = Share::new(&Ring::PowerOfTwo(6), &25.into());
        ending(random_value::draw(session, Role::P1, &bound, 10))
    });
}

fn small_key() -> SecretKey {
    SecretKey::generate_for_tests(512, Tuning::default(), &mut Randomness::seeded(1)).unwrap()
}
