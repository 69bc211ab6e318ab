"""AES-128 in plain Python, straight from FIPS 197. Used by other generators; slow and clear."""


def _times(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _make_s_box():
    box = []
    for value in range(256):
        inverse = next((c for c in range(256) if _times(value, c) == 1), 0)
        rotated = inverse
        result = 0x63
        for _ in range(5):
            result ^= rotated
            rotated = ((rotated << 1) | (rotated >> 7)) & 0xFF
        box.append(result)
    return box


S_BOX = _make_s_box()
assert S_BOX[0] == 0x63 and S_BOX[0x53] == 0xED


def expand(key):
    words = [list(key[4 * i : 4 * i + 4]) for i in range(4)]
    constant = 1
    for i in range(4, 44):
        word = list(words[i - 1])
        if i % 4 == 0:
            word = [S_BOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _times(constant, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], word)])
    return [sum(words[4 * r : 4 * r + 4], []) for r in range(11)]


def encrypt(key, block):
    keys = expand(key)
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number in range(1, 11):
        state = [S_BOX[b] for b in state]
        state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]
        if number < 10:
            mixed = []
            for c in range(4):
                column = state[4 * c : 4 * c + 4]
                for r in range(4):
                    a, b, x, y = (column[(r + k) % 4] for k in range(4))
                    mixed.append(_times(a, 2) ^ _times(b, 3) ^ x ^ y)
            state = mixed
        state = [a ^ b for a, b in zip(state, keys[number])]
    return bytes(state)


def encrypt_number(key, block):
    """On 128-bit numbers whose bytes are little-endian, as the labels are."""
    out = encrypt(key.to_bytes(16, "little"), block.to_bytes(16, "little"))
    return int.from_bytes(out, "little")


assert encrypt(bytes(range(16)), bytes(0x11 * i for i in range(16))).hex() == (
    "69c4e0d86a7b0430d8cdb78070b4c55a"
)
