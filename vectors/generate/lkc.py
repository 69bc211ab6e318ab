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

groups = []
count = 0


def group(kind):
    groups.append({"type": kind, "tests": []})


def log2_floor(n):
    """floor(2^32 * log2 n), by squaring with many digits."""
    if n == 0:
        return 0
    whole = n.bit_length() - 1
    bits = 400
    x, log = n << (bits - whole), whole
    for _ in range(32):
        x = x * x >> bits
        digit = x >> (bits + 1)
        x >>= digit
        log = log << 1 | digit
    return log


LOGS = {}


def times_log(n):
    if n not in LOGS:
        LOGS[n] = log2_floor(n)
    return n * LOGS[n]


GRID = 1 << 20


def steps(total, n):
    """A sum of n log n as steps of the grid, floored."""
    return 0 if n == 0 or total <= 0 else (total >> 12) // n


def info_gain(children):
    """children: a list of class counts for each child."""
    classes = [sum(c) for c in zip(*children)]
    n = sum(classes)
    total = times_log(n) - sum(map(times_log, classes))
    for child in children:
        total += sum(map(times_log, child)) - times_log(sum(child))
    return steps(total, n)


def entropy(sizes):
    return steps(times_log(sum(sizes)) - sum(map(times_log, sizes)), sum(sizes))


class Taxonomy:
    """Nested: (name, [children])."""

    def __init__(self, name, tree):
        self.name, self.tree, self.order, self.below, self.kids, self.under = name, tree, {}, {}, {}, {}
        self.walk(tree)
        self.top = tree[0]

    def walk(self, node):
        name, children = node
        self.order[name] = len(self.order)
        self.kids[name] = [c[0] for c in children]
        self.below[name] = {name} if not children else set()
        self.under[name] = {name}
        for child in children:
            self.walk(child)
            self.below[name] |= self.below[child[0]]
            self.under[name] |= self.under[child[0]]

    def leaves(self):
        return [v for v in self.order if not self.kids[v]]

    def has(self, value, raw):
        return raw in self.below[value]

    def key(self, value):
        return self.order[value]

    def text(self, value):
        return value

    def divisible(self, value):
        return bool(self.kids[value])

    def toml(self):
        def inline(node):
            name, children = node
            if all(not c[1] for c in children):
                return f'"{name}" = [' + ", ".join(f'"{c[0]}"' for c in children) + "]"
            parts = [inline(c) if c[1] else f'"{c[0]}" = []' for c in children]
            return f'"{name}" = {{ ' + ", ".join(parts) + " }"

        return f'kind = "categorical"\ntaxonomy = {{ {inline(self.tree)} }}\n'


class Range:
    def __init__(self, name, low, high):
        self.name, self.low, self.high = name, low, high
        self.top = (low, high + 1)

    def has(self, value, raw):
        return value[0] <= raw < value[1]

    def key(self, value):
        return value[0]

    def text(self, value):
        return f"[{value[0]}..{value[1] - 1}]"

    def divisible(self, value):
        return value[1] - value[0] > 1

    def toml(self):
        return f'kind = "numeric"\nmin = {self.low}\nmax = {self.high}\nstep = 1\n'


