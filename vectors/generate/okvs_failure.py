#!/usr/bin/env python3
"""How often a store of `crypto::okvs` does not take its keys: an upper bound.

Writes no document. Ends with an error unless the bound is below 2^-65 for every number of keys.

Rows are put in by ascending start. A row is lost with probability 2^-(width - B), where B columns at or
behind its start have a pivot already. What waits behind a column is a queue,
    X' = X + N - coin(1 - 2^-(X + N)),
N the rows that begin there, Poisson with mean keys/starts (the number of keys may be taken as Poisson
at the price of a factor 2, because losing is monotone in the set of keys and a Poisson number is at
or above its mean with probability 1/2 at least). The queue goes down by at most one, so its stationary
law follows from what crosses each level, up and down, and it bounds the law in every column, since the
queue is monotone and starts empty. The bound is the expected number of rows that are lost. All sums
have positive terms only: rounding is relative, and far below the margin.
"""

from math import ceil, exp, log2

WIDTH, SPARE = 384, 66


def bound(keys, starts, width):
    rate = keys / starts
    poisson = [exp(-rate)]
    for j in range(1, 100):
        poisson.append(poisson[-1] * rate / j)
    at_least = [0.0] * 102
    for j in range(99, -1, -1):
        at_least[j] = at_least[j + 1] + poisson[j]
    # Beyond a hundred rows in one column there is less than 2^-500.
    waiting = [1.0]
    for q in range(width + 300):
        up = 0.0
        for x in range(max(0, q - 97), q + 1):
            j = q + 1 - x
            up += waiting[x] * (at_least[j + 1] + poisson[j] * 2.0 ** -(q + 1))
        waiting.append(up / (poisson[0] * (1 - 2.0 ** -(q + 1))))
    total = sum(waiting)
    lost = 0.0
    for x, chance in enumerate(waiting):
        for j in range(1, 100):
            lost += chance / total * at_least[j] * 2.0 ** -max(0, width - (x + j - 1))
    return 2 * starts * lost


def main():
    worst = -(SPARE + 0.0)
    print(f"up to {WIDTH - SPARE} keys: 2^{worst:.1f}, one start")
    for keys in [WIDTH - SPARE + 1] + [2**bits for bits in range(9, 33)]:
        bits = log2(bound(keys, ceil(11 * keys / 10), WIDTH))
        print(f"{keys:10} keys: 2^{bits:.1f}")
        worst = max(worst, bits)
    assert worst < -65, worst
    print(f"500 keys, 1000 starts, 14 bits, as the test has them: {bound(500, 1000, 14):.4f}")


if __name__ == "__main__":
    main()
