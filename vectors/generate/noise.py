#!/usr/bin/env python3
"""Writes vectors/noise.json: thresholds of noise digits, noise from digits, laws of the samplers.

Only the standard library. Probabilities come from `decimal` at a precision that is raised until
the floor cannot change. Nothing here is taken from the Rust code.
"""

import decimal
import json
import pathlib
import random
from fractions import Fraction

SEED = "diptych vectors noise 1"


def as_decimal(x):
    return decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)


def floor_scaled(function, scale):
    """floor(scale * function()), where function computes in the current precision."""
    whole_digits = len(str(scale)) + 2
    digits = whole_digits + 30
    while True:
        with decimal.localcontext() as context:
            context.prec = digits
            context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
            value = function() * scale
            whole = int(value)
            margin = decimal.Decimal(10) ** (whole_digits + 10 - digits)
            if margin < value - whole < 1 - margin:
                return whole
            if value < decimal.Decimal(1) / 2:
                return 0  # positive and far from one
        digits += digits // 2


def thresholds(rate, digits, tau):
    return [
        floor_scaled(lambda: 1 / (1 + as_decimal(rate * 2**j).exp()), 2**tau) for j in range(digits)
    ]


def bernoulli_exp(x):
    return lambda: (-as_decimal(x)).exp()


def geometric(rate, k):
    def probability():
        q = (-as_decimal(rate)).exp()
        return (1 - q) * q**k

    return probability


def discrete_laplace(rate, k):
    def probability():
        q = (-as_decimal(rate)).exp()
        return (1 - q) / (1 + q) * q ** abs(k)

    return probability


def hexadecimal(n):
    text = format(n, "x")
    return "0" * (len(text) % 2) + text


class Numbering:
    def __init__(self):
        self.last = 0

    def test(self, comment, flags, result="valid", **fields):
        self.last += 1
        return {"tcId": self.last, "comment": comment, "flags": flags, **fields, "result": result}


def threshold_tests(number):
    tests = []
    for rate, digits, tau in (
        (Fraction(1), 8, 16),
        (Fraction(1, 2), 10, 64),
        (Fraction(1, 40 * 2**20), 32, 64),
        (Fraction(1, 40 * 2**10), 24, 72),
        (Fraction(7, 3), 6, 128),
        (Fraction(1, 10**9), 40, 256),
        (Fraction(20), 3, 32),
    ):
        values = thresholds(rate, digits, tau)
        tests.append(number.test(f"rate {rate}, {digits} digits at {tau} bits", ["Thresholds"],
                                 rate=str(rate), digits=digits, tau=tau,
                                 thresholds=[hexadecimal(t) for t in values]))
    for comment, rate, digits, tau in (
        ("no noise has a rate of zero", Fraction(0), 4, 16),
        ("no digit", Fraction(1), 0, 16),
        ("too many digits", Fraction(1), 63, 16),
        ("no random bits", Fraction(1), 4, 0),
        ("too many random bits", Fraction(1), 4, 257),
    ):
        tests.append(number.test(comment, ["Refused"], "invalid", rate=str(rate), digits=digits, tau=tau))
    return tests


def noise_group(number, generator, rate, digits, tau):
    limits = thresholds(rate, digits, tau)
    most = 2**tau - 1

    def test(comment, uniforms):
        noise = sum(1 << j for j, (u, t) in enumerate(zip(uniforms, limits)) if u < t)
        return number.test(comment, ["Digits"], uniforms=[hexadecimal(u) for u in uniforms], noise=noise)

    tests = [
        test("all uniform numbers zero: each digit with a positive threshold is 1", [0] * digits),
        test("all at their largest: no digit", [most] * digits),
        test("each equal to its threshold: no digit", limits),
        test("each just below its threshold", [max(t - 1, 0) for t in limits]),
    ]
    for _ in range(4):
        tests.append(test("drawn", [generator.randrange(2**tau) for _ in range(digits)]))
    return {"type": "DigitNoise", "rate": str(rate), "digits": digits, "tau": tau, "tests": tests}


def probability_group(number, rate, digits, tau):
    limits = thresholds(rate, digits, tau)
    tests = []
    for noise in sorted({0, 1, 2, 5, 2**digits - 1, 2**digits}):
        ways = 1 if noise < 2**digits else 0
        for j, t in enumerate(limits):
            ways *= t if noise >> j & 1 else 2**tau - t
        probability = Fraction(ways, 2 ** (tau * digits))
        tests.append(number.test(f"noise {noise}", ["Probability"], noise=noise,
                                 probability=f"{probability.numerator}/{probability.denominator}"))
    return {"type": "DigitProbability", "rate": str(rate), "digits": digits, "tau": tau, "tests": tests}


def law_tests(number):
    tests = []
    bits = 64
    for x in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
        tests.append(number.test(f"true with probability e^-{x}", ["Law"], sampler="bernoulliExp",
                                 rate=str(x), outcome=1, floorBits=bits,
                                 floor=hexadecimal(floor_scaled(bernoulli_exp(x), 2**bits))))
    for name, law, outcomes in (
        ("geometric", geometric, range(0, 4)),
        ("discreteLaplace", discrete_laplace, range(-2, 3)),
    ):
        for rate in (Fraction(1, 2), Fraction(1)):
            for k in outcomes:
                tests.append(number.test(f"{name}, rate {rate}, value {k}", ["Law"], sampler=name,
                                         rate=str(rate), outcome=k, floorBits=bits,
                                         floor=hexadecimal(floor_scaled(law(rate, k), 2**bits))))
    # A law that is wrong by one part in a thousand must be told apart.
    wrong = floor_scaled(bernoulli_exp(Fraction(1)), 2**bits) * 1001 // 1000
    tests.append(number.test("a probability that is too large", ["WrongLaw"], "invalid",
                             sampler="bernoulliExp", rate="1", outcome=1, floorBits=bits,
                             floor=hexadecimal(wrong)))
    return tests


def main():
    number = Numbering()
    generator = random.Random(SEED)
    groups = [{"type": "Thresholds", "tests": threshold_tests(number)}]
    for rate, digits, tau in ((Fraction(1, 4), 8, 16), (Fraction(1, 40 * 2**10), 24, 64), (Fraction(3), 5, 72)):
        groups.append(noise_group(number, generator, rate, digits, tau))
    for rate, digits, tau in ((Fraction(1, 4), 4, 16), (Fraction(1), 3, 64)):
        groups.append(probability_group(number, rate, digits, tau))
    groups.append({"type": "SamplerLaw", "tests": law_tests(number)})
    document = {
        "algorithm": "geometric and discrete Laplace noise",
        "schema": "schema/noise.json",
        "numberOfTests": number.last,
        "notes": {
            "Thresholds": "floor(2^tau / (1 + e^(rate * 2^j))) for digit j = 0, 1, ...",
            "Digits": "digit j is 1 if the j-th uniform number is below the j-th threshold",
            "Probability": "exact probability of a noise value drawn by digits, roundings included",
            "Law": "floor(2^floorBits * probability) of the exact samplers",
            "WrongLaw": "the sampler must be seen to have another law than this",
            "Refused": "must be refused, not computed",
        },
        "testGroups": groups,
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "noise.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
