"""Cases for elementwise operations: f32 and smaller against float64, f64 against mpmath at 160 bits."""
import mpmath as mp
import numpy as np
from scipy import special

from values import (BITS, COMPLEX, EPSILON, FLOATS, INTEGERS, NUMPY, REALS, SIGNED, TYPES, Array, Exact, Near,
                    complex_samples, compute_type, float_of, promote, real_of, samples, split)

SIZES = [0, 1, 255, 256, 257]


def log_gamma(x):
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def softplus(x):
    return mp.log1p(mp.exp(-abs(x))) + max(x, mp.mpf(0))


def elementwise_mp(function):
    """A vector function of doubles from one of mpmath; NaN and infinities are the caller's."""
    return lambda x: np.array([float(function(mp.mpf(float(v)))) for v in x.ravel()]).reshape(x.shape)


def digamma(x):
    return mp.nan if x <= 0 and x == mp.floor(x) else mp.digamma(x)


def trigamma(x):
    return mp.inf if x <= 0 and x == mp.floor(x) else mp.polygamma(1, x) if x > 0 else (
        (mp.pi / mp.sinpi(x)) ** 2 - mp.polygamma(1, 1 - x))


def erfcx(x):
    if x < -1000:
        return mp.inf
    if x > 1000:  # its series in 1 / (2 x^2)
        s = 1 / (2 * x * x)
        return (1 - s + 3 * s * s - 15 * s ** 3 + 105 * s ** 4) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


# name: (of doubles, of mpmath numbers, where most samples lie)
FUNCTIONS = {
    "exp": (np.exp, mp.exp, "moderate"),
    "exp2": (np.exp2, lambda x: mp.power(2, x), "moderate"),
    "expm1": (np.expm1, mp.expm1, "moderate"),
    "log": (np.log, mp.log, "positive"),
    "log2": (np.log2, lambda x: mp.log(x) / mp.log(2), "positive"),
    "log10": (np.log10, lambda x: mp.log(x) / mp.log(10), "positive"),
    "log1p": (np.log1p, mp.log1p, "positive"),
    "sqrt": (np.sqrt, mp.sqrt, "positive"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 1 / mp.sqrt(x), "positive"),
    "cbrt": (np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), "any"),
    "sin": (np.sin, mp.sin, "any"),
    "cos": (np.cos, mp.cos, "any"),
    "tan": (np.tan, mp.tan, "any"),
    "asin": (np.arcsin, mp.asin, "unit"),
    "acos": (np.arccos, mp.acos, "unit"),
    "atan": (np.arctan, mp.atan, "any"),
    "sinh": (np.sinh, mp.sinh, "moderate"),
    "cosh": (np.cosh, mp.cosh, "moderate"),
    "tanh": (np.tanh, mp.tanh, "any"),
    "asinh": (np.arcsinh, mp.asinh, "any"),
    "acosh": (np.arccosh, mp.acosh, "above_one"),
    "atanh": (np.arctanh, mp.atanh, "unit"),
    "erf": (special.erf, lambda x: mp.erf(min(max(x, -1000), 1000)), "any"),
    "erfc": (special.erfc, lambda x: mp.erfc(min(max(x, -1000), 1000)), "any"),
    "erfcx": (special.erfcx, erfcx, "any"),
    "erf_inv": (special.erfinv, mp.erfinv, "unit"),
    "lgamma": (special.gammaln, log_gamma, "moderate"),
    "digamma": (special.psi, digamma, "moderate"),
    "trigamma": (None, trigamma, "moderate"),
    "sigmoid": (special.expit, lambda x: 1 / (1 + mp.exp(-x)), "moderate"),
    "softplus": (lambda x: np.logaddexp(x, 0), softplus, "moderate"),
    "log_sigmoid": (lambda x: -np.logaddexp(-x, 0), lambda x: -softplus(-x), "moderate"),
}
OF_COMPLEX = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin",
              "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid"]
ON_CUTS = {"asin", "acos", "atan", "asinh", "acosh", "atanh"}
# Where SciPy is not sharp enough even for f32, or has no answer, mpmath serves every type.
ALWAYS_EXACT = {"lgamma", "digamma", "trigamma", "erf_inv"}