class Run:
    """One table under one requirement, specialized in the plainest way."""

    def __init__(self, attributes, classes, rows, rules, score, beneficial, sensitive=None, protect=()):
        self.attributes, self.classes, self.rows = attributes, classes, rows
        self.rules, self.score, self.beneficial = rules, score, beneficial
        self.sensitive, self.protect = sensitive, protect
        self.cuts = [[a.top] for a in attributes]

    def quasi(self):
        return [i for i, a in enumerate(self.attributes) if a.name != self.sensitive]

    def generalized(self, cuts):
        def value(i, raw):
            return next(v for v in cuts[i] if self.attributes[i].has(v, raw))

        return [tuple(value(i, r[0][i]) if i in self.quasi() else r[0][i] for i in range(len(cuts)))
                for r in self.rows]

    def cells(self, cuts, rule):
        """People and how many have each protected value, for every combination of at most l values."""
        names, l, _, _ = rule
        places = [i for i in self.quasi() if self.attributes[i].name in names]
        place = next((i for i, a in enumerate(self.attributes) if a.name == self.sensitive), None)
        table = self.generalized(cuts)
        for size in range(0, min(l, len(places)) + 1):
            for subset in itertools.combinations(places, size):
                found = {}
                for row in table:
                    counts = found.setdefault(tuple(row[i] for i in subset), [0] * (1 + len(self.protect)))
                    counts[0] += 1
                    if place is not None and row[place] in self.protect:
                        counts[1 + self.protect.index(row[place])] += 1
                yield from found.values()

    def valid(self, cuts):
        return all(c[0] >= rule[2] and all(Fraction(s, c[0]) <= rule[3] for s in c[1:])
                   for rule in self.rules for c in self.cells(cuts, rule))

    def inside(self, i, value):
        return [r for r in self.rows if self.attributes[i].has(value, r[0][i])]

    def class_counts(self, rows):
        return [sum(1 for r in rows if r[1] == c) for c in self.classes]

    def children(self, i, value):
        """What a value is replaced by; None if it cannot be."""
        a, rows = self.attributes[i], self.inside(i, value)
        if isinstance(a, Taxonomy):
            return a.kids[value]
        present = sorted({r[0][i] for r in rows})
        best = None
        for split in present[1:]:
            sides = [(value[0], split), (split, value[1])]
            gain = info_gain([self.class_counts(self.inside(i, s)) for s in sides])
            if best is None or gain >= best[0]:
                best = (gain, sides)
        return best[1] if best else None

    def candidates(self):
        for i in self.quasi():
            for value in self.cuts[i]:
                rows = self.inside(i, value)
                several = sum(1 for n in self.class_counts(rows) if n) >= 2
                if not self.attributes[i].divisible(value) or not rows or (self.beneficial and not several):
                    continue
                children = self.children(i, value)
                if children:
                    yield i, value, children

    def after(self, i, value, children):
        cuts = [list(c) for c in self.cuts]
        place = cuts[i].index(value)
        cuts[i][place:place + 1] = children
        return cuts

    def extremes(self, cuts, rule):
        cells = list(self.cells(cuts, rule))
        return min(c[0] for c in cells), max([Fraction(s, c[0]) for c in cells for s in c[1:]] or [Fraction(0)])

    def value(self, i, value, children):
        counts = [self.class_counts(self.inside(i, c)) for c in children]
        gain = info_gain(counts)
        if self.score == "info-gain":
            return Fraction(gain, GRID)
        if self.score == "max":
            return Fraction(sum(map(max, counts)))
        if self.score == "gain-ratio":
            return Fraction(gain, entropy([sum(c) for c in counts]) or GRID)
        if self.score == "discernibility-drop":
            def pairs(cuts):
                found = {}
                for row in self.generalized(cuts):
                    key = tuple(row[j] for j in self.quasi())
                    found[key] = found.get(key, 0) + 1
                return sum(n * n for n in found.values())
            return Fraction(pairs(self.cuts) - pairs(self.after(i, value, children)))
        losses = []
        for rule in self.rules:
            if self.attributes[i].name in rule[0]:
                (n, part), (m, more) = self.extremes(self.cuts, rule), self.extremes(self.after(i, value, children), rule)
                losses.append((n - m) * GRID + int(more * GRID) - int(part * GRID))
        times = len(losses) or 1
        return Fraction(gain * times, GRID * times + sum(losses))

    def run(self):
        if not self.valid(self.cuts):
            return None
        made = []
        while True:
            best = None
            for i, value, children in self.candidates():
                if not self.valid(self.after(i, value, children)):
                    continue
                found = self.value(i, value, children)
                if best is None or found > best[0]:
                    best = (found, i, value, children)
            if best is None:
                return made
            found, i, value, children = best
            made.append((i, value, found))
            self.cuts = self.after(i, value, children)

    def release(self):
        found = {}
        for row, (_, label) in zip(self.generalized(self.cuts), self.rows):
            found.setdefault(row, [0] * len(self.classes))[self.classes.index(label)] += 1
        def order(row):
            return [a.key(v) for a, v in zip(self.attributes, row)]
        lines = [",".join([a.name for a in self.attributes] + ["class", "count"])]
        for row in sorted(found, key=order):
            for label, n in zip(self.classes, found[row]):
                lines.append(",".join([a.text(v) for a, v in zip(self.attributes, row)] + [label, str(n)]))
        return "\n".join(lines) + "\n"

    def agreement(self):
        text = ('[release]\nid = "w"\npartition = "local"\nmodel = "lkc"\nmax_records = 1000\n'
                '[lkc]\nacknowledge = "not differentially private"\n'
                f'score = "{self.score}"\nbeneficial = {str(self.beneficial).lower()}\n')
        if self.sensitive:
            text += f'sensitive = "{self.sensitive}"\nprotect = {json.dumps(self.protect)}\n'
        everything = [self.attributes[i].name for i in self.quasi()]
        for names, l, k, c in self.rules:
            text += "[[lkc.requirement]]\n"
            if names != everything:
                text += f"attributes = {json.dumps(names)}\n"
            if l < len(names):
                text += f"l = {l}\n"
            text += f'k = {k}\nc = "{decimal(c)}"\n'
        text += f'[class]\ncolumn = "class"\nvalues = {json.dumps(self.classes)}\n'
        for a in self.attributes:
            text += f'[[attribute]]\nname = "{a.name}"\n{a.toml()}'
        return text

    def csv(self):
        lines = [",".join([a.name for a in self.attributes] + ["class"])]
        lines += [",".join([str(v) for v in values] + [label]) for values, label in self.rows]
        return "\n".join(lines) + "\n"


