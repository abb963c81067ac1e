"""Products, matrices, Fourier transforms, and parts of networks."""

import math

import numpy as np

from .source import case


@case("dot")
def dot(s):
    a, b = s.floats((2, 3, 4)), s.floats((2, 4, 5))
    b = b.astype(a.dtype)
    yield s.one("dot", a[0], b[0]), a[0] @ b[0]
    yield (s.one("dot", a, b, contract_a=[2], batch_a=[0], contract_b=[1], batch_b=[0]), a @ b)


@case("matmul")
def matmul(s):
    a, b = s.floats((2, 3, 4), type="f4"), s.floats((4, 5), type="f4")
    yield s.one("matmul", a, b), a @ b


@case("tensordot")
def tensordot(s):
    a, b = s.floats((3, 4, 5), type="f8"), s.floats((5, 2, 3), type="f8")
    yield s.one("tensordot", a, b, axes_a=[0, 2], axes_b=[2, 0]), np.tensordot(a, b, ([0, 2], [2, 0]))


@case("outer", "kron")
def products(s, name):
    a, b = s.floats((3,), type="f4"), s.floats((4,), type="f4")
    yield s.one(name, a, b), getattr(np, name)(a, b)


@case("einsum")
def einsum(s):
    a, b, c = s.floats((2, 3), type="f8"), s.floats((3, 4), type="f8"), s.floats((4, 2), type="f8")
    yield s.one("einsum", a, b, c, subscripts="ij,jk,ki->k"), np.einsum("ij,jk,ki->k", a, b, c)


def positive(s, n=4):
    a = s.floats((2, n, n), type="f8")
    return a @ a.transpose(0, 2, 1) + n * np.eye(n)


def square(s, n=4):
    return s.floats((2, n, n), type="f8") + 3 * np.eye(n)


@case("cholesky")
def cholesky(s):
    x = positive(s)
    yield s.one("cholesky", x), np.linalg.cholesky(x)


@case("lu")
def lu(s):
    x = square(s)
    p, l, u = [it.numpy() for it in s.all("lu", x)]
    yield p @ l @ u, x
    yield [np.tril(l), np.triu(u)], [l, u]


@case("lu_factor")
def lu_factor(s):
    x = square(s)
    packed, rows, sign = [it.numpy() for it in s.all("lu_factor", x)]
    for i in range(2):
        yield (np.tril(packed[i], -1) + np.eye(4)) @ np.triu(packed[i]), x[i][rows[i]]
        yield np.float64(sign[i]), np.round(np.linalg.det(np.eye(4)[rows[i]]))


@case("qr")
def qr(s):
    x = s.floats((5, 3), type="f8")
    for complete, k in ((0, 3), (1, 5)):
        q, r = [it.numpy() for it in s.all("qr", x, complete=complete)]
        yield [q @ r, q.T @ q, np.triu(r)], [x, np.eye(k), r]


@case("eigh")
def eigh(s):
    x = positive(s)
    values, vectors = [it.numpy() for it in s.all("eigh", x)]
    yield values, np.linalg.eigvalsh(x)
    yield x @ vectors, vectors * values[:, None, :]


@case("eigh_values")
def eigh_values(s):
    x = positive(s)
    yield s.one("eigh_values", x), np.linalg.eigvalsh(x)


@case("eig")
def eig(s):
    x = square(s)
    values, vectors = [it.numpy() for it in s.all("eig", x)]
    yield x @ vectors, vectors * values[:, None, :]
    yield np.linalg.norm(vectors, axis=1), np.ones((2, 4))


@case("eigenvalues")
def eigenvalues(s):
    x = square(s)[0]
    yield np.sort_complex(s.one("eigenvalues", x).numpy()), np.sort_complex(np.linalg.eigvals(x).astype("c16"))


@case("svd")
def svd(s):
    x = s.floats((5, 3), type="f8")
    for full, k in ((0, 3), (1, 5)):
        u, values, v = [it.numpy() for it in s.all("svd", x, full=full)]
        yield [values, (u[:, :3] * values) @ v, u.T @ u], [np.linalg.svd(x)[1], x, np.eye(k)]


@case("singular_values")
def singular_values(s):
    x = s.floats((5, 3), type="f8")
    yield s.one("singular_values", x), np.linalg.svd(x)[1]


@case("triangular_solve")
def triangular_solve(s):
    a, b = np.tril(square(s)[0]), s.floats((4, 3), type="f8")
    yield s.one("triangular_solve", a, b), np.linalg.solve(a, b)
    yield s.one("triangular_solve", a.T.copy(), b, lower=0), np.linalg.solve(a.T, b)
    yield s.one("triangular_solve", a, b.T.copy(), left_side=0), np.linalg.solve(a.T, b).T
    yield s.one("triangular_solve", a, b, transpose=1), np.linalg.solve(a.T, b)


@case("solve")
def solve(s):
    a, b = square(s), s.floats((2, 4, 3), type="f8")
    yield s.one("solve", a, b), np.linalg.solve(a, b)


