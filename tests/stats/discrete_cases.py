#!/usr/bin/env python3
"""Writes cases for discrete_distribution_test with results of SciPy, mpmath and quadrature: discrete_cases.py FILE.

Distributions of whole numbers and classes, of vectors and matrices, and mixtures.
"""
import json
import math
import sys

import mpmath as mp
import numpy as np
from scipy import integrate, special, stats

mp.mp.dps = 60
INF = float("inf")
SINGLE_OF_THOUSAND = 4e-4  # log 1000! is 5912, which f32 holds to 2.4e-4


def array(values):
    values = np.asarray(values, dtype=np.float64)
    words = [v if math.isfinite(v) else str(v) for v in values.ravel().tolist()]
    return {"shape": list(values.shape), "values": words}


EVENT_AXES = {"dirichlet": 1, "multi_normal": 1, "multi_normal_cholesky": 1, "gaussian_random_walk": 1,
              "mixture_multi_normal": 1, "lkj_corr_cholesky": 2}


class Cases:
    def __init__(self):
        self.list = []

    def add(self, name, parameters, x, log_density, mean, variance, *, continuous=False, gradient=True,
            fixed=(), draws=True, size=0, tolerance=1e-12, single=2e-5):
        """fixed: parameters that have no gradient (counts); size: a number that is no tensor.

        tolerance of f64, single of f32, relative to 1 + |value|."""
        # Densities take x with the shape that all broadcast to: one that parameters would repeat is refused.
        x = np.asarray(x, dtype=np.float64)
        event = x.shape[x.ndim - EVENT_AXES.get(name, 0):]
        x = np.broadcast_to(x, np.shape(log_density) + event)
        self.list.append({"name": name, "parameters": [array(p) for p in parameters], "x": array(x),
                          "log_density": array(log_density), "mean": array(mean), "variance": array(variance),
                          "continuous": continuous, "gradient": gradient, "fixed": list(fixed), "draws": draws,
                          "size": size, "tolerance": tolerance, "single": single})

    def add_counts(self, name, parameters, x, formula, mean, variance, **options):
        """One number an event: formula(x, *parameters), of mpmath, elementwise over all that broadcast."""
        def at(k, *p):
            if k < 0 or k != math.floor(k):
                return -INF
            return float(formula(mp.mpf(k), *(mp.mpf(v) for v in p)))
        every = np.broadcast_arrays(x, *parameters)
        values = [at(*numbers) for numbers in zip(*(a.ravel().tolist() for a in every))]
        shape = np.broadcast_shapes(*(np.shape(p) for p in parameters))
        self.add(name, parameters, x, np.reshape(values, every[0].shape), np.broadcast_to(mean, shape),
                 np.broadcast_to(variance, shape), **options)


def log_choose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def times_log(k, p):
    return mp.mpf(0) if k == 0 else -INF if p == 0 else k * mp.log(p)


def log_binomial(k, n, p):
    return -INF if k > n else log_choose(n, k) + times_log(k, p) + times_log(n - k, 1 - p)


def log_bernoulli(k, p):
    return log_binomial(k, mp.mpf(1), p)


def of_logit(f):
    """The formula of a probability as one of its logit."""
    def g(k, *p):
        return f(k, *p[:-1], 1 / (1 + mp.exp(-p[-1])))
    return g


def add_bernoulli(cases):
    x = np.array([[0.0], [1.0], [2.0], [-1.0], [0.5]])
    p = np.array([0.3, 1e-9, 0.99, 0.5])
    cases.add_counts("bernoulli", [p], x, log_bernoulli, p, p * (1 - p))
    edge = np.array([0.0, 1.0])
    cases.add_counts("bernoulli", [edge], x, log_bernoulli, edge, 0 * edge, gradient=False)
    logit = np.array([0.0, -3.2, 0.7, 12.0, -40.0, 700.0, -700.0])
    q = special.expit(logit)
    mp.mp.dps = 700
    cases.add_counts("bernoulli_logit", [logit], x, of_logit(log_bernoulli), q, q * special.expit(-logit))
    mp.mp.dps = 60


