"""Cases for elementwise operations of two and three operands, promotion, broadcasting and casts."""
import itertools

import mpmath as mp
import numpy as np

from elementwise import SIZES
from values import (BITS, COMPLEX, EPSILON, FLOATS, INTEGERS, NUMPY, REALS, SIGNED, TYPES, Array, Exact, Near,
                    complex_samples, float_of, promote, real_of, samples, special_values, split)


def pair_samples(kind, count, rng, domain="any"):
    """Special values beside special values, then random pairs."""
    if kind in COMPLEX:
        return complex_samples(kind, count, rng), Array(kind, rng.permutation(complex_samples(kind, count, rng).values))
    a, b = samples(kind, count, rng, domain).values, samples(kind, count, rng).values.copy()
    a, b = a.copy(), rng.permutation(b)
    values = special_values(kind)
    chosen = values[:12] if kind in INTEGERS else [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, 0.5, -2.5, 3.0,
                                                    values[6], -values[6], values[3]]
    pairs = list(itertools.product(chosen, chosen))
    pairs = [pairs[i] for i in rng.permutation(len(pairs))][:count * 3 // 4] if count > 1 else []
    for i, (x, y) in enumerate(pairs):
        a[i], b[i] = x, y
    return Array(kind, a), Array(kind, b)


def wrap(kind, numbers):
    """Python integers modulo the type's range."""
    width = BITS[kind]
    words = [int(n) & (2**width - 1) for n in numbers]
    return np.array(words, np.uint64).astype(NUMPY[f"u{width}"]).view(NUMPY[kind])


def toward_zero(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integer_power(a, n):
    """To a negative power: 1 / a^|n| toward zero, 0 for 0."""
    if n >= 0:
        return a**n
    return a ** (-n) if a in (1, -1) else 0


INTEGER = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "quotient": toward_zero, "remainder": lambda a, b: 0 if b == 0 else a - b * toward_zero(a, b),
    "minimum": min, "maximum": max, "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}
COMPARE = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
           "greater": np.greater, "greater_equal": np.greater_equal}
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


def maximum(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.maximum(a, b))


def minimum(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.minimum(a, b))


def exact_float(function, a, b):
    """+, -, *, / of doubles as a double and the rest: for correct rounding of f64 and of every smaller type."""
    high = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}[function](a, b)
    low = np.zeros(high.shape)
    for i in np.flatnonzero(np.isfinite(high) & np.isfinite(a) & np.isfinite(b)):
        x, y = mp.mpf(float(a[i])), mp.mpf(float(b[i]))
        with mp.workprec(2200):
            true = {"add": lambda: x + y, "subtract": lambda: x - y, "multiply": lambda: x * y,
                    "divide": lambda: x / y}[function]()
            low[i] = float(true - mp.mpf(float(high[i])))
    return high, low


def power(a, b):
    high, low = np.power(a, b), np.zeros(a.shape)
    for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(high) & (a != 0)):
        value = mp.power(mp.mpf(float(a[i])), mp.mpf(float(b[i])))
        high[i], low[i] = split(mp.re(value))
    return high, low


def of_two(function, fallback):
    def apply(a, b):
        high, low = fallback(a, b), np.zeros(a.shape)
        for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)):
            high[i], low[i] = split(function(mp.mpf(float(a[i])), mp.mpf(float(b[i]))))
        return high, low
    return apply


FLOAT = {
    "add": lambda a, b: exact_float("add", a, b), "subtract": lambda a, b: exact_float("subtract", a, b),
    "multiply": lambda a, b: exact_float("multiply", a, b), "divide": lambda a, b: exact_float("divide", a, b),
    "pow": power, "atan2": of_two(mp.atan2, np.arctan2), "hypot": of_two(mp.hypot, np.hypot),
    "remainder": lambda a, b: (np.fmod(a, b), None),
}


