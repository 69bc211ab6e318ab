"""Writes ../lkc.json: LKC-privacy by top-down specialization (thesis 3.1 and 5.1; PPMashup; game paper).

Every step tests every candidate against every combination of values, record by record: nothing is
remembered from one step to the next. Plain Python, standard library only, deterministic: running it
writes the same bytes again.
"""

import itertools
import json
import pathlib
import random
from fractions import Fraction

from top_down import Range, Run, Taxonomy, W2, counted, flat, shown, sizes, w1, w2, w3, w4

groups = []
count = 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def test(comment, run, flags=()):
    global count
    count += 1
    made = run.run()
    entry = {"tcId": count, "comment": comment, "flags": list(flags), "agreement": run.agreement(), "data": run.csv()}
    if made is None:
        entry["result"] = "invalid"
    else:
        names = [f"{run.attributes[i].name}: {run.attributes[i].text(v)} {shown(s)}" for i, v, s in made]
        names = run.notes() if hasattr(run, "notes") else names
        entry |= {"steps": names, "release": run.release(), "result": "valid"}
    groups[-1]["tests"].append(entry)
    return made, run


group("Worked examples")
made, run = test("W1, thesis table 3.1: L 2, K 2, C 50 %", w1(2, 2, "0.5"), ["Thesis"])
assert [shown(s) for _, _, s in made][:2] == ["0.6395", "0.2427"]
assert sizes(run) == [3, 2, 2, 2, 2]
made, three = test("W1, L 3: the same", w1(3, 2, "0.5"))
assert three.release() == run.release()
made, run = test("W1, values whose people are of one class stay", w1(2, 2, "0.5", beneficial=True))
assert "White" in run.cuts[0]
made, run = test("W1, K 3", w1(2, 3, "0.5"))
assert sizes(run) == [6, 5]
made, run = test("W1, C 30 %", w1(2, 2, "0.3"))
assert sizes(run) == [7, 2, 2] and run.cuts[0] == ["ANY"]
assert test("W1, C 10 %: 2 of 11 is more", w1(2, 2, "0.1"))[0] is None
assert test("W1, K 12: there are 11", w1(2, 12, "1"))[0] is None
ages = Taxonomy("age", ("[1-99)", [("[1-60)", flat("[1-30)", "[30-60)")), ("[60-99)", [])]))
made, run = test("W1, age by bands, L 2 keeps the sexes apart", w1(2, 2, "0.5", ages=ages))
assert run.cuts[1] == ["M", "F"]
made, run = test("W1, age by bands, L 3 does not", w1(3, 2, "0.5", ages=ages))
assert run.cuts[1] == ["ANY"]
for score in ["gain-ratio", "gain-per-loss", "discernibility-drop", "max"]:
    test(f"W1 by {score}", w1(2, 2, "0.5", score))
made, run = test("W2, PPMashup table 1 by gain per loss", w2(4, 11, "gain-per-loss"), ["PPMashup"])
assert shown(made[0][2]) == "0.0156" and run.cuts[1] == ["NonTech", "Carpenter", "Technician", "Manager", "Prof"]
made, run = test("W2, game paper by gain ratio", w2(4, 5, "gain-ratio"), ["Game"])
assert [shown(s) for _, _, s in made] == "0.3827 0.2723 0.3424 0.2505 0.1751 0.1348 0.1212 0.0919".split()
assert sorted(sizes(run)) == sorted([7, 5, 4, 6, 3, 5, 4])
for score, ends in [("info-gain", [24, 12, 4]), ("gain-per-loss", [20, 8, 6, 6]), ("gain-ratio", [20, 8, 6, 6])]:
    made, run = test(f"W3, PPMashup example 5 by {score}", w3(score), ["PPMashup"])
    assert sizes(run) == ends, (score, sizes(run))
for l in (2, 3):
    made, run = test(f"W4, thesis table 5.1, L {l}", w4(l), ["Thesis"])
    assert sizes(run) == [5, 3, 2]