def add_binomial(cases):
    x = np.array([[0.0], [1.0], [3.0], [7.0], [20.0], [21.0], [-2.0], [2.5]])
    n, p = np.array([7.0, 20.0, 1000.0, 0.0]), np.array([0.3, 0.97, 0.004, 0.5])
    cases.add_counts("binomial", [n, p], x, log_binomial, n * p, n * p * (1 - p), fixed=[0],
                     single=SINGLE_OF_THOUSAND)
    for p in (0.0, 1.0):
        cases.add_counts("binomial", [n, p], x, log_binomial, n * p, 0 * n, gradient=False)
    large = np.array([1e6, 1e6])
    p = np.array([0.4, 1e-5])
    cases.add_counts("binomial", [large, p], large * p, log_binomial, large * p, large * p * (1 - p), gradient=False,
                     tolerance=1e-8, single=10)
    logit = np.array([-0.8, 3.0, -5.5, 0.0])
    q = special.expit(logit)
    cases.add_counts("binomial_logit", [n, logit], x, of_logit(log_binomial), n * q, n * q * (1 - q), fixed=[0],
                     single=SINGLE_OF_THOUSAND)
    logit = np.array([0.0, 60.0, -60.0])
    q, n = special.expit(logit), np.array([30.0, 30.0, 30.0])
    mp.mp.dps = 200
    cases.add_counts("binomial_logit", [n, logit], x, of_logit(log_binomial), n * q, n * q * special.expit(-logit),
                     fixed=[0])
    mp.mp.dps = 60


def log_poisson(k, rate):
    return times_log(k, rate) - rate - mp.loggamma(k + 1)


def add_poisson(cases):
    x = np.array([[0.0], [1.0], [4.0], [30.0], [250.0], [-1.0], [1.5]])
    rate = np.array([0.01, 0.8, 4.0, 27.3, 210.0])
    cases.add_counts("poisson", [rate], x, log_poisson, rate, rate)
    cases.add_counts("poisson", [0.0], x, log_poisson, 0.0, 0.0, gradient=False)
    cases.add_counts("poisson", [1e7], np.array([9.99e6, 1e7]), log_poisson, 1e7, 1e7, gradient=False,
                     tolerance=1e-7, single=100)
    cases.add_counts("poisson_log", [np.log(rate)], x, lambda k, l: log_poisson(k, mp.exp(l)), rate, rate)
    for k, r in ((3, 0.8), (30, 27.3)):
        assert abs(stats.poisson(r).logpmf(k) - float(log_poisson(mp.mpf(k), mp.mpf(r)))) < 1e-12


def log_negative_binomial(k, m, phi):
    return (mp.loggamma(k + phi) - mp.loggamma(phi) - mp.loggamma(k + 1) + times_log(k, m / (m + phi)) +
            phi * mp.log(phi / (m + phi)))


def add_negative_binomial(cases):
    x = np.array([[0.0], [1.0], [5.0], [60.0], [1000.0], [-1.0], [1.5]])
    m, phi = np.array([3.0, 0.02, 40.0, 7.0, 250.0]), np.array([2.0, 0.3, 0.05, 30.0, 1e3])
    cases.add_counts("neg_binomial_2", [m, phi], x, log_negative_binomial, m, m + m * m / phi,
                     single=SINGLE_OF_THOUSAND)
    wide = np.array([1e-6, 1e5, 1e9, 1e14])
    cases.add_counts("neg_binomial_2", [7.0, wide], x[:5], log_negative_binomial, 7.0, 7.0 + 49.0 / wide,
                     gradient=False, draws=False, single=SINGLE_OF_THOUSAND)
    assert abs(stats.nbinom(2.0, 2.0 / 5.0).logpmf(5) -
               float(log_negative_binomial(mp.mpf(5), mp.mpf(3), mp.mpf(2)))) < 1e-12


def class_moments(p):
    k = np.arange(p.shape[-1])
    mean = (p * k).sum(-1)
    return mean, (p * (k - mean[..., None])**2).sum(-1)


def log_of_class(p, x):
    """By SciPy's multinomial distribution of one trial; p [..., K] and x [...] of one shape."""
    flat = p.reshape(-1, p.shape[-1])
    values = [stats.multinomial(1, row / row.sum()).logpmf(np.eye(len(row))[int(k)]) for row, k in zip(flat, x.ravel())]
    return np.reshape(values, x.shape)


def add_classes(cases):
    random = np.random.default_rng(3)
    for shape, classes in (((), 3), ((), 100), ((4,), 5), ((2, 3), 70)):
        p = random.dirichlet(np.full(classes, 0.7), shape)
        x = random.integers(0, classes, (6,) + shape).astype(float)
        value = log_of_class(np.broadcast_to(p, x.shape + (classes,)), x)
        mean, variance = class_moments(p)
        few = classes < 10
        cases.add("categorical", [p], x, value, mean, variance, gradient=few)
        logits = np.log(p) + random.normal(size=shape + (1,)) * 5
        cases.add("categorical_logit", [logits], x, value, mean, variance)
    p = np.array([0.25, 0.0, 0.75])
    x = np.array([0.0, 1.0, 2.0, 3.0, -1.0, 0.5])
    mean, variance = class_moments(p)
    value = [math.log(0.25), -INF, math.log(0.75), -INF, -INF, -INF]
    cases.add("categorical", [p], x, value, mean, variance, gradient=False)


