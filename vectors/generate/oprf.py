#!/usr/bin/env python3
"""Known answers for vector OLE, key-value stores and the oblivious function. Rewrites ../oprf.json."""

import hashlib
import json
import pathlib
import random

from plain_aes import encrypt_number

ONES = (1 << 64) - 1
FIELD = (1 << 128) | 0x87
rng = random.Random("diptych oprf vectors 1")


def number():
    return rng.getrandbits(128)


def h(value):
    return f"{value:032x}"


def hs(values):
    return [h(value) for value in values]


def xor(values):
    total = 0
    for value in values:
        total ^= value
    return total


def times(a, b):
    """The product in the field: polynomials over two elements, long division."""
    product = 0
    for bit in range(128):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(255, 127, -1):
        if product >> bit & 1:
            product ^= FIELD << (bit - 128)
    return product


def hash_block(key, tweak, x):
    left, right = x >> 64, x & ONES
    y = ((left ^ right) << 64 | left) ^ tweak
    return encrypt_number(key, y) ^ y


groups, count = [], 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def test(comment, flags, **fields):
    global count
    count += 1
    groups[-1]["tests"].append(
        {"tcId": count, "comment": comment, "flags": flags, **fields, "result": "valid"}
    )


group("Field")
edges = [0, 1, 2, 1 << 63, 1 << 64, 1 << 127, (1 << 128) - 1]
pairs = [(a, b) for a in edges for b in edges if a <= b]
for a, b in pairs + [(number(), number()) for _ in range(12)]:
    test("a product", ["Edge"] if (a, b) in pairs else [], a=h(a), b=h(b), product=h(times(a, b)))

# Vector OLE: 128 transfers are an element.

group("Transfers")
for flags, delta in (([], number() | 1), (["AllButOneBitClear"], 1)):
    q = [number() & ~1 for _ in range(128)]
    r = [rng.getrandbits(1) for _ in range(128)]
    t = [q[i] ^ r[i] * delta for i in range(128)]
    a, b, c = (xor(times(1 << i, row) for i, row in enumerate(rows)) for rows in (r, q, t))
    assert c == b ^ times(delta, a)
    test("an element", flags, delta=h(delta), senderRows=hs(q), receiverRows=hs(t), a=h(a), b=h(b), c=h(c))


