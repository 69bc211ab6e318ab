#!/usr/bin/env python3
"""What attacks on the LPN instances of silent transfers and of vector OLE cost, in bits.

Writes no document. Ends with an error unless every attack on every set in use costs 2^132 or more, and
2^128 or more if the smallest subsystem of rows and columns that exists were known.

An instance has n samples of a secret of k bits and noise with exactly one 1 in each of t blocks of
n/t samples (regular noise). Costs are counted in bit operations, in favour of the attacker: memory is
free, and so is what is not mentioned. Each block's samples XOR to a known sum and 1, so t linear
equations hold without noise, and k - t unknowns are left.

- Pooled Gauss (Esser, Kuebler, May: LPN Decoded, CRYPTO 2017; for such parameters Liu, Wang, Yang, Yu,
  ePrint 2022/712). Guess as many samples without noise as there are unknowns, the same number in every
  block, which is the likeliest with regular noise, and solve. Rows are sparse, so that solving takes 3
  passes per unknown over 10 entries per row (Wiedemann 1986), where that is cheaper than k^2.8.
- Information set decoding with regular noise (Stern 1988, Dumer 1991; regular: Carozza, Couteau, Joux,
  EUROCRYPT 2023, Esser, Santini, ePrint 2023/1568). As before, but allow p errors among the guessed
  samples, half of them in each half of the blocks, and find them by lists of which l bits must meet. A
  list's entry costs 2·l operations and a match 2·p; the l parity checks cost as many sparse solutions,
  or one dense elimination.
- Both of these on few columns. Rows have ten entries only, so whoever picks a part r of the columns
  at random finds n·r^10 rows that lie in them wholly, and needs r·k (and a few to check): far fewer
  unknowns than k - t. Noise hits those rows as it hits all, and another choice of columns is another
  try. (Seen in small: k 300, n 5,504, t 43 is solved so in 58 of 600 tries, where 1 in 10.4 was
  expected.)
- Both of these on peeled columns. Whoever drops the column of least remaining degree, with the rows that
  contain it, until there are as many rows as columns, is left with fewer columns still: 0.62·k where
  random ones are 0.73·k. How many is simulated on a random code of 2,000 columns with the same n/k and
  weight, which is a little in favour of the attacker. Choosing takes about as many operations as the
  matrix has entries, 2^25, and is not counted. Equal degrees are decided at random: the rows of
  two such choices overlap by a tenth, and by a twentieth if a tenth of the columns is first dropped at
  random, so that trials are taken as independent. (Seen in small: of k 600, n 11,266, t 86 the rows that are left
  are free of noise in 14 of 300 peelings with a tenth dropped first; by random columns in 1 of 33.) Whatever an attacker saves by solving many guesses
  together, each guess takes a pass over the entries of its rows: "guesses in one pass" counts no more.
- As a margin, the fewest columns that exist, if an attacker found them for nothing: no w rows lie in w
  columns unless n·e^2·w^(d - 2) >= k^(d - 1) or so, d the weight (C(n, w)·C(k, w)·(w/k)^(d·w) >= 1, with both
  binomials estimated from above).
- Algebraic (Briaud, Oygarden, EUROCRYPT 2023, with guesses in some blocks). Samples of one block have
  the product 0. Guess f samples of u blocks to be without noise, then linearise at degree d, the first
  at which the Hilbert series
      (1 + (b - f - 1)z)^u (1 + (b - 1)z)^(t - u) / (1 + z)^(n - k),  b = n/t,
  has no positive coefficient. With M monomials solving costs M^2 times 2^7, since a product of two
  sparse rows has 100 entries, or M^2.8. At d = 2 this is "guess + 2·log2(k'^2/2) + 7".

- In two stages (ePrint 2025/1476). As before, but linearise with fewer guesses first: M unknowns, of
  which as many are left as the series' coefficients up to d add up to. All further guesses are tried
  on those alone, at the square of their number.
- Hybrid (ePrint 2025/1284). Guess u samples of all blocks but g to be without noise, try all places of
  the noise in those g, and linearise the quadratic equations of the guessed blocks in what is left.
- The algebraic and the hybrid ones on peeled columns, at several moments of the peeling: what counts is
  then the rows and columns that are left. Rows that are gone have their share of the noise, so that guesses
  succeed as often as with all rows; that the sums of the blocks are no longer known is not counted. A guess
  takes at least a pass over the rows.

Vector OLE has instances over the field with 2^128 elements, with sixteen random coefficients per row and
one random element of noise in each block. What changes (Liu, Wang, Yang, Yu, ePrint 2022/712):
- Noise is unknown where it is, so blocks give no equations without noise: k unknowns are left. An
  operation on elements counts as 2^7, that is, as an addition.
- Errors among the guessed samples cannot be enumerated with their values. But p of them explain what is
  left if their p columns and it are dependent: all but two of them are tried, modulo what is left and
  those tried, and the last two are found by sorting, so that C(k, p - 1) operations are enough.
- A projection to fewer bits, where noise vanishes more often, is not linear in fewer unknowns:
  d bits of every sample are d·n equations in 128·k unknown bits, and (1 - 2^-d)·128/d >= 1 for all d.
  With coefficients 0 and 1 one bit would be an instance with half the noise.
- Linearising: powers of noise are further monomials, so that a block has the series 1 + b·z/(1 - z), and
  the whole (1 - z)^(n - k) times their product; M = C(k' + d, d).

Sets at the end must not be used.
"""

