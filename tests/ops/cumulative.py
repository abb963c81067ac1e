"""Cases for running results along an axis."""
import numpy as np

from reductions import modest
from values import COMPLEX, EPSILON, FLOATS, INTEGERS, NUMPY, TYPES, Array, Exact, Near, compute_type

OPS = ("cumulative_sum", "cumulative_product", "cumulative_min", "cumulative_max")
NUMPYS = dict(zip(OPS, (np.add, np.multiply, np.minimum, np.maximum)))


def running(op, values, axis, reverse, dtype=None):
    turned = np.flip(values, axis) if reverse else values
    with np.errstate(all="ignore"):
        result = NUMPYS[op].accumulate(turned, axis=axis, dtype=dtype)
    return np.flip(result, axis) if reverse else result


def expected(op, x, axis, reverse):
    kind = x.kind
    if kind in INTEGERS:
        return Exact(kind, running(op, x.values, axis, reverse, NUMPY[kind]))
    if op in ("cumulative_min", "cumulative_max"):
        return Exact(kind, running(op, x.values, axis, reverse))
    high = running(op, x.wide(), axis, reverse)
    twice = 3 if kind in COMPLEX else 1
    count = x.shape[axis] if x.shape[axis] else 1
    if op == "cumulative_sum":
        slack = twice * (4 + np.sqrt(count)) * EPSILON[compute_type(kind)] * running(op, np.abs(x.wide()), axis, reverse)
    else:
        slack = twice * (4 + count) * EPSILON[compute_type(kind)] * np.abs(high)
    return Near(kind, high, slack=slack, ulp=1, zero_signs=False)


def numbers_for(op, kind, shape, rng):
    """Numbers whose running results stay inside of the type, whatever the length."""
    if op != "cumulative_product" or kind in INTEGERS:
        return modest(kind, shape, rng)
    near_one = np.exp(rng.normal(size=shape) / np.sqrt(max(1, np.prod(shape))))
    if kind in COMPLEX:
        near_one = near_one * np.exp(1j * rng.normal(size=shape))
    return Array(kind, near_one)


def add_cumulative(cases, rng):
    for op in OPS:
        for kind in TYPES:
            if kind in COMPLEX and op in ("cumulative_min", "cumulative_max"):
                continue
            for shape, axis in [((7,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), -1), ((0,), 0),
                                ((3, 0), 0), ((0, 3), 0), ((1,), 0), ((5, 1), 1)]:
                # Every case is a kernel to compile: both directions of one type, one of the others.
                for reverse in (False, True) if kind == "f32" else (bool(rng.integers(2)),):
                    x = numbers_for(op, kind, shape, rng)
                    cases.add(op, [x], expected(op, x, axis, reverse), kind in ("f32", "f16") and len(shape) < 3,
                              axis=axis, reverse=reverse)
        for kind in ("f32", "f64", "bf16", "i32", "u8", "c64"):
            if kind in COMPLEX and op in ("cumulative_min", "cumulative_max"):
                continue
            # Blocks of every device end around these; the longest are cut twice.
            for shape, axis in [((63,), 0), ((64,), 0), ((65,), 0), ((1023,), 0), ((1025,), 0), ((4097, 2), 0),
                                ((3, 2049), 1), ((20011,), 0), ((2, 5003, 3), 1), ((3, 40, 70), 1), ((9, 4099), 0),
                                ((3, 9001), 1), ((2, 8192), 1), ((71, 60), 1), ((131, 33), 1), ((1100, 5), 1),
                                ((9, 257), 1)]:
                for reverse in (False, True) if shape[-1] > 5003 else (bool(rng.integers(2)),):
                    x = numbers_for(op, kind, shape, rng)
                    cases.add(op, [x], expected(op, x, axis, reverse), kind == "f32", axis=axis, reverse=reverse)
        if op in ("cumulative_min", "cumulative_max"):
            for kind in FLOATS:
                x = numbers_for(op, kind, (3, 70), rng)
                x.values[0, 5] = x.values[2, 69] = np.nan
                x.values[1, 3], x.values[1, 30] = np.inf, -np.inf
                for reverse in (False, True):
                    cases.add(op, [x], Exact(kind, running(op, x.values, 1, reverse)), True, axis=1, reverse=reverse)