def decimal(c):
    return str(c.numerator) if c.denominator == 1 else repr(float(c))


def shown(score):
    number = score.numerator / score.denominator
    return str(int(number)) if number == int(number) else f"{number:.4f}"


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


def flat(*names):
    return [(name, []) for name in names]


JOB = ("ANY", [("Blue", [("NonTech", flat("Janitor", "Mover")), ("Tech", flat("Carpenter", "Technician"))]),
               ("White", flat("Manager") + [("Prof", flat("Accountant", "Doctor", "Lawyer"))])])
SEX = ("ANY", flat("M", "F"))
ILL = ("ANY", flat("TG", "Pl", "Va", "Ur"))
W1 = [row.split() for row in """Janitor M 34 Y TG;Doctor M 58 N Pl;Mover M 34 Y TG;Lawyer M 24 N Va;Mover M 58 N Ur
Janitor M 44 Y Pl;Doctor M 24 N Ur;Lawyer F 58 N Pl;Doctor F 44 N Va;Carpenter F 63 Y Va;Technician F 63 Y Pl""".replace("\n", ";").split(";")]


def w1(l, k, c, score="info-gain", beneficial=False, ages=None):
    age = ages or Range("age", 1, 98)
    if ages:
        band = lambda n: "[1-30)" if n < 30 else "[30-60)" if n < 60 else "[60-99)"
    else:
        band = lambda n: n
    rows = [((j, s, band(int(a)), ill), y) for j, s, a, y, ill in W1]
    attributes = [Taxonomy("job", JOB), Taxonomy("sex", SEX), age, Taxonomy("ill", ILL)]
    return Run(attributes, ["Y", "N"], rows, [(["job", "sex", "age"], l, k, Fraction(c))], score, beneficial,
               "ill", ["TG"])


def counted(table, attributes, classes):
    rows = []
    for line in table:
        *values, counts = line.split()
        values = tuple(int(v) if v.isdigit() else v for v in values)
        for label, n in zip(classes, map(int, counts.split("/"))):
            rows += [(values, label)] * n
    return rows


W2 = """M Janitor 30 0/3;M Mover 32 0/4;M Carpenter 35 2/3;F Technician 37 3/1;F Manager 42 4/2;F Manager 44 3/0
M Accountant 44 3/0;F Accountant 44 3/0;M Lawyer 44 2/0;F Lawyer 44 1/0""".replace("\n", ";").split(";")


def w2(k1, k2, score):
    attributes = [Taxonomy("sex", SEX), Taxonomy("job", JOB), Range("salary", 1, 98)]
    rules = [(["sex", "job"], 2, k1, Fraction(1)), (["sex", "salary"], 2, k2, Fraction(1))]
    return Run(attributes, ["Y", "N"], counted(W2, attributes, "YN"), rules, score, True)


W3 = "10th M 40 20/0;10th M 30 0/4;9th M 30 0/2;9th F 30 0/4;9th F 40 0/6;8th F 30 0/2;8th F 40 0/2".split(";")


def w3(score):
    attributes = [Taxonomy("edu", ("ANY", flat("10th", "9th", "8th"))), Taxonomy("sex", SEX), Range("hours", 1, 98)]
    rules = [(["edu", "sex", "hours"], 3, 4, Fraction(1))]
    return Run(attributes, ["Y", "N"], counted(W3, attributes, "YN"), rules, score, True)


W4 = [row.split() for row in """Writer M 30 N;Dancer M 25 N;Writer M 35 Y;Dancer F 37 N;Engineer F 65 Y;Engineer F 35 Y
Engineer M 30 Y;Dancer F 44 N;Lawyer M 44 Y;Lawyer F 44 Y""".replace("\n", ";").split(";")]


def w4(l):
    jobs = ("ANY", [("Professional", flat("Engineer", "Lawyer")), ("Artist", flat("Dancer", "Writer"))])
    attributes = [Taxonomy("job", jobs), Taxonomy("sex", SEX), Range("salary", 1, 98)]
    rows = [((j, s, int(n)), y) for j, s, n, y in W4]
    return Run(attributes, ["Y", "N"], rows, [(["job", "sex", "salary"], l, 2, Fraction(1))], "info-gain", True)


def sizes(run):
    found = {}
    for row in run.generalized(run.cuts):
        key = tuple(row[i] for i in run.quasi())
        found[key] = found.get(key, 0) + 1
    return sorted(found.values(), reverse=True)


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
