"""Continuous distributions. Logarithms of tails are mpmath's: SciPy's often are those of rounded tails."""
import mpmath as mp
from scipy import stats

mp.mp.dps = 50
INF = float("inf")
QUANTILES_INSIDE = (1e-10, 1e-3, 0.1, 0.25, 0.5, 0.8, 0.95, 0.9999)


def in_high_precision(formula):
    """A formula of mpmath numbers as one of floats, -infinity for log 0."""
    def of_floats(x, *parameters):
        value = formula(mp.mpf(x), *(mp.mpf(p) for p in parameters))
        return float(mp.log(value)) if value > 0 else -INF
    return of_floats


def phi(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def around(s, p):
    """A point p widths from the location: parameters end with location and width."""
    return s[-2] + p * s[-1]


def add_location_scale(cases):
    sets = [(0, 1), (1.5, 0.3), (-200, 40), (1e-3, 1e-5)]
    far = (0, -1e-9, 1e-9, -4.999, -5.001, -7.999, -8, -8.001, 8.001, -12, -30, 30, -40, -1e3, 1e5)
    cases.add("normal", sets, stats.norm, extra=far, relative=around,
              log_cdf=in_high_precision(lambda x, m, s: phi((x - m) / s)),
              log_survival=in_high_precision(lambda x, m, s: phi((m - x) / s)))
    angle = lambda z: mp.atan2(1, -z) / mp.pi
    cases.add("cauchy", sets, stats.cauchy, extra=far + (1e12, -1e12), relative=around,
              log_density=in_high_precision(lambda x, m, s: 1 / (mp.pi * s * (1 + ((x - m) / s)**2))),
              log_cdf=in_high_precision(lambda x, m, s: angle((x - m) / s)),
              log_survival=in_high_precision(lambda x, m, s: angle((m - x) / s)))
    side = lambda z: mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2
    cases.add("laplace", sets, stats.laplace, extra=far[3:], relative=around,
              log_density=in_high_precision(lambda x, m, s: mp.exp(-abs(x - m) / s) / (2 * s)),
              log_cdf=in_high_precision(lambda x, m, s: side((x - m) / s)),
              log_survival=in_high_precision(lambda x, m, s: side((m - x) / s)))
    cases.add("logistic", sets, stats.logistic, extra=far, relative=around,
              log_density=in_high_precision(
                  lambda x, m, s: mp.exp(-abs(x - m) / s) / (s * (1 + mp.exp(-abs(x - m) / s))**2)),
              log_cdf=in_high_precision(lambda x, m, s: 1 / (1 + mp.exp((m - x) / s))),
              log_survival=in_high_precision(lambda x, m, s: 1 / (1 + mp.exp((x - m) / s))))
    cases.add("student_t", [(1, 0, 1), (0.4, 1, 2), (2.5, -3, 0.1), (4, 10, 3), (30, 0, 1), (33, 0, 1), (40, -2, 0.5),
                            (100, 3, 2), (1e4, 5, 2)], stats.t,
              points=QUANTILES_INSIDE[1:], extra=(0, -1e-9, 7, -50, 1e6), relative=around,
              log_density=in_high_precision(
                  lambda x, n, m, s: mp.gammaprod([(n + 1) / 2], [n / 2]) / (s * mp.sqrt(n * mp.pi)) *
                  (1 + ((x - m) / s)**2 / n)**(-(n + 1) / 2)))


def add_positive(cases):
    outside = (0, -1e-300, -1, -1e10, INF, -INF)
    small = (1e-300, 1e-20, 1e-3, 0.5, 1, 2, 8.5, 40, 1e3)
    times = lambda s, p: p * s[-1]
    cases.add("half_normal", [(1,), (0.02,), (300,)], lambda s: stats.halfnorm(scale=s), extra=outside + small,
              relative=times, log_cdf=in_high_precision(lambda x, s: mp.erf(max(x, 0) / s / mp.sqrt(2))),
              log_survival=in_high_precision(lambda x, s: mp.erfc(max(x, 0) / s / mp.sqrt(2))))
    cases.add("half_cauchy", [(1,), (0.02,), (300,)], lambda s: stats.halfcauchy(scale=s),
              extra=outside + small + (1e12,), relative=times,
              log_density=in_high_precision(
                  lambda x, s: 2 / (mp.pi * s * (1 + (x / s)**2)) if x >= 0 and mp.isfinite(x) else 0),
              log_cdf=in_high_precision(lambda x, s: 2 / mp.pi * mp.atan(max(x, 0) / s)),
              log_survival=in_high_precision(lambda x, s: 2 / mp.pi * mp.atan(s / x) if x > 0 else 1))
    cases.add("exponential", [(1,), (0.02,), (300,)], lambda r: stats.expon(scale=1 / r), extra=outside + small,
              log_cdf=in_high_precision(lambda x, r: -mp.expm1(-r * max(x, 0))),
              log_survival=in_high_precision(lambda x, r: mp.exp(-r * max(x, 0))))
    cases.add("lognormal", [(0, 1), (1.5, 0.3), (-20, 4)], lambda m, s: stats.lognorm(s, scale=float(mp.exp(m))),
              extra=outside + small,
              log_density=in_high_precision(
                  lambda x, m, s: mp.npdf((mp.log(x) - m) / s) / (s * x) if x > 0 and mp.isfinite(x) else 0),
              log_cdf=in_high_precision(lambda x, m, s: phi((mp.log(x) - m) / s) if x > 0 else 0),
              log_survival=in_high_precision(lambda x, m, s: phi((m - mp.log(x)) / s) if x > 0 else 1))
    inner = outside[1:] + small
    cases.add("gamma", [(2, 1), (0.3, 5), (1, 3), (40.5, 0.1), (1e3, 2)], lambda a, b: stats.gamma(a, scale=1 / b),
              extra=inner, single=1e-3, log_density=in_high_precision(
                  lambda x, a, b: mp.exp(a * mp.log(b) + (a - 1) * mp.log(x) - b * x) / mp.gamma(a)
                  if x > 0 and mp.isfinite(x) else 0))
    cases.add("inv_gamma", [(2, 1), (0.3, 5), (1, 3), (40.5, 0.1), (4.5, 8)], lambda a, b: stats.invgamma(a, scale=b),
              extra=(0,) + inner[5:], log_density=in_high_precision(
                  lambda x, a, b: mp.exp(a * mp.log(b) - (a + 1) * mp.log(x) - b / x) / mp.gamma(a) if x > 0 else 0))
    hazard = lambda x, k, s: (x / s)**k if x > 0 else mp.mpf(0)
    cases.add("weibull", [(1.5, 1), (0.5, 5), (1, 3), (8, 0.1)], lambda k, s: stats.weibull_min(k, scale=s),
              extra=inner, points=QUANTILES_INSIDE,
              log_density=in_high_precision(
                  lambda x, k, s: k / s * (x / s)**(k - 1) * mp.exp(-hazard(x, k, s))
                  if x > 0 and mp.isfinite(x) else 0),
              log_cdf=in_high_precision(lambda x, k, s: -mp.expm1(-hazard(x, k, s))),
              log_survival=in_high_precision(lambda x, k, s: mp.exp(-hazard(x, k, s))))
    # At the end itself: exponentials are 1 there, a number as shape says that they are.
    cases.add("gamma", [(1, 3)], lambda a, b: stats.gamma(a, scale=1 / b), extra=(0,), points=(), tensors=False)
    cases.add("weibull", [(1, 3)], lambda k, s: stats.weibull_min(k, scale=s), extra=(0,), points=(), tensors=False)


def add_bounded(cases):
    outside = (-1e-300, -1, 1.0001, 1e10, INF, -INF)
    cases.add("beta", [(2, 3), (0.3, 0.2), (1, 1), (1, 4), (40, 0.5), (300, 500)], stats.beta,
              extra=outside + (1e-300, 1e-20, 1e-3, 0.999, 1 - 1e-12), tolerance=4e-12,
              log_density=in_high_precision(
                  lambda x, a, b: x**(a - 1) * (1 - x)**(b - 1) / mp.beta(a, b) if 0 < x < 1 else 0))
    cases.add("beta", [(1, 1)], stats.beta, extra=(0, 1), points=(), tensors=False)
    cases.add("beta", [(2, 2)], stats.beta, extra=(0, 1), points=())
    share = lambda x, a, b: min(max((x - a) / (b - a), 0), 1) if mp.isfinite(x) else int(x > 0)
    cases.add("uniform", [(0, 1), (-3, 5), (1e3, 1e3 + 1e-3)], lambda a, b: stats.uniform(a, b - a),
              extra=(0, 1, -1e-9, 1 + 1e-4, -50, 50, INF, -INF), tolerance=1e-9,
              relative=lambda s, p: s[0] + p * (s[1] - s[0]),
              log_density=lambda x, a, b: -float(mp.log(b - a)) if a <= x <= b else -INF,
              log_cdf=in_high_precision(share),
              log_survival=in_high_precision(lambda x, a, b: 1 - share(x, a, b)))
    add_truncated_normal(cases)


def add_truncated_normal(cases):
    def mass(m, s, a, b):
        low, high = (a - m) / s, (b - m) / s
        return phi(-low) - phi(-high) if low > 0 else phi(high) - phi(low)

    sets = [(0, 1, -1, 2), (1.5, 0.3, -INF, 1), (1, 2, 0, INF), (0, 1, 8, 9), (0, 1, -40, -39), (0, 1, 50, INF),
            (0, 1, -INF, -50), (0, 1, -INF, INF), (3, 2, -1e-3, 1e-3)]
    mp.mp.dps = 900  # the mass beyond 50 is 1e-545
    cases.add("truncated_normal", sets, lambda m, s, a, b: stats.truncnorm((a - m) / s, (b - m) / s, loc=m, scale=s),
              points=(1e-3, 0.1, 0.5, 0.8, 0.9999), extra=(-200, 200, INF, -INF), tolerance=4e-12,
              moments=1e-5, kurtosis=6,  # the sums of both cancel far out; an exponential has 6
              log_density=in_high_precision(
                  lambda x, m, s, a, b: mp.npdf((x - m) / s) / s / mass(m, s, a, b)
                  if a <= x <= b and mp.isfinite(x) else 0))
    mp.mp.dps = 50


def add_continuous(cases):
    add_location_scale(cases)
    add_positive(cases)
    add_bounded(cases)
