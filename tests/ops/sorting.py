"""Cases for sorting, against NumPy's stable sort."""
import numpy as np

from values import FLOATS, INTEGERS, NUMPY, TYPES, COMPLEX, Array, Exact, Near

DIRECTIONS = (False, True)


def stable_places(values, axis, descending):
    """NaN is the largest and all are equal; -0 is 0."""
    wide = values.astype(np.float64) if values.dtype.kind == "f" else values
    if wide.dtype.kind == "f":
        wide = np.where(np.isnan(wide), np.inf, wide) + 0.0
        order = np.lexsort((np.broadcast_to(index_along(values.shape, axis), values.shape), np.isnan(values), wide), axis=axis) \
            if not descending else None
        if descending:
            order = np.lexsort((np.broadcast_to(index_along(values.shape, axis), values.shape), ~np.isnan(values), -wide), axis=axis)
        return order
    keys = wide if not descending else ~wide
    return np.argsort(keys, axis=axis, kind="stable")


def index_along(shape, axis):
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.arange(shape[axis]).reshape(along)


def patterns(kind, shape, axis, rng):
    """Adversarial keys."""
    n = shape[axis]
    ramp = np.broadcast_to(index_along(shape, axis), shape)
    if kind in INTEGERS:
        info = np.iinfo(NUMPY[kind])
        yield rng.integers(info.min, info.max, size=shape, dtype=NUMPY[kind], endpoint=True)
        yield np.clip(rng.integers(0, 3, size=shape), info.min, info.max)
        yield np.full(shape, info.max, NUMPY[kind])
    else:
        yield rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=shape)
        special = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, -np.nan], size=shape)
        yield special
        yield np.zeros(shape)
    yield np.minimum(ramp, 100)
    yield np.minimum(n - ramp, 100)


def add_sorting(cases, rng):
    shapes = [((7,), 0), ((1,), 0), ((0,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((33,), 0), ((2, 130), 1),
              ((257, 3), 0)]
    long_ones = [((4097,), 0), ((5000, 2), 0), ((2, 3, 6001), 2), ((20011,), 0)]
    for kind in TYPES:
        if kind in COMPLEX:
            continue
        for shape, axis in shapes + (long_ones if kind in ("f32", "f64", "u8", "i16", "i64", "bf16") else []):
            is_long = shape[axis] > 1000
            for number, values in enumerate(patterns(kind, shape, axis, rng)):
                if is_long and number > 2:
                    continue
                x = Array(kind, values)
                everywhere = (kind in ("f32", "i64") and len(shape) < 3 and not is_long) or \
                    (kind == "f32" and shape == (4097,) and number < 2)
                for descending in DIRECTIONS if kind == "f32" and not is_long else (bool(rng.integers(2)),):
                    order = stable_places(x.values, axis, descending) if x.values.size else np.zeros(shape, np.int64)
                    sorted_values = np.take_along_axis(x.values, order, axis) if x.values.size else x.values
                    exact = Exact(kind, sorted_values) if kind in INTEGERS else \
                        Near(kind, sorted_values.astype(np.float64), ulp=0, zero_signs=False)
                    cases.add("sort", [x], exact, everywhere, axis=axis, descending=descending)
                    cases.add("sort", [x], exact, everywhere and number < 2, axis=axis, descending=descending, both=True)
                    cases.add("argsort", [x], Exact("i64", order.astype(np.int64)), everywhere, axis=axis,
                              descending=descending)
    for kind in ("f32", "i32", "f16"):
        for shape, k in [((9,), 3), ((4, 6), 6), ((3, 5), 0), ((2, 300), 7)]:
            x = Array(kind, next(patterns(kind, shape, len(shape) - 1, rng)))
            order = stable_places(x.values, -1, True)[..., :k]
            cases.add("top_k", [x], Exact(kind, np.take_along_axis(x.values, order, -1)), kind == "f32", k=k)
            cases.add("top_k", [x], Exact("i64", order.astype(np.int64)), kind == "f32", k=k, result="places")
    for kind in ("f32", "f64", "i32"):
        for shape, axis in [((9,), 0), ((4, 6), 1), ((4, 6), 0), ((1,), 0)]:
            x = Array(kind, np.round(rng.normal(size=shape) * 16))
            result = "f32" if kind == "i32" else kind
            cases.add("median", [x], Near(result, np.median(x.wide(), axis=axis), ulp=1), True, axis=axis)
    x = Array("f32", [1.0, np.nan, 2.0])
    cases.add("median", [x], Near("f32", np.asarray(np.nan)), True)
    for kind in ("f32", "i32", "u8", "i64"):
        for shape in ((1,), (12,), (3, 40), (0,), (500,)):
            x = Array(kind, np.round(rng.normal(size=shape) * 3 + 20))
            if kind == "f32" and x.values.size > 2:
                x.values.flat[1] = x.values.flat[2] = np.nan
            values, inverse, counts = np.unique(x.values, return_inverse=True, return_counts=True)
            n = x.values.size
            filled = np.concatenate([values, np.repeat(values[-1:], n - values.size)]).astype(values.dtype)
            cases.add("unique", [x], Exact(kind, filled), True, result="values")
            cases.add("unique", [x], Exact("i64", inverse.reshape(shape).astype(np.int64)), True, result="inverse")
            cases.add("unique", [x], Exact("i64", np.concatenate([counts, np.zeros(n - counts.size)]).astype(np.int64)),
                      True, result="counts")
            cases.add("unique", [x], Exact("i64", np.asarray(values.size, np.int64)), True, result="size")
