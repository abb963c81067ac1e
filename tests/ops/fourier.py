"""Cases for Fourier transforms."""
import mpmath
import numpy as np

from reductions import modest
from values import COMPLEX, EPSILON, TYPES, Array, Near, real_of

OPS = {"fft": np.fft.fft, "ifft": np.fft.ifft, "rfft": np.fft.rfft, "irfft": np.fft.irfft,
       "fft2": np.fft.fft2, "ifft2": np.fft.ifft2, "fftn": np.fft.fftn, "ifftn": np.fft.ifftn}


def complex_of(kind):
    return "c128" if kind in ("f64", "c128") else "c64"


def near(op, x, high):
    """Each result within a few units of the size of all: errors of a transform spread evenly over it."""
    kind = complex_of(x.kind)
    high = np.asarray(high)
    size = np.sqrt(np.mean(np.abs(high) ** 2)) if high.size else 0.0
    slack = 16 * EPSILON[kind] * (2 + np.log2(max(2, x.values.size, high.size))) * size
    return Near(real_of(kind) if op == "irfft" else kind, high, slack=slack, ulp=1, zero_signs=False)


def exact_fft(x):
    """The sum itself, with more digits than any type has."""
    n, turn = len(x), [mpmath.expjpi(mpmath.mpf(-2 * k) / len(x)) for k in range(len(x))]
    numbers = [mpmath.mpc(z.real, z.imag) for z in x]
    return np.array([complex(mpmath.fsum(numbers[j] * turn[j * k % n] for j in range(n))) for k in range(n)])


def random_numbers(kind, shape, rng):
    values = rng.normal(size=shape)
    return Array(kind, values + 1j * rng.normal(size=shape) if kind in COMPLEX else values)


def add_one(cases, op, x, everywhere=False, **named):
    numpy_names = {"length": "n", "lengths": "s", "axis": "axis", "axes": "axes"}
    attributes = {numpy_names[name]: value for name, value in named.items()}
    cases.add(op, [x], near(op, x, OPS[op](x.wide(), **attributes)), everywhere, **named)


def is_smooth(n):
    return n == 1 or any(n % p == 0 and is_smooth(n // p) for p in (2, 3, 5, 7, 11, 13))


def add_lengths(cases, rng):
    """Every kernel is compiled anew, so that not every length meets every operation and type; those with primes above
    13 are the longest to compile."""
    short = [n for n in range(1, 65) if is_smooth(n) or n in (17, 19, 31, 34, 51, 61)]
    for n in [*short, 127, 128, 129, 243, 257, 343, 500, 625, 1000, 1001, 1024, 1331, 2197, 2048, 2310, 4095,
              4096, 4097, 6561, 8192]:
        shape = (3, n) if n < 4096 else (n,)
        on_all = n in (1, 2, 3, 5, 8, 12, 17, 64, 1000, 1024, 4097, 8192)
        add_one(cases, "fft", random_numbers("c64", shape, rng), on_all)
        if n % 4 == 3 or on_all:
            add_one(cases, "fft", random_numbers("c128", shape, rng), n in (12, 1024))
            add_one(cases, "ifft", random_numbers("c64", shape, rng), on_all and n < 64)
        if n % 8 == 5 or n in (1, 2, 3, 4, 1024):
            add_one(cases, "ifft", random_numbers("c128", shape, rng))
        if n < 14 or n % 16 in (0, 7) or on_all:
            kind = ("f32", "f64")[n % 3 == 0]
            everywhere = n in (1, 2, 7, 64)
            add_one(cases, "rfft", random_numbers(kind, shape, rng), everywhere)
            half = random_numbers(complex_of(kind), (*shape[:-1], n // 2 + 1), rng)
            add_one(cases, "irfft", half, everywhere, length=n)
    for n in (7, 30, 97, 128):
        x = random_numbers("c128", (n,), rng)
        cases.add("fft", [x], near("fft", x, exact_fft(x.values)))


def add_axes(cases, rng):
    for shape, axis in [((6, 5), 0), ((5, 6), 1), ((2, 12, 3), 1), ((3, 4, 5), -3), ((40, 33), 0), ((2, 100, 16), 1),
                        ((2, 17, 3), 1), ((1024, 9), 0), ((2, 3000, 3), 1), ((2, 5000, 3), 1), ((3, 9000), 1),
                        ((37, 64), 1), ((300, 10), 1), ((3, 8192, 2), 1), ((2, 6144), 1), ((1, 70, 1), 1)]:
        add_one(cases, "fft", random_numbers("c64", shape, rng), True, axis=axis)
        add_one(cases, "ifft", random_numbers("c128", shape, rng), shape == (6, 5), axis=axis)
        add_one(cases, "rfft", random_numbers("f32", shape, rng), axis=axis)
        add_one(cases, "irfft", random_numbers("c64", shape, rng), axis=axis)


def add_parameters(cases, rng):
    for kind in TYPES:
        for op in OPS:
            if op == "rfft" and kind in COMPLEX:
                continue
            add_one(cases, op, modest(kind, (4, 6), rng), op == "fft" and kind not in ("u16", "i16", "f16"))
            if op.endswith(("2", "n")):
                continue
            for length in (1, 4, 9) if kind in ("u8", "bf16", "f32", "c128") else ():
                add_one(cases, op, modest(kind, (4, 6), rng), axis=0, length=length)
    for op in ("fft", "ifft", "rfft", "irfft"):
        for shape, axis in [((0, 4), 1), ((3, 0, 5), 2), ((3, 0, 5), 0)]:
            add_one(cases, op, Array("f32", np.zeros(shape)), op == "fft", axis=axis)
    for op in ("fft2", "ifft2", "fftn", "ifftn"):
        for kind in ("f32", "c64", "c128"):
            add_one(cases, op, random_numbers(kind, (3, 8, 10), rng), kind == "c64", axes=[0, 2])
            add_one(cases, op, random_numbers(kind, (3, 8, 10), rng), axes=[2, 0])
            add_one(cases, op, random_numbers(kind, (3, 8, 10), rng), lengths=[5, 12])
            add_one(cases, op, random_numbers(kind, (3, 8, 10), rng), axes=[1, 0], lengths=[5, 7])
            add_one(cases, op, random_numbers(kind, (100, 36), rng))
            add_one(cases, op, random_numbers(kind, (0, 4, 6), rng), axes=[1, 2])
    for kind in ("f32", "c128"):
        add_one(cases, "fftn", random_numbers(kind, (3, 8, 10), rng), axes=[0, 1, 2], lengths=[4, 4, 4])
        add_one(cases, "ifftn", random_numbers(kind, (5, 2, 3, 4), rng))


def add_fft(cases, rng):
    add_lengths(cases, rng)
    add_axes(cases, rng)
    add_parameters(cases, rng)
