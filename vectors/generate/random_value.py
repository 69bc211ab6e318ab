"""Writes ../random_value.json: uniform numbers below a bound, drawn from given random bits.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import json
import pathlib
import random

rng = random.Random("diptych random value vectors 1")
groups = []
count = 0


def draw(width, window, tries, bound, bits):
    """R, or None. `bits` is a number; its bit 0 is the first random bit."""
    window = min(window, width)
    largest = bound - 1
    length = largest.bit_length()
    # The first `window` bits of the largest value, followed by ones if it is shorter than that.
    if length >= window:
        top = largest >> (length - window)
    else:
        top = (largest + 1 << (window - length)) - 1
    for t in range(tries):
        high = bits >> (t * window) & (1 << window) - 1
        if high <= top:
            break
    else:
        return None
    if length <= window:
        return high >> (window - length)
    rest = length - window
    low = bits >> (tries * window) & (1 << rest) - 1
    value = high << rest | low
    return value if value <= largest else None


def random_bits(width, window, tries):
    window = min(window, width)
    return window * tries + width - window


def h(number):
    digits = f"{number:x}"
    return "0" * (len(digits) % 2) + digits


def group(kind, **fields):
    groups.append({"type": kind, **fields, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append({"tcId": count, "comment": comment, "flags": flags, **fields, "result": result})


# Every bound and every random bit at small widths.
for width, window, tries in [(1, 1, 2), (2, 2, 3), (3, 2, 2), (3, 3, 2), (4, 1, 2), (4, 3, 2)]:
    group("TruthTable", width=width, window=window, tries=tries)
    for bound in range(1, 1 << width):
        total = 1 << random_bits(width, window, tries)
        outcomes = [draw(width, window, tries, bound, bits) for bits in range(total)]
        seen = [outcomes.count(value) for value in range(bound)]
        assert len(set(seen)) == 1 and seen[0] > 0, "every value equally often"
        assert sum(seen) + outcomes.count(None) == total
        text = "".join("-" if value is None else f"{value:x}" for value in outcomes)
        test(f"bound {bound}", ["Uniform"], "valid", bound=h(bound), outcomes=text)


def split(number, bits):
    one = rng.getrandbits(bits) if bits else 0
    return one, one ^ number


def drawing(ring, width, bound, comment, bits=None, window=66, tries=65):
    """One run: shares of the bound, bits of both parties, the garbler's mask, the other's share."""
    order = 1 << width if ring is None else ring
    needed = random_bits(width, window, tries)
    bits = rng.getrandbits(needed) if bits is None else bits
    first, second = split(bits, needed)
    bound1 = rng.randrange(order)
    mask = rng.randrange(order)
    value = draw(width, window, tries, bound, bits)
    share = None if value is None else (value - mask) % order
    fields = {
        "bound1": h(bound1), "bound2": h((bound - bound1) % order),
        "random1": h(first), "random2": h(second), "mask": h(mask),
    }
    if value is None:
        test(comment, ["AllFailed"], "invalid", **fields)
    else:
        test(comment, [], "valid", **fields, share=h(share), value=h(value))


P521 = 2**521 - 1
for ring, width in [(None, 1), (None, 8), (None, 64), (None, 67), (10007, 14), (P521, 521), (None, 900)]:
    order = 1 << width if ring is None else ring
    name = f"2^{width}" if ring is None else h(ring)
    group("Drawing", ring=name, width=width, window=66, tries=65)
    half = 1 << width // 2
    bounds = [(1, "Q = 1"), (2, "Q = 2"), (half, "a power of two"), (half + 1, "a power of two and one"),
              (order - 1, "as large as the ring allows"), (1 + rng.randrange(order - 1), "some bound")]
    for bound, comment in bounds:
        if 0 < bound < order:
            drawing(ring, width, bound, comment)

group("Drawing", ring="2^100", width=100, window=20, tries=3)
ones = (1 << 60) - 1
drawing(None, 100, (1 << 99) + 1, "the last try fits", bits=ones >> 20, window=20, tries=3)
drawing(None, 100, (1 << 99) + 1, "no try fits", bits=ones, window=20, tries=3)
tie = 1 << 19 | 1 << 60
drawing(None, 100, (1 << 99) + 1, "the leading bits are equal and the rest is too large",
        bits=tie | 1 << 61, window=20, tries=3)
drawing(None, 100, (1 << 99) + 2, "the leading bits are equal and the rest fits", bits=tie, window=20, tries=3)

document = {
    "algorithm": "random value",
    "schema": "schema/random_value.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "hexadecimal; bit 0 of a number of random bits is the first random bit",
        "drawing": "q = Q-1 has l bits. H is the first of `tries` numbers of `window` bits (lowest bit first) that "
        "is at most the top `window` bits of q, which ones follow if q is shorter. R is H shifted to the top of l "
        "bits, over the lowest l-window of the random bits that follow the tries. No such H, or R > q: failed. "
        "A window wider than `width` is as wide as that.",
        "outcomes": "one digit per value of the random bits, counting from 0; a hyphen is a failure",
        "ring": "2^k, or the modulus; shares of the bound add up to Q in it, mask and share to R",
        "Uniform": "every value below the bound comes equally often",
        "AllFailed": "both parties must learn that the drawing failed, and nothing else",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "random_value.json"
path.write_text(json.dumps(document, indent=1) + "\n")
