"""Cases for reductions, dot, factorisations and random bits."""
import itertools

import numpy as np
from scipy import linalg

from values import (BITS, COMPLEX, EPSILON, FLOATS, INTEGERS, NUMPY, REALS, SIGNED, TYPES, UNSIGNED, Array, Exact, Near,
                    complex_samples, compute_type, float_of, samples)

SUBSETS = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (-1,)]


def wide_integer(kind):
    """What integers are summed in, as in Nx: 32 bits, or 64 where they have them."""
    return ("u" if kind in UNSIGNED else "i") + ("64" if BITS[kind] == 64 else "32")


def sum_slack(x, axes, kind):
    """Errors of a sum of n terms, as a random walk of roundings: sqrt(n) and some, of the sum of sizes."""
    count = x.size / max(np.sum(np.ones(x.shape), axis=axes).size, 1)
    return (4 + np.sqrt(count)) * EPSILON[compute_type(kind)] * np.sum(np.abs(x), axis=axes)


def as_axes(axes):
    return tuple(axes) if axes else None


def modest(kind, shape, rng):
    """Finite numbers whose sums stay inside the type."""
    if kind in INTEGERS:
        return Array(kind, rng.integers(0 if kind in UNSIGNED else -100, 100, size=shape))
    if kind in COMPLEX:
        return Array(kind, rng.normal(size=shape) + 1j * rng.normal(size=shape))
    return Array(kind, rng.normal(size=shape))


def add_sums(cases, x, axes, everywhere, rng):
    kind, attributes = x.kind, {"axes": list(axes)} if axes else {}
    over = as_axes(axes)
    if kind in INTEGERS:
        out = np.sum(x.values, axis=over, dtype=NUMPY[wide_integer(kind)])
        cases.add("sum", [x], Exact(wide_integer(kind), out), everywhere, **attributes)
        out = np.prod(x.values, axis=over, dtype=NUMPY[wide_integer(kind)])
        cases.add("product", [x], Exact(wide_integer(kind), out), **attributes)
        return
    wide = x.values.astype(np.clongdouble if kind in COMPLEX else np.longdouble)
    out = np.sum(wide, axis=over)
    cases.add("sum", [x], Near(kind, out, low=out - np.asarray(out, np.complex128 if kind in COMPLEX else np.float64),
                               slack=sum_slack(x.wide(), over, kind), zero_signs=False), everywhere, **attributes)
    near_one = Array(kind, 1 + x.wide() / 32 / np.maximum(1, np.abs(x.wide())))
    out = np.prod(near_one.wide(), axis=over)
    count = x.values.size / max(out.size, 1)
    slack = (8 + count) * (4 if kind in COMPLEX else 1) * EPSILON[compute_type(kind)] * np.abs(out)
    cases.add("product", [near_one], Near(kind, out, slack=slack), **attributes)


def add_extremes(cases, x, axes, everywhere):
    kind, attributes = x.kind, {"axes": list(axes)} if axes else {}
    over = as_axes(axes)
    cases.add("reduce_max", [x], Exact(kind, np.max(x.values, axis=over)), everywhere, **attributes)
    cases.add("reduce_min", [x], Exact(kind, np.min(x.values, axis=over)), everywhere, **attributes)


def add_truths(cases, x, axes, everywhere):
    attributes = {"axes": list(axes)} if axes else {}
    over = as_axes(axes)
    cases.add("all", [x], Exact("u8", np.all(x.values != 0, axis=over)), everywhere, **attributes)
    cases.add("any", [x], Exact("u8", np.any(x.values != 0, axis=over)), everywhere, **attributes)


def arg(function, values, axis, high):
    if axis is None:
        values, axis = values.reshape(-1), 0
    if not high:
        return function(values, axis=axis)
    return values.shape[axis] - 1 - function(np.flip(values, axis), axis=axis)


def add_places(cases, x, axis, everywhere):
    for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
        for tie in ("low", "high"):
            attributes = {"tie_break": tie} | ({} if axis is None else {"axis": axis})
            cases.add(name, [x], Exact("i32", arg(function, x.values, axis, tie == "high")),
                      everywhere and tie == "low", **attributes)