def add_integers(cases, rng):
    for name, function in INTEGER.items():
        for kind in INTEGERS:
            for size in SIZES if kind in ("u8", "i32") else [257]:
                a, b = pair_samples(kind, size, rng)
                out = wrap(kind, [function(int(x), int(y)) for x, y in zip(a.values, b.values)])
                cases.add(name, [a, b], Exact(kind, out),
                          everywhere=size == 257 and kind in ("u8", "i32", "i16", "u64", "i64"))
    for kind in INTEGERS:
        width = BITS[kind]
        a = samples(kind, 257, rng)
        # Amounts beyond the width, and negative ones, leave nothing (or the sign, to the right).
        by = Array(kind, rng.integers(-3 if kind in SIGNED else 0, width + 3, size=257))
        everywhere = kind in ("u8", "i32", "i16", "u64", "i64")
        far = (by.values < 0) | (by.values >= width)
        left = wrap(kind, [0 if f else int(x) << int(s) for x, s, f in zip(a.values, by.values, far)])
        right = wrap(kind, [int(x) >> (width if f else int(s)) for x, s, f in zip(a.values, by.values, far)])
        cases.add("left_shift", [a, by], Exact(kind, left), everywhere)
        cases.add("right_shift", [a, by], Exact(kind, right), everywhere)
        exponent = Array(kind, rng.integers(-3 if kind in SIGNED else 0, 9, size=257))
        powers = wrap(kind, [integer_power(int(x), int(n)) for x, n in zip(a.values, exponent.values)])
        cases.add("pow", [a, exponent], Exact(kind, powers), everywhere)
        a, b = pair_samples(kind, 257, rng)
        x, y = Array("f32", a.values).wide(), Array("f32", b.values).wide()
        cases.add("divide", [a, b], Near("f32", x / y), everywhere)
        cases.add("atan2", [a, b], Near("f32", *of_two(mp.atan2, np.arctan2)(x, y)))
        cases.add("hypot", [a, b], Near("f32", *of_two(mp.hypot, np.hypot)(x, y)))


def add_floats(cases, rng):
    for name, function in FLOAT.items():
        for kind in FLOATS:
            for size in SIZES if kind in ("f32", "f64") else [257]:
                a, b = pair_samples(kind, size, rng, "positive" if name == "pow" else "any")
                high, low = function(a.wide(), b.wide())
                cases.add(name, [a, b], Near(kind, high, low),
                          everywhere=size == 257 and kind in ("f32", "f16", "bf16"))
    for name, function in (("minimum", minimum), ("maximum", maximum)):
        for kind in FLOATS:
            a, b = pair_samples(kind, 257, rng)
            cases.add(name, [a, b], Near(kind, function(a.wide(), b.wide()), ulp=0, zero_signs=False),
                      everywhere=True)


def add_complex(cases, rng):
    for kind in COMPLEX:
        a, b = pair_samples(kind, 257, rng)
        b = Array(kind, np.where(b.values == 0, 1 - 1j, b.values))
        x, y = a.wide(), b.wide()
        parts = np.abs(x.real * y.real) + np.abs(x.imag * y.imag) + np.abs(x.real * y.imag) + np.abs(x.imag * y.real)
        epsilon = EPSILON[kind]
        cases.add("add", [a, b], Near(kind, x + y, ulp=1, zero_signs=False), everywhere=True)
        cases.add("subtract", [a, b], Near(kind, x - y, ulp=1, zero_signs=False))
        cases.add("multiply", [a, b], Near(kind, x * y, slack=3 * epsilon * parts, ulp=1, zero_signs=False), True)
        cases.add("divide", [a, b], Near(kind, x / y, slack=8 * epsilon * parts / np.abs(y) ** 2, ulp=2,
                                         zero_signs=False), everywhere=True)
        a = Array(kind, np.where(a.values == 0, 1 + 1j, a.values))
        x = a.wide()
        powers = [mp.power(mp.mpc(complex(u)), mp.mpc(complex(v))) for u, v in zip(x, y)]
        high = np.array([complex(p) for p in powers])
        # exp(b log a) loses what its argument has in units.
        units = 8 + 8 * np.abs(y) * (1 + np.abs(np.log(x)))
        cases.add("pow", [a, b], Near(kind, high, slack=units * epsilon * np.abs(high), ulp=4, zero_signs=False))
        same = Array(kind, np.where(rng.random(257) < 0.5, a.values, b.values))
        for name in ("equal", "not_equal"):
            cases.add(name, [a, same], Exact("u8", COMPARE[name](a.values, same.values)), everywhere=kind == "c64")
        for name, function in LOGICAL.items():
            zeros = Array(kind, np.where(rng.random(257) < 0.3, 0, a.values))
            cases.add(name, [zeros, same], Exact("u8", function(zeros.values, same.values)))


def add_comparisons(cases, rng):
    for kind in REALS:
        for size in SIZES if kind == "f32" else [257]:
            a, b = pair_samples(kind, size, rng)
            everywhere = size == 257 and kind in ("f32", "f16", "u8", "i64", "u64")
            for name, function in (COMPARE | LOGICAL).items():
                cases.add(name, [a, b], Exact("u8", function(a.values, b.values)), everywhere)
    for kind in REALS:
        a, b = samples(kind, 257, rng), Array(kind, rng.permutation(samples(kind, 257, rng).values))
        whole = "c128" if kind == "f64" else "c64"
        out = np.zeros(257, NUMPY[whole])
        out.real, out.imag = a.values, b.values
        cases.add("complex", [a, b], Exact(whole, out), everywhere=kind == "f32")


