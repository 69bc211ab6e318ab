#!/usr/bin/env python3
"""Writes vectors/mechanisms.json: joint random bits -> winner and noise of the two-party mechanisms.

Only the standard library. Thresholds come from `decimal` at a precision that is raised until the
floor cannot change. Nothing here is taken from the Rust code.

A party's coins are a list of bits, written as the number whose bit i is the i-th coin.
"""

import decimal
import json
import pathlib
import random
from fractions import Fraction

SEED = "diptych vectors mechanisms 1"


def thresholds(rate, digits, tau):
    """floor(2^tau / (1 + e^(rate * 2^j))) for j = 0, 1, ..."""
    found = []
    for j in range(digits):
        precision = tau // 3 + 40
        while True:
            with decimal.localcontext() as context:
                context.prec = precision
                context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
                x = rate * 2**j
                power = (decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp()
                value = decimal.Decimal(2**tau) / (1 + power)
                whole = int(value)
                margin = decimal.Decimal(10) ** -10
                if margin < value - whole < 1 - margin or value < margin:
                    found.append(whole)
                    break
            precision *= 2
    return found


def hexadecimal(n):
    text = format(n, "x")
    return "0" * (len(text) % 2) + text


def bits(number, count):
    return [number >> i & 1 for i in range(count)]


def number_of(some_bits):
    return sum(bit << i for i, bit in enumerate(some_bits))


class Numbering:
    def __init__(self):
        self.last = 0

    def test(self, comment, flags, result="valid", **fields):
        self.last += 1
        return {"tcId": self.last, "comment": comment, "flags": flags, **fields, "result": result}


# --- the vertical exponential mechanism ---


def uniform_layout(width, tries):
    """(bits of one attempt, number of attempts): one attempt fails with a chance below 2^-tries."""
    return min(tries + 2, width), tries + 1


def coins_of_choice(width, tries):
    window, attempts = uniform_layout(width, tries)
    return window * attempts + width - window


def uniform_below(bound, width, tries, coins):
    """R, or None if no attempt gave one.

    An attempt is a number of `window` bits for the top of R; the first one that is not above the top
    of bound - 1 is taken. The bits below it are drawn once, and R is refused if it is not below bound.
    """
    window, attempts = uniform_layout(width, tries)
    last = bound - 1
    length = last.bit_length()
    # The top of bound - 1, continued with ones where it has fewer bits than the window.
    if length >= window:
        top = last >> (length - window)
    else:
        top = (last << (window - length)) + 2 ** (window - length) - 1
    drawn = [number_of(coins[window * t : window * (t + 1)]) for t in range(attempts)]
    high = next((h for h in drawn if h <= top), None)
    if high is None:
        return None
    if length <= window:
        r = high >> (window - length)
    else:
        low = coins[window * attempts :]
        r = (high << (length - window)) + number_of(low[: length - window])
    return r if r < bound else None


def winner_of(p1_sums, p2_sums, r):
    s1 = p1_sums[-1] if p1_sums else 0
    limits = p1_sums + [s1 + sum2 for sum2 in p2_sums]
    return next(k for k, limit in enumerate(limits) if r < limit)


def choice_group(number, rng, p1_weights, p2_weights, width, tries):
    p1_sums = [sum(p1_weights[: k + 1]) for k in range(len(p1_weights))]
    p2_sums = [sum(p2_weights[: k + 1]) for k in range(len(p2_weights))]
    total = sum(p1_weights) + sum(p2_weights)
    assert 0 < total < 2**width
    count = coins_of_choice(width, tries)
    window, attempts = uniform_layout(width, tries)

    def test(comment, flags, p1_coins, p2_coins):
        joint = bits(p1_coins ^ p2_coins, count)
        r = uniform_below(total, width, tries, joint)
        common = {"p1Coins": hexadecimal(p1_coins), "p2Coins": hexadecimal(p2_coins)}
        if r is None:
            return number.test(comment, ["NoRandomValue", *flags], "invalid", **common)
        return number.test(comment, flags, **common, r=hexadecimal(r), winner=winner_of(p1_sums, p2_sums, r))

    def attempt_for(r):
        """Coins whose first attempt gives r."""
        length = (total - 1).bit_length()
        if length <= window:
            return r << (window - length)
        low = r & (2 ** (length - window) - 1)
        return (r >> (length - window)) | low << (window * attempts)

    tests = []
    edges = sorted({0, total - 1, *(limit + d for limit in
                                   [*p1_sums, *(sum(p1_weights) + s for s in p2_sums)] for d in (-1, 0))})
    for r in edges:
        if 0 <= r < total:
            mask = rng.getrandbits(count)
            tests.append(test(f"R = {r if r < 10**6 else hexadecimal(r)}", ["Edge"], attempt_for(r) ^ mask, mask))
    for _ in range(6):
        tests.append(test("drawn", ["Drawn"], rng.getrandbits(count), rng.getrandbits(count)))
    ones = 2**count - 1
    tests.append(test("all joint bits set", ["AllOnes"], ones, 0))
    tests.append(test("all joint bits set, half by each party", ["AllOnes"], ones // 3, ones ^ (ones // 3)))
    tests.append(test("equal bits cancel out", ["Edge"], ones, ones))
    return {
        "type": "VerticalChoice",
        "p1Sums": [hexadecimal(s) for s in p1_sums],
        "p2Sums": [hexadecimal(s) for s in p2_sums],
        "width": width,
        "tries": tries,
        "tests": tests,
    }


# --- noise by digits ---


def noise_of(coins, limits, tau):
    uniforms = [number_of(coins[tau * j : tau * (j + 1)]) for j in range(len(limits))]
    return sum(1 << j for j, (u, limit) in enumerate(zip(uniforms, limits)) if u < limit)


def coins_for(noise, digits, tau):
    """Coins that give a noise: the number 0 for a digit 1, all ones for a digit 0."""
    return sum(0 if noise >> j & 1 else (2**tau - 1) << tau * j for j in range(digits))


def maximum_group(number, rng, sharing, rate, digits, tau, score_bits, shift):
    limits = thresholds(rate, digits, tau)
    per_noise = digits * tau
    # Digits that can be 1.
    possible = sum(1 << j for j, limit in enumerate(limits) if limit > 0)

    def test(comment, flags, scores, coins):
        count = len(scores)
        masks = [rng.getrandbits(score_bits) for _ in scores]
        if sharing == "xor":
            others = [score ^ mask for score, mask in zip(scores, masks)]
        else:
            others = [(score - mask) % 2**score_bits for score, mask in zip(scores, masks)]
        p1_coins = [rng.getrandbits(per_noise) for _ in scores]
        p2_coins = [a ^ b for a, b in zip(p1_coins, coins)]
        noisy = [
            (score << shift) + noise_of(bits(coin, per_noise), limits, tau)
            for score, coin in zip(scores, coins)
        ]
        return number.test(
            comment, flags, p1Scores=masks, p2Scores=others,
            p1Coins=[hexadecimal(c) for c in p1_coins], p2Coins=[hexadecimal(c) for c in p2_coins],
            winner=max(range(count), key=lambda i: (noisy[i], -i)))

    def told(noises):
        return [coins_for(noise & possible, digits, tau) for noise in noises]

    most = 2**score_bits - 1
    tests = [
        test("one candidate", ["Edge"], [3], told([0])),
        test("no noise: the largest score", ["Digits"], [1, most, 2], told([0, 0, 0])),
        test("equal scores, no noise: the first", ["Ties"], [5, 5, 5], told([0, 0, 0])),
        test("a tie after noise: the first of the two", ["Ties"], [0, 1, 0],
             told([2**shift, 0, 2**shift])),
        test("one step more wins", ["Edge"], [4, 4], told([6, 7])),
        test("all noise that is possible on the highest score", ["Edge"], [most, most, 0],
             told([possible, possible, possible])),
    ]
    for size in (2, 3, 5):
        scores = [rng.randrange(2**score_bits) for _ in range(size)]
        tests.append(test("drawn", ["Drawn"], scores, [rng.getrandbits(per_noise) for _ in scores]))
        tests.append(test("equal scores, drawn noise", ["Drawn"], [7] * size,
                          [rng.getrandbits(per_noise) for _ in range(size)]))
    return {"type": "NoisyMaximum", "sharing": sharing, "rate": str(rate), "digits": digits, "tau": tau,
            "scoreBits": score_bits, "shift": shift, "tests": tests}


def joint_noise_group(number, rng, rate, digits, tau, width):
    limits = thresholds(rate, digits, tau)
    per_noise = digits * tau
    possible = sum(1 << j for j, limit in enumerate(limits) if limit > 0)

    def test(comment, flags, count, coins):
        share = rng.getrandbits(width)
        p1_coins = rng.getrandbits(2 * per_noise)
        joint = bits(coins, 2 * per_noise)
        noise = noise_of(joint[:per_noise], limits, tau) - noise_of(joint[per_noise:], limits, tau)
        noisy = (count + noise) % 2**width
        return number.test(
            comment, flags, p1Share=hexadecimal(share), p2Share=hexadecimal((count - share) % 2**width),
            p1Coins=hexadecimal(p1_coins), p2Coins=hexadecimal(p1_coins ^ coins),
            noisy=noisy - 2**width if noisy >= 2 ** (width - 1) else noisy)

    def told(above, below):
        return coins_for(above & possible, digits, tau) | coins_for(below & possible, digits, tau) << per_noise

    tests = [
        test("no noise", ["Edge"], 40, told(0, 0)),
        test("noise above", ["Digits"], 40, told(3, 0)),
        test("noise below, and a negative count", ["Digits"], 1, told(0, 5)),
        test("both noises are equal", ["Edge"], 7, told(6, 6)),
        test("the most that can be added", ["Edge"], 2 ** (width - 2), told(possible, 0)),
        test("the most that can be taken away", ["Edge"], 0, told(0, possible)),
    ]
    for _ in range(6):
        tests.append(test("drawn", ["Drawn"], rng.getrandbits(width - 2), rng.getrandbits(2 * per_noise)))
    return {"type": "JointNoise", "rate": str(rate), "digits": digits, "tau": tau, "bits": width, "tests": tests}


def main():
    number = Numbering()
    rng = random.Random(SEED)
    groups = [
        choice_group(number, rng, [5], [], 8, 4),
        choice_group(number, rng, [], [1], 3, 4),
        choice_group(number, rng, [3, 1], [2, 2, 9], 8, 4),
        choice_group(number, rng, [256, 700], [300], 12, 16),
        choice_group(number, rng, [256, 70_000], [2_000_000, 256], 24, 8),
        choice_group(number, rng, [2**64 + 5, 2**90 + 1], [2**91 - 3, 2**64, 2**64 + 7], 100, 64),
        choice_group(number, rng, [rng.getrandbits(180) | 2**64 for _ in range(4)],
                     [rng.getrandbits(190) | 2**64 for _ in range(3)], 200, 64),
        maximum_group(number, rng, "xor", Fraction(1, 4096), 16, 16, 8, 10),
        maximum_group(number, rng, "sum", Fraction(1, 40 * 2**10), 24, 64, 12, 10),
        maximum_group(number, rng, "sum", Fraction(1, 20 * 2**20), 32, 72, 30, 0),
        joint_noise_group(number, rng, Fraction(1, 2), 8, 16, 24),
        joint_noise_group(number, rng, Fraction(1, 10), 10, 64, 40),
        joint_noise_group(number, rng, Fraction(3), 5, 72, 64),
    ]
    document = {
        "algorithm": "two-party mechanisms",
        "schema": "schema/mechanisms.json",
        "numberOfTests": number.last,
        "notes": {
            "Edge": "R next to a prefix sum, or noise at an end of its range",
            "Drawn": "all bits drawn",
            "AllOnes": "every attempt at a random value is the largest number there is",
            "NoRandomValue": "no attempt succeeds: the choice must fail, and say nothing else",
            "Digits": "digit j of a noise is 1 if its uniform number is below the j-th threshold",
            "Ties": "ties go to the lowest index",
        },
        "testGroups": groups,
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "mechanisms.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