def add_statistics(cases, x, axes, everywhere):
    kind, attributes = x.kind, {"axes": list(axes)} if axes else {}
    out = float_of(kind)
    over, wide = as_axes(axes), Array(out, x.values).wide()
    count = wide.size / max(np.sum(wide, axis=over).size, 1)
    epsilon = EPSILON[out]
    mean = np.mean(wide, axis=over)
    size = np.mean(np.abs(wide), axis=over)
    cases.add("mean", [x], Near(out, mean, slack=(4 + np.sqrt(count)) * epsilon * size, ulp=2, zero_signs=False),
              everywhere, **attributes)
    if kind in COMPLEX:
        return
    square = np.mean(wide**2, axis=over) + 1e-3
    cases.add("variance", [x], Near(out, np.var(wide, axis=over), slack=(16 + 4 * np.sqrt(count)) * epsilon * square,
                                    ulp=4), everywhere, **attributes)
    top = np.max(wide, axis=over, keepdims=True)
    total = np.sum(np.exp(wide - top), axis=over, keepdims=True)
    exact = np.log(total) + top
    slack = (16 + 2 * np.sqrt(count)) * epsilon * (1 + np.abs(exact))
    cases.add("logsumexp", [x], Near(out, exact.reshape(mean.shape), slack=slack.reshape(mean.shape), ulp=2), everywhere,
              **attributes)
    soft = np.exp(wide - exact)
    slack = (16 + 2 * np.sqrt(count)) * epsilon * (1 + np.abs(wide - exact))
    attributes = {"axes": list(axes)} if axes else {"axes": list(range(x.values.ndim))}
    cases.add("softmax", [x], Near(out, soft, slack=slack * soft, ulp=2), everywhere, **attributes)
    cases.add("log_softmax", [x], Near(out, wide - exact, slack=slack + 4 * epsilon * np.abs(wide), ulp=2), **attributes)


def add_reductions(cases, rng):
    for kind in TYPES:
        for axes in SUBSETS if kind in ("f32", "f64", "u8") else [(), (1,), (0, 2)]:
            everywhere = kind in ("f32", "u8", "f16") or (kind in ("i64", "c64") and axes in ((), (1,)))
            x = modest(kind, (3, 5, 7), rng)
            add_sums(cases, x, axes, everywhere, rng)
            few = Array(kind, x.values * (rng.random((3, 5, 7)) < 0.8))
            add_truths(cases, few, axes, everywhere and len(axes) == 1)
            if kind not in COMPLEX:
                ties = Array(kind, rng.integers(0, 4, size=(3, 5, 7)))
                add_extremes(cases, x, axes, everywhere)
                if len(axes) < 2:
                    add_places(cases, ties, axes[0] if axes else None, everywhere)
                add_statistics(cases, x, axes, kind == "f32")
    for size in (0, 1, 255, 256, 257):
        for kind in ("f32", "i32", "f64"):
            x = modest(kind, (size,), rng)
            add_sums(cases, x, (), kind == "f32", rng)
            add_truths(cases, x, (), False)
            if size:
                add_extremes(cases, x, (), kind == "f32")
                add_places(cases, x, None, kind == "f32")
        x = modest("f32", (size, 3), rng)
        add_sums(cases, x, (0,), False, rng)
        add_sums(cases, x, (1,), False, rng)
    for kind, shape, axes in [("f32", (1000, 37), (0,)), ("f32", (1000, 37), (1,)), ("f32", (1000, 37), ()),
                              ("f32", (3, 70000), (1,)), ("f32", (3, 70000), (0,)), ("i32", (3, 70000), (1,)),
                              ("f16", (3, 70000), (1,)), ("f64", (3, 70000), ()), ("u8", (1000, 37), (0,))]:
        x = modest(kind, shape, rng)
        add_sums(cases, x, axes, kind == "f32" and axes == (1,), rng)
        add_extremes(cases, x, axes, False)
        add_truths(cases, x, axes, False)
        add_places(cases, x, axes[0] if axes else None, False)
    # NaN anywhere in a maximum is its result; an infinity too.
    x = modest("f32", (4, 9), rng).values
    x[1, 3], x[2, 4], x[3, 0] = np.nan, np.inf, -np.inf
    x = Array("f32", x)
    add_extremes(cases, x, (1,), True)
    cases.add("sum", [x], Near("f32", np.sum(x.wide(), 1), slack=1e-5), True, axes=[1])
    x = modest("f32", (3, 5, 7), rng)
    cases.add("sum", [x], Near("f32", np.sum(x.wide(), (0, 2), keepdims=True), slack=1e-5), axes=[0, 2], keep_axes=True)
    cases.add("reduce_max", [x], Exact("f32", np.max(x.values, 1, keepdims=True)), axes=[1], keep_axes=True)
    cases.add("argmax", [x], Exact("i32", np.argmax(x.values, 1)[:, None]), axis=1, keep_axis=True)


