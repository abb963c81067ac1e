"""Cases for searchsorted, bincount, histogram, interpolate and resize_linear, against NumPy's."""
import math

import numpy as np

from reductions import modest, wide_integer
from values import (COMPLEX, EPSILON, FLOATS, INTEGERS, REALS, UNSIGNED, Array, Exact, Near, compute_type, float_of,
                    promote)


def ascending(kind, count, rng, few=False):
    """Numbers in order; few: with many that are equal."""
    if kind in INTEGERS:
        values = rng.integers(0, 5 if few else 100, size=count)
    else:
        values = rng.integers(-2, 3, size=count) if few else rng.normal(size=count)
    return Array(kind, np.sort(Array(kind, values).values))


def add_search(cases, sorted_row, values, everywhere):
    for side in ("left", "right"):
        result = np.searchsorted(sorted_row.values, values.values, side=side)
        cases.add("searchsorted", [sorted_row, values], Exact("i32", result), everywhere, side=side)


def add_searches(cases, rng):
    for kind in REALS:
        for few in (False, True):
            row = ascending(kind, 11, rng, few)
            mixed = np.concatenate([row.values, modest(kind, (9,), rng).values])
            add_search(cases, row, Array(kind, mixed), kind in ("f32", "u8"))
    for count in (0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000):
        row = ascending("f32", count, rng, few=count % 2 == 1)
        edges = np.concatenate([row.values, [np.inf, -np.inf, np.nan, 0.0, -0.0], rng.normal(size=6)])
        add_search(cases, row, Array("f32", edges), count < 10)
    for kind in FLOATS:
        # NaN last, infinities in their places, all equal, and nothing but NaN.
        for numbers in ([-np.inf, -1, 0, 0, 2, np.inf, np.nan, np.nan], [np.nan] * 5, [1.0] * 9, [np.inf] * 4,
                        [-np.inf, np.inf], [-0.0, 0.0, 0.0]):
            wanted = Array(kind, [-np.inf, -5, -0.0, 0.0, 1, 1.5, 2, np.inf, np.nan])
            add_search(cases, Array(kind, numbers), wanted, kind == "f32")
    add_search(cases, ascending("f32", 6, rng), modest("f32", (2, 3, 4), rng), True)
    add_search(cases, ascending("f32", 6, rng), modest("f32", (), rng), False)
    add_search(cases, ascending("f32", 6, rng), modest("f32", (0,), rng), False)
    add_search(cases, ascending("i32", 30, rng), modest("f32", (40,), rng), False)
    # A row for each row of values.
    rows = Array("f32", np.sort(rng.normal(size=(2, 3, 9)), axis=-1))
    values = modest("f32", (2, 3, 4), rng)
    for side in ("left", "right"):
        result = np.zeros((2, 3, 4))
        for at in np.ndindex(2, 3):
            result[at] = np.searchsorted(rows.values[at], values.values[at], side=side)
        cases.add("searchsorted", [rows, values], Exact("i32", result), True, side=side)


def total(x, length, weights):
    inside = (x >= 0) & (x < length)
    return np.bincount(x[inside].astype(np.int64), None if weights is None else weights[inside], minlength=length)


def add_counts(cases, rng):
    for kind in INTEGERS:
        x = Array(kind, rng.integers(0 if kind in UNSIGNED else -3, 12, size=(40,)))
        cases.add("bincount", [x], Exact("i32", total(x.values, 9, None)), kind in ("i32", "u8"), length=9)
    for shape, length in [((0,), 4), ((1,), 1), ((5,), 0), ((3, 7), 5), ((), 3), ((1000,), 3), ((50,), 1000)]:
        x = Array("i64", rng.integers(-1, 6, size=shape))
        cases.add("bincount", [x], Exact("i32", total(x.values.reshape(-1), length, None)), np.prod(shape) < 100, length=length)
    x = Array("u8", np.full((300,), 255))
    cases.add("bincount", [x], Exact("i32", total(x.values, 256, None)), True, length=256)
    cases.add("bincount", [x], Exact("i32", np.zeros(255)), length=255)
    x = Array("u64", np.array([2**63, 2**64 - 1, 2**32 + 1, 1, 0], np.uint64))
    cases.add("bincount", [x], Exact("i32", [1, 1]), True, length=2)
    for kind in FLOATS + ["i8", "u16", "i64"]:
        x, w = Array("i32", rng.integers(-2, 7, size=(60,))), modest(kind, (60,), rng)
        result = total(x.values, 5, w.wide().astype(np.float64))
        if kind in INTEGERS:
            cases.add("bincount", [x, w], Exact(wide_integer(kind), result), length=5)
        else:
            slack = 16 * EPSILON[compute_type(kind)] * total(x.values, 5, np.abs(w.wide()))
            cases.add("bincount", [x, w], Near(kind, result, slack=slack, ulp=1, zero_signs=False), kind == "f32", length=5)
    w = Array("f32", [1.0, np.nan, 2.0, np.inf])  # not a number where it does not count
    cases.add("bincount", [Array("i32", [0, -1, 1, 9]), w], Exact("f32", [1.0, 2.0]), True, length=2)


