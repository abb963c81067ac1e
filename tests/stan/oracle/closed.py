"""Densities in mpmath, for programs whose head says `// from: mpmath`."""

import mpmath as mp

mp.mp.dps = 50
densities = {}  # by the program's name: a function of Parameters and data


def program(function):
    densities[function.__name__] = function
    return function


class Parameters:
    """Unconstrained numbers, taken one after the other; `jacobian` is the logarithm of what they are stretched by."""

    def __init__(self, numbers):
        self.numbers, self.taken, self.jacobian = numbers, 0, mp.mpf(0)

    def real(self):
        self.taken += 1
        return self.numbers[self.taken - 1]

    def lower(self, low):
        u = self.real()
        self.jacobian += u
        return low + mp.exp(u)

    def upper(self, high):
        u = self.real()
        self.jacobian += u
        return high - mp.exp(u)

    def between(self, low, high):
        p = 1 / (1 + mp.exp(-self.real()))
        self.jacobian += mp.log(high - low) + mp.log(p) + mp.log(1 - p)
        return low + (high - low) * p

    def positive(self):
        return self.lower(mp.mpf(0))

    def many(self, count, take, *bounds):
        return [take(*bounds) for _ in range(count)]


def value_and_gradient(name, data, point):
    """Of a point, or the front of one with too many numbers. Central differences: with 50 digits a step of 1e-15
    leaves 20."""
    at = [mp.mpf(repr(x)) for x in point]
    step = mp.mpf(10) ** -15

    def density(i, by):
        parameters = Parameters([x + by if k == i else x for k, x in enumerate(at)])
        value = densities[name](parameters, data)
        return value + parameters.jacobian, parameters.taken

    value, count = density(0, 0)
    slopes = [(density(i, step)[0] - density(i, -step)[0]) / (2 * step) for i in range(count)]
    return [float(value), *map(float, slopes)]


def number(text):
    return mp.mpf(text)


def numbers(values):
    return [mp.mpf(repr(x)) for x in values]


def von_mises_log(x, mu, kappa):
    return kappa * mp.cos(x - mu) - mp.log(2 * mp.pi * mp.besseli(0, kappa))


def von_mises_below(x, mu, kappa):
    """From -pi on."""
    inside = mp.quad(lambda t: mp.exp(kappa * mp.cos(t - mu)), [-mp.pi, mu if -mp.pi < mu < x else (x - mp.pi) / 2, x])
    return inside / (2 * mp.pi * mp.besseli(0, kappa))


@program
def von_mises_probabilities(p, data):
    round_ = number("3.1")
    mu, mus = p.between(-round_, round_), p.many(3, p.between, -round_, round_)
    kappa, kappas = p.positive(), p.many(3, p.positive)
    z, y, w = p.between(-round_, round_), numbers(data["y"]), mp.mpf(repr(data["w"]))
    below = von_mises_below
    lp = sum(mp.log(below(x, mu, kappa)) for x in y) + mp.log(1 - below(z, mu, kappa))
    lp += sum(mp.log(below(z, m, k)) for m, k in zip(mus, kappas))
    lp += sum(mp.log(1 - below(x, mu, k)) for x, k in zip(y, kappas))
    lp += below(z, mu, kappa) - mp.fprod(below(x, m, k) for x, m, k in zip(y, mus, kappas))
    low, high = below(number("-0.5"), mu, kappa), below(number("1.5"), mu, kappa)
    return lp + 3 * von_mises_log(w, mu, kappa) - mp.log(1 - low) - mp.log(high) - mp.log(high - low)


def wiener_log(y, alpha, tau, beta, delta):
    """To the upper bound, by the series for small times and the one for large times."""
    t, w = y - tau, 1 - beta
    u = t / alpha**2
    if u < 0.5:
        series = mp.fsum((w + 2 * k) * mp.exp(-((w + 2 * k) ** 2) / (2 * u)) for k in range(-20, 21))
        series /= mp.sqrt(2 * mp.pi * u**3)
    else:
        series = mp.pi * mp.fsum(k * mp.exp(-((k * mp.pi) ** 2) * u / 2) * mp.sin(k * mp.pi * w) for k in range(1, 20))
    return mp.log(series) - 2 * mp.log(alpha) + delta * alpha * w - delta**2 * t / 2


