"""Cases for windows over tensors, by plain loops over the windows of a padded array."""
import itertools

import numpy as np

from reductions import modest
from values import COMPLEX, EPSILON, FLOATS, INTEGERS, NUMPY, REALS, TYPES, Array, Exact, Near, compute_type, float_of


class Plan:
    """Where windows lie: one number an axis of each."""

    def __init__(self, shape, window, strides=None, padding=None, dilations=None, same=False):
        ones = [1] * len(shape)
        self.shape, self.window = shape, list(window)
        self.strides, self.dilations = strides or ones, dilations or ones
        self.attributes = {"window": self.window}
        if strides:
            self.attributes["strides"] = strides
        if dilations:
            self.attributes["dilations"] = dilations
        reach = [(w - 1) * d + 1 for w, d in zip(self.window, self.dilations)]
        self.padding = padding or [[0, 0] for _ in shape]
        if padding:
            self.attributes["padding"] = padding
        if same:
            self.padding = [[(r - 1) // 2, r // 2] for r in reach]
            self.attributes["same"] = True
        self.results = [(n + low + high - r) // s + 1
                        for n, (low, high), r, s in zip(shape, self.padding, reach, self.strides)]

    def places(self, result):
        """Coordinates in x of the window's elements, in row-major order; some lie outside."""
        return [tuple(o * s + k * d - low for o, s, k, d, (low, _) in
                      zip(result, self.strides, ks, self.dilations, self.padding))
                for ks in itertools.product(*map(range, self.window))]

    def inside(self, place):
        return all(0 <= p < n for p, n in zip(place, self.shape))

    def seen(self, values, fill):
        """[results..., elements of a window]"""
        out = np.full(self.results + [int(np.prod(self.window, dtype=int))], fill, values.dtype)
        for result in itertools.product(*map(range, self.results)):
            for k, place in enumerate(self.places(result)):
                if self.inside(place):
                    out[result + (k,)] = values[place]
        return out


def plans(rng):
    """Shapes with all kinds of options; the first are the smallest."""
    yield Plan((1,), (1,))
    yield Plan((7,), (3,))
    yield Plan((7,), (3,), [2], [[1, 1]])
    yield Plan((5,), (2,), padding=[[-1, 3]])
    yield Plan((13,), (3,), [2], [[4, -2]], [3])
    yield Plan((4, 6), (2, 3), [2, 3])
    yield Plan((4, 6), (2, 3), same=True)
    yield Plan((3, 1, 5), (1, 1, 2), [2, 1, 1], [[0, 0], [1, 2], [0, 1]])
    yield Plan((2, 7, 5), (1, 3, 3), [1, 2, 2], same=True)
    yield Plan((2, 3, 5, 7), (1, 2, 3, 2), [1, 1, 2, 3], [[0, 0], [-1, 1], [2, 0], [0, 3]], [1, 1, 2, 2])
    yield Plan((0, 4), (1, 2))
    yield Plan((0,), (2,), padding=[[2, 3]])
    yield Plan((3, 2), (3, 1), padding=[[4, 4], [0, 0]])
    for _ in range(6):
        rank = int(rng.integers(1, 4))
        shape = tuple(int(n) for n in rng.integers(3, 9, size=rank))
        window = [int(w) for w in rng.integers(1, 4, size=rank)]
        padding = [[int(rng.integers(-1, 3)), int(rng.integers(0, 4)) + 3] for _ in shape]
        yield Plan(shape, window, [int(s) for s in rng.integers(1, 4, size=rank)], padding,
                   [int(d) for d in rng.integers(1, 3, size=rank)])


def long_plans():
    """Windows of more elements than are combined where they are read, with little and with much overlap."""
    yield Plan((3, 40), (1, 11))
    yield Plan((97,), (64,))
    yield Plan((113,), (67,), [1], [[30, 36]])
    yield Plan((60,), (20,), [20])
    yield Plan((61, 3), (19, 2), [2, 1], [[5, 2], [1, 0]], [2, 1])
    yield Plan((12, 13), (9, 5), same=True)


def windowed(op, x, plan):
    """The result of window_sum and its like."""
    kind = x.kind
    if op in ("window_max", "window_min"):
        fill = (np.iinfo(NUMPY[kind]).min if op == "window_max" else np.iinfo(NUMPY[kind]).max) if kind in INTEGERS \
            else (-np.inf if op == "window_max" else np.inf)
        seen = plan.seen(x.values, fill)
        return Exact(kind, np.max(seen, -1) if op == "window_max" else np.min(seen, -1))
    numpys = np.sum if op == "window_sum" else np.prod
    seen = plan.seen(x.wide(), 0 if op == "window_sum" else 1)
    if kind in INTEGERS:
        return Exact(kind, numpys(seen, -1, dtype=NUMPY[kind]))
    high = numpys(seen, -1)
    size = np.sum(np.abs(seen), -1) if op == "window_sum" else np.abs(high)
    count = seen.shape[-1]
    slack = (3 if kind in COMPLEX else 1) * (4 + count) * EPSILON[compute_type(kind)] * size
    return Near(kind, high, slack=slack, ulp=1, zero_signs=False)


def numbers_for(op, kind, shape, rng):
    if op == "window_product" and kind not in INTEGERS:
        return Array(kind, np.exp(rng.normal(size=shape) / 4))
    return modest(kind, shape, rng)


def scattered(op, x, source, initial, plan):
    """The last of equal elements is chosen, a NaN before all others; padding never."""
    out = np.full(plan.shape, initial.wide(), np.result_type(source.wide(), initial.wide()))
    for result in itertools.product(*map(range, plan.results)):
        best = None
        for place in filter(plan.inside, plan.places(result)):
            a, b = x.values[place], None if best is None else x.values[best]
            better = best is None or (np.isnan(a) if np.isnan(a) or np.isnan(b) else
                                      a >= b if op == "window_scatter_max" else a <= b)
            if better:
                best = place
        if best is not None:
            out[best] += source.wide()[result]
    return out


def add_scatters(cases, plan, rng, kinds):
    for op in ("window_scatter_max", "window_scatter_min"):
        for kind in kinds:
            # Few different numbers: many are equal.
            x = Array(kind, rng.integers(0, 4, size=plan.shape))
            if kind in FLOATS and x.values.size > 3:
                x.values.flat[1], x.values.flat[-1] = -np.inf, np.inf
                if kind == "f32":
                    x.values.flat[x.values.size // 2] = np.nan
            source, initial = Array(kind, rng.integers(0, 9, size=plan.results)), Array(kind, 2)
            cases.add(op, [x, source, initial], Exact(kind, scattered(op, x, source, initial, plan)), kind == "f32",
                      **plan.attributes)


def add_folds(cases, plan, rng):
    x, initial = Array("i64", rng.integers(-9, 9, size=plan.shape)), Array("i64", 2)
    seen = plan.seen(x.values, 2)
    out = np.full(plan.results, 2, np.int64)
    with np.errstate(all="ignore"):
        for k in range(seen.shape[-1]):
            out = out * 3 - seen[..., k]
    cases.add("window_reduce", [x, initial], Exact("i64", out), len(plan.shape) < 3, combine="horner", **plan.attributes)


def mean_of(x, plan, counts=None):
    seen = plan.seen(x.wide(), 0)
    size = np.sum(np.abs(seen), -1)
    counts = seen.shape[-1] if counts is None else counts
    kind = float_of(x.kind)
    return Near(kind, np.sum(seen, -1) / counts, slack=(4 + seen.shape[-1]) * EPSILON[compute_type(kind)] * size / counts,
                ulp=1, zero_signs=False)


def add_pools(cases, rng):
    for spatial, window, strides, padding in [((8, 8), (2, 2), None, None), ((7, 9), (3, 3), [2, 2], [[1, 1], [1, 1]]),
                                              ((11,), (4,), [1], [[2, 1]]), ((4, 5, 6), (2, 2, 2), [1, 2, 3], None)]:
        shape = (2, 3) + spatial
        full = [[0, 0], [0, 0]] + (padding or [[0, 0] for _ in spatial])
        plan = Plan(shape, (1, 1) + window, [1, 1] + (strides or list(window)), full)
        attributes = {"window": list(window)} | ({"strides": strides} if strides else {}) | (
            {"padding": padding} if padding else {})
        for kind in ("f32", "i32"):
            x = modest(kind, shape, rng)
            cases.add("max_pool", [x], windowed("window_max", x, plan), kind == "f32", **attributes)
            cases.add("average_pool", [x], mean_of(x, plan), kind == "f32", **attributes)
            counts = np.sum(plan.seen(np.ones(shape), 0), -1)
            cases.add("average_pool", [x], mean_of(x, plan, counts), kind == "f32", count_padding=False, **attributes)
            cases.add("window_mean", [x], mean_of(x, plan), kind == "f32", **plan.attributes)


def add_windows(cases, rng):
    ops = ("window_sum", "window_product", "window_max", "window_min")
    for plan in plans(rng):
        for kind in ("f32", "c64"):
            x = modest(kind, plan.shape, rng)
            fill = Array(kind, 7)
            shown = plan.seen(x.values, fill.values).reshape(list(plan.results) + plan.window)
            cases.add("windows", [x, fill], Exact(kind, shown), kind == "f32", **plan.attributes)
        add_scatters(cases, plan, rng, ("f32",))
        add_folds(cases, plan, rng)
        for op in ops:
            for kind in ("f32",):
                x = numbers_for(op, kind, plan.shape, rng)
                cases.add(op, [x], windowed(op, x, plan), kind == "f32", **plan.attributes)
    for number, plan in enumerate((Plan((5, 7), (2, 3), [2, 1], [[1, 0], [-1, 2]]), *long_plans())):
        for op in ops:
            # Every case is a kernel or more to compile: all types of some windows, some types of all.
            kinds = TYPES if op in ("window_sum", "window_product") else REALS
            for kind in kinds if number in (0, 3) else ("f32", "i16", "bf16"):
                x = numbers_for(op, kind, plan.shape, rng)
                cases.add(op, [x], windowed(op, x, plan), kind == "f32", **plan.attributes)
        add_scatters(cases, plan, rng, ("f32", "i32", "u8", "f16") if number == 0 else ("f32",))
        add_folds(cases, plan, rng)
    for op in ("window_max", "window_min"):
        for kind in ("f32", "f16"):
            x = modest(kind, (9, 14), rng)
            x.values[4, 4], x.values[0, 0], x.values[8, 13] = np.nan, np.inf, -np.inf
            for plan in (Plan(x.shape, (2, 2)), Plan(x.shape, (3, 3), [2, 2], same=True), Plan(x.shape, (1, 12))):
                cases.add(op, [x], windowed(op, x, plan), True, **plan.attributes)
    add_pools(cases, rng)
