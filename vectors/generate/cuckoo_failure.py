#!/usr/bin/env python3
"""How often identifiers do not go into the bins of `crypto::cuckoo`: an upper bound.

Writes no document. Ends with an error unless the bound is below 2^-65 for every number of identifiers.

n identifiers have three distinct bins each of b = ceil(27 max(n, 8192) / 20). There is no placement if and
only if some s of them have fewer than s bins together (Hall). A smallest such set has exactly s - 1, and
each of them is a bin of at least two of the s. So the union bound is a sum over s of

    T(n, s) = C(n, s) C(b, s - 1) A(s) / C(b, 3)^s,

A(s) the number of sequences of s triples of s - 1 bins that have each bin at least twice. Fewer than 8,192
identifiers have as many bins as 8,192, and fail less often. For n from there on the sum is in three parts:

1. s up to n/5. C(n, s) <= n^s/s!, C(b, s-1) <= b^(s-1)/(s-1)! and n <= 20 b/27 give

       T(n, s) <= (20/27)^s b^(2s-1) A(s) / (s! (s-1)! C(b, 3)^s) = U(b, s),

   which gets smaller as b grows. So for s up to 8192/5 the value at n = 8,192 is a bound for every n.
   A(s) is counted for s up to 24; beyond, bins of a triple need not be distinct, and
   A(s) 6^s <= (3s)! (e^x - 1 - x)^(s-1) / x^(3s) for every x > 0, from the generating function.
2. The same s beyond 8192/5, where n >= 5s and b >= 27 s/4: U(27 s/4, s) is below e^(-0.5 s), as Stirling's
   formula tells, and these are added up.
3. s above n/5. With p = s/n and H the entropy in nats, C(n, s) <= e^(n H(p)) and so on give
   T(n, s) <= 600 sqrt(n) e^(n f(p)),

       f(p) = H(p) + 1.35 H(p/1.35) + p (ln g + 3 ln(3 p/(1.35 e))),  g = (e^x - 1 - x)/x^3 at its least.

   f is below -0.04 on [1/5, 1]: intervals of length 1/2000, in each of which the entropies are at most their
   largest values and the last term, which is convex, at most the larger of its ends.

Rounding is relative, and far below the margin.
"""

from fractions import Fraction
from math import comb, e, exp, factorial, lgamma, log, log2, sqrt

LEAST, COUNTED = 8192, 24


