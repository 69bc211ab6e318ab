#!/usr/bin/env python3
"""Known answers for hidden joins: bins, hints, and what is read from them. Rewrites ../join.json."""

import hashlib
import json
import pathlib
import random
from itertools import permutations

from plain_aes import encrypt_number

ONES = (1 << 64) - 1
rng = random.Random("diptych join vectors 1")


def number(bits=128):
    return rng.getrandbits(bits)


def h(value):
    return f"{value:032x}"


def hs(values):
    return [h(value) for value in values]


def xor(values):
    total = 0
    for value in values:
        total ^= value
    return total


groups, count = [], 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def test(comment, flags, result="valid", **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


group("BinCount")
for identifiers in (0, 1, 8191, 8192, 8193, 8200, 30162, 100_000, 1_000_000):
    # The least whole number that is at least 1.35 for each.
    bins = next(b for b in range(max(identifiers, 8192), 10**8) if 20 * b >= 27 * max(identifiers, 8192))
    test(f"bins for {identifiers}", ["Few"] if identifiers < 8192 else [], identifiers=identifiers, bins=bins)


def start_of(purpose, role, session):
    return f"{purpose} {role}".encode().ljust(32, b"\0") + session


def digest(identifier):
    return hashlib.sha256(identifier.encode()).digest()


def three(session, owner, bins, identifier):
    """The k-th bin is drawn among those that are left, in ascending order."""
    hashed = hashlib.sha256(start_of("diptych/v1/join-bins", owner, session) + digest(identifier)).digest()
    left, chosen = list(range(bins)), []
    for k in range(3):
        word = int.from_bytes(hashed[8 * k : 8 * k + 8], "little")
        chosen.append(left.pop(word * len(left) >> 64))
    return chosen


group("Bins")
names = ["", "ada", "grace", "alan", "emmy", "kurt", "sofja", "x" * 200]
for owner, bins in (("p1", 3), ("p2", 4), ("p1", 11060), ("p2", 100_003)):
    session = rng.randbytes(32)
    test(
        f"three of {bins}", ["AllTaken"] if bins == 3 else [], session=session.hex(), owner=owner, bins=bins,
        identifiers=names, chosen=[three(session, owner, bins, name) for name in names],
    )


def has_placement(choices):
    """Trying everything."""
    if not choices:
        return True
    for bin_number in choices[0]:
        if has_placement([[b for b in bins if b != bin_number] for bins in choices[1:]]):
            return True
    return False


group("Placement")
cases = [(5, [[0, 1, 2]] * 4), (5, [[0, 1, 2]] * 3), (4, [list(p)[:3] for p in permutations(range(3))][:3] + [[2, 1, 3]])]
cases += [(9, [rng.sample(range(9), 3) for _ in range(9)]) for _ in range(8)]
cases += [(7, [rng.sample(range(5), 3) for _ in range(6)]), (6, [])]
for bins, choices in cases:
    fits = has_placement(choices)
    test(
        f"{len(choices)} identifiers in {bins} bins", [] if fits else ["Full"],
        "valid" if fits else "invalid", bins=bins, choices=choices,
    )


def hash_block(key, tweak, x):
    left, right = x >> 64, x & ONES
    y = ((left ^ right) << 64 | left) ^ tweak
    return encrypt_number(key, y) ^ y


def row(keys, seed, key):
    """Of a store for few keys: one start."""
    blocks = [hash_block(seed, j, key) for j in range(4)]
    return (blocks[0] | blocks[1] << 128 | blocks[2] << 256) & ((1 << keys + 66) - 1)


def solve(keys, seed, entries, bits):
    pivots = {}
    for key, value in entries:
        ones = row(keys, seed, key)
        while ones:
            low = (ones & -ones).bit_length() - 1
            if low not in pivots:
                pivots[low] = (ones, value)
                break
            ones, value = ones ^ pivots[low][0], value ^ pivots[low][1]
        assert ones, "another seed"
    table = [number(bits) for _ in range(keys + 66)]
    for low in sorted(pivots, reverse=True):
        ones, value = pivots[low]
        table[low] = value ^ xor(table[i] for i in range(low + 1, keys + 66) if ones >> i & 1)
    return table


def store_key(session, giver, query):
    hashed = hashlib.sha256(start_of("diptych/v1/oprf-key", giver, session) + query).digest()
    return int.from_bytes(hashed[:16], "little")


def placed(choices, bins):
    """Some placement: who stands in each bin, or nobody."""
    def go(who, taken):
        if who == len(choices):
            return taken
        for b in choices[who]:
            if b not in taken and (found := go(who + 1, {**taken, b: who})) is not None:
                return found
        return None

    taken = go(0, {})
    assert taken is not None
    return [taken.get(b) for b in range(bins)]


group("Hint")
people = [f"person {i}" for i in range(12)]
for owner, own, peer, target_bits, payload_bits, comment in (
    ("p1", people[0:6], people[3:9], 70, 8, "half of the people are common"),
    ("p2", people[0:4], people[0:4], 69, 5, "all are common"),
    ("p1", people[0:5], people[5:9], 68, 1, "nobody is common"),
    ("p2", people[0:1], people[0:1], 68, 0, "one person, no payload"),
    ("p1", people[0:3], [], 68, 8, "a hint of nobody"),
    ("p1", [], people[0:3], 68, 8, "bins of nobody"),
    ("p1", people[0:5], people[2:6], 96, 32, "the widest fields"),
    ("p2", people[0:5], people[2:6], 0, 9, "a later payload: no target"),
):
    session, seed, bins = rng.randbytes(32), number(), 14
    giver = "p2" if owner == "p1" else "p1"
    bits = target_bits + payload_bits
    drawn = [number(bits) for _ in range(bins)]
    payloads = [number(payload_bits) if payload_bits else 0 for _ in peer]
    # The function, as it would be: one random value for each key.
    function = {}

    def value(query):
        return function.setdefault(query, number())

    entries, giver_values = [], []
    for name, payload in zip(peer, payloads):
        for i, b in enumerate(three(session, owner, bins, name)):
            query = bytes([i]) + digest(name)
            giver_values.append(value(query))
            target, mask = drawn[b] & ((1 << target_bits) - 1), drawn[b] >> target_bits
            said = target | (payload ^ mask) << target_bits
            entries.append((store_key(session, giver, query), said ^ (value(query) & ((1 << bits) - 1))))
    table = solve(len(entries), seed, entries, bits)
    choices = [three(session, owner, bins, name) for name in own]
    places = placed(choices, bins)
    queries = []
    for b, who in enumerate(places):
        if who is None:
            queries.append(b"\xff" + b.to_bytes(8, "little") + bytes(24))
        else:
            queries.append(bytes([choices[who].index(b)]) + digest(own[who]))
    owner_keys = [store_key(session, giver, query) for query in queries]
    owner_values = [value(query) for query in queries]
    read = []
    for key, masked in zip(owner_keys, owner_values):
        ones = row(len(entries), seed, key)
        read.append(xor(c for i, c in enumerate(table) if ones >> i & 1) ^ (masked & ((1 << bits) - 1)))
    members = []
    for b, who in enumerate(places):
        name = None if who is None else own[who]
        common = name in peer
        if target_bits:
            assert common == ((read[b] ^ drawn[b]) & ((1 << target_bits) - 1) == 0)
        if common:
            assert (read[b] ^ drawn[b]) >> target_bits == payloads[peer.index(name)]
        members.append(payloads[peer.index(name)] if common else None)
    test(
        comment, ["Later"] if target_bits == 0 else [], session=session.hex(), owner=owner, bins=bins,
        targetBits=target_bits, payloadBits=payload_bits, ownerIdentifiers=own, giverIdentifiers=peer,
        payloads=payloads, drawn=hs(drawn), giverValues=hs(giver_values), seed=h(seed),
        keys=hs(key for key, _ in entries), values=hs(said for _, said in entries), table=hs(table),
        places=places, ownerKeys=hs(owner_keys), ownerValues=hs(owner_values), members=members, read=hs(read),
    )

document = {
    "algorithm": "hidden join",
    "schema": "schema/join.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "blocks, keys, seeds and values are 128-bit numbers, hexadecimal",
        "chosen": "the three bins of each identifier, in order",
        "drawn": "for each bin: the target in the lowest targetBits bits, the mask in the next payloadBits",
        "giverValues": "of the oblivious function, given: three keys of each identifier, one identifier after the other",
        "keys": "in the hint's store, in the order of giverValues; values: what the store holds for them",
        "table": "of a store that holds them, its free columns drawn",
        "places": "which of the owner's identifiers stands in each bin, or null; any placement would do",
        "ownerKeys": "what each bin asks for; ownerValues: the oblivious function of it, given",
        "read": "what each bin finds; members: the payload where the giver has the identifier, else null",
        "AllTaken": "as many bins as an identifier has",
        "Few": "fewer identifiers than bins are made for",
        "Full": "there is no placement",
        "Later": "a hint without target",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "join.json"
path.write_text(json.dumps(document, indent=1) + "\n")