class Lattice(Run):
    """All elements of a lattice, each tested by itself."""

    def __init__(self, attributes, classes, rows, rules, search, sensitive=None, protect=()):
        super().__init__(attributes, classes, rows, rules, None, False, sensitive, protect)
        self.search = search

    def choices(self, a):
        def cuts(node):
            name, children = node
            return [[name]] + ([sum(c, []) for c in itertools.product(*map(cuts, children))] if children else [])

        def depths(node, depth=0):
            yield node[0], depth, not node[1]
            for child in node[1]:
                yield from depths(child, depth + 1)

        values = list(depths(a.tree))
        height = max(d for _, d, _ in values)
        self.inform[a.name] = {v: Fraction(1) if leaf else Fraction(d, max(height, 1)) for v, d, leaf in values}
        if self.search == "cuts":
            return cuts(a.tree)
        return [[v for v, d, leaf in values if d == level or (leaf and d < level)] for level in range(height + 1)]

    def run(self):
        self.inform = {}
        places = self.quasi()
        lists = [self.choices(self.attributes[i]) for i in places]
        elements = []
        for chosen in itertools.product(*lists):
            cuts = [[a.top] for a in self.attributes]
            for i, cut in zip(places, chosen):
                cuts[i] = cut
            elements.append(cuts)
        good = [cuts for cuts in elements if self.valid(cuts)]
        if elements[0] not in good:
            return None

        def finer(one, two):
            below = lambda i, v: any(v in self.attributes[i].under[w] for w in two[i])
            return one != two and all(below(i, v) for i in places for v in one[i])

        self.maximal = [cuts for cuts in good if not any(finer(other, cuts) for other in good)]

        def worth(cuts):
            inform = strength = Fraction(0)
            for row in self.generalized(cuts):
                inform += sum(self.inform[self.attributes[i].name][row[i]] for i in places)
                strength += sum(len(self.attributes[i].below[row[i]]) for i in places)
            n = len(self.rows)
            return inform / (n * len(places)), strength / n

        self.counts = (len(elements), len(good))
        self.cuts = max(good, key=worth)
        self.worth = worth(self.cuts)
        return []

    def notes(self):
        lines = [f"{self.counts[0]} elements, {self.counts[1]} as required, {len(self.maximal)} of them maximal"]
        for cuts in self.maximal:
            names = [f"{self.attributes[i].name}: {', '.join(cuts[i])}" for i in self.quasi()]
            lines.append(" | ".join(names))
        return lines

    def agreement(self):
        text = super().agreement().replace('"lkc"', '"lattice"').replace("[lkc", "[lattice").replace("lkc.", "lattice.")
        return text.replace('score = "None"\nbeneficial = false\n', f'search = "{self.search}"\n')


EDUCATION = ("Any", [("Eng", flat("Computers") + [("NonComp", flat("Civil", "Mechanical"))]),
                     ("NonEng", [("Science", flat("Life", "Physical")), ("Arts", flat("Fine", "Journalism"))])])
AGES = ("[1-60]", [("[1-25]", flat("[1-22]", "[23-25]")), ("[26-60]", [])])
STUDIES = dict(zip("Janitor Mover Carpenter Technician Manager Accountant Lawyer".split(),
                   "Life Physical Fine Journalism Computers Civil Mechanical".split()))
BANDS = {30: "[1-22]", 32: "[1-22]", 35: "[1-22]", 37: "[23-25]", 42: "[26-60]", 44: "[26-60]"}


def studies(k, search, age=False):
    rows = [((sex, STUDIES[job]) + ((BANDS[pay],) if age else ()), label)
            for (sex, job, pay), label in counted(W2, [], "YN")]
    attributes = [Taxonomy("gender", ("Any", flat("M", "F"))), Taxonomy("education", EDUCATION)]
    attributes += [Taxonomy("age", AGES)] if age else []
    names = [a.name for a in attributes]
    return Lattice(attributes, ["Y", "N"], rows, [(names, len(names), k, Fraction(1))], search)


