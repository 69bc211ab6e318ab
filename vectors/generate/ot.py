#!/usr/bin/env python3
"""Known answers for oblivious transfer. Rewrites ../ot.json."""

import hashlib
import json
import pathlib
import random

from plain_aes import encrypt_number

rng = random.Random("diptych ot vectors 1")

# ristretto255, RFC 9496.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def negative(x):
    return x % P & 1


def absolute(x):
    return -x % P if negative(x) else x % P


def sqrt_ratio(u, v):
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    correct, flipped = check == u % P, check == -u % P
    if flipped or check == -u * SQRT_M1 % P:
        r = r * SQRT_M1 % P
    return correct or flipped, absolute(r)


_, INVSQRT_A_MINUS_D = sqrt_ratio(1, -1 - D)


def add(p, q):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    c, d = 2 * t1 * t2 * D, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


IDENTITY = (0, 1, 1, 0)


def negate(p):
    return -p[0] % P, p[1], p[2], -p[3] % P


def multiply(k, p):
    result = IDENTITY
    while k:
        if k & 1:
            result = add(result, p)
        p = add(p, p)
        k >>= 1
    return result


def encode(point):
    x, y, z, t = point
    u1, u2 = (z + y) * (z - y) % P, x * y % P
    _, inverse = sqrt_ratio(1, u1 * u2 * u2 % P)
    den1, den2 = inverse * u1 % P, inverse * u2 % P
    z_inverse = den1 * den2 * t % P
    if negative(t * z_inverse):
        x, y = y * SQRT_M1 % P, x * SQRT_M1 % P
        den_inverse = den1 * INVSQRT_A_MINUS_D % P
    else:
        den_inverse = den2
    if negative(x * z_inverse):
        y = -y % P
    return absolute(den_inverse * (z - y)).to_bytes(32, "little")


BASE_Y = 4 * pow(5, -1, P) % P
_, BASE_X = sqrt_ratio(BASE_Y * BASE_Y - 1, D * BASE_Y * BASE_Y + 1)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)
assert encode(BASE).hex() == "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"


def h(value):
    return f"{value:032x}"


def scalar():
    return rng.randrange(1, L)


groups, count = [], 0


def group(kind, **fields):
    groups.append({"type": kind, **fields, "tests": []})


def test(comment, flags, result, **fields):
    global count
    count += 1
    groups[-1]["tests"].append(
        {"tcId": count, "comment": comment, "flags": flags, **fields, "result": result}
    )


def derive(context, index, public, answer, point):
    text = b"diptych/v1/base-ot\0" + len(context).to_bytes(8, "little") + context
    text += index.to_bytes(8, "little") + public + answer + encode(add(point, point))
    return int.from_bytes(hashlib.sha256(text).digest()[:16], "little")


group("BaseTransfer")
for number in range(3):
    context = rng.randbytes([0, 34, 60][number])
    y = scalar()
    s = multiply(y, BASE)
    public = encode(s)
    choices = rng.getrandbits(4)
    secrets, answers, pairs = [], [], []
    for i in range(4):
        x = scalar()
        r = multiply(x, BASE)
        if choices >> i & 1:
            r = add(r, s)
        answer = encode(r)
        shared = multiply(y, r)
        pair = [
            derive(context, i, public, answer, shared),
            derive(context, i, public, answer, add(shared, negate(multiply(y, s)))),
        ]
        assert pair[choices >> i & 1] == derive(context, i, public, answer, multiply(x, s))
        secrets.append(x.to_bytes(32, "little").hex())
        answers.append(answer.hex())
        pairs.append([h(k) for k in pair])
    test(
        f"four transfers, {len(context)} bytes of context", [], "valid", context=context.hex(),
        senderSecret=y.to_bytes(32, "little").hex(), public=public.hex(), choices=h(choices),
        receiverSecrets=secrets, answers=answers, keys=pairs,
    )

group("ReceivedPoint")
valid = encode(multiply(scalar(), BASE))
test("a group element", [], "valid", point=valid.hex())
test("the identity", ["Identity"], "invalid", point=bytes(32).hex())
test("not below the prime", ["NotCanonical"], "invalid", point=P.to_bytes(32, "little").hex())
test("all ones", ["NotCanonical"], "invalid", point=(b"\xff" * 32).hex())
test("a negative number", ["NotCanonical"], "invalid", point=(1).to_bytes(32, "little").hex())
test(
    "its negative", ["NotCanonical"], "invalid",
    point=(P - int.from_bytes(valid, "little")).to_bytes(32, "little").hex(),
)

group("Extension")
for blocks in (1, 2):
    delta = rng.getrandbits(128) | 1
    seeds = [[rng.getrandbits(128) for _ in range(2)] for _ in range(128)]
    choices = [rng.getrandbits(128) for _ in range(blocks)]
    message = b""
    t = [0] * (128 * blocks)
    q = [0] * (128 * blocks)
    for i, (zero, one) in enumerate(seeds):
        for b in range(blocks):
            column, other = encrypt_number(zero, b), encrypt_number(one, b)
            u = column ^ other ^ choices[b]
            message += u.to_bytes(16, "little")
            received = (other ^ u) if delta >> i & 1 else column
            for j in range(128):
                t[128 * b + j] |= (column >> j & 1) << i
                q[128 * b + j] |= (received >> j & 1) << i
    for j in range(128 * blocks):
        assert q[j] ^ t[j] == (choices[j // 128] >> (j % 128) & 1) * delta
    test(
        f"{128 * blocks} transfers", [], "valid", delta=h(delta),
        seeds=[[h(k) for k in pair] for pair in seeds], choices=[h(c) for c in choices],
        message=message.hex(), senderRows=[h(x) for x in q], receiverRows=[h(x) for x in t],
    )

ONES = (1 << 64) - 1
group("RowHash")
for first in (0, 1, 126, 127, 128, 2**33 + 5):
    start = rng.getrandbits(128)
    rows = [rng.getrandbits(128) for _ in range(3)]
    hashes = []
    for i, row in enumerate(rows):
        left, right = row >> 64, row & ONES
        y = ((left ^ right) << 64 | left) ^ ((first + i) % 128)
        hashes.append(encrypt_number(start ^ ((first + i) // 128), y) ^ y)
    test(
        f"from transfer {first}", ["KeyChange"] if first in (126, 127) else [], "valid",
        start=h(start), first=first, rows=[h(x) for x in rows], hashes=[h(x) for x in hashes],
    )

document = {
    "algorithm": "oblivious transfer",
    "schema": "schema/ot.json",
    "numberOfTests": count,
    "notes": {
        "numbers": "rows, seeds and keys are 128-bit numbers, hexadecimal; bytes of messages are little-endian",
        "points": "scalars and points are 32 bytes as RFC 9496 writes them",
        "choices": "bit i belongs to transfer i",
        "Identity": "the identity must be refused",
        "NotCanonical": "bytes that encode no element must be refused",
        "KeyChange": "the hash changes its key inside the list",
    },
    "testGroups": groups,
}
path = pathlib.Path(__file__).parent.parent / "ot.json"
path.write_text(json.dumps(document, indent=1) + "\n")