def add_histogram(cases, x, edges, everywhere, weights=None):
    wide, wide_edges = x.values.astype(np.float64).reshape(-1), edges.values.astype(np.float64)
    wide = wide[~np.isnan(wide)] if weights is None else wide
    flat = None if weights is None else weights.wide().reshape(-1)
    with np.errstate(all="ignore"):
        result, _ = np.histogram(wide, wide_edges, weights=flat)
    if weights is None:
        cases.add("histogram", [x, edges], Exact("i32", result), everywhere)
        return
    # NumPy's sums are differences of running ones, with the error of the whole.
    inside = [(wide >= low) & ((wide < high) | ((wide == high) & (i == wide_edges.size - 2)))
              for i, (low, high) in enumerate(zip(wide_edges[:-1], wide_edges[1:]))]
    result = np.asarray([math.fsum(flat[mask]) for mask in inside])
    slack = 16 * EPSILON[compute_type(weights.kind)] * np.histogram(wide, wide_edges, weights=np.abs(flat))[0]
    cases.add("histogram", [x, edges, weights], Near(weights.kind, result, slack=slack, ulp=1, zero_signs=False), everywhere)


def add_histograms(cases, rng):
    for kind in REALS:
        x, edges = modest(kind, (50,), rng), ascending(promote(kind, "f32"), 7, rng)
        add_histogram(cases, x, edges, kind == "f32")
        if kind in FLOATS:
            add_histogram(cases, x, edges, kind == "f32", modest(kind, (50,), rng))
    for edges in ([0.0, 1.0], [0, 1, 1, 2], [0, 1, 1], [1, 1], [-np.inf, 0, np.inf], [0, 0, 0, 1, 1, 1], [-1, -0.0, 0.0, 1]):
        x = Array("f32", [0, -0.0, 0.5, 1, 1, 2, -1, 3, np.inf, -np.inf, np.nan, np.nextafter(np.float32(1), np.float32(2))])
        add_histogram(cases, x, Array("f32", edges), True)
    add_histogram(cases, modest("f32", (3, 4, 5), rng), ascending("f32", 4, rng), True)
    add_histogram(cases, modest("f32", (0,), rng), ascending("f32", 4, rng), False)
    add_histogram(cases, Array("f32", np.full(200, 0.25)), Array("f32", np.linspace(0, 1, 9)), True)
    # Edges from a range; those of eighths are exact.
    x = np.concatenate([rng.integers(-3, 20, size=40) / 16, rng.random(40), [1.0, 0.0, np.nan, np.inf, -np.inf]])
    for kind in ("f32", "f64", "f16"):
        numbers = Array(kind, x)
        finite = numbers.wide()[np.isfinite(numbers.wide())]
        result, edges = np.histogram(finite, 8, (0, 1))
        cases.add("histogram", [numbers], Exact("i32", result), kind == "f32", bins=8, low=0.0, high=1.0)
        inside = result / np.diff(edges) / result.sum()
        cases.add("histogram", [numbers], Near("f64" if kind == "f64" else "f32", inside, ulp=4), False, bins=8, low=0.0,
                  high=1.0, density=True)
    for kind in ("i32", "u8", "i64"):
        x = modest(kind, (100,), rng)
        result, _ = np.histogram(x.values, 10, (0, 100))
        cases.add("histogram", [x], Exact("i32", result), False, bins=10, low=0.0, high=100.0)
    x = Array("f32", [2.5, 3.0, 3.5, 3.6])
    cases.add("histogram", [x], Exact("i32", np.histogram(x.values, 2, (3.0, 3.0))[0]), bins=2, low=3.0, high=3.0)
    cases.add("histogram_edges", [], Near("f32", np.linspace(-1, 3, 7), ulp=2, slack=1e-7), True, bins=6, low=-1.0, high=3.0)
    cases.add("histogram_edges", [], Near("f64", np.linspace(1.5, 2.5, 4), ulp=2), bins=3, low=2.0, high=2.0, type="f64")


