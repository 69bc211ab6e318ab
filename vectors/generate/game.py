"""Writes ../game.json: the participation game of vertical integration (game paper, section 6).

Every bid is found by testing every candidate of its owner against every combination of values.
Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import json
import pathlib
import random
from fractions import Fraction

from top_down import Range, Run, Taxonomy, flat, shown, w1, w2, w3

groups = []
count = 0


def fraction(number):
    return str(number.numerator) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


def play(run, owners, slack, defecting):
    """owners: (name, columns); slack None plays without the rule."""
    if not run.valid(run.cuts):
        return None
    paid, rounds = [Fraction(0)] * len(owners), []
    largest = list(paid)
    while True:
        bids, best = [], None
        for place, (name, columns) in enumerate(owners):
            others = [p for q, p in enumerate(paid) if q != place]
            if name in defecting:
                bids.append("defects")
                continue
            if slack is not None and any(paid[place] > p + slack for p in others):
                bids.append("ahead")
                continue
            head = None
            for i, value, children in run.candidates():
                if run.attributes[i].name not in columns or not run.valid(run.after(i, value, children)):
                    continue
                found = run.value(i, value, children)
                if head is None or found > head[0]:
                    head = (found, i, value, children)
            if head is None:
                bids.append("nothing valid")
                continue
            a = run.attributes[head[1]]
            bids.append(f"{a.name}: {a.text(head[2])} {shown(head[0])}")
            # Of equal scores the first in the agreement's order wins.
            rank = (-head[0], head[1], a.key(head[2]))
            if best is None or rank < best[0]:
                best = (rank, place, head)
        if best is None:
            rounds.append({"bids": bids, "winner": ""})
            return paid, rounds
        _, place, (found, i, value, children) = best
        rounds.append({"bids": bids, "winner": owners[place][0]})
        paid[place] += found
        largest[place] = max(largest[place], found)
        assert slack is None or all(p <= min(paid) + slack + most for p, most in zip(paid, largest))
        run.cuts = run.after(i, value, children)


def test(comment, run, owners, slack="0.01", defecting=(), flags=()):
    global count
    count += 1
    played = play(run, owners, None if slack is None else Fraction(slack), defecting)
    entry = {
        "tcId": count, "comment": comment, "flags": list(flags), "agreement": run.agreement(), "data": run.csv(),
        "owners": [{"name": name, "columns": list(columns)} for name, columns in owners],
        "slack": "none" if slack is None else fraction(Fraction(slack)), "defecting": list(defecting),
    }
    if played is None:
        entry["result"] = "invalid"
    else:
        paid, rounds = played
        entry |= {
            "rounds": rounds, "contributions": [fraction(p) for p in paid],
            "benefits": [fraction(sum(paid) - p) for p in paid], "release": run.release(), "result": "valid",
        }
    groups[-1]["tests"].append(entry)
    return played


def winners(played):
    return [next(b for b, o in zip(r["bids"], "ABCDE") if o == r["winner"]) for r in played[1] if r["winner"]]


def near(number):
    return f"{float(number):.4f}"


groups.append({"type": "Worked examples", "tests": []})
SPLIT = [("A", ["sex"]), ("B", ["job", "salary"])]
OTHER = [("A", ["job", "sex"]), ("B", ["salary"])]
paper = ["Game"]
played = test("sex against job and salary", w2(4, 5, "gain-ratio"), SPLIT, flags=paper)
assert [w.split(":")[0] for w in winners(played)] == ["salary", "sex"]
played = test("the same without the rule", w2(4, 5, "gain-ratio"), SPLIT, None, flags=paper)
assert near(played[0][1]) == "1.6360"
for name, place, benefit in [("A", 0, "0.3827"), ("B", 1, "0.1348")]:
    played = test(f"the same, {name} defects", w2(4, 5, "gain-ratio"), SPLIT, defecting=[name], flags=paper)
    assert near(sum(played[0]) - played[0][place]) == benefit
played = test("job and sex against salary", w2(4, 5, "gain-ratio"), OTHER, flags=paper)
assert [near(p) for p in played[0]] == ["0.8707", "0.8083"] and len(winners(played)) == 7
for name, place, benefit in [("A", 0, "0.3827"), ("B", 1, "0.2723")]:
    played = test(f"the same, {name} defects", w2(4, 5, "gain-ratio"), OTHER, defecting=[name], flags=paper)
    assert near(sum(played[0]) - played[0][place]) == benefit
test("the same, both defect", w2(4, 5, "gain-ratio"), OTHER, defecting=["A", "B"])
THREE = [("A", ["sex"]), ("B", ["job"]), ("C", ["salary"])]
played = test("one attribute each", w2(4, 5, "gain-ratio"), THREE, flags=paper)
assert [w.split(":")[0] for w in winners(played)] == ["salary", "job", "sex"]
test("without slack", w2(4, 5, "gain-ratio"), OTHER, "0")
test("with a slack that never binds", w2(4, 5, "gain-ratio"), OTHER, "100")
test("by gain per loss", w2(4, 5, "gain-per-loss"), OTHER, "0.001")
test("a sensitive attribute that nobody owns", w1(2, 2, "0.5"), [("A", ["job"]), ("B", ["sex", "age"])], "0.1")
test("example 5 of PPMashup, three owners", w3("info-gain"), [("A", ["edu"]), ("B", ["sex"]), ("C", ["hours"])])
assert test("a table that cannot be as required", w1(2, 12, "1"), [("A", ["job"]), ("B", ["sex", "age"])]) is None

groups.append({"type": "Random tables", "tests": []})
rng = random.Random("diptych game vectors 1")
SCORES = ["gain-ratio", "info-gain", "gain-per-loss", "discernibility-drop"]
for number in range(16):
    attributes = []
    for place in range(rng.randint(2, 5)):
        nested = (f"t{place}", [(f"t{place}a", flat(f"t{place}aa", f"t{place}ab")), (f"t{place}b", [])])
        attributes.append(Range(f"q{place}", 0, rng.randint(2, 9)) if rng.random() < 0.4 else Taxonomy(f"q{place}", nested))
    names = [a.name for a in attributes]
    rows = []
    for _ in range(rng.randint(12, 40)):
        values = tuple(rng.randint(a.low, a.high) if isinstance(a, Range) else rng.choice(a.leaves()) for a in attributes)
        rows.append((values, rng.choice("XY")))
    shuffled = rng.sample(names, len(names))
    parties = rng.randint(2, min(5, len(names)))
    owners = [("ABCDE"[p], [n for i, n in enumerate(shuffled) if i % parties == p]) for p in range(parties)]
    rules = [(names, rng.randint(1, len(names)), rng.randint(2, 3), Fraction(1))]
    score = SCORES[number % 4]
    run = Run(attributes, ["X", "Y"], rows, rules, score, rng.random() < 0.7)
    slack = [None, "0.01", "0.2", "3"][rng.randint(0, 3)]
    defecting = [owners[0][0]] if rng.random() < 0.25 else []
    test(f"table {number + 1} by {score}, {parties} owners", run, owners, slack, defecting)

document = {
    "algorithm": "participation game",
    "schema": "schema/game.json",
    "numberOfTests": count,
    "notes": {
        "bids": "of each owner: attribute, value and score that it offers, or why it is silent",
        "contributions": "exact sums of the scores that each owner won with; scores are on a grid of 2^-20",
        "benefits": "what the others contributed",
        "slack": "none where there is no rule",
        "Game": "traces of the game paper's table",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).resolve().parent.parent / "game.json"
path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
