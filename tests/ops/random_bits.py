"""Cases for counter based random bits, from the published algorithms (Salmon et al. 2011) in whole numbers."""
import numpy as np

from values import Array, Exact

MASK = 0xFFFFFFFF


def threefry(key, counter):
    """Threefry 2x32, 20 rounds."""
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x = [(counter[0] + keys[0]) & MASK, (counter[1] + keys[1]) & MASK]
    rotations = [13, 15, 26, 6, 17, 29, 16, 24]
    for turn in range(20):
        by = rotations[turn % 8]
        x[0] = (x[0] + x[1]) & MASK
        x[1] = ((x[1] << by) | (x[1] >> (32 - by))) & MASK
        x[1] ^= x[0]
        if turn % 4 == 3:
            step = turn // 4 + 1
            x[0] = (x[0] + keys[step % 3]) & MASK
            x[1] = (x[1] + keys[(step + 1) % 3] + step) & MASK
    return x


def philox(key, counter):
    """Philox 4x32, 10 rounds."""
    key, x = list(key), list(counter)
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(second >> 32) ^ x[1] ^ key[0], second & MASK, (first >> 32) ^ x[3] ^ key[1], first & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return x


# The paper's known answers hold this file itself.
assert threefry((0, 0), (0, 0)) == [0x6B200159, 0x99BA4EFE]
assert threefry((MASK, MASK), (MASK, MASK)) == [0x1CB996FC, 0xBB002BE7]
assert philox((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox((MASK, MASK), (MASK,) * 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def add_random(cases, rng):
    for function, keys, counters in ((threefry, 2, 2), (philox, 2, 4)):
        for size in (0, 1, 255, 256, 257):
            columns = [rng.integers(0, 2**32, size=size) for _ in range(keys + counters)]
            for column in columns:
                column[:2] = [0, MASK][:size]
            rows = list(zip(*[[int(v) for v in c] for c in columns]))
            for word in range(counters):
                out = [function(r[:keys], r[keys:])[word] for r in rows]
                cases.add(function.__name__, [Array("u32", c) for c in columns], Exact("u32", np.array(out, np.uint32)),
                          size == 257, word=word)