def add_dirichlet(cases):
    random = np.random.default_rng(4)
    for a in (np.array([0.4, 2.0, 30.0]), np.array([[1.0, 1.0], [0.5, 8.0]]), np.full(12, 1.0)):
        x = random.dirichlet(np.full(a.shape[-1], 2.0), (5,) + a.shape[:-1])
        rows = np.broadcast_to(a, x.shape).reshape(-1, a.shape[-1])
        # SciPy wants sums of 1 to the last bit or so.
        value = [stats.dirichlet(r).logpdf(v[:-1]) for r, v in zip(rows, x.reshape(rows.shape))]
        s = a.sum(-1, keepdims=True)
        cases.add("dirichlet", [a], x, np.reshape(value, x.shape[:-1]), a / s, a * (s - a) / (s * s * (s + 1)),
                  continuous=True)
    edge = np.array([[0.0, 0.3, 0.7], [0.5, 0.0, 0.5]])
    cases.add("dirichlet", [np.ones(3)], edge, [math.log(2)] * 2, np.full(3, 1 / 3), np.full(3, 1 / 18),
              continuous=True, gradient=False)
    small = np.array([1e-3, 2e-3])
    x = np.array([1e-3, 1 - 1e-3])
    cases.add("dirichlet", [small], x, stats.dirichlet(small).logpdf(x), small / 3e-3,
              small * (3e-3 - small) / (9e-6 * 1.003), continuous=True, gradient=False)


def covariance_of(random, shape, size):
    a = random.normal(size=shape + (size, size))
    return a @ np.swapaxes(a, -1, -2) + 0.5 * np.eye(size)


def log_normals(x, mean, covariance):
    size = x.shape[-1]
    m = np.broadcast_to(mean, x.shape).reshape(-1, size)
    c = np.broadcast_to(covariance, x.shape + (size,)).reshape(-1, size, size)
    values = [stats.multivariate_normal(*p).logpdf(v) for *p, v in zip(m, c, x.reshape(-1, size))]
    return np.reshape(values, x.shape[:-1])


def add_multi_normal(cases):
    random = np.random.default_rng(5)
    for batch_m, batch_c, lead, size in (((), (), (), 3), ((), (), (7,), 4), ((2,), (), (3,), 2), ((), (2,), (3,), 3),
                                         ((2, 3), (3,), (4,), 2), ((), (), (), 1)):
        m, c = random.normal(size=batch_m + (size,)), covariance_of(random, batch_c, size)
        batch = np.broadcast_shapes(batch_m, batch_c)
        x = random.normal(size=lead + batch + (size,))
        value = log_normals(x, m, c)
        diagonal = np.broadcast_to(np.diagonal(c, axis1=-2, axis2=-1), batch + (size,))
        moments = np.broadcast_to(m, batch + (size,)), diagonal
        cases.add("multi_normal", [m, c], x, value, *moments, continuous=True)
        factor = np.linalg.cholesky(c) + np.triu(np.full((size, size), 9.0), 1)  # above: not read
        cases.add("multi_normal_cholesky", [m, factor], x, value, *moments, continuous=True)


def log_lkj_constant(size, eta):
    """Of det(R)^(eta - 1), as Lewandowski, Kurowicka and Joe have it: powers of 2 and beta functions."""
    total = 0
    for k in range(1, size):
        a = eta + (size - k - 1) / 2
        total += (2 * eta - 2 + size - k) * (size - k) * math.log(2) + (size - k) * special.betaln(a, a)
    return -total


def check_lkj_constant():
    for eta in (0.7, 1.0, 2.5):
        area, _ = integrate.quad(lambda r: (1 - r * r)**(eta - 1), -1, 1)
        assert abs(math.log(area) + log_lkj_constant(2, eta)) < 1e-6
    eta = 2.0  # over all matrices of three
    det = lambda c, b, a: max(1 + 2 * a * b * c - a * a - b * b - c * c, 0)**(eta - 1)
    middle = lambda a, b: a * b
    width = lambda a, b: math.sqrt((1 - a * a) * (1 - b * b))
    volume, _ = integrate.tplquad(det, -1, 1, -1, 1, lambda a, b: middle(a, b) - width(a, b),
                                  lambda a, b: middle(a, b) + width(a, b), epsabs=1e-7, epsrel=1e-7)
    assert abs(math.log(volume) + log_lkj_constant(3, eta)) < 1e-6


def lkj_moments(size, eta):
    """Of the factor: off the diagonal by symmetry, on it by quadrature over the beta distributions."""
    mean, variance = np.zeros((size, size)), np.zeros((size, size))
    mean[0, 0] = 1
    for k in range(1, size):
        square = stats.beta(eta + (size - 1 - k) / 2, k / 2)  # of the diagonal's square
        mean[k, k] = square.expect(math.sqrt)
        variance[k, k] = square.mean() - mean[k, k]**2
        variance[k, :k] = (1 - square.mean()) / k
    return mean, variance