def special_result(name, x):
    """Zeros, infinities and NaN, as C's Annex F has them."""
    if name == "trigamma":
        table = {np.inf: 0.0, -np.inf: np.nan, 0.0: np.inf}
        return np.array([table.get(v, np.nan) for v in x])
    if name == "digamma":
        return np.array([np.copysign(np.inf, -v) if v == 0 else np.inf if v == np.inf else np.nan for v in x])
    if name == "lgamma":
        return np.where(np.isnan(x), np.nan, np.inf)
    if name == "softplus":
        return np.array([0.0 if v == -np.inf else np.log(2) if v == 0 else v for v in x])
    if name == "log_sigmoid":
        return np.array([-0.0 if v == np.inf else -np.log(2) if v == 0 else v for v in x])
    if name == "erf_inv":
        return np.where(x == 0, x, np.nan)
    return FUNCTIONS[name][0](x)


def slack_of(name, x, kind):
    """Between the poles of the negative axis the unit is that of the terms which cancel."""
    epsilon = 2 * EPSILON[kind]
    x = np.where(np.isfinite(x), x, 0)
    if name == "lgamma":
        term = np.where(x < -0.3, np.maximum(0.5, np.abs(special.gammaln(np.abs(x) + 1e-300))), 0)
        return 8 * epsilon * np.where(np.isfinite(term), term, 0)
    if name == "digamma":
        return 8 * epsilon * np.where(x < 0, np.maximum(0.5, np.log1p(np.abs(x))), 0)
    return None


def exactly(name, x):
    """The function at doubles: high and low parts."""
    _, function, _ = FUNCTIONS[name]
    flat = x.ravel()
    is_special = ~np.isfinite(flat) | (flat == 0)
    high, low = np.zeros(flat.size), np.zeros(flat.size)
    high[is_special] = special_result(name, flat[is_special])
    for i in np.flatnonzero(~is_special):
        try:
            value = function(mp.mpf(float(flat[i])))
            high[i], low[i] = (np.nan, 0) if isinstance(value, mp.mpc) and value.imag != 0 else split(mp.re(value))
        except (ValueError, ZeroDivisionError):  # a pole
            high[i] = special_result(name, flat[i:i + 1])[0] if name != "trigamma" else np.inf
    return high.reshape(x.shape), low.reshape(x.shape)


def function_result(name, x):
    """A real function of an Array."""
    kind = float_of(x.kind)
    at = Array(kind, x.values).wide() if x.kind in INTEGERS else x.wide()
    if kind == "f64" or name in ALWAYS_EXACT:
        high, low = exactly(name, at)
    else:
        high, low = FUNCTIONS[name][0](at), None
    slack = slack_of(name, at, compute_type(kind))
    return Near(kind, high, low, slack)


def complex_function_result(name, z):
    function = FUNCTIONS[name][1]
    flat = z.wide().ravel()
    values = []
    for v in flat:
        try:
            # On the axes, where branches are cut, the sign of zero decides; mpmath has none.
            if name in ON_CUTS and (v.imag == 0 or v.real == 0):
                values.append(mp.mpc(complex(FUNCTIONS[name][0](v))))
                continue
            values.append(mp.mpc(function(mp.mpc(complex(v)))))
        except (ValueError, ZeroDivisionError):
            values.append(None)
    high = np.array([complex(np.nan, np.nan) if v is None else complex(v) for v in values], np.complex128)
    low = np.array([0 if v is None or not np.isfinite(complex(v)) else
                    complex(split(v.real)[1], split(v.imag)[1]) for v in values], np.complex128)
    return Near(z.kind, high.reshape(z.shape), low.reshape(z.shape), zero_signs=False)


def add_functions(cases, rng):
    for name, (_, _, domain) in FUNCTIONS.items():
        for kind in REALS:
            for size in SIZES if kind in ("f32", "f64", "f16") else [257]:
                x = samples(kind, size, rng, domain)
                cases.add(name, [x], function_result(name, x), everywhere=kind in ("f32", "f16") and size == 257)
        for kind in COMPLEX if name in OF_COMPLEX else []:
            z = complex_samples(kind, 257, rng)
            if name in ("log", "log2", "log10", "rsqrt", "atanh", "atan"):  # keep off the poles
                z = Array(kind, np.where(np.isin(z.values, [0, 1, -1, 1j, -1j]), 0.3 + 0.2j, z.values))
            cases.add(name, [z], complex_function_result(name, z), everywhere=kind == "c64")


def exact_round(x):
    """Halves away from zero; adding 0.5 would round wrongly just below a half and above 2^52."""
    whole = np.trunc(x)
    return np.copysign(np.abs(whole) + (np.abs(x - np.where(np.isfinite(x), whole, x)) >= 0.5), x)


def bits_of(kind):
    return NUMPY[f"u{BITS[kind]}"]