def code(start, first, secret, rows):
    """What the rows of the matrix from number `first` on add."""
    out = []
    for i, row in enumerate(rows):
        blocks = [encrypt_number(start, 20 * (first + i) + j) for j in range(20)]
        words = [blocks[j // 4] >> (32 * (j % 4)) & 0xFFFFFFFF for j in range(16)]
        entries = (times(secret[w * len(secret) >> 32], blocks[4 + j]) for j, w in enumerate(words))
        out.append(row ^ xor(entries))
    return out


group("Code")
for length, first, rows in ((1, 0, 1), (7, 3, 3), (40, 2**33, 2)):
    start, secret = number(), [number() for _ in range(length)]
    before = [number() for _ in range(rows)]
    test(
        f"{rows} rows from row {first}, {length} elements", [], start=h(start), first=first,
        secret=hs(secret), rows=hs(before), encoded=hs(code(start, first, secret, before)),
    )

group("Block")
for levels, hole in ((2, 3), (3, 2)):
    starts = {name: number() for name in ("treeStart", "leafStart", "codeStart")}
    tree, first, delta = rng.getrandbits(20), rng.getrandbits(20), number() | 1
    u, v = [[number() for _ in range(5)] for _ in range(2)]
    w = [y ^ times(delta, x) for x, y in zip(u, v)]
    a, b = number(), number()
    c = b ^ times(delta, a)
    q = [number() for _ in range(levels)]
    choices = [1 - (hole >> (levels - 1 - l) & 1) for l in range(levels)]
    t = [q[l] ^ choices[l] * delta for l in range(levels)]
    nodes, sums = [q[0], q[0] ^ delta], []
    for level in range(1, levels):
        lefts = [hash_block(starts["treeStart"] ^ tree, (1 << level) + j, x) for j, x in enumerate(nodes)]
        nodes = [y for x, left in zip(nodes, lefts) for y in (left, x ^ left)]
        sums.append(xor(nodes[0::2]) ^ q[level])
    leaves = [hash_block(starts["leafStart"] ^ tree, j, x & ~1) for j, x in enumerate(nodes)]
    closing = b ^ xor(leaves)
    noise = [a if j == hole else 0 for j in range(1 << levels)]
    sender = code(starts["codeStart"], first, v, leaves)
    receiver_a = code(starts["codeStart"], first, u, noise)
    receiver_c = code(
        starts["codeStart"], first, w,
        [leaf ^ times(delta, e) for leaf, e in zip(leaves, noise)],
    )
    for x, y, z in zip(receiver_a, sender, receiver_c):
        assert z == y ^ times(delta, x)
    test(
        f"a block of {1 << levels} with noise in place {hole}", [], delta=h(delta),
        **{name: h(start) for name, start in starts.items()}, tree=tree, first=first, levels=levels,
        hole=hole, senderRows=hs(q), receiverRows=hs(t), secretA=hs(u), secretB=hs(v), secretC=hs(w),
        noiseA=h(a), noiseB=h(b), noiseC=h(c), sums=hs(sums + [closing]), a=hs(receiver_a), b=hs(sender),
        c=hs(receiver_c),
    )

# Key-value stores.


def layout(keys):
    if keys + 66 <= 384:
        return 1, keys + 66
    return -(-11 * keys // 10), 384


def row(keys, seed, key):
    starts, width = layout(keys)
    blocks = [hash_block(seed, j, key) for j in range(4)]
    bits = (blocks[0] | blocks[1] << 128 | blocks[2] << 256) & ((1 << width) - 1)
    return (blocks[3] & ONES) * starts >> 64, bits


def columns(keys):
    starts, width = layout(keys)
    return starts + width - 1


def decode(keys, seed, table, key):
    start, bits = row(keys, seed, key)
    return xor(table[start + i] for i in range(384) if bits >> i & 1)


group("Store")
for keys in (1, 60, 318, 319):
    seed, wanted = number(), [number() for _ in range(4)]
    table = [number() for _ in range(columns(keys))]
    rows = [row(keys, seed, key) for key in wanted]
    test(
        f"a store for {keys} keys", [], keyCount=keys, seed=h(seed), keys=hs(wanted),
        starts=[start for start, _ in rows], bits=[f"{bits:096x}" for _, bits in rows], table=hs(table),
        values=hs(decode(keys, seed, table, key) for key in wanted),
    )

# The function, from a whole run: the receiver's table P is any that holds its values.


def solve(keys, seed, hashed):
    """A table that holds the values of all keys: plain elimination over rows as long as the table."""
    pivots, width = {}, columns(keys)
    for key, value in hashed:
        start, bits = row(keys, seed, key)
        bits <<= start
        while bits:
            low = (bits & -bits).bit_length() - 1
            if low not in pivots:
                pivots[low] = (bits, value)
                break
            bits, value = bits ^ pivots[low][0], value ^ pivots[low][1]
        assert bits, "another seed"
    table = [number() for _ in range(width)]
    for low in sorted(pivots, reverse=True):
        bits, value = pivots[low]
        table[low] = value ^ xor(table[i] for i in range(low + 1, width) if bits >> i & 1)
    return table


def start_of(purpose, sender, session):
    return f"{purpose} {sender}".encode().ljust(32, b"\0") + session


group("Function")
for sender, own, peer in (("p1", ["ada", "grace"], ["grace", "emmy", "kurt"]), ("p2", [""], ["", "x"])):
    session = rng.randbytes(32)
    delta, seed = number() | 1, number()

    def hashed(name):
        digest = hashlib.sha256(start_of("diptych/v1/oprf-key", sender, session) + name.encode()).digest()
        return int.from_bytes(digest[:16], "little"), int.from_bytes(digest[16:], "little")

    def function(output, name, element):
        data = start_of("diptych/v1/oprf-value", sender, session) + output.to_bytes(8, "little")
        data += b"".join(half.to_bytes(16, "little") for half in hashed(name))
        return hashlib.sha256(data + element.to_bytes(16, "little")).digest()[:16].hex()

    keys = len(own)
    p = solve(keys, seed, [hashed(name) for name in own])
    mask, b = ([number() for _ in p] for _ in range(2))
    c = [y ^ times(delta, x) for x, y in zip(mask, b)]
    sent = [x ^ y for x, y in zip(p, mask)]
    k = [y ^ times(delta, x) for x, y in zip(sent, b)]
    for output in (0, 1):
        at_receiver = [function(output, name, decode(keys, seed, c, hashed(name)[0])) for name in own]
        at_sender = []
        for name in peer:
            key, value = hashed(name)
            at_sender.append(function(output, name, decode(keys, seed, k, key) ^ times(delta, value)))
        for name, value in zip(own, at_receiver):
            assert (value in at_sender) == (name in peer)
        test(
            f"{keys} keys of the receiver, sender {sender}, output {output}", [], session=session.hex(),
            sender=sender, number=output, delta=h(delta), seed=h(seed), b=hs(b), c=hs(c), sent=hs(sent),
            receiverKeys=own, senderKeys=peer, receiverValues=at_receiver, senderValues=at_sender,
        )

document = {
    "algorithm": "oblivious pseudorandom function",
    "schema": "schema/oprf.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "elements, rows, keys, seeds and starting points are 128-bit numbers, hexadecimal; bit i of an element is the coefficient of x^i, modulo x^128 + x^7 + x^2 + x + 1",
        "transfers": "the lowest bit of a receiver's row is its choice",
        "sums": "of every level of the tree but the first, and last what closes the block",
        "bits": "of a row of the store: the lowest bit belongs to the column where the row begins",
        "values": "of the function: the first 16 bytes of a SHA-256",
        "Edge": "factors with few bits, or with all",
        "AllButOneBitClear": "the difference is 1",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "oprf.json"
path.write_text(json.dumps(document, indent=1) + "\n")
