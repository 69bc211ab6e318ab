"""Writes ../presence.json: who can be told to be at a site (the site-presence paper).

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import csv
import hashlib
import io
import json
import pathlib
import random
from fractions import Fraction

rng = random.Random("diptych presence vectors 1")
groups = []
count = 0


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


def fraction(number):
    return str(number.numerator) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


# --- a table with exact counts against a site's own table ---


def stands_for(value, own):
    if value == own:
        return True
    try:
        low, high = value[1:-1].split(".." if ".." in value else ",")
        low, high, own = Fraction(low.strip()), Fraction(high.strip()), Fraction(own)
    except ValueError:
        return False
    return low <= own < high or (value[-1] == "]" and own == high)


def check(comment, release, site, columns, delta, flags=()):
    """release: rows with a count at the end; site: rows."""
    delta = Fraction(delta)

    def text(header, rows):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([header] + rows)
        return out.getvalue()

    fields = {
        "release": text(columns + ["count"], release), "site": text(columns, site), "columns": columns,
        "delta": fraction(delta),
    }
    found = {}
    for *row, people in release:
        found[tuple(row)] = found.get(tuple(row), 0) + people
    parts, certain = [], 0
    for row, common in found.items():
        holders = sum(all(stands_for(v, o) for v, o in zip(row, own)) for own in site)
        if holders < common:
            test(comment, list(flags), "invalid", **fields)
            return None
        parts.append(Fraction(common, holders))
        certain += common if common == holders else 0
    largest = max(parts, default=Fraction(0))
    test(comment, list(flags), "valid", **fields, largest=fraction(largest), certain=certain, kept=largest <= delta)
    return largest


groups.append({"type": "Check", "tests": []})
A = [[str(age)] for age in (30, 40, 55, 60, 65, 70)]
B = [row.split() for row in "16 X;17 Y;17.5 X;16.5 Y;15 X;12 Y;14 Y;14.5 X".split(";")]
paper = ["Paper"]
assert check("table 1, cut at 50", [["[0, 50)", 2], ["[50, 99]", 2]], A, ["age"], "2/3", paper) == 1
assert check("table 1, cut at 60", [["[0, 60)", 2], ["[60, 99]", 2]], A, ["age"], "2/3", paper) == Fraction(2, 3)
hours = [row[:1] for row in B]
assert check("table 1, all of B", [["[0, 24]", 4]], hours, ["hour"], "2/3", paper) == Fraction(1, 2)
assert check("B cut at 16", [["[0, 16)", 1], ["[16, 24]", 3]], hours, ["hour"], "2/3", ["Recomputed"]) == Fraction(3, 4)
titles = [["[16, 24]", "Y", 2], ["[16, 24]", "X", 1], ["[0, 16)", "X", 1]]
assert check("titles tell more", titles, B, ["hour", "title"], "2/3", ["Recomputed"]) == 1
assert check("more people than the site has", [["[0, 99]", 7]], A, ["age"], "1", ["OtherTable"]) is None
for number in range(12):
    site = [[str(rng.randrange(10)), rng.choice("xyz")] for _ in range(rng.randint(3, 30))]
    cut = rng.randrange(1, 9)
    release = {}
    for age, word in site:
        if rng.random() < 0.6:
            key = (f"[0..{cut - 1}]" if int(age) < cut else f"[{cut}..9]", word)
            release[key] = release.get(key, 0) + 1
    rows = [[*key, people] for key, people in sorted(release.items())]
    check(f"random table {number + 1}", rows, site, ["age", "word"], rng.choice(["1", "0.75", "0.5"]))

# --- Mondrian with dummies ---


def log2_floor(n):
    """floor(2^32 log2 n) or one less: the leading 62 bits of n, squared again and again."""
    if n == 0:
        return 0
    whole = n.bit_length() - 1
    x, log = n << (62 - whole), whole
    for _ in range(32):
        square = x * x >> 62
        digit = square >> 63
        x = square >> digit
        log = log << 1 | digit
    return log


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def little(number):
    return number.to_bytes(8, "little")


def term(dummies, users):
    return 0 if dummies == 0 else dummies * max(log2_floor(users) - log2_floor(dummies), 0) // users


def simulate(columns, sensitive, counts, seed, run, k, delta, alpha, retry):
    """columns: (site, values); counts: people at both, at A alone, at B alone."""
    users = len(columns[0][1])
    hash_of = lambda label, last: digest(label, little(seed), little(run), little(last))
    order = sorted(range(users), key=lambda u: (hash_of(b"diptych presence people v1", u), u))
    both, a, b = counts
    there = [set(order[: both + a]), set(order[:both] + order[both + a : both + a + b])]
    keys = [hash_of(b"diptych presence dummies v1", site) for site in (0, 1)]
    tested = [0, 0]

    def numbers(members):
        return [len(members), len([u for u in members if u in there[0] and u in there[1]])] + [
            len([u for u in members if u in there[site]]) for site in (0, 1)
        ]

    def good(members):
        _, common, *holders = numbers(members)
        if common < k or any(common > delta * h for h in holders):
            return False
        for value in set(sensitive or []):
            of = [u for u in members if sensitive[u] == value and u in there[1]]
            if sum(u in there[0] for u in of) > delta * len(of):
                return False
        return True

    def rows(site, members, path):
        present = [u for u in members if u in there[site]]
        key = digest(keys[site], path)
        pick = lambda u: present[int.from_bytes(digest(key, little(u))[:8], "little") % len(present)]
        return {u: u if u in there[site] or not present else pick(u) for u in members}

    def point(values):
        """values: of each user; the lowest point with the largest S."""
        entries = []
        for c in sorted(set(values.values()))[1:]:
            low = [u for u in values if values[u] < c]
            high = [u for u in values if values[u] >= c]
            entropies = [
                sum(term(len([u for u in half if u not in there[site]]), len(half)) for half in (low, high))
                for site in (0, 1)
            ]
            entries.append((c, sum(abs(v - c) for v in values.values()), entropies))
        longest = max(e[1] for e in entries)
        most = max(max(e[2]) for e in entries)
        best = None
        for c, distance, entropies in entries:
            x, y = [e / most if most else 0.0 for e in entropies]
            score = (1.0 - alpha) / 2.0 * (x + y) - alpha * (distance / longest if longest else 0.0)
            if best is None or score > best[0]:
                best = (score, c)
        return best[1]

    def divide(members, path):
        drawn = [rows(site, members, path) for site in (0, 1)]
        widths = []
        for number, (site, values) in enumerate(columns):
            seen = [values[u] for u in members if u in there[site]]
            if seen and max(seen) > min(seen):
                widths.append((-Fraction(max(seen) - min(seen), max(values) - min(values)), number))
        for _, number in sorted(widths):
            site, values = columns[number]
            own = {u: values[drawn[site][u]] for u in members}
            c = point(own)
            halves = [[u for u in members if own[u] < c], [u for u in members if own[u] >= c]]
            tested[0] += 1
            if all(map(good, halves)):
                return halves
            tested[1] += 1
            if not retry:
                return None
        return None

    def walk(members, path):
        halves = divide(members, path)
        if halves is None:
            return [numbers(members)]
        return walk(halves[0], digest(path, b"\0")) + walk(halves[1], digest(path, b"\1"))

    everybody = list(range(users))
    return (walk(everybody, bytes(32)), tested) if good(everybody) else None


def simulation(comment, columns, sensitive, counts, k, delta, alpha, retry, flags=()):
    seed, run = rng.getrandbits(64), rng.randrange(20)
    found = simulate(columns, sensitive, counts, seed, run, k, Fraction(delta), float(alpha), retry)
    fields = {
        "columns": [{"site": site, "values": values} for site, values in columns], "sensitive": sensitive or [],
        "both": counts[0], "onlyA": counts[1], "onlyB": counts[2], "seed": f"{seed:016x}", "run": run, "k": k,
        "delta": fraction(Fraction(delta)), "alpha": alpha, "retry": retry,
    }
    if found is None:
        test(comment, ["Unmet"], "invalid", **fields)
    else:
        final, tested = found
        test(comment, list(flags), "valid", **fields, tested=tested, discernibility=sum(g[1] ** 2 for g in final),
             groups=final)
    return found


groups.append({"type": "Simulation", "tests": []})
for number in range(16):
    users = rng.randint(30, 60)
    columns = [(0, [rng.randrange(50) for _ in range(users)]), (0, [rng.choice([1, 2, 9]) for _ in range(users)]),
               (1, [rng.randrange(-9, 40) for _ in range(users)])][: rng.randint(2, 3) + 1]
    if columns[-1][0] == 0:
        columns.append((1, [rng.randrange(7) for _ in range(users)]))
    sensitive = [rng.randrange(2) for _ in range(users)] if number % 4 == 3 else None
    alpha = ["0.5", "1", "0", "0.25"][number % 4]
    simulation(f"{users} users, alpha {alpha}", columns, sensitive, [10, 7, 9], rng.randint(1, 3),
               rng.choice(["1", "0.95", "0.8", "0.75"]), alpha, number % 2 == 1)
columns = [(0, list(range(30))), (1, [u % 5 for u in range(30)])]
assert simulation("below the floor of 10/15", columns, None, [10, 10, 5], 2, "0.66", "1", False) is None
assert simulation("at the floor", columns, None, [10, 10, 5], 2, "2/3", "1", False) is not None
assert simulation("fewer common people than k", columns, None, [10, 10, 5], 11, "1", "1", False) is None

# --- the division as a circuit ---


def division(comment, high, divider, other, k, delta):
    delta, n = Fraction(delta), len(high)
    width = n.bit_length()
    accepted, bounds = True, []
    for half in (1, 0):
        inside = [u for u in range(n) if high[u] == half]
        common = sum(divider[u] and other[u] for u in inside)
        holders = [sum(who[u] for u in inside) for who in (divider, other)]
        bounds.append(int(delta * holders[0]))
        accepted &= common >= k and all(common <= delta * h for h in holders)
    users = sum([[d & h, d & 1 - h, h] for d, h in zip(divider, high)], [])
    bits = lambda number: [number >> i & 1 for i in range(width)]
    text = lambda bits: "".join(map(str, bits))
    test(comment, [], "valid", users=n, k=k, delta=fraction(delta), high=text(high), divider=text(divider),
         other=text(other), dividerInput=text(users + bits(bounds[0]) + bits(bounds[1])),
         otherInput=text(other + bits(sum(other))), accepted=bool(accepted))
    return accepted


groups.append({"type": "Division", "tests": []})
there = lambda *people: [int(u in people) for u in range(1, 11)]
a, b = there(1, 2, 3, 5, 6, 8), there(1, 2, 4, 5, 6, 7, 9, 10)
assert not division("the paper's table 1 at 50", there(3, 5, 6, 8, 7, 9), a, b, 2, "2/3")
assert division("the paper's table 1 at 60", there(5, 6, 8, 7, 9), a, b, 2, "2/3")
assert not division("nobody", [], [], [], 1, "1")
assert division("nobody, and k is 0", [], [], [], 0, "1")
answers = 0
for number in range(40):
    n = rng.choice([1, 2, 3, 7, 8, 15, 16, 31, 40])
    some = lambda chance: [int(rng.random() < chance) for _ in range(n)]
    answers += division(f"{n} users", some(0.5), some(0.8), some(0.7), rng.randint(0, 2 + n // 8),
                        rng.choice(["1", "0.95", "0.75", "2/3", "0.123456789"]))
assert 5 < answers < 35, answers

document = {
    "algorithm": "site presence",
    "schema": "schema/presence.json",
    "numberOfTests": count,
    "notes": {
        "Check": "of the combination that tells most, the part of the site's people who are in the release; how many "
        "people are certain to be; whether the part is at most delta",
        "Simulation": "groups are users, people at both, people at A, people at B; lower halves first. tested counts "
        "divisions that were tested and that failed",
        "Division": "bits of users in order; inputs as the circuit takes them, lowest bits of numbers first",
        "Paper": "table 1 of the site-presence paper",
        "Recomputed": "the same where what the paper prints is not possible",
        "OtherTable": "must be refused: a release of other people",
        "Unmet": "must be refused: not even the whole population is as required",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).resolve().parent.parent / "presence.json"
path.write_text(json.dumps(document) + "\n")