@program
def wiener_density(p, data):
    alpha, tau, beta, delta = p.positive(), p.between(mp.mpf(0), number("0.8")), p.between(mp.mpf(0), mp.mpf(1)), p.real()
    return mp.fsum(wiener_log(y, alpha, tau, beta, delta) for y in numbers(data["y"]))


def wiener_spread(y, alpha, tau, beta, delta, spread):
    """With a drift that is normal around delta."""
    t, away, shared = y - tau, alpha * (1 - beta), 1 + spread**2 * (y - tau)
    drift = ((spread * away) ** 2 + 2 * away * delta - delta**2 * t) / (2 * shared) - mp.log(shared) / 2
    return wiener_log(y, alpha, tau, beta, mp.mpf(0)) + drift


def legendre(count):
    """Places and weights of a rule between 0 and 1."""
    rule = []
    for i in range(count):
        x = mp.cos(mp.pi * (i + 0.75) / (count + 0.5))
        for _ in range(8):  # of Newton's steps, each of which doubles the digits
            slope = count * (x * mp.legendre(count, x) - mp.legendre(count - 1, x)) / (x * x - 1)
            x -= mp.legendre(count, x) / slope
        rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope**2)))
    assert abs(mp.fsum(weight for _, weight in rule) - 1) < mp.mpf(10) ** -30
    return rule


@program
def wiener_that_varies(p, data):
    """Means over starts and delays by a rule: both keep far from where the density is steep."""
    alpha, tau, beta = p.positive(), p.between(mp.mpf(0), number("0.4")), p.between(number("0.2"), number("0.8"))
    delta, spread = p.real(), p.positive()
    width, wait = p.between(mp.mpf(0), number("0.3")), p.between(mp.mpf(0), number("0.4"))
    if "rule" not in data:
        data["rule"] = legendre(24)
    lp = mp.mpf(0)
    for y in numbers(data["y"]):
        mean = mp.fsum(
            u * v * mp.exp(wiener_spread(y, alpha, tau + wait * r, beta + width * (q - 0.5), delta, spread))
            for r, u in data["rule"]
            for q, v in data["rule"]
        )
        lp += mp.log(mean) + wiener_spread(y, alpha, tau, beta, delta, spread)
    return lp


@program
def logarithms_of_bessel_functions(p, data):
    x, v = p.positive(), p.between(mp.mpf(0), mp.mpf(3))
    return mp.log(mp.besseli(v, x)) - mp.log(mp.besseli(number("1.5"), 2 * x)) / 2


@program
def branches_of_lambert(p, data):
    low = number("-0.36")
    x, y = p.lower(low), p.between(low, mp.mpf(0))
    return mp.re(mp.lambertw(x)) - number("0.3") * mp.re(mp.lambertw(y, -1)) * mp.re(mp.lambertw(y))


@program
def hypergeometric_functions(p, data):
    a, b, c, z = p.positive(), p.positive(), p.positive(), p.between(number("-0.8"), number("0.6"))
    lp = (1 - z) ** -a - mp.hyp2f1(a, b, c, z) + number("0.3") * mp.hyper([a, b, number("0.7")], [c, number("1.5")], z)
    return lp - mp.hyper([a, b], [c, number("2.5")], z) / 10


def inverse_of_beta(a, b, p):
    """Newton's steps from where halving ends."""
    low, high = mp.mpf(0), mp.mpf(1)
    for _ in range(30):
        x = (low + high) / 2
        low, high = (x, high) if mp.betainc(a, b, 0, x, regularized=True) < p else (low, x)
    for _ in range(6):
        slope = x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
        x -= (mp.betainc(a, b, 0, x, regularized=True) - p) / slope
    return x