def add_line(cases, x, places, values, everywhere, **ends):
    out = promote(promote(float_of(x.kind), places.kind), values.kind)
    wide_values = values.values.astype(np.complex128 if values.kind in COMPLEX else np.float64)
    with np.errstate(all="ignore"):
        result = np.asarray(np.interp(x.values.astype(np.float64), places.values.astype(np.float64), wide_values, **ends))
        result = np.where(np.isnan(x.values), np.nan, result)  # also where there is one place
        widths = np.diff(places.values.astype(np.float64))
        steep = np.max(np.abs(np.diff(wide_values)) / np.where(widths > 0, widths, 1), initial=0)
    reach = np.max(np.abs(places.wide()[np.isfinite(places.wide())]), initial=1)
    top = np.max(np.abs(wide_values[np.isfinite(wide_values)]), initial=1)
    slack = 8 * EPSILON[compute_type(out)] * (top + (steep if np.isfinite(steep) else 0) * reach)
    cases.add("interpolate", [x, places, values], Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere, **ends)


def add_lines(cases, rng):
    for kind in FLOATS + COMPLEX + ["i32"]:
        real = {"c64": "f32", "c128": "f64"}.get(kind, kind)
        places = Array(real, np.arange(8) * 2 - 7)
        x = Array(real, np.concatenate([places.values, rng.integers(-10, 10, size=20) / (1 if kind == "i32" else 4)]))
        add_line(cases, x, places, modest(kind, (8,), rng), kind in ("f32", "f16"))
        add_line(cases, x, places, modest(kind, (8,), rng), False, left=-3.0, right=4.0)
    x = Array("f32", [-np.inf, np.inf, np.nan, 0, 1, 2, 3, -1, 0.5, 1.5, 2.5])
    for places in ([0.0], [0, 1], [0, 1, 1, 2], [1, 1], [1, 1, 1], [0, 1, np.inf], [-np.inf, 0, 1]):
        for values in (np.arange(len(places)), np.full(len(places), 2.0)):
            add_line(cases, x, Array("f32", places), Array("f32", values), True)
    for values in ([0, np.inf, 1, 2], [np.inf, np.inf, 0, 1], [np.nan, 1, 2, 3], [-np.inf, 0, np.inf, np.inf]):
        add_line(cases, x, Array("f32", [0, 1, 2, 3]), Array("f32", values), True)
    add_line(cases, modest("f32", (2, 3, 4), rng), ascending("f32", 6, rng), modest("f32", (6,), rng), True)
    add_line(cases, modest("f32", (0,), rng), ascending("f32", 6, rng), modest("f32", (6,), rng), False)
    add_line(cases, modest("f32", (), rng), ascending("f32", 6, rng), modest("f32", (6,), rng), False)
    add_line(cases, modest("f64", (300,), rng), ascending("f64", 257, rng), modest("f64", (257,), rng), False)


def resized(x, axis, length, align_ends):
    count = x.shape[axis]
    if length == count:
        return x
    i = np.arange(length)
    at = i * (count - 1) / max(length - 1, 1) if align_ends else (i + 0.5) * count / length - 0.5
    at = np.clip(at, 0, count - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, count - 1)
    shape = [-1 if a == axis else 1 for a in range(x.ndim)]
    weight = (at - low).reshape(shape)
    return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight


def add_resizes(cases, rng):
    for kind in FLOATS + COMPLEX + ["u8"]:
        for shape, axes, lengths in [((5,), [0], [9]), ((9,), [0], [4]), ((3, 4), [0, 1], [7, 2]), ((3, 4), [-1], [8]),
                                     ((2, 1, 3), [1], [4]), ((4,), [0], [1]), ((4,), [0], [0]), ((4,), [0], [4]),
                                     ((1,), [0], [3])]:
            for align_ends in (False, True):
                x = modest(kind, shape, rng)
                result = x.values.astype(np.complex128 if kind in COMPLEX else np.float64)
                for axis, length in zip(axes, lengths):
                    result = resized(result, axis % len(shape), length, align_ends)
                out = float_of(kind)
                slack = 8 * EPSILON[compute_type(out)] * np.max(np.abs(x.wide().astype(np.complex128)))
                cases.add("resize_linear", [x], Near(out, result, slack=slack, ulp=1, zero_signs=False),
                          kind == "f32" and not align_ends, axes=axes, lengths=lengths, align_ends=align_ends)


def add_tables(cases, rng):
    add_searches(cases, rng)
    add_counts(cases, rng)
    add_histograms(cases, rng)
    add_lines(cases, rng)
    add_resizes(cases, rng)
