use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;

use super::*;

/// Field elements at the edges: 1, p − 1, p, p + 1, all bits set, one limb full, and so on.
fn edges() -> Vec<[u8; 32]> {
    let near_modulus = |low: u8| {
        let mut bytes = [0xff; 32];
        bytes[0] = low;
        bytes[31] = 0x7f;
        bytes
    };
    let mut edges: Vec<[u8; 32]> = [0xec, 0xed, 0xee, 0xff].map(near_modulus).to_vec();
    edges.push([0xff; 32]);
    for byte in 0..32 {
        let mut bytes = [0; 32];
        bytes[byte] = 0x80;
        edges.push(bytes);
        bytes[..byte].fill(0xff);
        edges.push(bytes);
    }
    edges
}

#[test]
fn edges_of_the_field_map_as_the_portable_code_maps_them() {
    let Some(vector) = Ristretto8::detect() else { return };
    let edges = edges();
    let mut uniform = Vec::new();
    for (index, first) in edges.iter().enumerate() {
        // Zero maps to the identity, which may not enter a batch alone: pair it with others only.
        let second = edges[(index * 7 + 3) % edges.len()];
        uniform.push(<[u8; 64]>::try_from([*first, second].concat()).unwrap());
        uniform.push(<[u8; 64]>::try_from([[0; 32], [first[0] | 2; 32]].concat()).unwrap());
    }
    let expected: Vec<[u8; 32]> = uniform
        .iter()
        .map(|bytes| RistrettoPoint::from_uniform_bytes(bytes).compress().to_bytes())
        .collect();
    assert!(expected.iter().all(|bytes| *bytes != [0; 32]), "the identity is among the inputs");
    let mut out = vec![[0; 32]; uniform.len()];
    vector.multiply_mapped(&Scalar::ONE.div_by_2().to_bytes(), &uniform, &mut out);
    assert_eq!(out, expected);
}

#[test]
fn edges_of_the_field_are_decoded_or_refused_as_the_portable_code_does() {
    let Some(vector) = Ristretto8::detect() else { return };
    for edge in edges() {
        let portable = CompressedRistretto(edge).decompress().is_some();
        assert_eq!(vector.check(&[edge]).is_ok(), portable, "{edge:?}");
    }
    assert_eq!(vector.check(&[[0; 32]]), Ok(()));
}

#[test]
fn the_digits_of_a_scalar_add_up_to_it() {
    for scalar in [Scalar::ONE, -Scalar::ONE, Scalar::from(0x8888_8888_u64), Scalar::ONE.div_by_2()]
    {
        let digits = point::digits(&scalar.to_bytes());
        assert!(digits.iter().all(|digit| (-8..=8).contains(digit)));
        let mut sum = Scalar::ZERO;
        for digit in digits.iter().rev() {
            let size = Scalar::from(digit.unsigned_abs());
            sum = sum * Scalar::from(16_u8) + if *digit < 0 { -size } else { size };
        }
        assert_eq!(sum, scalar);
    }
}
