"""Reductions, running results, sorting, and what is made of them."""

import numpy as np

from .source import case


def logsumexp(x, axis=None, keepdims=False):
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


REDUCED = {"sum": np.sum, "product": np.prod, "reduce_max": np.max, "reduce_min": np.min, "mean": np.mean,
           "logsumexp": logsumexp, "all": lambda x, **k: np.all(x, **k).astype("u1"),
           "any": lambda x, **k: np.any(x, **k).astype("u1")}


@case(*REDUCED)
def reduced(s, name):
    x = s.whole((3, 4, 2), 0, 3, "u1") if name in ("all", "any") else s.floats((3, 4, 2))
    f = REDUCED[name]
    yield s.one(name, x), f(x)
    axes = [int(i) for i in s.random.permutation(3)[:2]]
    yield s.one(name, x, axes=axes, keep_axes=1), f(x, axis=tuple(axes), keepdims=True)


@case("variance")
def variance(s):
    x = s.floats((3, 40))
    yield s.one("variance", x), np.var(x)
    yield s.one("variance", x, axes=[1], keep_axes=1, ddof=1), np.var(x, axis=1, ddof=1, keepdims=True)
    yield s.one("variance", x, axes=[1], ddof=20), np.var(x, axis=1, ddof=20)


@case("softmax", "log_softmax")
def softmax(s, name):
    x = s.floats((3, 4))
    for axis, attributes in ((1, {}), (0, {"axes": [0]})):
        expected = x - logsumexp(x, axis, True)
        yield s.one(name, x, **attributes), expected if name == "log_softmax" else np.exp(expected)


@case("argmax", "argmin")
def extreme(s, name):
    x = s.whole((3, 7), 0, 3)
    f = np.argmax if name == "argmax" else np.argmin
    low = s.one(name, x)
    yield low.numpy().astype("i8"), f(x)
    yield s.one(name, x, axis=1, keep_axis=1).numpy().astype("i8"), f(x, axis=1, keepdims=True)
    yield s.one(name, x, axis=1, tie_break="high").numpy().astype("i8"), 6 - f(x[:, ::-1], axis=1)


RUNNING = {"cumulative_sum": np.add, "cumulative_product": np.multiply, "cumulative_min": np.minimum,
           "cumulative_max": np.maximum}


@case(*RUNNING)
def running(s, name):
    x = s.floats((3, 5))
    yield s.one(name, x), RUNNING[name].accumulate(x, 0)
    yield s.one(name, x, axis=1, reverse=1), RUNNING[name].accumulate(x[:, ::-1], 1)[:, ::-1]


@case("sort")
def sort(s):
    x = s.floats((4, 6))
    yield s.one("sort", x), np.sort(x)
    yield s.one("sort", x, axis=0, direction="descending"), np.sort(x, 0)[::-1]


@case("argsort")
def argsort(s):
    x = s.whole((4, 6), 0, 4)
    yield s.one("argsort", x), np.argsort(x, kind="stable")
    yield s.one("argsort", x, axis=0, direction="descending"), np.argsort(-x, 0, kind="stable")


@case("sort_with_places")
def sort_with_places(s):
    x = s.whole((4, 6), 0, 4)
    yield s.all("sort_with_places", x), [np.sort(x), np.argsort(x, kind="stable")]
    yield (s.all("sort_with_places", x, axis=0, direction="descending"),
           [np.sort(x, 0)[::-1], np.argsort(-x, 0, kind="stable")])


@case("top_k")
def top_k(s):
    x = s.floats((2, 9))
    places = np.argsort(-x, kind="stable")[:, :3]
    yield s.all("top_k", x, k=3), [np.take_along_axis(x, places, 1), places]


@case("median")
def median(s):
    x = s.floats((4, 5))
    yield s.one("median", x), np.median(x, 1)
    yield s.one("median", x, axis=0, keep_axis=1), np.median(x, 0, keepdims=True)


