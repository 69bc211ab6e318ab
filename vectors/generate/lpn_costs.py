#!/usr/bin/env python3
"""What attacks on the LPN instances of silent transfers and of vector OLE cost, in bits.

Writes no document. Ends with an error unless every attack on every set in use costs 2^128 or more.

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
- The algebraic and the hybrid one on few columns, for several parts r: what counts is then n·r^10
  samples, r·k unknowns, the same t blocks.

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
- As a margin, rows that lie in the fewest columns at all, if an attacker found them for nothing: w rows
  in w columns exist as soon as n·e^2·w^14 = k^15.

Sets at the end must not be used.
"""

from math import comb, e, factorial, inf, log2

WEIGHT = 10
IN_USE = {"silent transfers": (4_194_304, 224_000, 2_048)}
FIELD_WEIGHT, FIELD_ADDITION = 16, 7
OVER_THE_FIELD = {
    "vector OLE, first": (9_600, 1_000, 1_200),
    "vector OLE, second": (112_000, 7_800, 1_750),
    "vector OLE, main": (1_945_600, 110_000, 1_900),
}
NOT_TO_BE_USED = {
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


def dense_solution(unknowns):
    return 2.8 * log2(unknowns)


def few_columns(n, k, spare=200, weight=WEIGHT):
    """The fewest columns in which, picked at random, that many rows and a few more lie wholly."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if n * middle**weight >= middle * k + spare else (middle, high)
    return high * k


def pooled_gauss(n, t, unknowns):
    guess = -t * log2(1 - unknowns / n)
    return guess + min(sparse_solution(unknowns), dense_solution(unknowns))


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


def algebraic(n, k, t, degree):
    best = inf
    for blocks, guessed in guesses(n, k, t, degree):
        size = monomials(k - t - blocks * guessed, degree)
        best = min(best, chance(n, t, blocks, guessed) + min(2 * size + 7, 2.8 * size))
    return best


def in_two_stages(n, t, wanted, series, size, extra):
    """The cheapest way to guess some of the `wanted` samples before linearising, the others after."""
    best = inf
    for blocks, guessed in wanted:
        for some in sorted({blocks * part // 12 for part in range(0, 13)}):
            for first in sorted({guessed * part // 12 for part in range(0, 13)}):
                whole = size(some * first)
                left = sum(series(some, first)[1:])
                left = 0 if left <= 1 else min(log2(left), whole)
                once = chance(n, t, some, first) + min(2 * whole + 7, 2.8 * whole)
                each = chance(n, t, blocks, guessed) + 2 * left
                best = min(best, extra + sum_of(once, each))
    return best


def two_stages(n, k, t, degree):
    def series(blocks, guessed):
        return coefficients(n, k, t, blocks, guessed, degree)

    def size(guessed):
        return monomials(k - t - guessed, degree)

    return in_two_stages(n, t, guesses(n, k, t, degree), series, size, 0)


def hybrid(n, k, t):
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
            work = sum_of(min(2 * size + 7, 2.8 * size), linear + places)
            best = min(best, chance(n, t, t - tried, guessed) + work)
    return best


def costs(n, k, t):
    table = {}
    least = few_columns(n, k)
    for where, unknowns in (("", k - t), (", few columns", least)):
        table["pooled Gauss" + where] = pooled_gauss(n, t, unknowns)
        table["information set" + where] = information_set(n, t, unknowns)
    part = least / k
    parts = [1.0] + [part + (1 - part) * step / 8 for step in range(1, 8)]
    for number, r in enumerate(parts):
        rows, columns = int(n * r**WEIGHT), int(k * r)
        attacks = {f"algebraic, degree {d}": algebraic(rows, columns, t, d) for d in (2, 3, 4, 5)}
        # The fewer rows there are, the less is gained: they are computed on all of them alone.
        for d in (2, 3, 4) if number == 0 else ():
            attacks[f"algebraic, two stages, degree {d}"] = two_stages(rows, columns, t, d)
        attacks["hybrid"] = hybrid(rows, columns, t)
        for attack, bits in attacks.items():
            name = attack if number == 0 else attack + ", few columns"
            table[name] = min(bits, table.get(name, inf))
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


def field_block(places, exponent, degree):
    """(1 + places·z/(1 - z))^exponent up to a degree."""
    series, square = [1] + [0] * degree, [1] + [places] * degree
    while exponent:
        if exponent & 1:
            series = product(series, square)
        square, exponent = product(square, square), exponent >> 1
    return series


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


def field_algebraic(n, k, t, degree):
    best = inf
    for blocks, guessed in field_guesses(n, k, t, degree):
        size = field_monomials(k - blocks * guessed, degree)
        work = FIELD_ADDITION + min(2 * size + 7, 2.8 * size)
        best = min(best, work + chance(n, t, blocks, guessed))
    return best


def field_two_stages(n, k, t, degree):
    def series(blocks, guessed):
        return field_coefficients(n, k, t, blocks, guessed, degree)

    def size(guessed):
        return field_monomials(k - guessed, degree)

    wanted = field_guesses(n, k, t, degree)
    return in_two_stages(n, t, wanted, series, size, FIELD_ADDITION)


def field_costs(n, k, t):
    few = few_columns(n, k, 16, FIELD_WEIGHT)
    fewest = k * (k / (n * e**2)) ** (1 / (FIELD_WEIGHT - 2))
    table = {
        "information set": field_information_set(n, t, k),
        "information set, few columns": field_information_set(n, t, few),
        "information set, fewest columns that exist": field_information_set(n, t, fewest),
    }
    for degree in (2, 3, 4, 5, 6, 7, 8, 10, 12):
        table[f"algebraic, degree {degree}"] = field_algebraic(n, k, t, degree)
    for degree in (2, 3, 4, 5, 6, 7, 8):
        table[f"algebraic, two stages, degree {degree}"] = field_two_stages(n, k, t, degree)
    return table


def main():
    weakest = inf
    for name, (n, k, t) in OVER_THE_FIELD.items():
        table = field_costs(n, k, t)
        print(f"{name}: n {n}, k {k}, t {t}, blocks of {n // t}, over the field")
        for attack, bits in table.items():
            print(f"  {bits:6.1f}  {attack}")
        weakest = min(weakest, *table.values())
    for sets, held in ((IN_USE, True), (NOT_TO_BE_USED, False)):
        for name, (n, k, t) in sets.items():
            table = costs(n, k, t)
            print(f"{name}: n {n}, k {k}, t {t}, blocks of {n // t}")
            for attack, bits in table.items():
                print(f"  {bits:6.1f}  {attack}")
            if held:
                weakest = min(weakest, *table.values())
            else:
                assert min(table.values()) < 128, f"{name} was thought to be weak"
    print(f"weakest of the sets in use: {weakest:.1f} bits")
    assert weakest >= 128, "a set in use is too weak"


if __name__ == "__main__":
    main()
