#!/usr/bin/env python3
"""Known answers for commutative encryption, written from the standards in plain Python.

ristretto255 follows RFC 9496, expand_message_xmd RFC 9380 section 5.3.1, the
primes RFC 7919. Before anything is written, the code here is held to the
standards' own vectors: RFC 9496 A.1 to A.3, RFC 9380 K.3, RFC 9497 A.1.1.
Deterministic: running it rewrites vectors/commutative.json byte for byte.
"""

import hashlib
import json
import pathlib

# ---------------------------------------------------------------- RFC 9380: the expander


def expand_message_xmd(message, separation, length):
    """Section 5.3.1 with H = SHA-512."""
    digest, block = 64, 128
    ell = -(-length // digest)
    assert ell <= 255 and length <= 65535 and len(separation) <= 255
    separation_prime = separation + bytes([len(separation)])
    b0 = hashlib.sha512(
        bytes(block) + message + length.to_bytes(2, "big") + b"\0" + separation_prime
    ).digest()
    blocks = [hashlib.sha512(b0 + b"\1" + separation_prime).digest()]
    for i in range(2, ell + 1):
        mixed = bytes(a ^ b for a, b in zip(b0, blocks[-1]))
        blocks.append(hashlib.sha512(mixed + bytes([i]) + separation_prime).digest())
    return b"".join(blocks)[:length]


Q128 = b"q128_" + b"q" * 128
A512 = b"a512_" + b"a" * 512
XMD_SEPARATION = b"QUUX-V01-CS02-with-expander-SHA512-256"
# RFC 9380, appendix K.3: (message, length, uniform bytes).
XMD_VECTORS = [
    (b"", 0x20, "6b9a7312411d92f921c6f68ca0b6380730a1a4d982c507211a90964c394179ba"),
    (b"abc", 0x20, "0da749f12fbe5483eb066a5f595055679b976e93abe9be6f0f6318bce7aca8dc"),
    (
        b"abcdef0123456789",
        0x20,
        "087e45a86e2939ee8b91100af1583c4938e0f5fc6c9db4b107b83346bc967f58",
    ),
    (Q128, 0x20, "7336234ee9983902440f6bc35b348352013becd88938d2afec44311caf8356b3"),
    (A512, 0x20, "57b5f7e766d5be68a6bfe1768e3c2b7f1228b3e4b3134956dd73a59b954c66f4"),
    (
        b"",
        0x80,
        "41b037d1734a5f8df225dd8c7de38f851efdb45c372887be655212d07251b921"
        "b052b62eaed99b46f72f2ef4cc96bfaf254ebbbec091e1a3b9e4fb5e5b619d2e"
        "0c5414800a1d882b62bb5cd1778f098b8eb6cb399d5d9d18f5d5842cf5d13d7e"
        "b00a7cff859b605da678b318bd0e65ebff70bec88c753b159a805d2c89c55961",
    ),
    (
        b"abc",
        0x80,
        "7f1dddd13c08b543f2e2037b14cefb255b44c83cc397c1786d975653e36a6b11"
        "bdd7732d8b38adb4a0edc26a0cef4bb45217135456e58fbca1703cd6032cb134"
        "7ee720b87972d63fbf232587043ed2901bce7f22610c0419751c065922b48843"
        "1851041310ad659e4b23520e1772ab29dcdeb2002222a363f0c2b1c972b3efe1",
    ),
    (
        b"abcdef0123456789",
        0x80,
        "3f721f208e6199fe903545abc26c837ce59ac6fa45733f1baaf0222f8b7acb04"
        "24814fcb5eecf6c1d38f06e9d0a6ccfbf85ae612ab8735dfdf9ce84c372a77c8"
        "f9e1c1e952c3a61b7567dd0693016af51d2745822663d0c2367e3f4f0bed827f"
        "eecc2aaf98c949b5ed0d35c3f1023d64ad1407924288d366ea159f46287e61ac",
    ),
    (
        Q128,
        0x80,
        "b799b045a58c8d2b4334cf54b78260b45eec544f9f2fb5bd12fb603eaee70db7"
        "317bf807c406e26373922b7b8920fa29142703dd52bdf280084fb7ef69da78af"
        "df80b3586395b433dc66cde048a258e476a561e9deba7060af40adf30c64249c"
        "a7ddea79806ee5beb9a1422949471d267b21bc88e688e4014087a0b592b695ed",
    ),
    (
        A512,
        0x80,
        "05b0bfef265dcee87654372777b7c44177e2ae4c13a27f103340d9cd11c86cb2"
        "426ffcad5bd964080c2aee97f03be1ca18e30a1f14e27bc11ebbd650f305269c"
        "c9fb1db08bf90bfc79b42a952b46daf810359e7bc36452684784a64952c343c5"
        "2e5124cd1f71d474d5197fefc571a92929c9084ffe1112cf5eea5192ebff330b",
    ),
]

# ---------------------------------------------------------------- RFC 9496: ristretto255

P = 2**255 - 19
ELL = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def is_negative(x):
    return x % P & 1 == 1


def absolute(x):
    return -x % P if is_negative(x) else x % P


def sqrt_ratio_m1(u, v):
    """Section 4.2: (was u/v square, its non-negative root)."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    correct = check == u % P
    flipped = check == -u % P
    flipped_i = check == -u * SQRT_M1 % P
    if flipped or flipped_i:
        r = r * SQRT_M1 % P
    return correct or flipped, absolute(r)


INVSQRT_A_MINUS_D = sqrt_ratio_m1(1, -1 - D)[1]
# Of the two roots the RFC takes the negative one.
SQRT_AD_MINUS_ONE = 25063068953384623474111414158702152701244531502492656460079210482610430750235
assert SQRT_AD_MINUS_ONE**2 % P == (-D - 1) % P

IDENTITY = (0, 1, 1, 0)


def add(a, b):
    """Extended twisted Edwards coordinates, a = -1."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    s, t = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    u, v = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = t - s, v - u, v + u, t + s
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = IDENTITY
    for bit in bin(scalar)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def decode(data):
    """Section 4.3.1; None if the bytes encode nothing."""
    s = int.from_bytes(data, "little")
    if len(data) != 32 or s >= P or is_negative(s):
        return None
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    u2_sqr = u2 * u2 % P
    v = (-D * u1 * u1 - u2_sqr) % P
    was_square, invsqrt = sqrt_ratio_m1(1, v * u2_sqr)
    den_x = invsqrt * u2 % P
    den_y = invsqrt * den_x * v % P
    x = absolute(2 * s * den_x)
    y = u1 * den_y % P
    t = x * y % P
    if not was_square or is_negative(t) or y == 0:
        return None
    return (x, y, 1, t)


def encode(point):
    """Section 4.3.2."""
    x0, y0, z0, t0 = point
    u1, u2 = (z0 + y0) * (z0 - y0) % P, x0 * y0 % P
    invsqrt = sqrt_ratio_m1(1, u1 * u2 * u2)[1]
    den1, den2 = invsqrt * u1 % P, invsqrt * u2 % P
    z_inv = den1 * den2 * t0 % P
    if is_negative(t0 * z_inv):
        x, y = y0 * SQRT_M1 % P, x0 * SQRT_M1 % P
        den_inv = den1 * INVSQRT_A_MINUS_D % P
    else:
        x, y, den_inv = x0, y0, den2
    if is_negative(x * z_inv):
        y = -y % P
    return absolute(den_inv * (z0 - y)).to_bytes(32, "little")


def one_way_map_half(data):
    """MAP of section 4.3.4."""
    t = (int.from_bytes(data, "little") & (2**255 - 1)) % P
    r = SQRT_M1 * t * t % P
    u = (r + 1) * (1 - D * D) % P
    v = (-1 - r * D) * (r + D) % P
    was_square, s = sqrt_ratio_m1(u, v)
    if was_square:
        c = P - 1
    else:
        s, c = -absolute(s * t) % P, r
    n = (c * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P
    w2, w3 = (1 - s * s) % P, (1 + s * s) % P
    return (w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P)


def from_uniform(data):
    assert len(data) == 64
    return add(one_way_map_half(data[:32]), one_way_map_half(data[32:]))


# RFC 9496, appendix A.1: the multiples 0 to 15 of the generator.
MULTIPLES = """
0000000000000000000000000000000000000000000000000000000000000000
e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76
6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919
94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259
da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57
e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e
f64746d3c92b13050ed8d80236a7f0007c3b3f962f5ba793d19a601ebb1df403
44f53520926ec81fbd5a387845beb7df85a96a24ece18738bdcfa6a7822a176d
903293d8f2287ebe10e2374dc1a53e0bc887e592699f02d077d5263cdd55601c
02622ace8f7303a31cafc63f8fc48fdc16e1c8c8d234b2f0d6685282a9076031
20706fd788b2720a1ed2a5dad4952b01f413bcf0e7564de8cdc816689e2db95f
bce83f8ba5dd2fa572864c24ba1810f9522bc6004afe95877ac73241cafdab42
e4549ee16b9aa03099ca208c67adafcafa4c3f3e4e5303de6026e3ca8ff84460
aa52e000df2e16f55fb1032fc33bc42742dad6bd5a8fc0be0167436c5948501f
46376b80f409b29dc2b5f6f0c52591990896e5716f41477cd30085ab7f10301e
e0c418f7c8d9c4cdd7395b93ea124f3ad99021bb681dfc3302a9d99a2e53e64e
""".split()

# RFC 9496, appendix A.2.
INVALID_ENCODINGS = {
    "non-canonical field element": """
00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
""".split(),
    "negative field element": """
0100000000000000000000000000000000000000000000000000000000000000
01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20
c34c4e1826e5d403b78e246e88aa051c36ccf0aafebffe137d148a2bf9104562
c940e5a4404157cfb1628b108db051a8d439e1a421394ec4ebccb9ec92a8ac78
47cfc5497c53dc8e61c91d17fd626ffb1c49e2bca94eed052281b510b1117a24
f1c6165d33367351b0da8f6e4511010c68174a03b6581212c71c0e1d026c3c72
87260f7a2f12495118360f02c26a470f450dadf34a413d21042b43b9d93e1309
""".split(),
    "non-square x^2": """
26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371
4eac077a713c57b4f4397629a4145982c661f48044dd3f96427d40b147d9742f
de6a7b00deadc788eb6b6c8d20c0ae96c2f2019078fa604fee5b87d6e989ad7b
bcab477be20861e01e4a0e295284146a510150d9817763caf1a6f4b422d67042
2a292df7e32cababbd9de088d1d1abec9fc0440f637ed2fba145094dc14bea08
f4a9e534fc0d216c44b218fa0c42d99635a0127ee2e53c712f70609649fdff22
8268436f8c4126196cf64b3c7ddbda90746a378625f9813dd9b8457077256731
2810e5cbc2cc4d4eece54f61c6f69758e289aa7ab440b3cbeaa21995c2f4232b
""".split(),
    "negative xy": """
3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e
a45fdc55c76448c049a1ab33f17023edfb2be3581e9c7aade8a6125215e04220
d483fe813c6ba647ebbfd3ec41adca1c6130c2beeee9d9bf065c8d151c5f396e
8a2e1d30050198c65a54483123960ccc38aef6848e1ec8f5f780e8523769ba32
32888462f8b486c68ad7dd9610be5192bbeaf3b443951ac1a8118419d9fa097b
227142501b9d4355ccba290404bde41575b037693cef1f438c47f8fbf35d1165
5c37cc491da847cfeb9281d407efc41e15144c876e0170b499a96a22ed31e01e
445425117cb8c90edcbc7c1cc0e74f747f2c1efa5630a967c64f287792a48a4b
""".split(),
    "s = -1, which gives y = 0": """
ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
""".split(),
}

# RFC 9496, appendix A.3: (uniform bytes, element).
FROM_UNIFORM = [
    (
        "5d1be09e3d0c82fc538112490e35701979d99e06ca3e2b5b54bffe8b4dc772c1"
        "4d98b696a1bbfb5ca32c436cc61c16563790306c79eaca7705668b47dffe5bb6",
        "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46",
    ),
    (
        "f116b34b8f17ceb56e8732a60d913dd10cce47a6d53bee9204be8b44f6678b27"
        "0102a56902e2488c46120e9276cfe54638286b9e4b3cdb470b542d46c2068d38",
        "f26e5b6f7d362d2d2a94c5d0e7602cb4773c95a2e5c31a64f133189fa76ed61b",
    ),
    (
        "8422e1bbdaab52938b81fd602effb6f89110e1e57208ad12d9ad767e2e25510c"
        "27140775f9337088b982d83d7fcf0b2fa1edffe51952cbe7365e95c86eaf325c",
        "006ccd2a9e6867e6a2c5cea83d3302cc9de128dd2a9a57dd8ee7b9d7ffe02826",
    ),
    (
        "ac22415129b61427bf464e17baee8db65940c233b98afce8d17c57beeb7876c2"
        "150d15af1cb1fb824bbd14955f2b57d08d388aab431a391cfc33d5bafb5dbbaf",
        "f8f0c87cf237953c5890aec3998169005dae3eca1fbb04548c635953c817f92a",
    ),
    (
        "165d697a1ef3d5cf3c38565beefcf88c0f282b8e7dbd28544c483432f1cec767"
        "5debea8ebb4e5fe7d6f6e5db15f15587ac4d4d4a1de7191e0c1ca6664abcc413",
        "ae81e7dedf20a497e10c304a765c1767a42d6e06029758d2d7e8ef7cc4c41179",
    ),
    (
        "a836e6c9a9ca9f1e8d486273ad56a78c70cf18f0ce10abb1c7172ddd605d7fd2"
        "979854f47ae1ccf204a33102095b4200e5befc0465accc263175485f0e17ea5c",
        "e2705652ff9f5e44d3e841bf1c251cf7dddb77d140870d1ab2ed64f1a9ce8628",
    ),
    (
        "2cdc11eaeb95daf01189417cdddbf95952993aa9cb9c640eb5058d09702c7462"
        "2c9965a697a3b345ec24ee56335b556e677b30e6f90ac77d781064f866a3c982",
        "80bd07262511cdde4863f8a7434cef696750681cb9510eea557088f76d9e5065",
    ),
] + [
    (uniform, "304282791023b73128d277bdcb5c7746ef2eac08dde9f2983379cb8e5ef0517f")
    for uniform in [
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "1200000000000000000000000000000000000000000000000000000000000000",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000080"
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000"
        "1200000000000000000000000000000000000000000000000000000000000080",
    ]
]


def check_against_the_standards():
    for message, length, expected in XMD_VECTORS:
        assert expand_message_xmd(message, XMD_SEPARATION, length).hex() == expected
    generator = decode(bytes.fromhex(MULTIPLES[1]))
    assert generator is not None
    for i, expected in enumerate(MULTIPLES):
        assert encode(multiply(i, generator)).hex() == expected
        point = decode(bytes.fromhex(expected))
        assert point is not None and encode(point).hex() == expected
    for encodings in INVALID_ENCODINGS.values():
        for encoding in encodings:
            assert decode(bytes.fromhex(encoding)) is None
    for uniform, expected in FROM_UNIFORM:
        assert encode(from_uniform(bytes.fromhex(uniform))).hex() == expected
    # RFC 9497 A.1.1, first vector: blind and evaluate are two encryptions of the input.
    separation = b"HashToGroup-OPRFV1-\0-ristretto255-SHA512"
    blind = "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"
    secret = "5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e"
    point = from_uniform(expand_message_xmd(b"\0", separation, 64))
    blinded = multiply(int.from_bytes(bytes.fromhex(blind), "little"), point)
    assert encode(blinded).hex() == (
        "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c"
    )
    evaluated = multiply(int.from_bytes(bytes.fromhex(secret), "little"), blinded)
    assert encode(evaluated).hex() == (
        "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e"
    )


# ---------------------------------------------------------------- RFC 7919: safe primes


def floor_of_e(bits):
    """⌊2^bits · e⌋ by the series, with guard bits."""
    guard = 64
    total, term, k = 0, 1 << (bits + guard), 1
    while term:
        total += term
        term //= k
        k += 1
    return total >> guard


def ffdhe(bits, offset):
    return 2**bits - 2 ** (bits - 64) + ((floor_of_e(bits - 130) + offset) << 64) - 1


def is_probable_prime(n, rounds=20):
    if n < 2 or n % 2 == 0:
        return n == 2
    for small in SMALL_PRIMES:
        if n % small == 0:
            return n == small
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for i in range(rounds):
        base = 2 + int.from_bytes(hashlib.sha512(b"base %d" % i).digest(), "big") % (n - 3)
        x = pow(base, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


SMALL_PRIMES = [n for n in range(3, 2000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))]

FFDHE2048 = ffdhe(2048, 560316)
FFDHE3072 = ffdhe(3072, 2625351)


def number_from(label, bits):
    """A number of exactly `bits` bits that depends on the label alone."""
    stream = b"".join(
        hashlib.sha512(b"%s %d" % (label.encode(), i)).digest() for i in range(bits // 512 + 1)
    )
    return int.from_bytes(stream, "big") % 2 ** (bits - 1) | 2 ** (bits - 1)


def prime_that_is_not_safe(bits):
    p = number_from("prime that is not safe", bits) | 3
    while p % 3 != 2 or not is_probable_prime(p) or is_probable_prime((p - 1) // 2):
        p += 4
    return p


def composite_above_a_prime(bits):
    q = number_from("composite above a prime", bits - 1) | 1
    while (2 * q + 1) % 3 != 2 or not is_probable_prime(q) or is_probable_prime(2 * q + 1):
        q += 2
    return 2 * q + 1


# ---------------------------------------------------------------- the two groups

SESSION = bytes(range(32))


def separation(suite, session=SESSION):
    return b"DIPTYCH-V01-COMMUTATIVE-with-" + suite.encode() + b"-" + session


class Ristretto:
    suite = "ristretto255_XMD:SHA-512_R255MAP_RO_"
    order = ELL

    def hash(self, identifier, session):
        return from_uniform(expand_message_xmd(identifier, separation(self.suite, session), 64))

    def power(self, element, exponent):
        return multiply(exponent, element)

    def encode(self, element):
        return encode(element).hex()

    def encode_key(self, key):
        return key.to_bytes(32, "little").hex()


class Residues:
    suite = "safe-prime-residues_XMD:SHA-512_SQUARE_RO_"

    def __init__(self, modulus):
        self.modulus, self.order = modulus, (modulus - 1) // 2
        self.width = (modulus.bit_length() + 7) // 8

    def hash(self, identifier, session):
        wide = expand_message_xmd(identifier, separation(self.suite, session), self.width + 16)
        return pow(int.from_bytes(wide, "big") % self.modulus, 2, self.modulus)

    def power(self, element, exponent):
        return pow(element, exponent, self.modulus)

    def encode(self, element):
        return element.to_bytes(self.width, "big").hex()

    def encode_key(self, key):
        return key.to_bytes(self.width, "big").hex()


# ---------------------------------------------------------------- the file

IDENTIFIERS = [
    (b"", "empty identifier"),
    (b"A1", "short identifier"),
    (b"a1 ", "differs from A1 in case and a space: no normalisation here"),
    ("Łódź-Ü".encode(), "UTF-8"),
    (b"\0\xff" * 50, "arbitrary bytes"),
    (b"x" * 1000, "longer than a hash block"),
]


class File:
    def __init__(self):
        self.groups, self.count = [], 0

    def group(self, kind, **fields):
        self.groups.append({"type": kind, **fields, "tests": []})

    def test(self, comment, result="valid", flags=(), **fields):
        self.count += 1
        self.groups[-1]["tests"].append(
            {
                "tcId": self.count,
                "comment": comment,
                "flags": list(flags),
                **fields,
                "result": result,
            }
        )


def encryptions(file, in_group, label, **fields):
    file.group("Encrypt", **fields)
    for i, (identifier, comment) in enumerate(IDENTIFIERS):
        for session in [SESSION] if i else [SESSION, bytes([0xA5] * 32)]:
            a = number_from(f"{label} key a {i}", in_group.order.bit_length() + 64) % in_group.order
            b = number_from(f"{label} key b {i}", in_group.order.bit_length() + 64) % in_group.order
            if i == 1:
                a, b = 1, in_group.order - 1
            hashed = in_group.hash(identifier, session)
            once = in_group.power(hashed, a)
            twice = in_group.power(once, b)
            assert in_group.encode(twice) == in_group.encode(in_group.power(in_group.power(hashed, b), a))
            file.test(
                comment + (", keys 1 and -1" if i == 1 else ""),
                session=session.hex(),
                identifier=identifier.hex(),
                keyA=in_group.encode_key(a),
                keyB=in_group.encode_key(b),
                hash=in_group.encode(hashed),
                once=in_group.encode(once),
                twice=in_group.encode(twice),
            )


def main():
    check_against_the_standards()
    file = File()

    file.group("ExpandMessageXmd", hash="SHA-512", source="RFC 9380, appendix K.3")
    for message, length, expected in XMD_VECTORS:
        file.test(
            f"{len(message)} bytes in, {length} out",
            msg=message.hex(),
            dst=XMD_SEPARATION.hex(),
            lengthBytes=length,
            uniform=expected,
        )
    file.test(
        "a domain string of 256 bytes",
        result="invalid",
        flags=["TooLong"],
        msg="",
        dst="00" * 256,
        lengthBytes=32,
        uniform="",
    )
    file.test(
        "one byte more than 255 digests",
        result="invalid",
        flags=["TooLong"],
        msg="",
        dst=XMD_SEPARATION.hex(),
        lengthBytes=255 * 64 + 1,
        uniform="",
    )

    ristretto = Ristretto()
    encryptions(file, ristretto, "ristretto", group="ristretto255", suite=ristretto.suite)

    file.group("Reencrypt", group="ristretto255", suite=ristretto.suite)
    key = number_from("ristretto reencrypt", 300) % ELL
    for i, encoding in enumerate(MULTIPLES[1:], 1):
        point = decode(bytes.fromhex(encoding))
        file.test(
            f"{i} times the generator",
            element=encoding,
            key=ristretto.encode_key(key),
            reencrypted=encode(multiply(key, point)).hex(),
        )
    file.test(
        "the identity",
        result="invalid",
        flags=["Identity"],
        element=MULTIPLES[0],
        key=ristretto.encode_key(key),
        reencrypted="",
    )
    for comment, encodings in INVALID_ENCODINGS.items():
        for encoding in encodings:
            file.test(
                comment,
                result="invalid",
                flags=["NotInGroup"],
                element=encoding,
                key=ristretto.encode_key(key),
                reencrypted="",
            )
    for comment, element in [
        ("31 bytes", MULTIPLES[1][:-2]),
        ("33 bytes", MULTIPLES[1] + "00"),
        ("no bytes", ""),
    ]:
        file.test(
            comment,
            result="invalid",
            flags=["Width"],
            element=element,
            key=ristretto.encode_key(key),
            reencrypted="",
        )

    file.group("Key", group="ristretto255", suite=ristretto.suite)
    for comment, value, result in [
        ("1", 1, "valid"),
        ("order - 1", ELL - 1, "valid"),
        ("0", 0, "invalid"),
        ("the order", ELL, "invalid"),
        ("order + 1", ELL + 1, "invalid"),
        ("all bits set", 2**256 - 1, "invalid"),
    ]:
        file.test(comment, result=result, key=value.to_bytes(32, "little").hex())
    file.test("31 bytes", result="invalid", key="01" * 31)

    for name, modulus in [("ffdhe3072", FFDHE3072), ("ffdhe2048", FFDHE2048)]:
        assert is_probable_prime(modulus, 5) and is_probable_prime((modulus - 1) // 2, 5)
        residues = Residues(modulus)
        fields = dict(group="residues", suite=residues.suite, prime=name, modulus=f"{modulus:x}")
        encryptions(file, residues, name, **fields)
        key = number_from(name + " reencrypt", 3200) % residues.order
        smallest_nonresidue = next(
            n for n in range(2, 1000) if pow(n, residues.order, modulus) != 1
        )
        file.group("Reencrypt", **fields)
        for element, comment in [
            (4, "the smallest element after the identity"),
            (2, "2, a residue as the prime is 7 modulo 8"),
            (pow(number_from("some residue", 2040), 2, modulus), "a random residue"),
            (modulus - smallest_nonresidue, "the largest element"),
        ]:
            assert pow(element, residues.order, modulus) == 1
            file.test(
                comment,
                element=residues.encode(element),
                key=residues.encode_key(key),
                reencrypted=residues.encode(pow(element, key, modulus)),
            )
        limit = 2 ** (8 * residues.width) - 1
        nonresidue = modulus - pow(number_from("some residue", 2040), 2, modulus)
        for comment, element, flag in [
            ("the identity", 1, "Identity"),
            ("zero", 0, "NotInGroup"),
            ("the modulus", modulus, "NotInGroup"),
            ("modulus + 1, the identity written otherwise", modulus + 1, "NotInGroup"),
            ("modulus + 4, a residue written otherwise", modulus + 4, "NotInGroup"),
            ("all bits set", limit, "NotInGroup"),
            ("minus one", modulus - 1, "NotInGroup"),
            ("a non-residue", nonresidue, "NotInGroup"),
        ]:
            file.test(
                comment,
                result="invalid",
                flags=[flag],
                element=residues.encode(element),
                key=residues.encode_key(key),
                reencrypted="",
            )
        for comment, element in [
            ("a byte short", residues.encode(4)[2:]),
            ("a byte long", "00" + residues.encode(4)),
        ]:
            file.test(
                comment,
                result="invalid",
                flags=["Width"],
                element=element,
                key=residues.encode_key(key),
                reencrypted="",
            )
        file.group("Key", **fields)
        for comment, value, result in [
            ("1", 1, "valid"),
            ("order - 1", residues.order - 1, "valid"),
            ("0", 0, "invalid"),
            ("the order", residues.order, "invalid"),
            ("the modulus", modulus, "invalid"),
        ]:
            file.test(comment, result=result, key=residues.encode_key(value))

    file.group("SafePrime")
    for comment, modulus, result, flags in [
        ("ffdhe3072 of RFC 7919", FFDHE3072, "valid", []),
        ("ffdhe2048 of RFC 7919", FFDHE2048, "valid", []),
        ("even", FFDHE2048 + 1, "invalid", ["NotSafePrime"]),
        ("off by two", FFDHE2048 - 2, "invalid", ["NotSafePrime"]),
        ("a prime, half of it composite", prime_that_is_not_safe(2048), "invalid", ["NotSafePrime"]),
        ("composite, half of it prime", composite_above_a_prime(2048), "invalid", ["NotSafePrime"]),
        ("too short", FFDHE2048 >> 1, "invalid", ["Length"]),
        ("too long", 2**8200 - 1, "invalid", ["Length"]),
        ("zero", 0, "invalid", ["Length"]),
    ]:
        digits = f"{modulus:x}"
        digits = "0" * (len(digits) % 2) + digits
        file.test(comment, result=result, flags=flags, modulus=digits)

    document = {
        "algorithm": "commutative encryption",
        "schema": "schema/commutative.json",
        "numberOfTests": file.count,
        "notes": {
            "Identity": "the neutral element must be refused",
            "NotInGroup": "not the canonical encoding of an element of the group",
            "Width": "elements have one width",
            "TooLong": "more than the expander of RFC 9380 allows",
            "NotSafePrime": "p or (p - 1)/2 is composite",
            "Length": "moduli have 2048 to 8192 bits",
        },
        "testGroups": file.groups,
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "commutative.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
