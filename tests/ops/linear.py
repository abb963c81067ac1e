"""Cases for linear algebra; LAPACK in double precision is the reference."""
import numpy as np
import scipy.linalg

from values import COMPLEX, EPSILON, Array, Exact, Near

REAL = {"c64": "f32", "c128": "f64"}
SHAPES = [((), 1, 1), ((), 2, 2), ((), 3, 3), ((), 5, 3), ((), 3, 5), ((), 17, 17), ((), 33, 20), ((), 20, 33),
          ((), 40, 40), ((3,), 4, 4), ((2, 2), 3, 2), ((65,), 6, 6), ((), 70, 70), ((), 1, 7), ((), 7, 1)]


def matrix(kind, shape, rng):
    m = rng.normal(size=shape)
    return Array(kind, m + 1j * rng.normal(size=shape) if kind in COMPLEX else m)


def near(kind, high, amount, scale):
    return Near(kind, high, slack=amount * EPSILON[kind] * scale, ulp=2, zero_signs=False)


def largest(x):
    return np.max(np.abs(x), initial=1)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def everywhere_of(kind, shape):
    return kind in ("f32", "c64") and max(shape[-2:]) <= 20


def add_factors(cases, kind, batch, m, n, rng):
    x = matrix(kind, batch + (m, n), rng)
    w, size, k = x.wide(), 60 * max(m, n), min(m, n)
    e = everywhere_of(kind, (m, n))
    real = REAL.get(kind, kind)
    cases.add("qr", [x], near(kind, w, size, largest(w)), e)
    if not batch:
        r = np.linalg.qr(w)[1]
        condition = np.linalg.cond(w[:, :k])
        cases.add("qr", [x], near(kind, r, size * condition, largest(r)), e and m == n, result="r")
    if m > n:
        cases.add("qr", [x], near(kind, w, size, largest(w)), e, complete=True)
    s = np.linalg.svd(w, compute_uv=False)
    cases.add("svd", [x], near(real, s, size, largest(s)), e, result="values")
    cases.add("svd", [x], near(kind, w, size, largest(s)), e)
    if m != n:
        cases.add("svd", [x], near(kind, w, size, largest(s)), e, full=True)
        eye = np.broadcast_to(np.eye(m), batch + (m, m))
        cases.add("svd", [x], near(kind, eye, size, 1), e, full=True, result="u")
        eye = np.broadcast_to(np.eye(n), batch + (n, n))
        cases.add("svd", [x], near(kind, eye, size, 1), e, full=True, result="v")
    tolerance = 1e-3
    inverse = np.linalg.pinv(w, rcond=tolerance)
    cases.add("pseudo_inverse", [x], near(kind, inverse, size * 1e3, largest(inverse)), False, tolerance=tolerance)
    b = matrix(kind, batch + (m, 2), rng)
    if not batch:
        best = np.linalg.lstsq(w, b.wide(), rcond=tolerance)[0]
        cases.add("least_squares", [x, b], near(kind, best, size * 1e3, largest(best)), False, tolerance=tolerance)
    for number, order in enumerate(["fro", "nuc", 2, -2, 1, np.inf, -1, -np.inf]):
        value = np.linalg.norm(w, order, axis=(-2, -1))
        cases.add("matrix_norm", [x], near(real, value, size, largest(value)), False, kind=number)


def add_square(cases, kind, batch, n, rng):
    x = matrix(kind, batch + (n, n), rng)
    w, size, e = x.wide(), 60 * n, everywhere_of(kind, (n, n))
    real = REAL.get(kind, kind)
    condition = np.max(np.linalg.cond(w))
    cases.add("lu", [x], near(kind, w, size, largest(w)), e)
    det = np.linalg.det(w)
    cases.add("determinant", [x], near(kind, det, size * condition, largest(det)), e)
    sign, log = np.linalg.slogdet(w)
    cases.add("sign_and_log_determinant", [x], near(kind, sign, size * condition, 1), e, result="sign")
    cases.add("sign_and_log_determinant", [x], near(real, log, size * condition, largest(log)), e, result="log")
    b = matrix(kind, batch + (n, 3), rng)
    solved = np.linalg.solve(w, b.wide())
    cases.add("solve", [x, b], near(kind, solved, size * condition, largest(solved)), e)
    inverse = np.linalg.inv(w)
    cases.add("inverse", [x], near(kind, inverse, size * condition, largest(inverse)), e)
    for exponent in (0, 1, 3, -2):
        power = np.linalg.matrix_power(w, exponent)
        reach = size * condition ** (2 if exponent < 0 else 1) * 4
        cases.add("matrix_power", [x], near(kind, power, reach, max(largest(power), largest(w) ** 3)), e and exponent == 3,
                  exponent=exponent)
    small = Array(kind, x.wide() * (2 / np.sqrt(n)))
    grown = np.stack([scipy.linalg.expm(each) for each in small.wide().reshape(-1, n, n)]).reshape(w.shape)
    cases.add("matrix_exponential", [small], near(kind, grown, 40 * size, largest(grown)), False)
    hermitian = w + adjoint(w)
    # What lies above the diagonal is not read.
    noisy = Array(kind, hermitian + np.triu(np.full((n, n), 9.0), 1))
    values = np.linalg.eigvalsh(hermitian)
    cases.add("eigh", [noisy], near(real, values, size, largest(values)), e, result="values")
    cases.add("eigh", [noisy], near(kind, hermitian, size, largest(values)), e)
    cases.add("eigh", [noisy], near(kind, np.broadcast_to(np.eye(n), w.shape), size, 1), e, result="unit")
    if not batch and n <= 40:
        values = np.sort(np.real(np.linalg.eigvals(w)))
        pair = {"f32": "c64", "f64": "c128"}.get(kind, kind)
        scale = np.linalg.cond(np.linalg.eig(w)[1])
        cases.add("eig", [x], near(real, values, size * scale, largest(values)), e, result="values")
        cases.add("eig", [x], Near(pair, w, slack=size * scale * EPSILON[pair] * largest(w), ulp=2, zero_signs=False), e)