@case("unique")
def unique(s):
    x = s.whole((3, 4), 0, 5)
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    room = x.size - values.size
    yield (s.all("unique", x), [np.pad(values, (0, room), mode="edge"), inverse.reshape(x.shape).astype("i8"),
                                np.pad(counts, (0, room)).astype("i8"), np.int64(values.size)])


@case("searchsorted")
def searchsorted(s):
    x, values = np.sort(s.whole((9,), 0, 6)), s.whole((2, 3), 0, 6)
    yield s.one("searchsorted", x, values), np.searchsorted(x, values).astype("i4")
    yield s.one("searchsorted", x, values, side="right"), np.searchsorted(x, values, "right").astype("i4")


@case("bincount")
def bincount(s):
    x, weights = s.whole((20,), 0, 6), s.floats((20,), type="f8")
    yield s.one("bincount", x, length=6).numpy().astype("i8"), np.bincount(x, minlength=6)
    yield s.one("bincount", x, weights, length=6), np.bincount(x, weights, 6)


@case("histogram")
def histogram(s):
    x, weights = s.floats((50,), type="f8"), s.floats((50,), 0, 1, "f8")
    edges = np.array([-2, -0.5, 0.25, 2])
    yield s.one("histogram", x, edges).numpy().astype("i8"), np.histogram(x, edges)[0]
    yield s.one("histogram", x, edges, weights, density=1), np.histogram(x, edges, weights=weights, density=True)[0]


@case("interpolate")
def interpolate(s):
    x, places, values = s.floats((9,), -3, 3, "f8"), np.sort(s.floats((5,), type="f8")), s.floats((5,), type="f8")
    yield s.one("interpolate", x, places, values), np.interp(x, places, values)
    yield s.one("interpolate", x, places, values, left=-7.0, right=8.0), np.interp(x, places, values, -7, 8)


@case("histogram_edges")
def histogram_edges(s):
    yield s.one("histogram_edges", bins=7, low=-1.5, high=2, type="f64"), np.linspace(-1.5, 2, 8)


@case("resize_linear")
def resize_linear(s):
    x = s.floats((5, 3), type="f8")
    middles = (np.arange(9) + 0.5) * 5 / 9 - 0.5
    wanted = np.stack([np.interp(middles, np.arange(5), x[:, j]) for j in range(3)], 1)
    yield s.one("resize_linear", x, axes=[0], lengths=[9]), wanted
    ends = np.linspace(0, 4, 9)
    wanted = np.stack([np.interp(ends, np.arange(5), x[:, j]) for j in range(3)], 1)
    yield s.one("resize_linear", x, axes=[0], lengths=[9], align_ends=1), wanted


@case("cdist")
def cdist(s):
    a, b = s.floats((4, 3), type="f8"), s.floats((5, 3), type="f8")
    apart = np.abs(a[:, None, :] - b[None, :, :])
    yield s.one("cdist", a, b), np.sqrt(np.sum(apart**2, -1))
    yield s.one("cdist", a, b, distance="squared"), np.sum(apart**2, -1)
    yield s.one("cdist", a, b, distance="manhattan"), np.sum(apart, -1)
    yield s.one("cdist", a, b, distance="chebyshev"), np.max(apart, -1)


@case("covariance")
def covariance(s):
    x = s.floats((3, 30), type="f8")
    yield s.one("covariance", x), np.cov(x)
    yield s.one("covariance", x.T, variables_in_rows=0, ddof=14), np.cov(x, ddof=14)
    weights = s.floats((30,), 0.1, 2, "f8")
    yield s.one("covariance", x, weights), np.cov(x, aweights=weights)


@case("corrcoef")
def corrcoef(s):
    x = s.floats((3, 30), type="f8")
    yield s.one("corrcoef", x), np.corrcoef(x)
    yield s.one("corrcoef", x.T, variables_in_rows=0), np.corrcoef(x)
