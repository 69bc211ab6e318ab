"""Writes ../scalar_product.json: scalar products and joint count tables, message by message.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import hashlib
import json
import math
import pathlib

SEED = b"diptych scalar product vectors 1"
_counter = 0


def random_bits(bits):
    """Uniform below 2^bits, from SHA-256 in counter mode."""
    global _counter
    out = b""
    while 8 * len(out) < bits:
        out += hashlib.sha256(SEED + _counter.to_bytes(8, "big")).digest()
        _counter += 1
    return int.from_bytes(out, "big") >> (8 * len(out) - bits)


def random_below(bound):
    while True:
        x = random_bits(bound.bit_length())
        if x < bound:
            return x


SMALL = [x for x in range(3, 20000, 2) if all(x % d for d in range(3, math.isqrt(x) + 1, 2))]


def is_prime(n):
    if n % 2 == 0 or any(n % s == 0 for s in SMALL if s < n):
        return False
    d, twos = n - 1, 0
    while d % 2 == 0:
        d, twos = d // 2, twos + 1
    for _ in range(24):
        x = pow(2 + random_below(n - 3), d, n)
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
    """A prime of exactly `bits` bits, its two highest bits set, that is 3 modulo 4."""
    while True:
        x = random_bits(bits) | 3 << (bits - 2) | 3
        if is_prime(x):
            return x


class Key:
    def __init__(self, bits):
        while True:
            self.p, self.q = prime(bits // 2), prime(bits // 2)
            if self.p != self.q and math.gcd(self.p - 1, self.q - 1) == 2:
                break
        self.bits, self.n = bits, self.p * self.q
        self.n2 = self.n**2
        self.h = pow(-random_below(self.n) ** 2, self.n, self.n2)

    def fresh(self, m, a):
        return (1 + m % self.n * self.n) * pow(self.h, a, self.n2) % self.n2

    def nonce(self):
        while True:
            r = random_below(self.n)
            if r and math.gcd(r, self.n) == 1:
                return r

    def decrypt(self, c):
        lam = math.lcm(self.p - 1, self.q - 1)
        return (pow(c, lam, self.n2) - 1) // self.n * pow(lam, -1, self.n) % self.n

    def wire(self, ciphertexts):
        return b"".join(c.to_bytes(self.bits // 4, "big") for c in ciphertexts)

    def opening(self, *terms):
        """Six public numbers, the length of the key and the key: n and h, big-endian."""
        key = self.n.to_bytes(self.bits // 8, "big") + self.h.to_bytes(self.bits // 4, "big")
        return b"".join(x.to_bytes(8, "little") for x in (*terms, len(key))) + key

    def json(self):
        return {"bits": self.bits, "p": hx(self.p), "q": hx(self.q), "n": hx(self.n), "h": hx(self.h)}


def hx(number):
    """Big-endian, an even number of digits; a minus sign in front of negative numbers."""
    digits = "%x" % abs(number)
    return ("-" if number < 0 else "") + "0" * (len(digits) % 2) + digits


groups = []
_id = 0


def group(kind, key):
    made = {"type": kind, "key": key.json(), "tests": []}
    groups.append(made)

    def add(comment, fields, invalid=None, flags=(), **changes):
        global _id
        _id += 1
        test = {"tcId": _id, "comment": comment, "flags": [invalid] if invalid else list(flags)}
        test.update(fields)
        assert set(changes) <= set(fields)
        test.update(changes)
        test["result"] = "invalid" if invalid else "valid"
        made["tests"].append(test)

    return add


def product(key, encrypts, p1, p2, bits=None, sigma=64):
    """The papers' product: one ciphertext per entry there, one back."""
    length = len(p1)
    own, other = (p1, p2) if encrypts == "P1" else (p2, p1)
    exponents = [random_bits(key.bits // 2) for _ in own]
    fresh = [key.fresh(x, a) for x, a in zip(own, exponents)]
    size = length.bit_length() + sum(bits or [])
    # The product's range has one more bit if there is a sign.
    mask = random_bits(size + (1 if bits else 0) + sigma)
    nonce = key.nonce()
    c = (1 + mask * key.n) * pow(nonce, key.n, key.n2) % key.n2
    for f, y in zip(fresh, other):
        c = c * pow(f, y, key.n2) % key.n2
    inner = sum(x * y for x, y in zip(p1, p2))
    opened = key.decrypt(c)
    opened -= key.n if opened > key.n // 2 else 0
    assert opened == inner + mask
    shares = (opened, -mask) if encrypts == "P1" else (-mask, opened)
    terms = (0, length, *(bits or [0, 0]), sigma, 0)
    return {
        "encrypts": encrypts, "sigma": sigma, "entryBits": bits or [], "p1": [hx(x) for x in p1],
        "p2": [hx(x) for x in p2], "exponents": [hx(a) for a in exponents], "mask": hx(mask),
        "nonce": hx(nonce), "opening": key.opening(*terms).hex(), "fresh": key.wire(fresh).hex(),
        "returned": key.wire([c]).hex(), "share1": hx(shares[0]), "share2": hx(shares[1]),
        "product": hx(inner),
    }


def table(key, cells, p1, p2, sigma=64, bits=40):
    """All m1 x m2 counts: the party with fewer cells encrypts (P1 if equal)."""
    records = len(p1)
    m1, m2 = cells
    first_encrypts = m1 <= m2
    own, other = (p1, p2) if first_encrypts else (p2, p1)
    fewer, more = min(m1, m2), max(m1, m2)
    mask_bits = max(records.bit_length() + sigma, bits)
    width = mask_bits + 1
    slots = (key.bits - 1) // width
    blocks = -(-fewer // slots)
    exponents, fresh = [], []
    for cell in own:
        for block in range(blocks):
            m = 1 << width * (cell % slots) if cell // slots == block else 0
            a = random_bits(key.bits // 2)
            exponents.append(a)
            fresh.append(key.fresh(m, a))
    masks, nonces, returned = [], [], []
    share_own, share_other = {}, {}
    for cell in range(more):
        for block in range(blocks):
            in_block = min(slots, fewer - block * slots)
            here = [random_bits(mask_bits) for _ in range(in_block)]
            if cell == 0 and block == 0:
                here[0] = 2**mask_bits - 1  # the widest mask there is
            r = key.nonce()
            packed = sum(mask << width * slot for slot, mask in enumerate(here))
            c = (1 + packed * key.n) * pow(r, key.n, key.n2) % key.n2
            for record in range(records):
                if other[record] == cell:
                    c = c * fresh[record * blocks + block] % key.n2
            masks += here
            nonces.append(r)
            returned.append(c)
            opened = key.decrypt(c)
            for slot, mask in enumerate(here):
                own_cell = block * slots + slot
                place = own_cell * m2 + cell if first_encrypts else cell * m2 + own_cell
                share_own[place] = (opened >> width * slot) % 2**width % 2**bits
                share_other[place] = -mask % 2**bits
    entries = range(m1 * m2)
    counts = [sum((x, y) == divmod(place, m2) for x, y in zip(p1, p2)) for place in entries]
    assert all((share_own[i] + share_other[i]) % 2**bits == counts[i] for i in entries)
    shares = (share_own, share_other) if first_encrypts else (share_other, share_own)
    return {
        "cells": cells, "sigma": sigma, "bits": bits, "p1": p1, "p2": p2, "slotBits": width,
        "exponents": [hx(a) for a in exponents], "masks": [hx(m) for m in masks],
        "nonces": [hx(r) for r in nonces], "opening": key.opening(1, records, m1, m2, sigma, bits).hex(),
        "fresh": key.wire(fresh).hex(), "returned": key.wire(returned).hex(),
        "shares1": [hx(shares[0][i]) for i in entries], "shares2": [hx(shares[1][i]) for i in entries],
        "counts": counts,
    }


def spoilt(key, message, number, place=0):
    """A message with another number in the place of one ciphertext."""
    width = key.bits // 2
    return message[: place * width] + "%0*x" % (width, number) + message[(place + 1) * width:]


def bad_messages(key, add, good):
    n, n2, p = key.n, key.n2, key.p
    width = key.bits // 2
    for field in ("fresh", "returned"):
        for name, number in [("0", 0), ("n^2", n2), ("n^2+1", n2 + 1)]:
            add(f"{field}: a ciphertext is {name}", good, "CiphertextOutOfRange",
                **{field: spoilt(key, good[field], number)})
        for name, number in [("n", n), ("a multiple of p", 77 * p), ("n^2-n", n2 - n)]:
            add(f"{field}: a ciphertext is {name}", good, "CiphertextNotCoprime",
                **{field: spoilt(key, good[field], number)})
        add(f"{field}: one ciphertext too few", good, "WrongLength", **{field: good[field][:-width]})
        add(f"{field}: one ciphertext too many", good, "WrongLength",
            **{field: good[field] + good[field][:width]})
        add(f"{field}: one byte short", good, "WrongLength", **{field: good[field][:-2]})


def products(key):
    add = group("Product", key)
    z1, z2 = [0, 0, 0, 0, 1, 1, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0, 1, 0]
    thesis = product(key, "P1", z1, z2)
    assert thesis["product"] == "02"
    add("thesis, example 7.4.2", thesis, flags=["Published"])
    add("thesis, example 7.4.2, P2 encrypts", product(key, "P2", z1, z2), flags=["Published"])
    add("no entries", product(key, "P1", [], []))
    add("all zero", product(key, "P1", [0] * 4, [0] * 4))
    add("all one", product(key, "P2", [1] * 4, [1] * 4, sigma=40))
    add("signed", product(key, "P1", [3, -7, 0, 5], [-2, -1, 9, 0], [3, 4]))
    add("signed, P2 encrypts", product(key, "P2", [3, -7, 0, 5], [-2, -1, 9, 0], [3, 4]))
    top = 2**63 - 1
    add("widest entries", product(key, "P1", [top, -top], [top, -top], [63, 63]))
    add("widest entries, negative product", product(key, "P2", [top, -top], [-top, top], [63, 63]))
    good = product(key, "P1", [1, 1], [0, 1])
    add("an entry of 2", good, "InputOutOfRange", p2=["02", "01"])
    add("vectors of different lengths", good, "InputLength", p2=["01"])
    wide = (1 + (1 << 67) * key.n) % key.n2
    add("a result wider than any", good, "ResultOutOfRange", returned=key.wire([wide]).hex())
    minus = (1 - 4 * key.n) % key.n2
    add("a result below any", good, "ResultOutOfRange", returned=key.wire([minus]).hex())
    bad_messages(key, add, good)


def tables(key):
    add = group("Table", key)
    p1, p2 = [0, 1, 2, 2, 1], [3, 0, 0, 3, 0]
    add("3 x 4 cells, P1 encrypts", table(key, [3, 4], p1, p2))
    add("4 x 3 cells, P2 encrypts", table(key, [4, 3], p2, p1))
    add("no record", table(key, [2, 3], [], []))
    add("one record", table(key, [2, 2], [1], [0]))
    add("one cell each", table(key, [1, 1], [0, 0, 0], [0, 0, 0]))
    add("all records in the last cells", table(key, [3, 3], [2] * 4, [2] * 4))
    slots = (key.bits - 1) // (2 + 128 + 1)
    records = [0, slots, slots - 1], [0, 1, slots + 1]
    add("one cell more than slots", table(key, [slots + 1, slots + 2], *records, sigma=128))
    add("words wider than masks", table(key, [2, 3], [0, 1], [2, 2], sigma=20, bits=64))
    add("words of the least width", table(key, [2, 2], [0, 1, 1], [0, 1, 1], sigma=128, bits=2))
    good = table(key, [1, 2], [0, 0], [0, 1])
    add("a cell that is none", good, "InputOutOfRange", p1=[0, 1])
    add("lists of different lengths", good, "InputLength", p2=[1])
    add("words too narrow for the counts", good, "Shape", bits=1)
    wide = (1 + (1 << good["slotBits"]) * key.n) % key.n2
    add("a bit above the last slot", good, "ResultOutOfRange",
        returned=spoilt(key, good["returned"], wide))
    bad_messages(key, add, good)


def main():
    key = Key(2048)
    products(key)
    tables(key)
    document = {
        "algorithm": "scalar product",
        "schema": "schema/scalar_product.json",
        "numberOfTests": _id,
        "notes": {
            "form": "Numbers are hexadecimal, big-endian, with a minus sign where negative; messages are "
                    "the bytes of all bodies of one kind, one after the other. A ciphertext of m is "
                    "(1+m*n)*rho mod n^2, big-endian in bits/4 bytes. opening: six numbers of 64 bits, "
                    "little-endian (kind, length or records, two bounds or numbers of cells, sigma, bits), "
                    "the length of the key, n and h.",
            "fresh": "rho = h^a, a from exponents, in the order of the entries; in a table those of one "
                     "record's blocks one after the other.",
            "returned": "The sum with the mask on, rho multiplied by r^n, r from nonce or nonces; in a "
                        "table by cell of the party without the key, then by block; masks in slot order.",
            "invalid": "The first flag of an invalid test names what an implementation should find wrong.",
            "Published": "Inputs and product published in the thesis.",
        },
        "testGroups": groups,
    }
    target = pathlib.Path(__file__).resolve().parent.parent / "scalar_product.json"
    target.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
