#!/usr/bin/env python3
"""Known answers for transfers with few bytes. Rewrites ../transfers.json."""

import json
import pathlib
import random

from plain_aes import encrypt_number

ONES = (1 << 64) - 1
rng = random.Random("diptych transfers vectors 1")


def number():
    return rng.getrandbits(128)


def h(value):
    return f"{value:032x}"


def little(value):
    return value.to_bytes(16, "little")


def xor(values):
    total = 0
    for value in values:
        total ^= value
    return total


def hash_block(key, tweak, x):
    left, right = x >> 64, x & ONES
    y = ((left ^ right) << 64 | left) ^ tweak
    return encrypt_number(key, y) ^ y


groups, count = [], 0


def group(kind, **fields):
    groups.append({"type": kind, **fields, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append(
        {"tcId": count, "comment": comment, "flags": flags, **fields, "result": result}
    )


# SoftSpoken: 32 trees of 16 leaves, one per four bits of delta, or 16 of 256, one per eight.

def whole_tree(key, root, depth):
    """All levels below the root."""
    levels, nodes = [], [root]
    for level in range(1, depth + 1):
        nodes = [hash_block(key, (1 << level) + j, nodes[j // 2]) for j in range(1 << level)]
        levels.append(nodes)
    return levels


group("SoftSpoken")
for blocks, delta, columns in ((1, number() | 1, 4), (2, 1, 4), (1, number() | 1, 8)):
    start = number()
    pairs = [[number(), number()] for _ in range(128)]
    roots = [number() for _ in range(128 // columns)]
    setup, message, choices = b"", b"", None
    t, q = [0] * (128 * blocks), [0] * (128 * blocks)
    for g in range(128 // columns):
        levels = whole_tree(start ^ g, roots[g], columns)
        for level, nodes in enumerate(levels):
            # The first level belongs to the highest bit of the group.
            zero, one = (encrypt_number(seed, 2**64 - 1) for seed in pairs[columns * (g + 1) - 1 - level])
            setup += little(xor(nodes[0::2]) ^ one) + little(xor(nodes[1::2]) ^ zero)
        hole = delta >> (columns * g) & (1 << columns) - 1
        streams = [[encrypt_number(leaf, b) for b in range(blocks)] for leaf in levels[-1]]
        u = [xor(stream[b] for stream in streams) for b in range(blocks)]
        if g == 0:
            choices, d = u, [0] * blocks
        else:
            d = [u[b] ^ choices[b] for b in range(blocks)]
            message += b"".join(little(word) for word in d)
        for i in range(columns):
            for b in range(blocks):
                v = xor(streams[x][b] for x in range(1 << columns) if x >> i & 1)
                w = xor(streams[x][b] for x in range(1 << columns) if (x ^ hole) >> i & 1)
                w ^= d[b] * (hole >> i & 1)
                for j in range(128):
                    t[128 * b + j] |= (v >> j & 1) << (columns * g + i)
                    q[128 * b + j] |= (w >> j & 1) << (columns * g + i)
    for j in range(128 * blocks):
        choice = choices[j // 128] >> (j % 128) & 1
        assert q[j] ^ t[j] == choice * delta
        # The lowest bit is cleared at the sender, and is the choice at the receiver.
        q[j], t[j] = q[j] & ~1, t[j] & ~1 | choice
        assert q[j] ^ t[j] == choice * delta
    test(
        f"{128 * blocks} transfers", ["AllButOneBitClear"] if delta == 1 else [], "valid",
        columns=columns, start=h(start), delta=h(delta), seeds=[[h(k) for k in pair] for pair in pairs],
        roots=[h(r) for r in roots], setup=setup.hex(), message=message.hex(),
        senderRows=[h(x) for x in q], receiverRows=[h(x) for x in t],
    )

# Silent transfers: trees whose levels XOR to delta, and the sparse matrix.

group("HalfTree")
for levels, hole in ((2, 0), (2, 1), (3, 5), (4, 15), (5, 10)):
    start, tree, delta = number(), rng.getrandbits(33), number() | 1
    key = start ^ tree
    q = [number() for _ in range(levels)]
    # The choice is 1 where the path turns left; the first level belongs to the highest bit.
    choices = [1 - (hole >> (levels - 1 - l) & 1) for l in range(levels)]
    t = [q[l] ^ choices[l] * delta for l in range(levels)]
    nodes, sums = [q[0], q[0] ^ delta], []
    for level in range(1, levels):
        children = []
        for j, x in enumerate(nodes):
            left = hash_block(key, (1 << level) + j, x)
            children += [left, x ^ left]
        nodes = children
        assert xor(nodes) == delta
        sums.append(xor(nodes[0::2]) ^ q[level])
        # What the receiver opens is the sum of the other side than the path's.
        path = hole >> (levels - 1 - level) & 1
        assert sums[-1] ^ t[level] == xor(nodes[1 - path :: 2])
    sender = [x & ~1 for x in nodes]
    receiver = [x ^ delta if j == hole else x for j, x in enumerate(sender)]
    assert receiver[hole] & 1 == 1
    test(
        f"{1 << levels} leaves without number {hole}", [], "valid", start=h(start), tree=tree,
        delta=h(delta), levels=levels, senderRows=[h(x) for x in q], receiverRows=[h(x) for x in t],
        hole=hole, sums=[h(x) for x in sums], senderLeaves=[h(x) for x in sender],
        receiverLeaves=[h(x) for x in receiver],
    )

group("Code")
for length, first, rows in ((1, 0, 2), (7, 2, 4), (40, 2**33, 6)):
    start = number()
    secret, before = [number() for _ in range(length)], [number() for _ in range(rows)]
    encoded = []
    for i in range(rows):
        pair, odd = divmod(first + i, 2)
        words = []
        for b in range(5):
            block = encrypt_number(start, 5 * pair + b)
            words += [block >> (32 * w) & 0xFFFFFFFF for w in range(4)]
        places = [word * length >> 32 for word in words[10 * odd :][:10]]
        encoded.append(before[i] ^ xor(secret[place] for place in places))
    test(
        f"{rows} rows from row {first}, {length} blocks", [], "valid", start=h(start), first=first,
        secret=[h(x) for x in secret], rows=[h(x) for x in before], encoded=[h(x) for x in encoded],
    )

document = {
    "algorithm": "transfers with few bytes",
    "schema": "schema/transfers.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "rows, seeds and starting points are 128-bit numbers, hexadecimal; bytes of messages are little-endian",
        "rows": "the lowest bit is clear at the sender and the random choice at the receiver",
        "leaves": "the receiver has the leaf of its hole XORed with the difference",
        "places": "a row of the code takes ten places of the secret and XORs them into what was there",
        "AllButOneBitClear": "the difference is 1: the sender lacks leaf 1 of the first tree and leaf 0 of all others",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "transfers.json"
path.write_text(json.dumps(document, indent=1) + "\n")