def add_numbers(cases, rng):
    for kind in ("f32", "f64", "c64"):
        x = matrix(kind, (4, 5, 3), rng)
        w = np.abs(x.wide())
        for p in (1, 2, 3, 0, 0.5, "inf", "-inf"):
            for axes in ([0], [1, 2], [0, 1, 2]):
                order = float(p)
                with np.errstate(all="ignore"):
                    if order == np.inf or order == -np.inf:
                        value = (np.max if order > 0 else np.min)(w, axis=tuple(axes))
                    elif order == 0:
                        value = np.sum(w != 0, axis=tuple(axes)).astype(float)
                    else:
                        value = np.sum(w ** order, axis=tuple(axes)) ** (1 / order)
                cases.add("norm", [x], near(REAL.get(kind, kind), value, 64, largest(value)), p == 2 and kind == "f32",
                          p=p, axes=axes)
    for kind in ("f32", "i32", "c64"):
        for shape in ((3, 3), (2, 4, 3), (3, 5), (0, 3), (1, 1)):
            x = Array(kind, np.round(8 * rng.normal(size=shape)))
            diagonal = np.diagonal(x.values, axis1=-2, axis2=-1)
            cases.add("diagonal", [x], Exact(kind, diagonal), kind == "f32")
            cases.add("trace", [x], Exact(kind, diagonal.sum(-1).astype(diagonal.dtype)), kind == "f32")


def add_hard(cases, rng):
    """Singular, rank-deficient, graded and ill-conditioned ones; zeros; what is not finite."""
    for kind in ("f32", "f64"):
        tiny = EPSILON[kind]
        for n in (4, 12, 24):
            q, p = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
            for spread in (np.r_[np.ones(n // 2), np.zeros(n - n // 2)], np.logspace(0, -12 if kind == "f64" else -6, n),
                           np.ones(n), np.zeros(n)):
                x = Array(kind, q @ np.diag(spread) @ p)
                w = x.wide()
                s = np.linalg.svd(w, compute_uv=False)
                for result in ("values", "product"):
                    cases.add("svd", [x], near(kind, s if result == "values" else w, 60 * n, 1), n == 12, result=result)
                for result in ("u", "v"):
                    cases.add("svd", [x], near(kind, np.eye(n), 60 * n, 1), n == 12, result=result)
                cases.add("qr", [x], near(kind, w, 60 * n, 1), n == 12)
                symmetric = Array(kind, q @ np.diag(spread) @ q.T)
                w = (np.tril(symmetric.wide()) + np.tril(symmetric.wide(), -1).T)
                cases.add("eigh", [symmetric], near(kind, w, 60 * n, 1), n == 12)
                cases.add("eigh", [symmetric], near(kind, np.eye(n), 60 * n, 1), n == 12, result="unit")
                count = int(np.sum(spread > 0))
                if spread[0] == spread[max(count - 1, 0)]:
                    cases.add("matrix_rank", [x], Exact("i64", np.asarray(count, np.int64)), n == 12)
                if count < n:
                    cases.add("determinant", [x], near(kind, np.zeros(()), 60 * n, 1), n == 12)
        for big in (1e30, 1e-30):
            x = Array(kind, big * rng.normal(size=(5, 5)))
            s = np.linalg.svd(x.wide(), compute_uv=False)
            cases.add("svd", [x], near(kind, s, 300, s[0]), True, result="values")
            cases.add("qr", [x], near(kind, x.wide(), 300, s[0]), True)
            w = np.tril(x.wide()) + np.tril(x.wide(), -1).T
            values = np.linalg.eigvalsh(w)
            cases.add("eigh", [x], near(kind, values, 300, s[0] * 2), True, result="values")
        for bad in (np.nan, np.inf):
            x = Array(kind, np.eye(4) + np.where(np.arange(16).reshape(4, 4) == 9, bad, 0))
            none = Exact(kind, np.full(4, np.nan, x.values.dtype))
            cases.add("svd", [x], none, True, result="values")
            cases.add("eigh", [x], none, True, result="values")
        x = Array(kind, np.stack([np.zeros((3, 3)), np.eye(3)]))
        cases.add("inverse", [Array(kind, x.values[1])], Exact(kind, np.eye(3, dtype=x.values.dtype)), True)
        cases.add("determinant", [x], Exact(kind, np.asarray([0, 1], x.values.dtype)), True)
        for shape in ((0, 0), (0, 3, 3), (3, 0, 0)):
            x = Array(kind, np.zeros(shape))
            cases.add("determinant", [x], Exact(kind, np.ones(shape[:-2], x.values.dtype)), True)
        for shape in ((0, 3), (3, 0), (2, 0, 3)):
            x = Array(kind, np.zeros(shape))
            for op in ("svd", "qr"):
                cases.add(op, [x], Exact(kind, x.values), True)
            cases.add("svd", [x], Exact(kind, np.zeros(shape[:-2] + (0,), x.values.dtype)), True, result="values")


def add_linear(cases, rng):
    for kind in ("f32", "f64", "c64", "c128"):
        for batch, m, n in SHAPES:
            if kind in COMPLEX and m > 40:
                continue
            add_factors(cases, kind, batch, m, n, rng)
            if m == n:
                add_square(cases, kind, batch, n, rng)
    for kind, n in (("f32", 130), ("f64", 100)):
        add_square(cases, kind, (), n, rng)
    add_numbers(cases, rng)
    add_hard(cases, rng)
