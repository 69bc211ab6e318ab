#!/usr/bin/env python3
"""Writes vectors/exponential.json: weights, calibration and winners of the exponential mechanism.

Only the standard library. Exponentials come from `decimal`, whose exp() is correctly rounded; the
precision is raised until the floor cannot change. Nothing here is taken from the Rust code.
"""

import decimal
import json
import pathlib
from fractions import Fraction

GRID = 1 << 20


def as_decimal(x, precision):
    with decimal.localcontext() as context:
        context.prec = precision
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        return decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)


def floor_scaled(function, x, scale):
    """floor(scale * function(x)), certain: x and the result are off by far less than the margin."""
    if x == 0:
        return scale
    whole_digits = int(float(x) * 0.4343) + len(str(scale)) + 2
    digits = whole_digits + 30
    while True:
        with decimal.localcontext() as context:
            context.prec = digits
            context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
            value = function(as_decimal(x, digits)) * scale
            whole = int(value)
            margin = decimal.Decimal(10) ** (whole_digits + 10 - digits)
            if margin < value - whole < 1 - margin:
                return whole
        digits += digits // 2


def floor_exp(x, scale):
    return floor_scaled(lambda y: y.exp(), x, scale)


def scale_of(scaling, exponent):
    return 2**exponent if scaling == "binary" else 10**exponent


def deduction(scaling, exponent):
    if scaling == "binary":
        return Fraction(4, 2**exponent)
    # The least multiple of 2^-256 that is not below -2 ln(1 - 10^-l); never a whole number of them.
    steps = floor_scaled(lambda y: -2 * (1 - y).ln(), Fraction(1, 10**exponent), 2**256)
    return Fraction(steps + 1, 2**256)


def hexadecimal(n):
    text = format(n, "x")
    return "0" * (len(text) % 2) + text


class Numbering:
    def __init__(self):
        self.last = 0

    def test(self, comment, flags, result="valid", **fields):
        self.last += 1
        return {"tcId": self.last, "comment": comment, "flags": flags, **fields, "result": result}


def weights_test(number, comment, flags, scaling, exponent, rate, steps):
    weights = [floor_exp(rate * Fraction(u, GRID), scale_of(scaling, exponent)) for u in steps]
    return number.test(
        comment, flags, scaling=scaling, exponent=exponent, rate=str(rate), scoreSteps=steps,
        weights=[hexadecimal(w) for w in weights], sum=hexadecimal(sum(weights)),
    )


def weight_tests(number):
    whole = lambda *scores: [u * GRID for u in scores]
    tests = []
    for l in range(1, 5):
        tests.append(weights_test(number, f"table 7.3, l = {l}: floor of e * 10^{l}", ["Thesis"],
                                  "decimal", l, Fraction(1), whole(1)))
    for l in (1, 2):
        tests.append(weights_test(number, f"example 7.4.3, l = {l}", ["Thesis"], "decimal", l,
                                  Fraction(1), whole(4, 6, 2)))
    assert [int(w, 16) for w in tests[4]["weights"]] == [545, 4034, 73]
    assert int(tests[4]["sum"], 16) == 4652
    assert [int(w, 16) for w in tests[5]["weights"]] == [5459, 40342, 738]
    assert int(tests[5]["sum"], 16) == 46539
    assert [int(t["weights"][0], 16) for t in tests[:4]] == [27, 271, 2718, 27182]
    for f in (8, 64, 128, 256):
        tests.append(weights_test(number, f"scaling 2^{f}", ["Binary"], "binary", f,
                                  Fraction(1, 40), whole(0, 1, 17, 400) + [1, GRID - 1, 3 * GRID + 5]))
    tests.append(weights_test(number, "all scores zero: every weight is the scale", ["Binary"],
                              "binary", 64, Fraction(3, 7), [0, 0, 0]))
    tests.append(weights_test(number, "a rate with a long denominator", ["Binary"], "binary", 64,
                              Fraction(1, 40) - Fraction(1, 2**62), whole(1000, 1001)))
    # x next to ln 2, so 2^64 * e^x lies within 2^-130 of a whole number: doubles and a fixed
    # precision get the floor wrong on one side or the other.
    with decimal.localcontext() as context:
        context.prec = 100
        ln2 = Fraction(int(decimal.Decimal(2).ln() * 2**200), 2**200)
    for comment, rate in (("just below", ln2), ("just above", ln2 + Fraction(1, 2**200))):
        tests.append(weights_test(number, f"{comment} a whole number", ["NearWhole"], "binary", 64,
                                  rate, whole(1, 2)))
    tests.append(weights_test(number, "30,000 records, epsilon' = 1/40, standard calibration",
                              ["Large"], "binary", 64, Fraction(1, 80), whole(30000, 22654, 29999)))
    tests.append(weights_test(number, "a million records: 18,100 bits", ["Large"], "binary", 64,
                              Fraction(1, 80), whole(1000000)))
    for comment, scaling, exponent, rate, steps in (
        ("too few fraction bits", "binary", 7, Fraction(1), [GRID]),
        ("too many fraction bits", "binary", 257, Fraction(1), [GRID]),
        ("no decimal digit", "decimal", 0, Fraction(1), [GRID]),
        ("too many decimal digits", "decimal", 65, Fraction(1), [GRID]),
        ("a weight of more than 2^20 bits", "binary", 64, Fraction(1), [GRID * 10**6]),
    ):
        tests.append(number.test(comment, ["Refused"], "invalid", scaling=scaling,
                                 exponent=exponent, rate=str(rate), scoreSteps=steps))
    return tests