@program
def inverse_of_the_incomplete_beta_function(p, data):
    a, b, at = p.positive(), p.positive(), p.between(mp.mpf(0), mp.mpf(1))
    return mp.log(inverse_of_beta(a, b, at)) - inverse_of_beta(b, number("1.5"), number("0.3"))


@program
def roots_of_equations(p, data):
    a, b = p.between(mp.mpf(1), mp.mpf(3)), p.real()
    x = a - mp.re(mp.lambertw(mp.exp(a)))
    y = mp.findroot(lambda y: x * y + y**3 - b, mp.mpf("0.5"))
    return -((x - 1) ** 2) - 2 * y - 4 * x - b**2


@program
def integrals(p, data):
    m, s = p.real(), p.positive()

    def bell(low, high):
        return mp.sqrt(mp.pi * s) / 2 * (mp.erf((high - m) / mp.sqrt(s)) - mp.erf((low - m) / mp.sqrt(s)))

    return -bell(-1, 2) + bell(0, 1) - bell(-2, 1) - bell(-mp.inf, mp.inf) - bell(number("0.2"), mp.inf) - m**2


# Distribution functions of a family, as the programs <family>_probabilities have them: parameters a, b, ... each
# once and as three numbers, then a place z; log probabilities below and above, probabilities, and truncations.


def probabilities(log_density, below, log_only=False):
    def density(p, data, parameters, place, low, high):
        y, w = numbers(data["y"]), mp.mpf(repr(data["w"]))
        taken = [(take(p), [take(p) for _ in y]) for take in parameters]
        one = [single for single, _ in taken]
        each = [[many[i] for _, many in taken] for i in range(3)]
        mixed = [[single if k % 2 == 0 else many[i] for k, (single, many) in enumerate(taken)] for i in range(3)]
        z = place(p)
        lp = mp.fsum(mp.log(below(x, *one)) for x in y) + mp.log(1 - below(z, *one))
        lp += mp.fsum(mp.log(below(z, *a)) for a in each) + mp.fsum(mp.log(1 - below(x, *a)) for x, a in zip(y, mixed))
        if not log_only:
            lp += below(z, *one) - mp.fprod(below(x, *a) for x, a in zip(y, each))
        under, over = below(number(low), *one), below(number(high), *one)
        return lp + 3 * log_density(w, *one) - mp.log(1 - under) - mp.log(over) - mp.log(over - under)

    return density


def positive(p):
    return p.positive()


def share(p):
    return p.between(mp.mpf(0), mp.mpf(1))


def gamma_below(x, a, b):
    return mp.gammainc(a, 0, b * x, regularized=True)


def gamma_log(x, a, b):
    return a * mp.log(b) - mp.loggamma(a) + (a - 1) * mp.log(x) - b * x


def beta_below(x, a, b):
    return mp.betainc(a, b, 0, x, regularized=True)


def beta_log(x, a, b):
    return (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b))


half = mp.mpf(1) / 2


@program
def incomplete_beta_functions(p, data):
    a, b, x = p.positive(), p.positive(), share(p)
    return mp.log(beta_below(x, a, b)) - beta_below(number("0.3"), b, number("2.5")) * x


@program
def incomplete_gamma_functions(p, data):
    a, b = p.positive(), p.positive()
    lp = mp.log(gamma_below(b, a, 1)) + 2 * mp.log(1 - gamma_below(a, b, 1))
    return lp + gamma_below(number("0.7"), b, 1) - 1 + gamma_below(number("1.3"), a, 1)


@program
def gamma_probabilities(p, data):
    return probabilities(gamma_log, gamma_below)(p, data, [positive, positive], positive, "0.5", "1.8")


@program
def chi_square_probabilities(p, data):
    family = probabilities(lambda x, n: gamma_log(x, n / 2, half), lambda x, n: gamma_below(x, n / 2, half))
    return family(p, data, [positive], positive, "0.5", "1.8")


