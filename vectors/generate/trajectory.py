"""Writes ../trajectory.json: LKC-privacy for paths (thesis, chapter 4), by looking at every set of pairs.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import itertools
import json
import pathlib
import random
from fractions import Fraction

groups = []
count = 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def order(pair):
    return (int(pair[1:]), pair[0])


def subsets(path, most):
    for size in range(1, min(most, len(path)) + 1):
        yield from itertools.combinations(path, size)


def supports(rows, most, protect):
    """How many paths have each set that occurs, and how many of those each protected value."""
    found = {}
    for path, value in rows:
        for q in subsets(path, most):
            counts = found.setdefault(q, [0] * (1 + len(protect)))
            counts[0] += 1
            if value in protect:
                counts[1 + protect.index(value)] += 1
    return found


def whole(rows, k, c, protect):
    return len(rows) >= k and all(sum(v == s for _, v in rows) <= c * len(rows) for s in protect)


def violating(rows, l, k, c, protect):
    found = supports(rows, l, protect)
    bad = {q for q, n in found.items() if n[0] < k or any(Fraction(s, n[0]) > c for s in n[1:])}
    return {q for q in bad if not any(part in bad for size in range(1, len(q)) for part in itertools.combinations(q, size))}


def frequent(rows, support):
    longest = max((len(path) for path, _ in rows), default=0)
    found = {q for q, n in supports(rows, longest, []).items() if n[0] >= support}
    inner = {part for q in found for part in itertools.combinations(q, len(q) - 1)}
    return found - inner


def suppress(rows, bad, good, score):
    bad, good, chosen = set(bad), set(good), []
    instances = {}
    for path, _ in rows:
        for pair in path:
            instances[pair] = instances.get(pair, 0) + 1
    while bad:
        def rank(pair):
            pg, ul = sum(pair in q for q in bad), sum(pair in q for q in good)
            value = {"gain-per-loss": Fraction(pg, ul + 1), "gain": Fraction(pg), "loss": Fraction(1, ul + 1)}[score]
            return (-value, -pg, ul, instances[pair], order(pair))
        pair = min({p for q in bad for p in q}, key=rank)
        chosen.append(pair)
        bad = {q for q in bad if pair not in q}
        good = {q for q in good if pair not in q}
    return chosen, len(good)


def shown(sets):
    ordered = sorted(sets, key=lambda q: (len(q), [order(p) for p in q]))
    return [">".join(q) for q in ordered]


def test(comment, rows, l, k, c, protect, support, score="gain-per-loss", flags=()):
    global count
    count += 1
    c = Fraction(c)
    data = "id,path,sensitive\n" + "".join(f"{i},{'>'.join(path)},{value}\n" for i, (path, value) in enumerate(rows))
    entry = {"tcId": count, "comment": comment, "flags": list(flags), "data": data, "l": l, "k": k, "c": str(c),
             "protect": protect, "support": support, "score": score}
    if not whole(rows, k, c, protect):
        groups[-1]["tests"].append(entry | {"result": "invalid"})
        return None
    bad, good = violating(rows, l, k, c, protect), frequent(rows, support)
    chosen, kept = suppress(rows, bad, good, score)
    left = [([p for p in path if p not in chosen], value) for path, value in rows]
    left = sorted([(path, value) for path, value in left if path], key=lambda r: ([order(p) for p in r[0]], r[1]))
    assert not violating(left, l, k, c, protect)
    # Whoever knows no pair sees all paths that are left.
    if not whole(left, k, c, protect):
        groups[-1]["tests"].append(entry | {"result": "invalid"})
        return None
    release = "path,sensitive\n" + "".join(f"{'>'.join(path)},{value}\n" for path, value in left)
    groups[-1]["tests"].append(entry | {"violating": shown(bad), "frequent": shown(good), "suppressed": chosen,
                                        "kept": kept, "release": release, "result": "valid"})
    return shown(bad), shown(good), chosen, kept, left


TABLE = [(line.split()[:-1], line.split()[-1]) for line in """b2 d3 c4 f6 c7 AIDS
f6 c7 e8 Flu
d3 c4 f6 e8 Fever
b2 c5 c7 e8 Flu
d3 c7 e8 Fever
c5 f6 e8 Diabetes
b2 f6 c7 e8 Diabetes
b2 c5 f6 c7 AIDS""".split("\n")]

group("Worked examples")
bad, good, chosen, kept, left = test("V1: table 4.1, L 2", TABLE, 2, 2, "1/2", ["AIDS"], 2, flags=["Thesis"])
assert bad == "b2>d3 b2>c4 b2>f6 c4>c7 c4>e8".split() and len(good) == 9 and chosen == ["c4", "b2"] and kept == 5
assert sum(len(path) for path, _ in left) == 24
assert test("V1 by gain", TABLE, 2, 2, "1/2", ["AIDS"], 2, "gain")[2] == ["c4", "b2"]
assert test("V1 by loss", TABLE, 2, 2, "1/2", ["AIDS"], 2, "loss")[2:4] == (["c4", "d3", "b2"], 3)
for l in (3, 4, 7):
    found = test(f"V2: L {l}", TABLE, l, 2, "1/2", ["AIDS"], 2)
    assert len(found[0]) == 12 and found[2] == ["c4", "d3", "c5", "b2"] and found[3] == 1
assert test("V2 by gain", TABLE, 3, 2, "1/2", ["AIDS"], 2, "gain")[2:4] == (["e8", "b2", "c7"], 2)
found = test("V2: K 4, C 1", TABLE, 2, 4, "1", ["AIDS"], 2)
assert set(found[0]) == set("c4 c5 d3 b2>e8 b2>f6".split()) and found[2] == ["b2", "c4", "d3", "c5"] and found[3] == 1
V3 = [(["a1", "b2", "y3", "z4"], "x")] + [(["a1", "b2", "y3"], "x")] * 2 + [(["a1", "b2", "z4"], "x")] * 2
assert test("V3: a set with a violating part is not minimal", V3, 4, 2, "1", ["AIDS"], 2)[0] == ["y3>z4"]
found = test("V4: C is the share itself; two paths become empty", TABLE, 2, 2, "1/4", ["AIDS"], 2)
assert found[2] == ["c4", "d3", "c5", "b2", "f6", "c7"] and len(found[4]) == 6
assert test("V4: C below the share", TABLE, 2, 2, "1/5", ["AIDS"], 2) is None
assert test("K above the number of paths", TABLE, 2, 9, "1", ["AIDS"], 2) is None
V5 = [(["a1"], "AIDS")] * 2 + [(["a1", "a5"], "Flu")] * 2 + [(["a5"], "AIDS")] * 2
assert test("V5: was at a, whenever, tells 4 of 6", V5, 2, 2, "2/3", ["AIDS"], 2)[2] == []
V6 = V5 + [([place + "2"], "Flu") for place in "bcde"]
assert test("V6: 4 of 10, but 4 of the 6 paths that are left", V6, 2, 2, "1/2", ["AIDS"], 2) is None
assert len(test("V6: C is the share of those left", V6, 2, 2, "2/3", ["AIDS"], 2)[4]) == 6
assert test("nothing would be left", V6[6:], 2, 2, "1", ["AIDS"], 2) is None

group("Random paths")
rng = random.Random("diptych trajectory vectors 1")
for number in range(40):
    pairs = sorted({f"{rng.choice('abc')}{rng.randint(1, 6)}" for _ in range(12)}, key=order)
    rows = []
    for _ in range(rng.randint(1, 30)):
        path = [p for p in pairs if rng.random() < 0.45]
        path = [p for i, p in enumerate(path) if i == 0 or order(p)[0] > order(path[i - 1])[0]]
        rising = []
        for p in path:
            if not rising or order(p)[0] > order(rising[-1])[0]:
                rising.append(p)
        rows.append((rising, rng.choice(["x", "y", "z"])))
    test(f"table {number + 1}", rows, rng.randint(1, 5), rng.randint(2, 4), rng.choice(["1", "3/4", "1/2"]),
         ["x", "z"][:rng.randint(1, 2)], rng.randint(2, 5), ["gain-per-loss", "gain", "loss"][number % 3])

document = {
    "algorithm": "LKC-privacy for paths",
    "schema": "schema/trajectory.json",
    "numberOfTests": count,
    "notes": {"Thesis": "from the thesis; where its figures differ, recomputed"},
    "testGroups": groups,
}
path = pathlib.Path(__file__).resolve().parent.parent / "trajectory.json"
path.write_text(json.dumps(document, indent=1) + "\n")
print(count, sum(t["result"] == "valid" for g in groups for t in g["tests"]))