def add_folds(cases, rng):
    """reduce with a function of the caller's; call.hpp knows these by name."""
    for axes in SUBSETS[1:]:
        for kind in ("f32", "i32"):
            x, start = modest(kind, (3, 5, 7), rng), Array(kind, 2)
            over = as_axes(axes)
            out = np.sum(x.wide(), axis=over) + 2
            slack = (8 + 105) * EPSILON["f32"] * np.sum(np.abs(x.wide()), axis=over)
            result = Exact(kind, out) if kind == "i32" else Near(kind, out, slack=slack)
            cases.add("reduce", [x, start], result, kind == "f32", axes=list(axes), combine="add")
            result = Exact(kind, np.maximum(np.max(x.values, axis=over), 2))
            cases.add("reduce", [x, start], result, axes=list(axes), combine="maximum")
    # Not associative: the order shows.
    x = Array("i64", rng.integers(-5, 5, size=(4, 6)))
    out = np.full(4, 1, np.int64)
    for k in range(6):
        out = out * 3 - x.values[:, k]
    cases.add("reduce", [x, Array("i64", 1)], Exact("i64", out), True, axes=[1], combine="horner")


def product(kind, a, b, contract_a, batch_a, contract_b, batch_b):
    letters = iter("abcdefghijkl")
    names_a = [next(letters) for _ in a.shape]
    names_b = [next(letters) for _ in b.shape]
    for i, j in zip(batch_a + contract_a, batch_b + contract_b):
        names_b[j] = names_a[i]
    out = [names_a[i] for i in batch_a] + [n for i, n in enumerate(names_a) if i not in batch_a + contract_a]
    out += [n for j, n in enumerate(names_b) if j not in batch_b + contract_b]
    formula = f"{''.join(names_a)},{''.join(names_b)}->{''.join(out)}"
    x, y = a.values, b.values
    if kind in INTEGERS:
        x, y = x.astype(NUMPY[kind]), y.astype(NUMPY[kind])
        return Exact(kind, np.einsum(formula, x, y))
    x, y = a.wide(), b.wide()
    depth = np.prod([a.shape[i] for i in contract_a]) if contract_a else 1
    sizes = np.einsum(formula, np.abs(x), np.abs(y))
    slack = (4 + np.sqrt(depth)) * (2 if kind in COMPLEX else 1) * EPSILON[compute_type(kind)] * sizes
    return Near(kind, np.einsum(formula, x, y), slack=slack, zero_signs=False)


