"""Top-down specialization in the plainest way, for the generators that import it; it makes no document.

Every step tests every candidate against every combination of values, record by record: nothing is
remembered from one step to the next. Plain Python, standard library only.
"""

import itertools
import json
from fractions import Fraction


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
            counts = [self.class_counts(self.inside(i, s)) for s in sides]
            # Largest class counts tie often: of those the split that divides people most evenly.
            gain = (sum(map(max, counts)), min(map(sum, counts))) if self.score == "max" else info_gain(counts)
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