def calibration_tests(number):
    tests = []
    for scaling, exponent, epsilon, sensitivity, monotone in (
        ("binary", 64, Fraction(1, 40), Fraction(1), True),
        ("binary", 64, Fraction(1, 40), Fraction(1), False),
        ("binary", 8, Fraction(1, 2), Fraction(3, 2), False),
        ("binary", 128, Fraction(1, 10**18), Fraction(1), True),
        ("decimal", 1, Fraction(1), Fraction(1), True),
        ("decimal", 2, Fraction(1, 40), Fraction(1), False),
        ("decimal", 10, Fraction(1, 40), Fraction(2), True),
        ("decimal", 64, Fraction(1, 40), Fraction(1), True),
        ("binary", 8, Fraction(1, 64), Fraction(1), True),
        ("decimal", 1, Fraction(1, 5), Fraction(1), True),
        ("decimal", 2, Fraction(1, 50), Fraction(1), False),
    ):
        kind = "monotone" if monotone else "standard"
        rest = epsilon - deduction(scaling, exponent)
        fields = dict(scaling=scaling, exponent=exponent, epsilon=str(epsilon),
                      sensitivity=str(sensitivity), monotone=monotone)
        if rest > 0:
            rate = rest / (sensitivity if monotone else 2 * sensitivity)
            base = 2 if scaling == "binary" else 10
            tests.append(number.test(f"{kind}, scaling {base}^{exponent}", ["Calibration"],
                                     **fields, deduction=str(deduction(scaling, exponent)),
                                     rate=str(rate)))
        else:
            tests.append(number.test(f"{kind}, rounding costs more than epsilon'", ["Refused"],
                                     "invalid", **fields))
    return tests


def winner(weights, multiplicities, r):
    start = 0
    for index, (weight, points) in enumerate(zip(weights, multiplicities)):
        if r < start + weight * points:
            return index, (r - start) // weight
        start += weight * points
    return None


def winner_tests(number, weights, multiplicities, thesis):
    ends = [sum(w * m for w, m in zip(weights[:k], multiplicities[:k])) for k in range(len(weights) + 1)]
    tests = []
    for r in sorted({max(e + d, 0) for e in ends for d in (-1, 0, 1)}):
        found = winner(weights, multiplicities, r)
        flags = ["Thesis"] if thesis else []
        if r in ends[1:-1]:
            flags.append("OffByOneInThesis")
        if found is None:
            tests.append(number.test("R is not below the sum", flags, "invalid", r=hexadecimal(r)))
        else:
            tests.append(number.test(f"candidate {found[0] + 1}", flags, r=hexadecimal(r),
                                     winner=found[0], offset=found[1]))
    return tests


def main():
    number = Numbering()
    groups = [
        {"type": "Weights", "tests": weight_tests(number)},
        {"type": "Calibration", "tests": calibration_tests(number)},
    ]
    for source, weights, multiplicities in (
        ("thesis, example 7.4.4", [545, 4034, 73], [1, 1, 1]),
        ("thesis, example 7.4.4, l = 2", [5459, 40342, 738], [1, 1, 1]),
        ("runs of equal score", [7, 1000, 3, 2**70], [5, 0, 2, 3]),
        ("one candidate", [1], [1]),
    ):
        groups.append({
            "type": "Winner", "source": source,
            "weights": [hexadecimal(w) for w in weights], "multiplicities": multiplicities,
            "tests": winner_tests(number, weights, multiplicities, source.startswith("thesis")),
        })
    document = {
        "algorithm": "exponential mechanism",
        "schema": "schema/exponential.json",
        "numberOfTests": number.last,
        "notes": {
            "Thesis": "figures that the thesis prints",
            "Binary": "weights floor(2^f * e^(c*u))",
            "NearWhole": "the exact value is so close to a whole number that the precision must be raised",
            "Large": "as long as weights become in a real release",
            "Calibration": "c = (epsilon' - deduction) / sensitivity, half of it if not monotone",
            "Refused": "must be refused, not computed",
            "OffByOneInThesis": "R = L_k: the next candidate wins; the thesis' comparison R <= L_k says otherwise",
        },
        "testGroups": groups,
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "exponential.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