def bins_for(identifiers):
    return -(-27 * max(identifiers, LEAST) // 20)


def sequences(s, t):
    """Sequences of s triples of t bins that have each bin at least twice.

    Inclusion and exclusion over the k bins that are there at most once: j of them are, somewhere."""
    total = 0
    for k in range(t + 1):
        # Coefficient i: i of the k bins in one triple, in some order among the places of all triples.
        one = [Fraction(comb(t - k, 3 - i), factorial(i)) for i in range(4)]
        power = [Fraction(1)]
        for _ in range(s):
            longer = [Fraction(0)] * (len(power) + 3)
            for a, x in enumerate(power):
                for b, y in enumerate(one):
                    longer[a + b] += x * y
            power = longer[: k + 1]
        placed = sum(comb(k, j) * factorial(j) * c for j, c in enumerate(power))
        total += (-1) ** k * comb(t, k) * placed
    assert total.denominator == 1
    return int(total)


def least_x(s):
    """Where (e^x - 1 - x)^(s-1) / x^(3s) is least, by bisection of the derivative's sign."""
    low, high = 0.01, 10.0
    for _ in range(80):
        x = (low + high) / 2
        if (s - 1) * x * (exp(x) - 1) < 3 * s * (exp(x) - 1 - x):
            low = x
        else:
            high = x
    return low


def log_sequences(s):
    """ln of a bound of A(s)."""
    if s <= COUNTED:
        return log(sequences(s, s - 1))
    x = least_x(s)
    return lgamma(3 * s + 1) + (s - 1) * log(exp(x) - 1 - x) - 3 * s * log(x) - s * log(6)


def log_u(b, s):
    triples = log(b) + log(b - 1) + log(b - 2) - log(6)
    return (
        s * log(20 / 27) + (2 * s - 1) * log(b) + log_sequences(s)
        - lgamma(s + 1) - lgamma(s) - s * triples
    )


def few():
    """Part 1."""
    b = bins_for(LEAST)
    return sum(exp(log_u(b, s)) for s in range(4, LEAST // 5 + 1))


def some():
    """ln of part 2. Stirling: ln s! >= s ln s - s, ln (3s)! <= 3s ln 3s - 3s + ln(3s)/2 + 1. x = 2.149."""
    first = LEAST // 5 + 1
    c = 27 / 4

    def log_bound(s):
        b = c * s
        a = 3 * s * log(3 * s) - 3 * s + log(3 * s) / 2 + 1
        a += s * (log(exp(2.149) - 1 - 2.149) - 3 * log(2.149)) - s * log(6)
        down = 2 * (s * log(s) - s) - log(s)
        triples = 3 * log(b) + 2 * log(1 - 2 / b) - log(6)
        return s * log(20 / 27) + (2 * s - 1) * log(b) + a - down - s * triples

    # All s ln s cancel: what is left is a multiple of s, ln(s)/2, and something that gets smaller.
    # So it is enough to look at the first s.
    for s in (first, 10 * first, 10**6, 10**9):
        assert log_bound(s) < -0.5 * s, s
    return -0.5 * first - log(1 - exp(-0.5))


def entropy(p):
    return 0.0 if p <= 0 or p >= 1 else -p * log(p) - (1 - p) * log(1 - p)


def most_entropy(low, high):
    if low <= 0.5 <= high:
        return log(2)
    return max(entropy(low), entropy(high))


def rate():
    """The largest value of f on [1/5, 1]."""
    x = least_x(10**12)
    g = log(exp(x) - 1 - x) - 3 * log(x)
    last = lambda p: p * (g + 3 * log(3 * p / (1.35 * e)))
    worst = -9.0
    for step in range(400, 2000):
        low, high = step / 2000, (step + 1) / 2000
        bound = most_entropy(low, high) + 1.35 * most_entropy(low / 1.35, high / 1.35)
        worst = max(worst, bound + max(last(low), last(high)))
    return worst


def many():
    """ln of part 3. Beside e^(n f): C(b, s-1) <= C(b, s) n/(b - n) <= 2.9 C(b, s) and C(b, s) <= C(b - 1, s) b/(b - n),
    where b - 1 <= 1.35 n, a factor 3.9; (3s)! a factor e sqrt(3n), and (b/(b - 1))^s (b/(b - 2))^s at most
    e^2.3. Then n values of s. It gets smaller as n grows."""
    f = rate()
    assert f < -0.04, f
    n = LEAST
    return log(n * 2.9 * 3.9 * e * sqrt(3 * n)) + 2.3 - 0.04 * n, f


def exact(n, b):
    """The union bound itself, for few identifiers and bins."""
    return sum(
        Fraction(comb(n, s) * comb(b, s - 1) * sequences(s, s - 1), comb(b, 3) ** s)
        for s in range(4, min(n, b + 1) + 1)
    )


def main():
    # By hand: four triples of three bins are all the same, and of 4^5 sequences of triples of four bins
    # those fall away that leave out one bin four times or five.
    assert sequences(4, 3) == 1 and sequences(5, 4) == 4**5 - 4 * (5 * 3 + 1)
    first, second, (third, f) = few(), some(), many()
    print(f"s up to n/5, at n = {LEAST}: 2^{log2(first):.2f}, s = 4 alone 2^{log_u(bins_for(LEAST), 4) / log(2):.2f}")
    print(f"s beyond {LEAST // 5}: 2^{second / log(2):.0f}")
    print(f"s above n/5: 2^{third / log(2):.0f}; f at most {f:.4f}")
    total = first + exp(second) + exp(third)
    print(f"every n: 2^{log2(total):.2f}")
    assert log2(total) < -65, total
    print(f"9 identifiers in 10 bins, as the test has them: {float(exact(9, 10)):.4f}")


if __name__ == "__main__":
    main()