MATRIX = {"inverse": np.linalg.inv, "determinant": np.linalg.det, "trace": lambda x: np.trace(x, axis1=1, axis2=2),
          "diagonal": lambda x: np.diagonal(x, axis1=1, axis2=2)}


@case(*MATRIX)
def of_matrix(s, name):
    x = square(s)
    yield s.one(name, x), MATRIX[name](x)


@case("sign_and_log_determinant")
def sign_and_log_determinant(s):
    x = s.floats((3, 4, 4), type="f8")
    yield s.all("sign_and_log_determinant", x), list(np.linalg.slogdet(x))


@case("matrix_exponential")
def matrix_exponential(s):
    x = s.floats((4, 4), type="f8")
    term, total = np.eye(4), np.eye(4)
    for i in range(1, 60):
        term = term @ x / i
        total = total + term
    yield s.one("matrix_exponential", x), total


@case("pseudo_inverse")
def pseudo_inverse(s):
    x = np.diag([3.0, 1.0, 0.01]) @ np.linalg.qr(s.floats((3, 3), type="f8"))[0]
    yield s.one("pseudo_inverse", x), np.linalg.pinv(x)
    yield s.one("pseudo_inverse", x, tolerance=0.1), np.linalg.pinv(x, rcond=0.1)


@case("least_squares")
def least_squares(s):
    a, b = s.floats((7, 3), type="f8"), s.floats((7, 2), type="f8")
    yield s.one("least_squares", a, b), np.linalg.lstsq(a, b, rcond=None)[0]
    yield s.one("least_squares", a, b, tolerance=1e-9), np.linalg.lstsq(a, b, rcond=1e-9)[0]


@case("matrix_rank")
def matrix_rank(s):
    x = np.diag([3.0, 1.0, 0.01])
    yield s.one("matrix_rank", x), np.int64(3)
    yield s.one("matrix_rank", x, tolerance=0.1), np.int64(2)


@case("matrix_norm")
def matrix_norm(s):
    x = s.floats((3, 4), type="f8")
    yield s.one("matrix_norm", x), np.linalg.norm(x)
    for kind, order in (("frobenius", "fro"), ("nuclear", "nuc"), ("spectral", 2), ("least", -2), ("one", 1),
                        ("infinity", np.inf), ("least_one", -1), ("least_infinity", -np.inf)):
        yield s.one("matrix_norm", x, kind=kind), np.linalg.norm(x, order)


@case("norm")
def norm(s):
    x = s.floats((3, 4), type="f8")
    yield s.one("norm", x), np.sqrt(np.sum(x * x))
    yield s.one("norm", x, p=3.0, axes=[1], keep_axes=1), np.sum(np.abs(x) ** 3, 1, keepdims=True) ** (1 / 3)
    yield s.one("norm", x, p=math.inf), np.max(np.abs(x))


@case("matrix_power")
def matrix_power(s):
    x = square(s)
    for exponent in (0, 3, -2):
        yield s.one("matrix_power", x, exponent=exponent), np.linalg.matrix_power(x, exponent), 1e-8


@case("fft", "ifft", "rfft", "irfft")
def transform(s, name):
    f = getattr(np.fft, name)
    x = s.floats((3, 6), type="f8") if name == "rfft" else s.complexes((3, 6), "c16")
    yield s.one(name, x), f(x)
    yield s.one(name, x, axis=0, length=4), f(x, 4, 0)


@case("fft2", "ifft2", "fftn", "ifftn")
def transforms(s, name):
    x = s.complexes((2, 3, 4), "c16")
    f = getattr(np.fft, name)
    yield s.one(name, x), f(x)
    yield s.one(name, x, axes=[0, 2], lengths=[3, 5]), f(x, (3, 5), (0, 2))


@case("layer_norm", "rms_norm")
def normed(s, name):
    x, scale, shift = s.floats((3, 5), type="f8"), s.floats((5,), type="f8"), s.floats((5,), type="f8")

    def expected(x, axis, epsilon):
        middle = x - np.mean(x, axis, keepdims=True) if name == "layer_norm" else x
        return middle / np.sqrt(np.mean(middle**2, axis, keepdims=True) + epsilon)

    yield s.one(name, x), expected(x, 1, 1e-5)
    yield s.one(name, x, scale, shift), expected(x, 1, 1e-5) * scale + shift
    yield s.one(name, x, axes=[0], epsilon=0.1), expected(x, 0, 0.1)


@case("attention")
def attention(s):
    q, k, v = (s.floats((2, n, 4), type="f8") for n in (3, 5, 5))
    mask = s.whole((3, 5), 0, 2, "u1")
    mask[:, 0] = 1

    def expected(scale, seen):
        scores = np.where(seen, scale * q @ k.transpose(0, 2, 1), -np.inf)
        weights = np.exp(scores - np.max(scores, -1, keepdims=True))
        return weights / np.sum(weights, -1, keepdims=True) @ v

    yield s.one("attention", q, k, v), expected(0.5, np.ones((3, 5)))
    yield s.one("attention", q, k, v, mask, scale=0.3), expected(0.3, mask)
    yield s.one("attention", q, k, v, causal=1), expected(0.5, np.tri(3, 5))
