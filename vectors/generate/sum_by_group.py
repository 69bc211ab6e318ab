#!/usr/bin/env python3
"""Known answers for sums by group: trees of seeds, answers and shares. Rewrites ../sum_by_group.json."""

import json
import pathlib
import random

from plain_aes import encrypt_number

ONES = (1 << 64) - 1
rng = random.Random("diptych sum by group vectors 2")


def number():
    return rng.getrandbits(128)


def h(value):
    return f"{value:032x}"


def sigma(x):
    left, right = x >> 64, x & ONES
    return (left ^ right) << 64 | left


def hash_block(key, tweak, x):
    y = sigma(x) ^ tweak
    return encrypt_number(key, y) ^ y


def depth(leaves):
    levels = 0
    while 1 << levels < leaves:
        levels += 1
    return levels


def grow(key, seed, leaves):
    """All levels of the tree of a seed, the root's first; only nodes above leaves exist."""
    levels = [[seed]]
    for level in range(1, depth(leaves) + 1):
        width = 1 << (depth(leaves) - level)
        children = []
        for node in range(1 << level):
            if node * width < leaves:
                children.append(hash_block(key, (1 << level) + node, levels[-1][node // 2]))
        levels.append(children)
    assert len(levels[-1]) == leaves
    return levels


def grow_halves(key, delta, first, leaves):
    """All levels of a tree whose levels XOR to delta, from level 1 on; an only child is its parent."""
    levels = [[first, first ^ delta]]
    for level in range(2, depth(leaves) + 1):
        width = 1 << (depth(leaves) - level)
        children = []
        for j, x in enumerate(levels[-1]):
            if (2 * j + 1) * width < leaves:
                left = hash_block(key, (1 << level - 1) + j, x)
                children += [left, x ^ left]
            else:
                children.append(x)
        levels.append(children)
        assert xor(children) == delta
    assert len(levels[-1]) == leaves
    return levels


def xor(values):
    total = 0
    for value in values:
        total ^= value
    return total


def side_sums(levels):
    return [(xor(nodes[0::2]), xor(nodes[1::2])) for nodes in levels[1:]]


def stretch(start, record, leaf, place, words, bits):
    """The words that a leaf stretches to, over 32 or 64 bits."""
    lane = 32 if bits <= 32 else 64
    per_block = 128 // lane
    blocks = -(-words // per_block)
    out = []
    for block in range(blocks):
        value = hash_block(start ^ record, place * blocks + block, leaf)
        out += [value >> lane * i & (1 << lane) - 1 for i in range(per_block)]
    return out[:words]


def pack(words, bits):
    joined = sum(word % (1 << bits) << bits * i for i, word in enumerate(words))
    return joined.to_bytes(-(-len(words) * bits // 8), "little")


groups, count = [], 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append(
        {"tcId": count, "comment": comment, "flags": flags, **fields, "result": result}
    )


group("Tree")
for leaves in (2, 3, 4, 5, 8, 13, 64, 65):
    start, record, seed = number(), rng.getrandbits(40), number()
    levels = grow(start ^ record, seed, leaves)
    sums = side_sums(levels)
    hole = rng.randrange(leaves)
    path = [hole >> bit & 1 for bit in reversed(range(depth(leaves)))]
    received = [sums[level][1 - side] for level, side in enumerate(path)]
    flags = [] if leaves & leaves - 1 == 0 else ["NoPowerOfTwo"]
    test(
        f"{leaves} leaves, all but {hole}", flags, "valid", start=h(start), record=record,
        seed=h(seed), hole=hole, sums=[[h(a), h(b)] for a, b in sums],
        received=[h(value) for value in received], leaves=[h(leaf) for leaf in levels[-1]],
    )


def run(comment, records, cells, words, bits, first_record, units):
    flags = ["WideWords" if bits > 32 else "NarrowWords"] + (["Units"] if units else ["Words"])
    if cells == 1:
        flags.append("OneGroup")
    levels = depth(cells)
    start = {name: number() for name in ("trees", "sums")}
    delta = number() | 1
    own = [rng.randrange(cells) for _ in range(records)]
    places = [rng.randrange(words) for _ in range(records)]
    if units:
        vectors = [[int(place == word) for word in range(words)] for place in places]
    else:
        vectors = [[rng.getrandbits(64) for _ in range(words)] for _ in range(records)]
    # The rows of all levels, or the only leaf.
    rows = [[number() for _ in range(max(levels, 1))] for _ in range(records)]
    theirs, message = [], b""
    sender = [[0] * words for _ in range(cells)]
    receiver = [[0] * words for _ in range(cells)]
    for i in range(records):
        record = first_record + i
        last = rows[i]
        if cells > 1:
            tree = grow_halves(start["trees"] ^ record, delta, rows[i][0], cells)
            last = tree[-1]
            # The receiver chooses the other side than its path's: T = Q' + choice * delta.
            for level in range(levels):
                right = own[i] >> (levels - 1 - level) & 1
                theirs.append(rows[i][level] ^ (1 - right) * delta)
                if level > 0:
                    message += (xor(tree[level][0::2]) ^ rows[i][level]).to_bytes(16, "little")
        leaves = [
            stretch(start["sums"], record, leaf, place, words, bits)
            for place, leaf in enumerate(last)
        ]
        total = [sum(column) for column in zip(*leaves)]
        masked = [(a + b) % (1 << bits) for a, b in zip(vectors[i], total)]
        message += pack(masked, bits)
        for place, leaf in enumerate(leaves):
            for word in range(words):
                sender[place][word] -= leaf[word]
                if place != own[i]:
                    receiver[place][word] += leaf[word]
                    receiver[own[i]][word] -= leaf[word]
        for word in range(words):
            receiver[own[i]][word] += masked[word]
    due = [[0] * words for _ in range(cells)]
    for i in range(records):
        for word in range(words):
            due[own[i]][word] += vectors[i][word]
    flat = [[value % (1 << bits) for row in table for value in row] for table in (sender, receiver, due)]
    assert all((a + b) % (1 << bits) == c for a, b, c in zip(*flat))
    test(
        comment, flags, "valid", groups=cells, words=words, bits=bits,
        treesStart=h(start["trees"]), sumsStart=h(start["sums"]), firstRecord=first_record,
        delta=h(delta), senderRows=[h(row) for of_record in rows for row in of_record],
        **({"places": places} if units else {"vectors": [f"{v:016x}" for w in vectors for v in w]}),
        ownGroups=own, receiverRows=[h(row) for row in theirs], message=message.hex(),
        senderShare=[f"{v:016x}" for v in flat[0]], receiverShare=[f"{v:016x}" for v in flat[1]],
        sums=[f"{v:016x}" for v in flat[2]],
    )


group("SumByGroup")
run("four groups, five words of 17 bits", 6, 4, 5, 17, 0, True)
run("one group: no transfer", 3, 1, 3, 32, 7, True)
run("one word", 5, 3, 1, 8, 1, True)
run("two groups: one transfer and no sum", 5, 2, 2, 20, 3, True)
run("seven groups, record numbers of more than 32 bits", 4, 7, 2, 32, 2**32 - 2, True)
run("thirteen groups", 3, 13, 2, 21, 2**33, True)
run("words of 33 bits", 4, 5, 3, 33, 9, False)
run("words of 64 bits", 3, 6, 2, 64, 2**40, False)
run("words of 31 bits that wrap", 5, 2, 9, 31, 5, False)
run("no record", 0, 5, 2, 20, 0, True)

document = {
    "algorithm": "sums by group",
    "schema": "schema/sum_by_group.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "128-bit numbers, hexadecimal; the cipher's bytes are their little-endian bytes",
        "NoPowerOfTwo": "only nodes above a leaf exist, and the sums run over those",
        "NarrowWords": "words of at most 32 bits: four to a block",
        "WideWords": "words of more than 32 bits: two to a block",
        "Units": "the sender's vectors are unit vectors, given by the place of the 1",
        "Words": "the sender's vectors are any words",
        "OneGroup": "there is no tree: senderRows are the only leaves, and receiverRows are none",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "sum_by_group.json"
path.write_text(json.dumps(document, indent=2) + "\n")