group("Lattices")
for k, search, age, good, inform in [(3, "levels", False, 7, "0.8775"), (5, "levels", False, None, "0.5000"),
                                     (3, "cuts", False, 27, "0.9559"), (4, "cuts", False, 14, "0.9216"),
                                     (5, "cuts", False, 6, "0.5000"), (3, "levels", True, None, None),
                                     (3, "cuts", True, 81, "0.9706")]:
    made, run = test(f"subset selection, {search}, k {k}" + (", with age" if age else ""), studies(k, search, age))
    assert good in (None, run.counts[1]), run.counts
    assert inform in (None, f"{float(run.worth[0]):.4f}"), run.worth
    if (k, search, age) == (3, "levels", False):
        assert len(run.maximal) == 2 and f"{float(run.worth[1]):.4f}" == "2.7353"
assert test("subset selection, k 35: there are 34", studies(35, "levels"))[0] is None

group("Random tables")
rng = random.Random("diptych lkc vectors 1")
SCORES = ["info-gain", "gain-ratio", "gain-per-loss", "discernibility-drop", "max"]
for number in range(40):
    def tree(name, depth):
        if depth == 0 or rng.random() < 0.25:
            return (name, [])
        return (name, [tree(f"{name}{x}", depth - 1) for x in "abc"[:rng.randint(1, 3)]])
    attributes = []
    for place in range(rng.randint(1, 4)):
        name = f"q{place}"
        nested = (f"t{place}", [tree(f"t{place}{x}", 2) for x in "abc"[:rng.randint(2, 3)]])
        attributes.append(Range(name, 0, rng.randint(1, 9)) if rng.random() < 0.4 else Taxonomy(name, nested))
    names = [a.name for a in attributes]
    attributes.insert(rng.randint(0, len(attributes)), Taxonomy("s", ("any", flat("x", "y", "z"))))
    classes = ["A", "B", "C"][:rng.randint(2, 3)]
    rows = []
    for _ in range(rng.randint(1, 40)):
        values = tuple(rng.randint(a.low, a.high) if isinstance(a, Range) else rng.choice(a.leaves()) for a in attributes)
        rows.append((values, rng.choice(classes)))
    rules = [(names, rng.randint(1, len(names)), rng.randint(2, 4), Fraction(rng.choice(["1", "1", "0.5", "0.7"])))]
    if number % 3 == 0:
        some = sorted(rng.sample(names, rng.randint(1, len(names))))
        rules.append((some, len(some), rng.randint(1, 6), Fraction("0.75")))
    protect = ["x", "z"][:rng.randint(1, 2)]
    run = Run(attributes, classes, rows, rules, SCORES[number % 5], rng.random() < 0.7, "s", protect)
    test(f"table {number + 1} by {SCORES[number % 5]}", run)

for number in range(10):
    attributes = [Taxonomy(f"q{i}", (f"t{i}", [tree(f"t{i}{x}", 1) for x in "ab"])) for i in range(rng.randint(1, 3))]
    names = [a.name for a in attributes]
    attributes.append(Taxonomy("s", ("any", flat("x", "y"))))
    rows = [(tuple(rng.choice(a.leaves()) for a in attributes), rng.choice("AB")) for _ in range(rng.randint(3, 40))]
    rules = [(names, rng.randint(1, len(names)), rng.randint(2, 3), Fraction(rng.choice(["1", "0.7"])))]
    test(f"lattice {number + 1}", Lattice(attributes, ["A", "B"], rows, rules, ["cuts", "levels"][number % 2], "s", ["x"]))

document = {
    "algorithm": "LKC-privacy",
    "schema": "schema/lkc.json",
    "numberOfTests": count,
    "notes": {
        "Thesis": "from the thesis; where its figures differ, recomputed",
        "PPMashup": "from the mashup paper",
        "Game": "from the game paper",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).resolve().parent.parent / "lkc.json"
path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
print(count, sum(t["result"] == "valid" for g in groups for t in g["tests"]))