def add_three(cases, rng):
    for kind in TYPES:
        for size in SIZES if kind in ("f32", "u8") else [257]:
            p = Array("u8", rng.integers(0, 3, size=size))
            a, b = pair_samples(kind, size, rng)
            cases.add("select", [p, a, b], Exact(kind, np.where(p.values != 0, a.values, b.values)),
                      everywhere=size == 257)
    for kind in REALS:
        x = samples(kind, 257, rng)
        low, high = (Array(kind, 2), Array(kind, 11)) if kind in INTEGERS else (Array(kind, -0.75), Array(kind, 2.5))
        wide = x.wide() if kind in FLOATS else x.values
        out = np.clip(wide, low.values, high.values)
        cases.add("clip", [x, low, high], Exact(kind, np.where(np.isnan(wide), wide, out) if kind in FLOATS else out),
                  everywhere=kind in ("f32", "u8", "bf16"))
    for kind in ("f32", "i64", "u8"):  # predicates of other types
        p = Array(kind, rng.integers(0, 2, size=31))
        a, b = pair_samples("f32", 31, rng)
        cases.add("select", [p, a, b], Exact("f32", np.where(p.values != 0, a.values, b.values)))


def convert(x, kind):
    """as_type: to integers toward zero and saturating, NaN gives 0; between integers modulo; else rounded."""
    values = x.values
    if x.kind in COMPLEX and kind not in COMPLEX:
        values = values.real
    if kind in INTEGERS:
        if x.kind in INTEGERS:
            return Exact(kind, wrap(kind, values))
        info = np.iinfo(NUMPY[kind])
        whole = [0 if np.isnan(v) else info.max if v == np.inf else info.min if v == -np.inf else int(v)
                 for v in values.astype(np.float64)]
        return Exact(kind, np.array([min(max(n, info.min), info.max) for n in whole], NUMPY[kind]))
    if x.kind in INTEGERS:
        high = values.astype(np.float64)
        low = np.array([float(int(v) - int(h)) for v, h in zip(values, high)])
        return Near(kind, high, low, ulp=0, zero_signs=False)
    return Near(kind, values.astype(np.complex128 if kind in COMPLEX else np.float64), ulp=0)


def add_casts(cases, rng):
    for source, target in itertools.product(TYPES, TYPES):
        x = complex_samples(source, 257, rng) if source in COMPLEX else samples(source, 257, rng)
        cases.add("as_type", [x], convert(x, target), everywhere="f32" in (source, target), type=target)
        if BITS[source] == BITS[target] and source not in COMPLEX and target not in COMPLEX:
            out = np.frombuffer(x.bytes(), NUMPY[target] if target != "bf16" else np.uint16)
            if target == "bf16":
                out = (out.astype(np.uint32) << 16).view(np.float32)
            # The bits of a NaN are not promised.
            if source in ("f16", "bf16", "f32", "f64") and (target in INTEGERS or source != target):
                out = np.where(np.isnan(x.values), 0, out)
                x = Array(source, np.where(np.isnan(x.values), 0, x.values))
            cases.add("bitcast", [x], Exact(target, out), everywhere=source in ("f32", "f16", "u8"), type=target)


def add_promotions(cases, rng):
    for a, b in itertools.product(TYPES, TYPES):
        kind = promote(a, b)
        x, y = Array(a, [3, 1, 120]), Array(b, [2, 5, 100])
        if kind in INTEGERS:
            out = Exact(kind, wrap(kind, [int(u) + int(v) for u, v in zip(x.values, y.values)]))
        else:
            out = Near(kind, x.wide() + y.wide(), ulp=0, zero_signs=False)
        cases.add("add", [x, y], out)
    for left, right in [((3, 1, 5), (4, 1)), ((), (7,)), ((2, 3), (3,)), ((1,), (0,)), ((4, 1, 1), (1, 3, 2)),
                        ((17, 1), (1, 16)), ((1, 1, 1), ()), ((0, 3), (1, 1))]:
        x, y = Array("f32", rng.normal(size=left)), Array("f32", rng.normal(size=right))
        cases.add("multiply", [x, y], Near("f32", x.wide() * y.wide(), ulp=0), everywhere=True)
        cases.add("less", [x, y], Exact("u8", x.values < y.values), everywhere=True)
        p = Array("u8", rng.integers(0, 2, size=right))
        cases.add("select", [p, x, y], Exact("f32", np.where(p.values, x.values, y.values)))


def add_pairs(cases, rng):
    with np.errstate(all="ignore"):
        add_integers(cases, rng)
        add_floats(cases, rng)
        add_complex(cases, rng)
        add_comparisons(cases, rng)
        add_three(cases, rng)
        add_casts(cases, rng)
        add_promotions(cases, rng)
