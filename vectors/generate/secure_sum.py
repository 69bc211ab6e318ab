"""Writes ../secure_sum.json: sums around a ring of parties with given masks, message by message.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import json
import pathlib
import random

rng = random.Random("diptych secure sum vectors 1")
groups = []
count = 0


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


def little(number, size):
    return number.to_bytes(size, "little")


def message(parties, hop, bits, words):
    head = b"".join(little(number, 8) for number in (parties, hop, len(words), bits))
    return (head + b"".join(little(word, (bits + 7) // 8) for word in words)).hex()


def shape(parties, entries, bits):
    return {"parties": parties, "entries": entries, "bits": bits}


def ring(comment, bits, words, flags=()):
    """`words`: a list per party, from place 0 on."""
    n, entries = len(words), len(words[0])
    masks = [rng.randrange(2**bits) for _ in range(entries)]
    running, messages = masks, []
    for place, own in enumerate(words):
        running = [(a + b) % 2**bits for a, b in zip(running, own)]
        messages.append(message(n, place + 1, bits, running))
    sums = [(a - b) % 2**bits for a, b in zip(running, masks)]
    assert sums == [sum(column) % 2**bits for column in zip(*words)]
    for hop in range(n + 1, 2 * n):
        messages.append(message(n, hop, bits, sums))
    test(
        comment, list(flags), "valid", **shape(n, entries, bits), masks=[f"{m:x}" for m in masks],
        words=[[f"{w:x}" for w in own] for own in words], messages=messages, sums=[f"{s:x}" for s in sums],
    )


def bad(comment, flag, parties, entries, bits, hop, body):
    test(comment, [flag], "invalid", **shape(parties, entries, bits), hop=hop, message=body)


def refused(comment, flag, parties, entries, bits, place, words):
    test(comment, [flag], "invalid", **shape(parties, entries, bits), place=place, words=[f"{w:x}" for w in words])


# The records of thesis 5.4.2: job, sex, age, class, whether the protected value.
WHITE = {"Doctor", "Lawyer"}
RECORDS = {
    1: ("Janitor", "M", 34, "Y", 1), 2: ("Doctor", "M", 58, "N", 0), 3: ("Mover", "M", 34, "Y", 1),
    4: ("Lawyer", "M", 24, "N", 0), 5: ("Mover", "M", 58, "N", 0), 6: ("Janitor", "M", 44, "Y", 0),
    7: ("Doctor", "M", 24, "N", 0), 8: ("Lawyer", "F", 58, "N", 0), 9: ("Doctor", "F", 44, "N", 0),
    10: ("Carpenter", "F", 63, "Y", 0), 11: ("Technician", "F", 63, "Y", 0),
}


def counts(numbers):
    rows = [RECORDS[number] for number in numbers]
    halves = [
        (lambda r: r[0] not in WHITE, lambda r: r[0] in WHITE),
        (lambda r: r[1] == "M", lambda r: r[1] == "F"),
        (lambda r: r[2] < 60, lambda r: r[2] >= 60),
    ]
    sizes, classes = [len(rows), sum(r[4] for r in rows)], [sum(r[3] == c for r in rows) for c in "YN"]
    for pair in halves:
        for half in pair:
            inside = [r for r in rows if half(r)]
            sizes += [len(inside), sum(r[4] for r in inside)]
            classes += [sum(r[3] == c for r in inside) for c in "YN"]
    return sizes + classes


groups.append({"type": "Ring", "tests": []})
thesis = [counts(numbers) for numbers in ([1, 8, 5], [4, 3, 6, 9], [2, 7, 10, 11])]
assert thesis[0][:8] == [3, 1, 2, 1, 1, 0, 2, 1]
assert [sum(c) for c in zip(*thesis)][:8] == [11, 2, 6, 2, 5, 0, 7, 2]
ring("eleven records at three parties: sizes, with the protected value, and classes", 32, thesis, ["Thesis"])
ring("one word", 8, [[1], [2], [3]])
ring("no word", 8, [[], [], []])
ring("sums that wrap", 8, [[200, 255], [100, 255], [7, 255]], ["Wraps"])
ring("single bits: parities", 1, [[1, 0], [1, 1], [1, 1], [0, 1]])
ring("words of 64 bits", 64, [[rng.getrandbits(64) for _ in range(4)] for _ in range(5)])
ring("words of 9 bits take two bytes", 9, [[rng.getrandbits(9) for _ in range(4)] for _ in range(3)])
ring("seven parties", 33, [[rng.getrandbits(33) for _ in range(3)] for _ in range(7)])

groups.append({"type": "Message", "tests": []})
good = message(3, 1, 9, [5, 511])
bad("a word of ten bits", "WordOutOfRange", 3, 2, 9, 1, message(3, 1, 9, [5, 512]))
bad("of another hop", "OtherShape", 3, 2, 9, 2, good)
bad("of a ring with more parties", "OtherShape", 3, 2, 9, 1, message(4, 1, 9, [5, 511]))
bad("of narrower words in as many bytes", "OtherShape", 3, 2, 10, 1, good)
bad("a byte too short", "OtherShape", 3, 2, 9, 1, good[:-2])
bad("a byte too long", "OtherShape", 3, 2, 9, 1, good + "00")
bad("empty", "OtherShape", 3, 2, 9, 1, "")
bad("as many words as it announces, but not as many as are due", "OtherShape", 3, 1, 9, 1, good)

groups.append({"type": "Input", "tests": []})
refused("two parties: a sum hides nothing", "Shape", 2, 1, 8, 0, [1])
refused("words of no bits", "Shape", 3, 1, 0, 0, [0])
refused("words of 65 bits", "Shape", 3, 1, 65, 0, [0])
refused("a place beyond the last", "Shape", 3, 1, 8, 3, [1])
refused("a word too few", "InputLength", 3, 2, 8, 0, [1])
refused("a word of nine bits", "InputOutOfRange", 3, 2, 8, 1, [255, 256])

document = {
    "algorithm": "secure sum",
    "schema": "schema/secure_sum.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "masks, words and sums are hexadecimal, messages are bytes",
        "messages": "number h goes from place h-1 to place h, both modulo the number of parties n: four numbers of "
        "eight bytes, little-endian (n, h, entries, bits), then the words, little-endian, of ceil(bits/8) bytes",
        "first lap": "messages 1 to n carry the masks and the words of all places so far, modulo 2^bits",
        "second lap": "messages n+1 to 2n-1 carry the sums",
        "Thesis": "the counts of section 5.4.2: sizes and protected ones of the table and of the halves by job, sex "
        "and age, then the classes of each",
        "Wraps": "sums above 2^bits",
        "OtherShape": "not a message of this ring at this hop",
        "WordOutOfRange": "a word is not below 2^bits",
        "InputLength": "not as many words as the shape says",
        "InputOutOfRange": "a word of one's own is not below 2^bits",
        "Shape": "a ring that must be refused",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "secure_sum.json"
path.write_text(json.dumps(document, indent=1) + "\n")