@program
def inv_chi_square_probabilities(p, data):
    def log_density(x, n):
        return gamma_log(1 / x, n / 2, half) - 2 * mp.log(x)

    family = probabilities(log_density, lambda x, n: 1 - gamma_below(1 / x, n / 2, half))
    return family(p, data, [positive], positive, "0.5", "1.8")


@program
def scaled_inv_chi_square_probabilities(p, data):
    def log_density(x, n, s):
        return gamma_log(1 / x, n / 2, n * s * s / 2) - 2 * mp.log(x)

    family = probabilities(log_density, lambda x, n, s: 1 - gamma_below(1 / x, n / 2, n * s * s / 2))
    return family(p, data, [positive, positive], positive, "0.5", "1.8")


@program
def inv_gamma_probabilities(p, data):
    def log_density(x, a, b):
        return gamma_log(1 / x, a, b) - 2 * mp.log(x)

    family = probabilities(log_density, lambda x, a, b: 1 - gamma_below(1 / x, a, b))
    return family(p, data, [positive, positive], positive, "0.5", "1.8")


@program
def beta_probabilities(p, data):
    return probabilities(beta_log, beta_below)(p, data, [positive, positive], share, "0.2", "0.7")


@program
def beta_proportion_probabilities(p, data):
    family = probabilities(
        lambda x, m, k: beta_log(x, m * k, (1 - m) * k), lambda x, m, k: beta_below(x, m * k, (1 - m) * k), True
    )
    return family(p, data, [share, positive], share, "0.2", "0.7")


@program
def gamma_functions(p, data):
    v, a, b = p.many(3, p.positive), p.positive(), p.positive()
    lp = mp.fsum(-mp.loggamma(x) + mp.psi(0, x) - mp.psi(1, x) for x in v) - mp.gamma(a + number("0.3"))
    lp += mp.log(mp.beta(a, b)) - mp.log(abs(mp.gamma(-a))) - mp.beta(a, b) + mp.log(mp.binomial(a + b, b))
    multivariate = mp.log(mp.pi) * 3 / 2 + mp.fsum(mp.loggamma(a + number("1.5") - k * half) for k in range(3))
    return lp - multivariate + mp.log(mp.binomial(a + 2, a)) - mp.psi(0, number("-0.3")) * b


def negative_binomials(p, data, inverse_scale):
    """The second parameter, with the first, as the one of neg_binomial."""
    y, w = data["y"], data["w"]
    a, many_a, b, many_b = p.positive(), p.many(3, p.positive), p.positive(), p.many(3, p.positive)

    def log_mass(n, *of):
        a, b = inverse_scale(*of)
        return mp.loggamma(n + a) - mp.loggamma(a) - mp.loggamma(n + 1) + a * mp.log(b / (1 + b)) - n * mp.log(1 + b)

    def below(n, a, b):
        return mp.fsum(mp.exp(log_mass(k, a, b)) for k in range(n + 1))

    lp = mp.fsum(mp.log(below(n, a, b)) for n in y) + mp.log(1 - below(w, a, b))
    lp += mp.fsum(mp.log(below(w, s, t)) for s, t in zip(many_a, many_b))
    lp += mp.fsum(mp.log(1 - below(w, s, b)) for s in many_a)
    lp += below(w, a, b) - mp.fprod(below(n, s, t) for n, s, t in zip(y, many_a, many_b))
    lp += 3 * log_mass(w, a, b) - mp.log(1 - below(0, a, b)) - mp.log(below(6, a, b))
    return lp - mp.log(below(6, a, b) - below(0, a, b))


@program
def neg_binomial_probabilities(p, data):
    return negative_binomials(p, data, lambda a, b: (a, b))


@program
def neg_binomial_2_probabilities(p, data):
    return negative_binomials(p, data, lambda mean, phi: (phi, phi / mean))