def count_bits(x, kind):
    width = BITS[kind]
    words = [int(v) & (2**width - 1) for v in x.ravel()]
    return (np.array([width - w.bit_length() for w in words]).reshape(x.shape),
            np.array([bin(w).count("1") for w in words]).reshape(x.shape))


# Of any real type, exact, in the same type.
PLAIN = {
    "negate": np.negative, "abs": np.abs,
    "sign": lambda x: np.where(x == 0, x, np.sign(x)) if x.dtype.kind == "f" else np.sign(x),
    "floor": lambda x: np.floor(x) if x.dtype.kind == "f" else x,
    "ceil": lambda x: np.ceil(x) if x.dtype.kind == "f" else x,
    "round": lambda x: exact_round(x) if x.dtype.kind == "f" else x,
    "trunc": lambda x: np.trunc(x) if x.dtype.kind == "f" else x,
    "stop_gradient": lambda x: x, "conjugate": lambda x: x, "square": lambda x: x * x,
    "relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)) if x.dtype.kind == "f" else np.maximum(x, 0),
}


def add_plain(cases, rng):
    for name, function in PLAIN.items():
        for kind in REALS:
            if name == "conjugate":
                continue
            for size in SIZES if kind in ("f32", "u8", "i64") else [257]:
                x = samples(kind, size, rng)
                wide = function(x.wide()) if kind in FLOATS else function(x.values)
                out = Near(kind, wide, ulp=0) if kind in FLOATS else Exact(kind, wide)
                if kind == "f64":
                    out = Exact(kind, wide)
                cases.add(name, [x], out, everywhere=size == 257 and kind in ("f32", "bf16", "i8", "u32"))
    for kind in COMPLEX:
        z = complex_samples(kind, 257, rng)
        wide, part = z.wide(), real_of(kind)
        cases.add("negate", [z], Exact(kind, -z.values))
        cases.add("conjugate", [z], Exact(kind, np.conj(z.values)), everywhere=True)
        cases.add("real", [z], Exact(part, z.values.real), everywhere=True)
        cases.add("imag", [z], Exact(part, z.values.imag), everywhere=True)
        high, low = zip(*[split(abs(mp.mpc(complex(v)))) for v in wide])
        cases.add("abs", [z], Near(part, high, low, ulp=3), everywhere=True)
        high, low = zip(*[split(mp.arg(mp.mpc(complex(v)))) for v in wide])
        cases.add("phase", [z], Near(part, high, low, ulp=3, zero_signs=False))
        length = np.abs(wide)
        cases.add("sign", [z], Near(kind, np.where(length == 0, 0, wide / np.where(length == 0, 1, length)),
                                    ulp=4, zero_signs=False))
        cases.add("square", [z], Near(kind, wide * wide, ulp=4, zero_signs=False))
        cases.add("stop_gradient", [z], Exact(kind, z.values))
    for kind in REALS:
        x = samples(kind, 257, rng)
        cases.add("reciprocal", [x], Near(float_of(kind), 1 / Array(float_of(kind), x.values).wide(), ulp=1))
        cases.add("conjugate", [x], Near("c128" if kind == "f64" else "c64", x.values.astype(np.float64),
                                         ulp=0, zero_signs=False))
        cases.add("real", [x], Exact(float_of(kind), x.values))
        cases.add("imag", [x], Exact(float_of(kind), np.zeros(257)))


def add_bits(cases, rng):
    for kind in INTEGERS:
        x = samples(kind, 257, rng)
        leading, population = count_bits(x.values, kind)
        everywhere = kind in ("u8", "i16", "i64", "u32")
        cases.add("bitwise_not", [x], Exact(kind, ~x.values), everywhere)
        cases.add("count_leading_zeros", [x], Exact(kind, leading), everywhere)
        cases.add("population_count", [x], Exact(kind, population), everywhere)
    for kind in TYPES:
        x = complex_samples(kind, 257, rng) if kind in COMPLEX else samples(kind, 257, rng)
        if kind in COMPLEX:
            values = x.values.copy()
            values[20:24] = [complex(np.nan, 1), complex(1, np.nan), complex(np.inf, 0), complex(0, -np.inf)]
            x = Array(kind, values)
        everywhere = kind in ("f32", "c64", "f16")
        cases.add("is_nan", [x], Exact("u8", np.isnan(x.values)), everywhere)
        cases.add("is_infinity", [x], Exact("u8", np.isinf(x.values)), everywhere)
        cases.add("logical_not", [x], Exact("u8", x.values == 0), everywhere)


def add_unary(cases, rng):
    with np.errstate(all="ignore"):
        add_functions(cases, rng)
        add_plain(cases, rng)
        add_bits(cases, rng)
