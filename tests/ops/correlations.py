"""Cases for covariances, correlations and distances, against NumPy's and SciPy's."""
import numpy as np
from scipy.spatial.distance import cdist

from reductions import modest
from values import COMPLEX, EPSILON, FLOATS, Array, Near, compute_type, float_of

SCIPY = {"euclidean": "euclidean", "squared": "sqeuclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}


def wide_of(x):
    return x.values.astype(np.complex128 if x.kind in COMPLEX else np.float64)


def each(function, x):
    """Of matrices along leading axes. One variable in a matrix gives a matrix, where NumPy gives a number."""
    if x.ndim <= 2:
        result = np.asarray(function(x))
        return result if x.ndim < 2 else np.atleast_2d(result)
    return np.stack([each(function, part) for part in x]) if x.shape[0] else np.zeros((0,))


def add_covariance(cases, kind, shape, everywhere, rng, rows=True, ddof=1, frequencies=False, weights=False):
    x = modest(kind, shape, rng)
    out = float_of(kind)
    count = shape[-1] if rows or len(shape) == 1 else shape[-2]
    inputs, options, attributes = [x], {}, {"variables_in_rows": rows, "ddof": ddof}
    if frequencies:
        inputs.append(Array("i32", rng.integers(1, 5, size=count)))
        options["fweights"], attributes["frequencies"] = inputs[-1].values, True
    if weights:
        inputs.append(Array("f32", rng.random(count) + 0.1))
        options["aweights"], attributes["weights"] = inputs[-1].wide(), True
    with np.errstate(all="ignore"):
        result = each(lambda m: np.cov(m, rowvar=rows, ddof=ddof, **options), wide_of(x))
    size = np.max(np.abs(wide_of(x)) ** 2) * count / max(count - ddof, 1) * 4
    slack = (8 + 2 * np.sqrt(count)) * EPSILON[compute_type(out)] * size
    cases.add("covariance", inputs, Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere, **attributes)
    if not (frequencies or weights or ddof != 1):
        result = each(lambda m: np.corrcoef(m, rowvar=rows), wide_of(x))
        slack = (16 + 4 * np.sqrt(count)) * EPSILON[compute_type(out)] * 16
        cases.add("corrcoef", [x], Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere,
                  variables_in_rows=rows)


def add_distances(cases, kind, a, b, everywhere, rng):
    x, y = modest(kind, a, rng), modest(kind, b, rng)
    out = float_of(kind)
    wide_x, wide_y = x.values.astype(np.float64), y.values.astype(np.float64)
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    wide_x, wide_y = np.broadcast_to(wide_x, batch + a[-2:]), np.broadcast_to(wide_y, batch + b[-2:])
    for name, theirs in SCIPY.items():
        result = np.zeros(batch + (a[-2], b[-2]))
        for at in np.ndindex(batch):
            if a[-1]:
                result[at] = cdist(wide_x[at], wide_y[at], theirs)
        slack = (4 + 2 * np.sqrt(a[-1])) * EPSILON[compute_type(out)] * result
        if a[-1] > 64 and name in ("euclidean", "squared"):
            size = 4 * (np.max(np.sum(wide_x**2, -1)) + np.max(np.sum(wide_y**2, -1)))
            error = (8 + 2 * np.sqrt(a[-1])) * EPSILON[compute_type(out)] * size
            slack = slack + (error if name == "squared" else error / np.maximum(result, np.sqrt(error)))
        cases.add("cdist", [x, y], Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere, distance=name)


def add_correlations(cases, rng):
    for kind in FLOATS + COMPLEX + ["i32", "u8"]:
        for shape in [(3, 7), (9,), (2, 3, 6)]:
            add_covariance(cases, kind, shape, kind == "f32", rng)
        add_covariance(cases, kind, (7, 3), False, rng, rows=False)
        add_covariance(cases, kind, (3, 7), False, rng, ddof=0)
    for kind in ("f32", "f64", "c64"):
        add_covariance(cases, kind, (3, 7), kind == "f32", rng, frequencies=True)
        add_covariance(cases, kind, (3, 7), kind == "f32", rng, weights=True)
        add_covariance(cases, kind, (3, 7), False, rng, frequencies=True, weights=True, ddof=0)
        add_covariance(cases, kind, (7, 3), False, rng, frequencies=True, weights=True, rows=False)
    add_covariance(cases, "f32", (40, 1000), False, rng)
    add_covariance(cases, "f32", (1, 5), False, rng)
    # One observation, and none left after ddof: what dividing by zero gives.
    x = Array("f32", [[1.0], [2.0]])
    cases.add("covariance", [x], Near("f32", np.full((2, 2), np.nan)))
    # Large numbers with a small spread.
    x = Array("f32", 1000 + modest("f32", (3, 50), rng).wide())
    cases.add("covariance", [x], Near("f32", np.cov(x.wide()), slack=1e-3 * 2, ulp=1), True)
    for kind in FLOATS + ["i32", "u8"]:
        add_distances(cases, kind, (5, 3), (4, 3), kind in ("f32", "f16"), rng)
    for a, b in [((1, 1), (1, 1)), ((5, 0), (4, 0)), ((0, 3), (4, 3)), ((2, 5, 3), (4, 3)), ((2, 1, 5, 3), (3, 4, 3)),
                 ((20, 64), (17, 64)), ((20, 65), (17, 65)), ((3, 300), (5, 300))]:
        add_distances(cases, "f32", a, b, False, rng)
    add_distances(cases, "f64", (9, 100), (8, 100), False, rng)
    # Rows that are equal, and nearly so, far from zero.
    x = Array("f32", 1000 + rng.integers(0, 3, size=(6, 5)) / 64)
    for name, theirs in SCIPY.items():
        cases.add("cdist", [x, x], Near("f32", cdist(x.wide(), x.wide(), theirs), ulp=2, zero_signs=False), True,
                  distance=name)
    x = Array("f32", 1000 + rng.normal(size=(6, 100)))
    for name in ("euclidean", "squared"):
        result = cdist(x.wide(), x.wide(), SCIPY[name])
        cases.add("cdist", [x, x], Near("f32", result, slack=0.05 if name == "euclidean" else 2e-3, ulp=1, zero_signs=False),
                  distance=name)
    x, y = modest("f32", (3, 4), rng), modest("f32", (3, 4), rng)
    x.values[1, 2], y.values[0, 1], y.values[2, 3] = np.nan, np.inf, -np.inf
    for name, theirs in SCIPY.items():
        result = cdist(x.wide(), y.wide(), theirs)
        result[1] = np.nan
        cases.add("cdist", [x, y], Near("f32", result, slack=1e-5, ulp=2), True, distance=name)
