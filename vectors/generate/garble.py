#!/usr/bin/env python3
"""Known answers for garbling: the hash, half gates, decoding. Rewrites ../garble.json."""

import hashlib
import json
import pathlib
import random

from plain_aes import encrypt_number

GATES_PER_KEY = 64
ONES = (1 << 64) - 1
rng = random.Random("diptych garble vectors 1")


def number():
    return rng.getrandbits(128)


def h(value):
    return f"{value:032x}"


def sigma(x):
    left, right = x >> 64, x & ONES
    return (left ^ right) << 64 | left


def gate_hash(start, tweak, x):
    key = start ^ (tweak // (2 * GATES_PER_KEY))
    y = sigma(x) ^ (tweak % (2 * GATES_PER_KEY))
    return encrypt_number(key, y) ^ y


def garble(start, gate, delta, a0, b0):
    ha0, ha1 = (gate_hash(start, 2 * gate, a) for a in (a0, a0 ^ delta))
    hb0, hb1 = (gate_hash(start, 2 * gate + 1, b) for b in (b0, b0 ^ delta))
    generator = ha0 ^ ha1 ^ (delta if b0 & 1 else 0)
    evaluator = hb0 ^ hb1 ^ a0
    left = ha0 ^ (generator if a0 & 1 else 0)
    right = hb0 ^ (evaluator ^ a0 if b0 & 1 else 0)
    return generator, evaluator, left ^ right


def evaluate(start, gate, a, b, generator, evaluator):
    left = gate_hash(start, 2 * gate, a) ^ (generator if a & 1 else 0)
    right = gate_hash(start, 2 * gate + 1, b) ^ (evaluator ^ a if b & 1 else 0)
    return left ^ right


groups, count = [], 0


def group(kind, **fields):
    groups.append({"type": kind, **fields, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append(
        {"tcId": count, "comment": comment, "flags": flags, **fields, "result": result}
    )


GATES = [0, 1, 2, 63, 64, 65, 127, 128, 1000, 2**32, 2**40 + 77]

group("StartingPoint")
for purpose in ("gates of P1", "gates of P2", "ot from P1", ""):
    session = rng.randbytes(32)
    digest = hashlib.sha256(b"diptych/v1/hash-start\0" + session + purpose.encode()).digest()
    test(
        f"purpose '{purpose}'", [], "valid", session=session.hex(), purpose=purpose,
        start=h(int.from_bytes(digest[:16], "little")),
    )

start, delta = number(), number() | 1
group("GarbleAnd", start=h(start), delta=h(delta))
for gate in GATES:
    for a_bit, b_bit in ((0, 0), (0, 1), (1, 0), (1, 1)) if gate < 65 else ((1, 0),):
        a0, b0 = number() & ~1 | a_bit, number() & ~1 | b_bit
        generator, evaluator, out = garble(start, gate, delta, a0, b0)
        for x in (0, 1):
            for y in (0, 1):
                label = evaluate(start, gate, a0 ^ x * delta, b0 ^ y * delta, generator, evaluator)
                assert label == out ^ (x & y) * delta
        test(
            f"gate {gate}, pointer bits {a_bit}{b_bit}", ["KeyChange"] if gate % 64 == 0 else [],
            "valid", gate=gate, a0=h(a0), b0=h(b0), generatorHalf=h(generator),
            evaluatorHalf=h(evaluator), out0=h(out),
        )

group("EvaluateAnd", start=h(start))
for gate in GATES:
    a, b, generator, evaluator = number(), number(), number(), number()
    test(
        f"gate {gate}, labels and ciphertexts of nobody", ["Unrelated"], "valid", gate=gate,
        a=h(a), b=h(b), generatorHalf=h(generator), evaluatorHalf=h(evaluator),
        out=h(evaluate(start, gate, a, b, generator, evaluator)),
    )

group("Decode", delta=h(delta))
for _ in range(3):
    zero = number()
    test("the zero label", [], "valid", zero=h(zero), label=h(zero), bit=0)
    test("the one label", [], "valid", zero=h(zero), label=h(zero ^ delta), bit=1)
    test("one bit off the zero label", ["NeitherLabel"], "invalid", zero=h(zero), label=h(zero ^ 2))
    test("another label", ["NeitherLabel"], "invalid", zero=h(zero), label=h(number()))
    test("only the pointer bit", ["NeitherLabel"], "invalid", zero=h(zero), label=h(zero ^ 1))

document = {
    "algorithm": "garbling",
    "schema": "schema/garble.json",
    "numberOfTests": count,
    "notes": {
        "labels": "128-bit numbers, hexadecimal; the cipher's bytes are their little-endian bytes",
        "KeyChange": "the first gate under a new key",
        "Unrelated": "evaluation must give exactly this label even though it means nothing",
        "NeitherLabel": "a returned label that is neither of the wire's two must be refused",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "garble.json"
path.write_text(json.dumps(document, indent=2) + "\n")
