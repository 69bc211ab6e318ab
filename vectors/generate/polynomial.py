"""Writes ../polynomial.json: oblivious polynomial evaluation with given keys and randomness.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import json
import math
import pathlib
import random

rng = random.Random("diptych polynomial vectors 1")
groups = []
count = 0


def is_prime(n):
    if any(n % small == 0 for small in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)):
        return False
    d, twos = n - 1, 0
    while d % 2 == 0:
        d, twos = d // 2, twos + 1
    for _ in range(24):
        x = pow(rng.randrange(2, n - 1), d, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def prime(bits):
    while True:
        x = rng.getrandbits(bits) | 3 << (bits - 2) | 3
        if is_prime(x):
            return x


def make_key(bits):
    while True:
        p, q = prime(bits // 2), prime(bits // 2)
        if p != q and math.gcd(p - 1, q - 1) == 2:
            break
    n = p * q
    x = rng.randrange(1, n)
    return {"bits": bits, "p": p, "q": q, "n": n, "h": pow(-x * x, n, n * n)}


def h(number):
    digits = f"{abs(number):x}"
    return "-" * (number < 0) + "0" * (len(digits) % 2) + digits


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


def evaluation(key, comment, argument, coefficients, bits, largest, flag=None):
    """`bits` bounds the lengths of the coefficients, `largest` the magnitude of the result."""
    n = key["n"]
    n2 = n * n
    value = sum(c * argument**i for i, c in enumerate(coefficients))
    exponents = [rng.getrandbits(key["bits"] // 2) for _ in coefficients[1:]]
    nonce = rng.randrange(1, n)
    inputs = {
        "argument": h(argument), "coefficients": [h(c) for c in coefficients], "coefficientBits": bits,
        "largest": h(largest), "exponents": [h(a) for a in exponents], "nonce": h(nonce),
    }
    if flag is not None:
        test(comment, [flag], "invalid", **inputs)
        return
    assert abs(value) <= largest and 2 * largest < n
    powers = [
        (1 + pow(argument, i + 1, n) * n) * pow(key["h"], a, n2) % n2 for i, a in enumerate(exponents)
    ]
    returned = (1 + coefficients[0] % n * n) * pow(nonce, n, n2) % n2
    for power, c, b in zip(powers, coefficients[1:], bits[1:]):
        assert abs(c) < 2**b
        factor = c + 2**b if b + 1 < key["bits"] else c % n
        returned = returned * pow(power, factor, n2) % n2
    # What the owner of the key sees: (c^lambda - 1)/n divided by lambda, less the offset.
    lam = (key["p"] - 1) * (key["q"] - 1)
    plain = (pow(returned, lam, n2) - 1) // n * pow(lam, -1, n) % n
    offset = sum(2**b * argument ** (i + 1) for i, b in enumerate(bits[1:]) if b + 1 < key["bits"])
    assert (plain - offset - value) % n == 0
    test(comment, [], "valid", **inputs, powers=[h(c) for c in powers], returned=h(returned), value=h(value))


key = make_key(2048)
groups.append({"type": "Evaluation", "key": {k: v if k == "bits" else h(v) for k, v in key.items()}, "tests": []})
wide = 2 ** (key["bits"] - 2)
evaluation(key, "degree 3", 5, [7, -3, 0, 2], [3, 2, 1, 2], 1000)
evaluation(key, "a negative argument", -100, [7, -3, 0, 2], [3, 2, 1, 2], 3_000_000)
evaluation(key, "the argument 0", 0, [-9, 4, 4], [4, 3, 3], 100)
evaluation(key, "degree 0", 77, [-12345], [14], 16383)
evaluation(key, "all coefficients 0", 12, [0, 0, 0], [1, 1, 1], 0)
coefficients = [rng.getrandbits(300) - 2**299 for _ in range(6)]
evaluation(key, "degree 5, long coefficients", rng.getrandbits(200), coefficients, [300] * 6, wide)
mask = rng.getrandbits(1100)
evaluation(
    key, "the square of a masked number: coefficients longer than the key, a short result", 321 - mask,
    [mask * mask, 2 * mask, 1], [2201, 1101, 1], 1 << 20,
)
evaluation(key, "a result as large as can be", 1, [(key["n"] - 1) // 2, 0], [2047, 1], (key["n"] - 1) // 2)
evaluation(key, "a result that would wrap", 1, [(key["n"] + 1) // 2, 0], [2048, 1], (key["n"] + 1) // 2, "Wraps")
evaluation(key, "a coefficient longer than declared", 3, [1, 8], [1, 3], 100, "BeyondBound")
evaluation(key, "a constant longer than declared", 3, [2, 1], [1, 1], 100, "BeyondBound")
evaluation(key, "a result beyond its bound", 3, [1, 7], [1, 3], 21, "BeyondBound")
evaluation(key, "a coefficient without a bound", 3, [1, 7, 1], [1, 3], 100, "OtherBound")

document = {
    "algorithm": "oblivious polynomial evaluation",
    "schema": "schema/polynomial.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "hexadecimal, with a minus sign where negative; coefficients from the lowest on",
        "powers": "what the receiver sends: ciphertext i is (1 + (argument^(i+1) mod n)*n) * h^exponents[i] mod n^2",
        "returned": "what the sender returns: (1 + coefficients[0]*n) * product of powers[i]^f * nonce^n mod n^2, where "
        "f is coefficients[i+1] + 2^b for b = coefficientBits[i+1], or, if b + 1 is not below the length of n, "
        "coefficients[i+1] mod n",
        "value": "the plaintext less the sum of argument^i * 2^b over all i > 0 with such an offset",
        "Wraps": "twice the largest result is not below n: the bound must be refused",
        "BeyondBound": "a number is beyond its declared bound and must be refused",
        "OtherBound": "as many bounds as coefficients are due",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "polynomial.json"
path.write_text(json.dumps(document, indent=1) + "\n")
