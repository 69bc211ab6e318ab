"""Writes ../paillier.json: Paillier with Damgård-Jurik-Nielsen randomness, from first principles.

Plain Python, standard library only, deterministic: running it writes the same bytes again.
"""

import hashlib
import json
import math
import pathlib

SEED = b"diptych paillier vectors 1"
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


def prime(bits, residue=3):
    """A prime of exactly `bits` bits, its two highest bits set, that is `residue` modulo 4."""
    while True:
        x = random_bits(bits) | 3 << (bits - 2)
        x += (residue - x) % 4
        if x.bit_length() == bits and is_prime(x):
            return x


class Key:
    def __init__(self, bits=None, p=None, q=None):
        while p is None or q is None:
            a, b = prime(bits // 2), prime(bits // 2)
            if a != b and math.gcd(a - 1, b - 1) == 2:
                p, q = a, b
        self.p, self.q, self.n = p, q, p * q
        self.n2 = self.n**2
        self.bits = self.n.bit_length()
        self.x = random_below(self.n)
        self.h = pow(-self.x * self.x, self.n, self.n2)

    def textbook(self, m, r):
        return (1 + m * self.n) * pow(r, self.n, self.n2) % self.n2

    def djn(self, m, a):
        return (1 + m * self.n) * pow(self.h, a, self.n2) % self.n2

    def decrypt(self, c):
        """Without the Chinese remainder theorem: c^lambda = 1 + m*lambda*n."""
        lam = math.lcm(self.p - 1, self.q - 1)
        return (pow(c, lam, self.n2) - 1) // self.n * pow(lam, -1, self.n) % self.n

    def json(self):
        return {"bits": self.bits, "p": hx(self.p), "q": hx(self.q), "n": hx(self.n), "h": hx(self.h)}


def hx(number):
    """Big-endian, an even number of digits; a minus sign in front of negative numbers."""
    digits = "%x" % abs(number)
    return ("-" if number < 0 else "") + "0" * (len(digits) % 2) + digits


groups = []
_id = 0


def group(kind, key=None, source=None):
    made = {"type": kind}
    if source:
        made["source"] = source
    if key:
        made["key"] = key.json()
    made["tests"] = []
    groups.append(made)

    def add(comment, invalid=None, flags=(), **fields):
        global _id
        _id += 1
        test = {"tcId": _id, "comment": comment, "flags": [invalid] if invalid else list(flags)}
        test.update(fields)
        test["result"] = "invalid" if invalid else "valid"
        made["tests"].append(test)

    return add


def nonce(key):
    while True:
        r = random_below(key.n)
        if math.gcd(r, key.n) == 1 and r:
            return r


def all_groups(key):
    n, n2, p, q = key.n, key.n2, key.p, key.q
    half = key.bits // 2
    edge = [("zero", 0), ("one", 1), ("n-1", n - 1), ("random", random_below(n))]

    add = group("TextbookEncrypt", key)
    for name, m in edge:
        r = nonce(key)
        c = key.textbook(m, r)
        assert key.decrypt(c) == m
        add(name, m=hx(m), r=hx(r), c=hx(c))
    add("r = 1", m=hx(5), r=hx(1), c=hx(key.textbook(5, 1)))
    add("r = n-1", m=hx(5), r=hx(n - 1), c=hx(key.textbook(5, n - 1)))
    add("m = n", "PlaintextOutOfRange", m=hx(n), r=hx(1), c=hx(1))
    add("m > n", "PlaintextOutOfRange", m=hx(n + 7), r=hx(1), c=hx(key.textbook(7, 1)))
    add("r = 0", "RandomnessOutOfRange", m=hx(5), r=hx(0), c=hx(0))
    add("r = n", "RandomnessOutOfRange", m=hx(5), r=hx(n), c=hx(0))
    add("r = p", "RandomnessOutOfRange", m=hx(5), r=hx(p), c=hx(key.textbook(5, p)))

    add = group("DjnEncrypt", key)
    for name, m in edge:
        a = random_bits(half)
        c = key.djn(m, a)
        assert key.decrypt(c) == m
        add(name, m=hx(m), a=hx(a), c=hx(c))
    add("a = 0", m=hx(5), a=hx(0), c=hx(key.djn(5, 0)))
    add("longest a", m=hx(5), a=hx(2**half - 1), c=hx(key.djn(5, 2**half - 1)))
    add("a too long", "RandomnessOutOfRange", m=hx(5), a=hx(2**half), c=hx(key.djn(5, 2**half)))
    add("m = n", "PlaintextOutOfRange", m=hx(n), a=hx(1), c=hx(key.h))

    add = group("Decrypt", key)
    for name, m in edge:
        add(name, c=hx(key.textbook(m, nonce(key))), m=hx(m))
    for name, c in [("c = 1", 1), ("c = 2", 2), ("c = n2-1", n2 - 1), ("c = n+1", n + 1)]:
        add(name, c=hx(c), m=hx(key.decrypt(c)))
    for _ in range(4):
        c = random_below(n2)
        add("random unit", c=hx(c), m=hx(key.decrypt(c)))
    add("c = 0", "CiphertextOutOfRange", c=hx(0), m=hx(0))
    add("c = n2", "CiphertextOutOfRange", c=hx(n2), m=hx(0))
    add("c = n2+1", "CiphertextOutOfRange", c=hx(n2 + 1), m=hx(0))
    add("c = 2^(2|n|)-1", "CiphertextOutOfRange", c=hx(2 ** (2 * key.bits) - 1), m=hx(0))
    for name, c in [("n", n), ("p", p), ("q", q), ("multiple of p", p * random_below(n)),
                    ("multiple of q2", q * q * 3), ("n2-n", n2 - n), ("n2-p", n2 - p)]:
        add("c = " + name, "CiphertextNotCoprime", c=hx(c), m=hx(0))

    add = group("Sum", key)
    for count in [0, 1, 2, 5]:
        ms = [random_below(n) for _ in range(count)]
        cs = [key.textbook(m, nonce(key)) for m in ms]
        product = math.prod(cs) % n2
        assert key.decrypt(product) == sum(ms) % n
        add(f"{count} ciphertexts", c=[hx(c) for c in cs], sum=hx(product), m=hx(sum(ms) % n))
    c = key.textbook(n - 1, nonce(key))
    add("wraps around", c=[hx(c), hx(key.textbook(2, 1))], sum=hx(c * key.textbook(2, 1) % n2), m=hx(1))

    add = group("AddPlain", key)
    for name, k in edge:
        m = random_below(n)
        c = key.textbook(m, nonce(key))
        add(name, c=hx(c), k=hx(k), out=hx(c * (1 + k * n) % n2), m=hx((m + k) % n))
    add("k = n", "PlaintextOutOfRange", c=hx(c), k=hx(n), out=hx(c), m=hx(m))

    add = group("MulPlain", key)
    for name, k, bits in [("zero", 0, 1), ("one", 1, 1), ("minus one", -1, 1), ("64 bits", 2**64 - 1, 64),
                          ("negative", -(2**64) + 59, 64), ("half of n", n // 2, key.bits),
                          ("minus half of n", -(n // 2), key.bits), ("n-1", n - 1, key.bits)]:
        m = random_below(n)
        c = key.textbook(m, nonce(key))
        add(name, c=hx(c), k=hx(k), bits=bits, out=hx(pow(c, k, n2)), m=hx(m * k % n))
    add("longer than declared", "ExponentTooLong", c=hx(c), k=hx(256), bits=8, out=hx(1), m=hx(0))
    add("negative, longer than declared", "ExponentTooLong", c=hx(c), k=hx(-256), bits=8, out=hx(1), m=hx(0))

    add = group("Signed", key)
    for name, value in [("zero", 0), ("one", 1), ("minus one", -1), ("largest", n // 2),
                        ("smallest", -(n // 2)), ("random", -random_below(n // 2))]:
        add(name, value=hx(value), m=hx(value % n))
    add("too large", "SignedOutOfRange", value=hx(n // 2 + 1), m=hx(n // 2 + 1))
    add("too small", "SignedOutOfRange", value=hx(-(n // 2) - 1), m=hx(n - n // 2 - 1))

    add = group("Packed", key)
    for width in [1, 7, 64, 80, key.bits // 2 - 1, key.bits // 2, key.bits - 1]:
        slots = (key.bits - 1) // width
        values = [random_bits(width) for _ in range(min(slots, 40))]
        values[-1] = 2**width - 1
        m = sum(v << width * i for i, v in enumerate(values))
        assert m < n
        add(f"{width} bits", width=width, slots=slots, values=[hx(v) for v in values], m=hx(m))
    full = (key.bits - 1) // 1000
    add("every slot full", width=1000, slots=full, values=[hx(2**1000 - 1)] * full, m=hx(2 ** (1000 * full) - 1))
    add("no values", width=64, slots=(key.bits - 1) // 64, values=[], m=hx(0))
    add("width 0", "SlotWidth", width=0, slots=0, values=[], m=hx(0))
    add("width |n|", "SlotWidth", width=key.bits, slots=0, values=[], m=hx(0))
    add("value too wide", "SlotOverflow", width=64, slots=(key.bits - 1) // 64, values=[hx(1), hx(2**64)], m=hx(0))
    add("too many", "TooManySlots", width=1000, slots=full, values=[hx(1)] * (full + 1), m=hx(0))


def public_keys(key):
    n, n2, h, bits = key.n, key.n2, key.h, key.bits
    add = group("PublicKey")

    def case(comment, invalid=None, n=n, h=h, bits=bits):
        add(comment, invalid, bits=bits, n=hx(n), h=hx(h))

    case("good")
    case("good, another h", h=pow(-9, n, n2))
    case("even n", "EvenModulus", n=n + 1)
    case("prime n", "PrimeModulus", n=prime(bits))
    case("prime n, 1 modulo 4", "PrimeModulus", n=prime(bits, 1))
    case("square n", "PerfectPower", n=key.p**2)
    eighth = prime(bits // 8)
    case("eighth power", "PerfectPower", n=eighth**8)
    case("short n", "ModulusLength", n=n >> 1 | 1)
    case("n one bit long", "ModulusLength", n=1)
    case("n = 0", "ModulusLength", n=0)
    for factor in [3, 5, 257, 65521]:
        other = prime(bits - factor.bit_length() + 1)
        while (factor * other).bit_length() != bits:
            other = prime(bits - factor.bit_length() + 1 - ((factor * other).bit_length() > bits))
        case(f"factor {factor}", "SmallFactor", n=factor * other)
    case("h = 0", "BaseOutOfRange", h=0)
    case("h = 1", "BaseOutOfRange", h=1)
    case("h = n2-1", "BaseOutOfRange", h=n2 - 1)
    case("h = n2", "BaseOutOfRange", h=n2)
    case("h = n", "BaseNotCoprime", h=n)
    case("h multiple of p", "BaseNotCoprime", h=key.p * 77)
    case("1024 bits", "UnsupportedLength", n=prime(512) * prime(512), h=4, bits=1024)
    case("length not a multiple of 128", "UnsupportedLength", n=n >> 1 | 1, bits=bits - 1)


def iso():
    p, q = int(ISO["p"], 16), int(ISO["q"], 16)
    key = Key(p=p, q=q)
    source = "ISO/IEC 18033-6, Paillier example; h is ours and not used by the example"
    add = group("TextbookEncrypt", key, source)
    for i in "12":
        m, r, c = (int(ISO[name + i], 16) for name in "mrc")
        assert key.textbook(m, r) == c and key.decrypt(c) == m
        add("ISO/IEC 18033-6, plaintext " + i, flags=["Published"], m=hx(m), r=hx(r), c=hx(c))
    add = group("Sum", key, source)
    total = int(ISO["m1_plus_m2"], 16)
    add("ISO/IEC 18033-6, sum", flags=["Published"], c=[hx(int(ISO["c1"], 16)), hx(int(ISO["c2"], 16))],
        sum=hx(int(ISO["c1_times_c2"], 16)), m=hx(total))


# The Paillier example of ISO/IEC 18033-6, as published.
ISO = {
    "p": (
        "ff03b1a74827c746db83d2eaff00067622f545b62584321256e62b01509f10962f9c5c8fd0b7f5184a9ce8e8"
        "1f439df47dda14563dd55a221799d2aa57ed2713271678a5a0b8b40a84ad13d5b6e6599e6467c670109cf1f4"
        "5ccfed8f75ea3b814548ab294626fe4d14ff764dd8b091f11a0943a2dd2b983b0df02f4c4d00b413"
    ),
    "q": (
        "dacaabc1dc57faa9fd6a4274c4d588765a1d3311c22e57d8101431b07eb3ddcb05d77d9a742ac2322fe6a063"
        "bd1e05acb13b0fe91c70115c2b1eee1155e072527011a5f849de7072a1ce8e6b71db525fbcda7a89aaed46d2"
        "7aca5eaeaf35a26270a4a833c5cda681ffd49baa0f610bad100cdf47cc86e5034e2a0b2179e04ec7"
    ),
    "m1": "414243444546474849404a4b4c4d4e4f",
    "r1": (
        "57fb19590c31dc7c034b2a889cf4037ce3db799909c1eb0adb6199d8e96791daca9018891f34309daff32dce"
        "d4af7d793d16734d055e28023acab7295956bfbfdf62bf0ccb2ed31d5d176ca8b404e93007565fb6b72c33a5"
        "12b4dc4f719231d62e27e34c3733929af32247f88c20d1ee77096cc80d3d642464054c815b35878ba812349c"
        "8bdc3c6b645daf1a0de60965f44dcf705681032480f1eeba82243196b96903becdc0df0801d4120cbd6db1c4"
        "b2841a27991c44a43750c24ed0825718ad14cfb9c6b40b78ff3d25f71741f2def1c9d420d4b0fa1e0a02e785"
        "1b5ec6a81133a368b80d1500b0f28fc653d2e6ff4366236dbf80ae3b4beae35e04579f2c"
    ),
    "c1": (
        "1fb7f08a42deb47876e4cbdc3f0b172c033563a696ad7a7c76fa5971b793fa488dcdd6bd65c7c5440d67d847"
        "cb89ccca468b2c96763fff5a5ece8330251112d65e59b7da94cfe9309f441ccc8f59c67dec75113d37b1ee92"
        "9c8d4ce6b5e561a30a91104b0526de892e4eff9f4fbecba3db8ed94267be31df360feaffb1151ef5b5a8e517"
        "77f09d38072bcb1b1ad15d80d5448fd0edb41cc499f8eebae2af26569427a26d0afeaa833173d6ae4e5f84eb"
        "88c0c68c29baecf7ec5af2c1c5577336ca9482690f1c94597654afda84c6fb74df95cdd08fa9a66296126b40"
        "61b0530d124f3797426a08f72e90ef4994eeb348f5e92bd12d41cd3343a9e271a2f73d2cc7ffbd65bf64fb63"
        "e759f312e615aae01ae9f4573a21f1a70f56a61cfbb94d8f96fcf06c2b3216ed9574f6888df86cd5e471b641"
        "507ac6815ca781f6d31e69d6848e542a7c57dc21109b5574b63365a19273783fafc93639c414b9475ea5ea82"
        "e73958ff5fdba967d52721ff71209e5a3db3c580e1bfd142ba4b8ab77eb16cb488d46a04a672662cd108b7e9"
        "c58ba13dfb850653208f81956539475ffce85e0b0da59e5bd8d90051be9b2cc99e37c060ce09814e1524458b"
        "fb5427d7a16b672682be448fa16464fcb3e7f1dca6812a2c5a9814b98ccb676367b7b3b269c670cd0210edf7"
        "0ad9cb337f766af75fe06d18b3f7f7c2eae6565ff2815c2c09b1a1f5"
    ),
    "m2": "20202020202020202020202020202020",
    "r2": (
        "6ee8ed76227672a7bcaa1e7f152c2ea39f2fa225f0713f58210c59b2270b110e38b65069aaedbeffc713c021"
        "336cc12f65227cc0357ca531c07c706e7224c2c11c3145bc0a05b164f426ec03350820f9f416377e8720ddb5"
        "77843cae929178bfe5772e2cc1e9b94e8fce814eaf136c6ed218ca7b10ea4d5218e7ba82bd74bb9f19d3ccc7"
        "d2e140e91cfb25f76f54aa70f2ed88ef343dd5fb98617c0036b7717f7458ec847d7b52e8764a4e92c397133a"
        "95e35e9a82d5dc264ff423398cfadfbaec4727854e68f2e9e210d6a65c39b5a9b2a0ebdc5389834883680e42"
        "b5d8582344e3e07a01fbd6c46328dcfa03074d0bc02927f58466c2fa74ab608177e3ec1b"
    ),
    "c2": (
        "61803645f2798c06f2c08fc254eee612c55542051c8777d6ce69ede9c84a179afb2081167494dee727488ae5"
        "e9b56d98f4fcf132514616859fc854fbd3acf6aecd97324ac3f2affa9f44864a9afc505754aa3b564b4617e8"
        "87d6aa1f88095bccf6b47f458566f9d85e80fcd478a58d4c2e895d0ed428aa8919d8ce752472bdc704fe9f01"
        "b1f663e3a9defca4b3847134883d5433b6bebb7d5a0358bcc8e3385cdf8787a1c78165eb03fc295c2ee93809"
        "d7a7a4689e79faf173e4ca3d0a6a9175887d0c70b35c529aa02699c4d4e8c98a9f3b8f2be41f35905adebf8a"
        "6940a93875d1e24e578a93bdb7cbf66cd3cdb736466588649ac237d55121ce0c0d18bc5da660d8faf9f0849e"
        "d1775ffcc5edb6900ebfb6c1e33459d29655edf706324cf642c8f36433d6b850a43ee0e788e120737b8a2858"
        "d1b5302bad3413102fd7dccfe458b257fdbf920fe942e23ec446b1b302d41710fe56b26e11987ac06cfa6356"
        "64c7a0ec18f8c8c871919fc893a3117ff5e73d4c115e66e3bc5bd2b9127b2bb816c549245c65cf22a533a3d2"
        "b6cb7c46757d3a87173f93e8b431891697f8d60c59631734f46cf3d70d9065f0167d5ad7353c0812af024ced"
        "593273551d29c89232f2f3d548b9248291c1b8e833ed178eb2cf1ad6f1d6864f1fd3e2e3937e00d391ad330b"
        "443aec85528571740ed5538188c32caab27c7bf437df2bb97cb90e02"
    ),
    "c1_times_c2": (
        "309f6e614d875e3bb0a77eedeb8895e7c6f297f161f576aef4f8b72bb5b81ef78b831aaf134b09fe8697159c"
        "fd678c49920cb790e36580c5201a96848d7242fceb025808dd26b50ff573ffca3f65e51b3b9fe85c7e44f5c8"
        "df0a9e524f64a5acc5c62cba7475978eb55e0893eff1c40547ef9db087f8a54a13bf33a4648c4719233cfb10"
        "7ba469c61f1c07578d9c19fa8012b743d31fbca8eb4250ad902cf0c3d24c619fcd0874ad6a12ab8eafffabca"
        "6ed1aaa4ba0df1544c3826364ac955c5853dc0490b9992e867e2dc95ec4b8742f177b7b24f29f68de4d552f3"
        "2ca0da7d5cb2d85f020eefb8b58261c93643a4b63a9223efea803367b932b430ae47730d9b493e4194cbc7e8"
        "aa6d8aae45aa016d7f197dab5bb9508d5af6c3f47c0ec48ff604e53edbafa9a1bdae6add7169b83278a025f0"
        "be7980688806deaa9afaf80ca4212d53079c4841546bc1622c5bf211a9db1f8933211b6a5b5f312d6919181b"
        "f7797188645052a9fff167c7acbc43454cd3caab36a501feba27f28720f2ab23d5dea3c73d4421b059eef9f1"
        "c227a3ed59c487c9483a08e98bfd34920349fa861b41ce61a4caa8b7f0fc1fcba7dedb8f9c64ab3a42968f6c"
        "88f45541c734d7c0206968a103d02985854a5156d9edb99a332de9a6d47f9af6e68e18960fa5916cc4899433"
        "4354d6303312b8e96602766bec337a8a92c596b21b6038828a6c9744"
    ),
    "m1_plus_m2": "616263646566676869606a6b6c6d6e6f",
}


def main():
    iso()
    small = Key(2048)
    all_groups(small)
    public_keys(small)
    all_groups(Key(3072))
    document = {
        "algorithm": "Paillier",
        "schema": "schema/paillier.json",
        "numberOfTests": _id,
        "notes": {
            "form": "Numbers are hexadecimal, big-endian, with a minus sign where negative. n = p*q, "
                    "g = n+1, a ciphertext of m is (1+m*n)*rho mod n^2; rho = r^n mod n^2 in "
                    "TextbookEncrypt, rho = h^a mod n^2 in DjnEncrypt.",
            "invalid": "The first flag of an invalid test names what an implementation should find wrong.",
            "Published": "Numbers published by others; the group's source names them.",
        },
        "testGroups": groups,
    }
    target = pathlib.Path(__file__).resolve().parent.parent / "paillier.json"
    target.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