from functools import cache
from math import comb, e, factorial, inf, log2
from random import Random

WEIGHT = 10
IN_USE = {"silent transfers": (4_194_304, 262_144, 2_048)}
FIELD_WEIGHT, FIELD_ADDITION = 16, 7
EXIST = ", fewest columns that exist"
# Parts of the rows at which a peeling is looked at: blocks of 8 have whole numbers of rows then, or it is
# over.
PARTS = (7 / 8, 3 / 4, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
OVER_THE_FIELD = {
    "vector OLE, first": (10_000, 1_050, 1_250),
    "vector OLE, second": (112_000, 8_200, 1_750),
    "vector OLE, main": (1_945_600, 110_000, 1_900),
}
NOT_TO_BE_USED = {
    "silent transfers before version 8": (4_194_304, 224_000, 2_048),
    "a main set with few columns": (10_805_248, 589_760, 1_319),
    "its set-up": (607_232, 69_454, 593),
    "Ferret's large set": (10_180_608, 124_000, 4_971),
    "a set-up of few transfers": (642_048, 19_870, 2_508),
}


def sum_of(*costs):
    """The sum of costs that are given as logarithms."""
    top = max(costs)
    return top + log2(sum(2 ** (cost - top) for cost in costs))


def sparse_solution(unknowns, weight=WEIGHT):
    return log2(3 * weight) + 2 * log2(unknowns)


def one_pass(unknowns, weight=WEIGHT):
    return log2(weight * unknowns)


def dense_solution(unknowns):
    return 2.8 * log2(unknowns)


def few_columns(n, k, spare=200, weight=WEIGHT):
    """The fewest columns in which, picked at random, that many rows and a few more lie wholly."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if n * middle**weight >= middle * k + spare else (middle, high)
    return high * k


def peeling(n, k, weight=WEIGHT, columns=2_000):
    """A simulated peeling: the part of the columns that is left with each of `PARTS` of the rows, while
    these are more than the columns, and the part that is left when there are as many of both."""
    rng = Random("peeling")
    rows = [{int(columns * rng.random()) for _ in range(weight)} for _ in range(n * columns // k)]
    rows_with = [[] for _ in range(columns)]
    for number, row in enumerate(rows):
        for column in row:
            rows_with[column].append(number)
    degrees = [len(numbers) for numbers in rows_with]
    # A column stands in a list for each degree that it had; only the last counts.
    by_degree = [[] for _ in range(max(degrees) + 1)]
    for column, degree in enumerate(degrees):
        by_degree[degree].append(column)
    kept, least, left, columns_left = [True] * len(rows), 0, len(rows), columns
    parts = []
    while left > columns_left:
        while not by_degree[least]:
            least += 1
        candidates = by_degree[least]
        chosen = int(len(candidates) * rng.random())
        candidates[chosen], candidates[-1] = candidates[-1], candidates[chosen]
        column = candidates.pop()
        if degrees[column] != least:
            continue
        for number in rows_with[column]:
            if kept[number]:
                kept[number], left = False, left - 1
                for other in rows[number]:
                    degrees[other] -= 1
                    if other != column and degrees[other] >= 0:
                        by_degree[degrees[other]].append(other)
                        least = min(least, degrees[other])
        degrees[column], columns_left = -1, columns_left - 1
        if len(parts) < len(PARTS) and left <= len(rows) * PARTS[len(parts)]:
            parts.append(columns_left / columns)
    return parts, columns_left / columns


def fewest_columns(n, k, weight=WEIGHT):
    """No fewer columns exist in which as many rows lie wholly."""
    return k * (k / (n * e**2)) ** (1 / (weight - 2))


def pooled_gauss(n, t, unknowns):
    return guess(n, t, unknowns) + min(sparse_solution(unknowns), dense_solution(unknowns))


def guess(n, t, unknowns):
    return -t * log2(1 - unknowns / n)


def information_set(n, t, unknowns):
    rate, places, best = unknowns / n, unknowns / t, inf
    halves = (t // 2, t - t // 2)
    for errors in range(0, 13):
        parts = (errors // 2, errors - errors // 2)
        chance, lists = 0.0, []
        for blocks, part in zip(halves, parts):
            ways = log2(comb(blocks, part))
            chance += ways + part * log2(rate) + (blocks - part) * log2(1 - rate)
            lists.append(ways + part * log2(places))
        for meeting in range(1, 140):
            entries = sum_of(*lists) + log2(2 * meeting)
            matches = sum(lists) - meeting + log2(2 * errors) if errors else 0
            algebra = min(sparse_solution(unknowns) + log2(meeting), dense_solution(unknowns))
            best = min(best, sum_of(algebra, entries, matches) - chance)
    return best


@cache
def power(a, exponent, degree):
    """(1 + a·z)^exponent up to a degree; the exponent may be negative."""
    series = []
    for d in range(degree + 1):
        numerator = 1
        for i in range(d):
            numerator *= exponent - i
        series.append(numerator // factorial(d) * a**d)
    return series


def product(first, second):
    return [sum(first[i] * second[d - i] for i in range(d + 1)) for d in range(len(first))]


def coefficients(n, k, t, blocks, guessed, degree):
    """The Hilbert series of the noise's equations, with so many guessed samples of some blocks."""
    block = n / t
    series = power(block - guessed - 1, blocks, degree)
    series = product(series, power(block - 1, t - blocks, degree))
    return product(series, power(1, k - n, degree))


def guesses(n, k, t, degree):
    """For several numbers of blocks, the fewest samples of each that make the series end."""
    block = n // t
    for blocks in sorted({t * part // 24 for part in range(1, 25)}):

        def enough(guessed):
            series = coefficients(n, k, t, blocks, guessed, degree)
            return k - t - blocks * guessed < 2 or any(c <= 0 for c in series[2:])

        low, high = 0, block - 1
        if not enough(high):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        yield blocks, low


def monomials(unknowns, degree):
    unknowns = max(unknowns, 2)
    return log2(sum(comb(int(unknowns), d) for d in range(1, degree + 1)))


def chance(n, t, blocks, guessed):
    return -blocks * log2(1 - guessed / (n / t)) if guessed < n / t else inf


def algebraic(n, k, t, degree, left=1):
    """With that part of the rows left, n of them: the others have their share of the noise."""
    best = inf
    for blocks, guessed in guesses(n, k, t, degree):
        size = monomials(k - t - blocks * guessed, degree)
        work = sum_of(min(2 * size + 7, 2.8 * size), one_pass(k))
        best = min(best, work + chance(n / left, t, blocks, guessed))
    return best


def in_two_stages(n, t, wanted, series, size, extra):
    """The cheapest way to guess some of the `wanted` samples before linearising, the others after."""
    best = inf
    for blocks, guessed in wanted:
        for some in sorted({blocks * part // 12 for part in range(0, 13)}):
            for first in sorted({guessed * part // 12 for part in range(0, 13)}):
                whole = size(some * first)
                once = chance(n, t, some, first) + min(2 * whole + 7, 2.8 * whole)
                if extra + max(once, chance(n, t, blocks, guessed)) >= best:
                    continue
                left = sum(series(some, first)[1:])
                left = 0 if left <= 1 else min(log2(left), whole)
                each = chance(n, t, blocks, guessed) + 2 * left
                best = min(best, extra + sum_of(once, each))
    return best


def two_stages(n, k, t, degree, left=1):
    def series(blocks, guessed):
        return coefficients(n, k, t, blocks, guessed, degree)

    def size(guessed):
        return monomials(k - t - guessed, degree)

    return in_two_stages(n / left, t, guesses(n, k, t, degree), series, size, 0)


def hybrid(n, k, t, rows_left=1):
    block, best = n / t, inf
    for tried in range(0, 9):
        places = tried * log2(block)
        # The fewest samples of each block whose quadratic equations determine what is left.
        low, high = 0, int(block) - 2

        def left(guessed):
            return k - t - (t - tried) * guessed - (block - 1) * tried

        def enough(guessed):
            equations = (t - tried) * (block - guessed - 2) * (block - guessed - 1) / 2
            return left(guessed) + 2 <= (2 * equations) ** 0.5

        if not enough(high):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        for guessed in range(low, min(low + 40, int(block) - 2)):
            size = monomials(left(guessed), 2)
            linear = 2 * log2(max(2.5 * left(guessed), 2))
            work = sum_of(min(2 * size + 7, 2.8 * size), linear + places, one_pass(k))
            best = min(best, chance(n / rows_left, t, t - tried, guessed) + work)
    return best


def moments(n, k, course):
    """Rows and columns before and during a peeling, with the part of the rows that is left."""
    yield n, k, 1
    for left, part in zip(PARTS, course):
        yield int(n * left), int(k * part), left


def costs(n, k, t):
    table, (course, peeled) = {}, peeling(n, k)
    for where, unknowns in (
        ("", k - t),
        (", few columns", few_columns(n, k)),
        (", peeled columns", k * peeled),
        (EXIST, fewest_columns(n, k)),
    ):
        table["pooled Gauss" + where] = pooled_gauss(n, t, unknowns)
        table["information set" + where] = information_set(n, t, unknowns)
    unknowns = k * peeled
    table["guesses in one pass, peeled columns"] = guess(n, t, unknowns) + one_pass(unknowns)
    for rows, columns, left in moments(n, k, course):
        where = "" if left == 1 else ", peeled columns"
        attacks = {}
        for d in (2, 3, 4, 5):
            attacks[f"algebraic, degree {d}"] = algebraic(rows, columns, t, d, left)
        for d in (2, 3, 4):
            attacks[f"algebraic, two stages, degree {d}"] = two_stages(rows, columns, t, d, left)
        attacks["hybrid"] = hybrid(rows, columns, t, left)
        for attack, bits in attacks.items():
            table[attack + where] = min(bits, table.get(attack + where, inf))
    return table


def field_information_set(n, t, unknowns):
    """With p = 0 errors this is pooled Gauss."""
    rate, best = unknowns / n, inf
    solution = min(sparse_solution(unknowns, FIELD_WEIGHT), dense_solution(unknowns))
    for errors in range(0, 15):
        chance = log2(comb(t, errors)) + errors * log2(rate) + (t - errors) * log2(1 - rate)
        search = log2(comb(int(unknowns), errors - 1)) if errors else 0
        work = FIELD_ADDITION + sum_of(solution + log2(errors + 2), search)
        best = min(best, work - chance)
    return best


@cache
def field_block(places, exponent, degree):
    """(1 + places·z/(1 - z))^exponent up to a degree."""
    chosen = [comb(exponent, j) * places**j for j in range(degree + 1)]
    return [1] + [
        sum(comb(d - 1, j - 1) * chosen[j] for j in range(1, d + 1)) for d in range(1, degree + 1)
    ]


def field_coefficients(n, k, t, blocks, guessed, degree):
    block = n // t
    series = product(field_block(block - guessed, blocks, degree), power(-1, n - k, degree))
    return product(series, field_block(block, t - blocks, degree))


def field_guesses(n, k, t, degree):
    block = n // t
    for blocks in sorted({t * part // 24 for part in range(1, 25)}):

        def enough(guessed):
            series = field_coefficients(n, k, t, blocks, guessed, degree)
            return k - blocks * guessed < 2 or any(c <= 0 for c in series[1:])

        low, high = 0, block - 1
        if not enough(high):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        yield blocks, low


def field_monomials(unknowns, degree):
    return log2(comb(max(unknowns, 2) + degree, degree))


def field_algebraic(n, k, t, degree, left=1):
    best = inf
    for blocks, guessed in field_guesses(n, k, t, degree):
        size = field_monomials(k - blocks * guessed, degree)
        work = FIELD_ADDITION + min(2 * size + 7, 2.8 * size)
        best = min(best, work + chance(n / left, t, blocks, guessed))
    return best


def field_two_stages(n, k, t, degree, left=1):
    def series(blocks, guessed):
        return field_coefficients(n, k, t, blocks, guessed, degree)

    def size(guessed):
        return field_monomials(k - guessed, degree)

    wanted = field_guesses(n, k, t, degree)
    return in_two_stages(n / left, t, wanted, series, size, FIELD_ADDITION)


def field_costs(n, k, t):
    table, (course, peeled) = {}, peeling(n, k, FIELD_WEIGHT)
    for where, unknowns in (
        ("", k),
        (", few columns", few_columns(n, k, 16, FIELD_WEIGHT)),
        (", peeled columns", k * peeled),
        (EXIST, fewest_columns(n, k, FIELD_WEIGHT)),
    ):
        table["information set" + where] = field_information_set(n, t, unknowns)
    for rows, columns, left in moments(n, k, course):
        where = "" if left == 1 else ", peeled columns"
        for attack, degrees, cost in (
            ("algebraic", (2, 3, 4, 5, 6, 7, 8, 10, 12), field_algebraic),
            ("algebraic, two stages", (2, 3, 4, 5, 6, 7, 8), field_two_stages),
        ):
            for degree in degrees:
                name = f"{attack}, degree {degree}{where}"
                bits = cost(rows, columns, t, degree, left)
                table[name] = min(bits, table.get(name, inf))
    return table


def report(name, n, k, t, table):
    """Prints what attacks cost; returns the least, and the least with what exists for nothing."""
    print(f"{name}: n {n}, k {k}, t {t}, blocks of {n // t}")
    for attack, bits in table.items():
        print(f"  {bits:6.1f}  {attack}")
    attacks = min(bits for attack, bits in table.items() if not attack.endswith(EXIST))
    margin = min(table.values())
    print(f"  the cheapest attack: {attacks:.1f} bits; with the{EXIST[1:]} for nothing: {margin:.1f} bits")
    return attacks, margin


def main():
    found = [
        report(name, *numbers, costs_of(*numbers))
        for sets, costs_of in ((OVER_THE_FIELD, field_costs), (IN_USE, costs))
        for name, numbers in sets.items()
    ]
    for name, numbers in NOT_TO_BE_USED.items():
        attacks, _ = report(name, *numbers, costs(*numbers))
        assert attacks < 128, f"{name} was thought to be weak"
    attacks, margin = (min(costs_of_sets) for costs_of_sets in zip(*found))
    print(f"weakest of the sets in use: {attacks:.1f} bits, {margin:.1f} with what exists for nothing")
    assert attacks >= 132 and margin >= 128, "a set in use is too weak"


if __name__ == "__main__":
    main()