def add_lkj(cases):
    check_lkj_constant()
    random = np.random.default_rng(6)
    for size, eta in ((2, np.array(0.8)), (3, np.array(1.0)), (5, np.array([0.6, 3.0])), (1, np.array(2.0))):
        c = covariance_of(random, (4,) + eta.shape, size)
        deviation = np.sqrt(np.diagonal(c, axis1=-2, axis2=-1))
        r = c / deviation[..., None] / deviation[..., None, :]
        factor = np.linalg.cholesky(r)
        # Density of R, times the Jacobian of the map from the factor: L_kk^(K - k).
        jacobian = (np.log(np.diagonal(factor, axis1=-2, axis2=-1)) * np.arange(size - 1, -1, -1)).sum(-1)
        constant = np.vectorize(lambda e: log_lkj_constant(size, e))(eta)
        value = constant + (eta - 1) * np.linalg.slogdet(r)[1] + jacobian
        moments = [lkj_moments(size, e) for e in eta.ravel()]
        mean, variance = (np.reshape([m[i] for m in moments], eta.shape + (size, size)) for i in (0, 1))
        cases.add("lkj_corr_cholesky", [eta], factor, value, mean, variance, continuous=True, size=size,
                  tolerance=1e-10)


def add_walk(cases):
    random = np.random.default_rng(7)
    for sigma, steps in ((np.array(0.7), 6), (np.array([0.1, 3.0]), 5), (np.array(2.0), 1)):
        x = random.normal(size=(3,) + sigma.shape + (steps,))
        t = np.arange(1, steps + 1)
        c = sigma[..., None, None]**2 * np.minimum(t[:, None], t)
        cases.add("gaussian_random_walk", [sigma], x, log_normals(x, np.zeros(steps), c), np.zeros(sigma.shape + (steps,)),
                  sigma[..., None]**2 * t, continuous=True, size=steps)


def mixed(w, means, variances):
    """The law of total variance; components along the last axis."""
    mean = (w * means).sum(-1)
    second = (w * (variances + means**2)).sum(-1)
    return mean, second - mean**2


def add_mixtures(cases):
    random = np.random.default_rng(8)
    x = np.array([-700.0, -2.0, 0.0, 0.4, 3.0, 90.0])
    w, mu, sigma = np.array([0.2, 0.5, 0.3]), np.array([-2.0, 0.5, 4.0]), np.array([0.4, 1.0, 2.5])
    value = special.logsumexp(np.log(w) + stats.norm.logpdf(x[:, None], mu, sigma), axis=-1)
    cases.add("mixture_normal", [w, mu, sigma], x, value, *mixed(w, mu, sigma**2), continuous=True)
    # A batch: weights for each of two places, one set of components for both, and a weight of 0.
    w = np.array([[0.2, 0.8], [1.0, 0.0]])
    mu, sigma = np.array([-1.0, 2.0]), np.array([0.5, 1.5])
    y = random.normal(size=(4, 2))
    with np.errstate(divide="ignore"):
        value = special.logsumexp(np.log(w) + stats.norm.logpdf(y[..., None], mu, sigma), axis=-1)
    cases.add("mixture_normal", [w, mu, sigma], y, value, *mixed(w, mu, sigma**2), continuous=True, gradient=False)
    k, rate = np.arange(9.0), np.array([0.5, 6.0])
    w = np.array([0.35, 0.65])
    value = special.logsumexp(np.log(w) + stats.poisson.logpmf(k[:, None], rate), axis=-1)
    cases.add("mixture_poisson", [w, rate], k, value, *mixed(w, rate, rate))
    mean = random.normal(size=(2, 3)) * 2
    c = covariance_of(random, (2,), 3)
    z = random.normal(size=(5, 3))
    terms = [math.log(w[i]) + log_normals(z, mean[i], c[i]) for i in range(2)]
    variances = np.diagonal(c, axis1=-2, axis2=-1)
    cases.add("mixture_multi_normal", [w, mean, c], z, special.logsumexp(terms, axis=0),
              *mixed(w, mean.T, variances.T), continuous=True)


def main():
    cases = Cases()
    for add in (add_bernoulli, add_binomial, add_poisson, add_negative_binomial, add_classes, add_dirichlet,
                add_multi_normal, add_lkj, add_walk, add_mixtures):
        add(cases)
    with open(sys.argv[1], "w") as file:
        json.dump(cases.list, file)
    print(f"{len(cases.list)} cases")


if __name__ == "__main__":
    main()
