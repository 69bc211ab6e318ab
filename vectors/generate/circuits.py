#!/usr/bin/env python3
"""Inputs and outputs of the exported circuits, and FIPS answers. Rewrites ../circuits.json."""

import hashlib
import json
import pathlib
import random

from plain_aes import encrypt

rng = random.Random("diptych circuits vectors 1")
P255 = 2**255 - 19
groups, count = [], 0


def group(circuit, widths_in, widths_out):
    groups.append(
        {
            "type": "Circuit",
            "circuit": circuit,
            "inputWidths": widths_in,
            "outputWidths": widths_out,
            "tests": [],
        }
    )


def test(comment, inputs, outputs, flags=(), result="valid"):
    global count
    count += 1
    entry = {"tcId": count, "comment": comment, "flags": list(flags)}
    widths = groups[-1]["inputWidths"], groups[-1]["outputWidths"]
    entry["inputs"] = [f"{v:0{(w + 3) // 4}x}" for v, w in zip(inputs, widths[0])]
    if result == "valid":
        entry["outputs"] = [f"{v:0{(w + 3) // 4}x}" for v, w in zip(outputs, widths[1])]
    groups[-1]["tests"].append({**entry, "result": result})


group("less_than_64", [64, 64], [1])
top = 2**64 - 1
pairs = [(0, 0), (0, 1), (1, 0), (top, top), (top - 1, top), (top, 0), (2**63, 2**63 - 1)]
pairs += [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(9)]
for a, b in pairs:
    test(f"{a} < {b}", [a, b], [int(a < b)])
test("an input one bit too wide", [2**64, 0], [], ["InputWidth"], "invalid")

group("maximum_8x32", [128, 128], [32, 3])
for number in range(16):
    bits = 32 if number % 2 else 2
    values = [rng.getrandbits(bits) for _ in range(8)]
    packed = [sum(v << 32 * i for i, v in enumerate(values[k : k + 4])) for k in (0, 4)]
    flags = ["Ties"] if values.count(max(values)) > 1 else []
    test(f"values {values}", packed, [max(values), values.index(max(values))], flags)

group("modular_add_p255", [255, 255], [255])
pairs = [(0, 0), (P255 - 1, 1), (P255 - 1, P255 - 1), (P255 - 1, 0), (1, P255 - 2)]
pairs += [(rng.randrange(P255), rng.randrange(P255)) for _ in range(9)]
for a, b in pairs:
    test("a sum modulo 2^255 - 19", [a, b], [(a + b) % P255])


def little(data):
    return int.from_bytes(data, "little")


group("aes_128", [128, 128], [128])
fips = [
    ("FIPS 197, appendix B", "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
     "3925841d02dc09fbdc118597196a0b32"),
    ("FIPS 197, appendix C.1", "000102030405060708090a0b0c0d0e0f",
     "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
]
for comment, key, block, expected in fips:
    key, block, expected = (bytes.fromhex(x) for x in (key, block, expected))
    assert encrypt(key, block) == expected
    test(comment, [little(key), little(block)], [little(expected)], ["Fips"])
for _ in range(4):
    key, block = rng.randbytes(16), rng.randbytes(16)
    test("random key and block", [little(key), little(block)], [little(encrypt(key, block))])


def root(value, degree):
    low, high = 0, value
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low


PRIMES = [n for n in range(2, 312) if all(n % d for d in range(2, n))][:64]
MASK = 2**32 - 1
INITIAL = [root(p << 64, 2) & MASK for p in PRIMES[:8]]
CONSTANTS = [root(p << 96, 3) & MASK for p in PRIMES]


def rotate(x, n):
    return (x >> n | x << (32 - n)) & MASK


def compress(state, block):
    w = list(block)
    for i in range(16, 64):
        s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3
        s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10
        w.append((w[i - 16] + s0 + w[i - 7] + s1) & MASK)
    a, b, c, d, e, f, g, h = state
    for i in range(64):
        t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (e & f ^ ~e & g)
        t1 = (t1 + CONSTANTS[i] + w[i]) & MASK
        t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (t1 + t2) & MASK, a, b, c, (d + t1) & MASK, e, f, g
    return [(x + y) & MASK for x, y in zip(state, (a, b, c, d, e, f, g, h))]


def pad(message):
    padded = message + b"\x80" + bytes(-(len(message) + 9) % 64)
    return padded + (8 * len(message)).to_bytes(8, "big")


def words(data):
    return [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]


def joined(values):
    return sum(v << 32 * i for i, v in enumerate(values))


group("sha_256", [512, 256], [256])
long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
for message in (b"abc", b"", long, rng.randbytes(100)):
    state = INITIAL
    blocks = pad(message)
    for i in range(0, len(blocks), 64):
        block = words(blocks[i : i + 64])
        after = compress(state, block)
        flags = ["Fips"] if message in (b"abc", long) else []
        test(
            f"block {i // 64} of a message of {len(message)} bytes",
            [joined(block), joined(state)], [joined(after)], flags,
        )
        state = after
    assert b"".join(x.to_bytes(4, "big") for x in state) == hashlib.sha256(message).digest()

document = {
    "algorithm": "boolean circuits",
    "schema": "schema/circuits.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "each port is a number in hexadecimal, its bit i is wire i of the port",
        "aes_128": "byte i of FIPS's key, block and ciphertext is bits 8i to 8i + 7 of the number",
        "sha_256": "word i of FIPS's block and state is bits 32i to 32i + 31 of the number",
        "Fips": "the standard's own example",
        "Ties": "the largest value occurs more than once: the lowest index wins",
        "InputWidth": "the value does not fit the port and must be refused",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "circuits.json"
path.write_text(json.dumps(document, indent=1) + "\n")
