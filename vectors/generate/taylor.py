"""Writes ../taylor.json: the choice over horizontally partitioned data (thesis, section 7.5.2).

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import json
import math
import pathlib
import random
from fractions import Fraction

rng = random.Random("diptych taylor vectors 1")
groups = []
count = 0


def h(number):
    digits = f"{abs(number):x}"
    return "-" * (number < 0) + "0" * (len(digits) % 2) + digits


def group(kind, **fields):
    groups.append({"type": kind, **fields, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


def rounded(rate, digits):
    """The thesis' ( )_s: s digits after the point, the rest dropped."""
    return Fraction(math.floor(rate * 10**digits), 10**digits)


def scaled_series(rate, digits, degree, score):
    """lcm(2!, ..., w!) * 10^(s*w) * sum of ((rate)_s * u)^i / i!, by fractions."""
    x = rounded(rate, digits) * score
    factor = math.lcm(*(math.factorial(i) for i in range(1, degree + 1))) * 10 ** (digits * degree)
    total = factor * sum(x**i / math.factorial(i) for i in range(degree + 1))
    assert total.denominator == 1
    return total.numerator


# ln 2 to 40 digits: the thesis takes epsilon = ln 2 and sensitivity 1.
LN2 = Fraction(6931471805599453094172321214581765680755, 10**40)
SETTINGS = [
    (LN2 / 2, 4, 3, "the thesis: ln 2 / 2 at four digits is 0.3465"),
    (Fraction(1, 3), 1, 1, "one digit, degree 1"),
    (Fraction(1, 40), 6, 10, "six digits, degree 10"),
    (Fraction(7, 2), 2, 20, "a rate above 1"),
    (Fraction(1, 4), 2, 5, "a rate with no more digits"),
]

group("Rate")
for rate, digits, degree, comment in SETTINGS:
    flags = ["Thesis"] if rate == LN2 / 2 else []
    test(comment, flags, "valid", rate=str(rate), digits=digits, degree=degree,
         wholeRate=h(math.floor(rate * 10**digits)))
assert math.floor(LN2 / 2 * 10**4) == 3465
test("nothing is left of the rate", ["RateVanishes"], "invalid", rate="1/1001", digits=3, degree=2)
test("no digits", ["OutOfRange"], "invalid", rate="1/2", digits=0, degree=2)
test("degree 0", ["OutOfRange"], "invalid", rate="1/2", digits=2, degree=0)
test("a degree that is too high", ["OutOfRange"], "invalid", rate="1/2", digits=2, degree=65)

for rate, digits, degree, comment in SETTINGS:
    group("Weights", rate=str(rate), digits=digits, degree=degree)
    for score in (0, 1, 2, 16, 30162, 2_000_000):
        test(f"{comment}; score {score}", [], "valid", score=score, weight=h(scaled_series(rate, digits, degree, score)))

# Shares of the score and of the weight: P1 has alpha1 and -mask, P2 has alpha2 and Q(alpha2).
for rate, digits, degree, comment in SETTINGS[:4]:
    group("Shares", rate=str(rate), digits=digits, degree=degree)
    for score in (0, 10, 30162):
        alpha1 = -rng.getrandbits(80)
        alpha2 = score - alpha1
        weight = scaled_series(rate, digits, degree, score)
        mask = rng.getrandbits(weight.bit_length() + 64)
        whole = math.floor(rate * 10**digits)
        # Line 10 of algorithm 7.5, multiplied out: the coefficient of z^k.
        coefficients = [
            sum(
                math.factorial(degree) // math.factorial(i) * 10 ** (digits * (degree - i)) * whole**i
                * math.comb(i, k) * alpha1 ** (i - k)
                for i in range(k, degree + 1)
            )
            for k in range(degree + 1)
        ]
        coefficients[0] += mask
        value = sum(c * alpha2**k for k, c in enumerate(coefficients))
        assert value - mask == weight
        test(f"{comment}; score {score}", [], "valid", alpha1=h(alpha1), alpha2=h(alpha2), mask=h(mask),
             coefficients=[h(c) for c in coefficients], value=h(value), weight=h(weight))

# Counts of both parties and R -> scores, weights and the winner.
group("Choice", rate=str(LN2 / 2), digits=4, degree=3, classes=2)
first = [[[3, 1], [0, 2]], [[5, 0], [1, 1], [0, 0]], [[2, 4]]]
second = [[[0, 9], [4, 4]], [[0, 0], [7, 2], [3, 3]], [[6, 6]]]
scores = [sum(max(x + y for x, y in zip(a, b)) for a, b in zip(one, two)) for one, two in zip(first, second)]
assert scores == [16, 16, 10]
weights = [scaled_series(LN2 / 2, 4, 3, score) for score in scores]
ends = [sum(weights[: i + 1]) for i in range(3)]
for r in (0, ends[0] - 1, ends[0], ends[1] - 1, ends[1], ends[2] - 1):
    winner = next(i for i, end in enumerate(ends) if r < end)
    test(f"candidate {winner + 1}", ["Boundary"], "valid", counts1=first, counts2=second, scores=scores,
         weights=[h(w) for w in weights], r=h(r), winner=winner)

document = {
    "algorithm": "Taylor exponential mechanism",
    "schema": "schema/taylor.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "hexadecimal, with a minus sign where negative; rates are fractions; scores and counts are decimal",
        "weight": "lcm(2!, ..., w!) * 10^(s*w) * sum of (c*u)^i/i! for i from 0 to w, c the rate cut to s digits",
        "Shares": "alpha1 + alpha2 is the score; the coefficients, from the lowest on, are those of the weight as a "
        "polynomial in alpha2, plus the mask; value is the polynomial at alpha2, and value - mask is the weight",
        "Choice": "scores are sums, over a candidate's children, of the largest joint count of a class; the winner is "
        "the first whose prefix sum of weights is above r",
        "Thesis": "the example of section 7.5.2",
        "Boundary": "r at the first or last number of a candidate",
        "RateVanishes": "the rate is 0 at so many digits and must be refused",
        "OutOfRange": "digits from 1 to 18 and degrees from 1 to 64 are allowed",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "taylor.json"
path.write_text(json.dumps(document, indent=1) + "\n")