def add_products(cases, rng):
    shapes = [((7,), (7,), [0], [], [0], []), ((3, 7), (7,), [1], [], [0], []), ((7,), (7, 5), [0], [], [0], []),
              ((3, 7), (7, 5), [1], [], [0], []), ((7, 3), (5, 7), [0], [], [1], []),
              ((17, 33), (33, 9), [1], [], [0], []), ((4, 3, 7), (4, 7, 5), [2], [0], [1], [0]),
              ((3, 4, 7), (7, 4, 5), [2], [1], [0], [1]), ((2, 3, 4, 5), (4, 3, 6), [1, 2], [], [1, 0], []),
              ((3,), (4,), [], [], [], []), ((2, 3), (4, 5), [], [], [], []), ((3, 0), (0, 4), [1], [], [0], []),
              ((0, 3), (3, 4), [1], [], [0], []), ((2, 3, 4), (2, 3, 4), [2], [0, 1], [2], [0, 1]),
              ((5, 1), (1, 6), [1], [], [0], []), ((1, 257), (257, 1), [1], [], [0], [])]
    for kind in TYPES:
        for a, b, *rest in shapes:
            x, y = modest(kind, a, rng), modest(kind, b, rng)
            names = dict(zip(("contract_a", "batch_a", "contract_b", "batch_b"), rest))
            cases.add("dot", [x, y], product(kind, x, y, *rest), kind in ("f32", "f16") and len(a) < 4, **names)
    for kind, n in (("f32", 256), ("f64", 130), ("bf16", 128), ("i32", 65), ("c64", 66)):
        x, y = modest(kind, (n - 1, n + 1), rng), modest(kind, (n + 1, n), rng)
        cases.add("dot", [x, y], product(kind, x, y, [1], [], [0], []))
        small, large = modest(kind, (n - 1, 3), rng), modest(kind, (3, n), rng)
        cases.add("matmul", [small, large], product(kind, small, large, [1], [], [0], []))
    x, y = modest("f32", (2, 1, 3, 4), rng), modest("f32", (5, 4, 6), rng)
    cases.add("matmul", [x, y], Near("f32", x.wide() @ y.wide(), slack=1e-5, ulp=1), True)
    x, y = modest("f32", (3,), rng), modest("f32", (4,), rng)
    cases.add("outer", [x, y], Near("f32", np.outer(x.wide(), y.wide()), ulp=1), True)
    x, y = modest("u8", (3, 4), rng), modest("f32", (4, 2), rng)
    cases.add("dot", [x, y], Near("f32", x.wide() @ y.wide(), slack=1e-3, ulp=1))


def add_factorisations(cases, rng):
    for kind in ("f32", "f64"):
        for batch, n in [((), 0), ((), 1), ((), 2), ((), 5), ((), 17), ((), 40), ((), 129), ((2,), 150), ((3,), 4), ((2, 2), 3), ((64,), 6)]:
            everywhere = kind == "f32" and n <= 17
            m = rng.normal(size=batch + (n, n))
            a = Array(kind, m @ np.swapaxes(m, -1, -2) + max(n, 1) * np.eye(n))
            a = Array(kind, (a.values + np.swapaxes(a.values, -1, -2)) / 2)
            lower = np.linalg.cholesky(a.wide()) if n else a.wide()
            slack = (16 + 4 * n) * EPSILON[kind] * np.sqrt(np.max(np.abs(a.wide()), initial=0))
            cases.add("cholesky", [a], Near(kind, lower, slack=slack, ulp=2, zero_signs=False), everywhere)
            if n:
                add_solves(cases, kind, np.linalg.cholesky(a.wide()), batch, n, everywhere, rng)


def add_solves(cases, kind, lower, batch, n, everywhere, rng):
    for is_lower, left, transpose in itertools.product((True, False), repeat=3):
        t = Array(kind, lower if is_lower else np.swapaxes(lower, -1, -2))
        rhs = Array(kind, rng.normal(size=batch + ((n, 3) if left else (3, n))))
        matrix = np.swapaxes(t.wide(), -1, -2) if transpose else t.wide()
        if left:
            x = np.linalg.solve(matrix, rhs.wide())
        else:
            x = np.swapaxes(np.linalg.solve(np.swapaxes(matrix, -1, -2), np.swapaxes(rhs.wide(), -1, -2)), -1, -2)
        slack = (16 + 8 * n) * EPSILON[kind] * np.max(np.abs(x))
        # What lies in the other triangle is not read.
        noise = np.triu(np.full((n, n), 9.0), 1) if is_lower else np.tril(np.full((n, n), 9.0), -1)
        cases.add("triangular_solve", [Array(kind, t.values + noise), rhs], Near(kind, x, slack=slack, ulp=2),
                  everywhere and len(batch) < 2, lower=is_lower, left_side=left, transpose=transpose)
