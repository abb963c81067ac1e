"""Constants and elementwise operations."""

import math

import numpy as np
from adit import DType

from .source import case


@case("full")
def full(s):
    yield s.one("full", value=7), np.int64(7)
    yield s.one("full", value=2.5, shape=[2, 3]), np.full((2, 3), 2.5, np.float32)
    yield s.one("full", value=3, shape=[2], type=DType("f64")), np.full(2, 3.0)
    yield s.one("full", value=1.5 - 2j, shape=[1], type="c128"), np.full(1, 1.5 - 2j)


@case("iota")
def iota(s):
    yield s.one("iota", shape=[2, 3]), np.arange(6).reshape(2, 3)
    yield s.one("iota", shape=[2, 3], type="f32", axis=1), np.array([[0, 1, 2]] * 2, np.float32)


@case("linspace")
def linspace(s):
    yield s.one("linspace", first=-1, last=2.5, count=8, type="f64"), np.linspace(-1, 2.5, 8)


@case("eye")
def eye(s):
    yield s.one("eye", rows=3), np.eye(3, dtype=np.float32)
    yield s.one("eye", rows=2, columns=4, type="i32"), np.eye(2, 4, dtype=np.int32)


def elements(f):
    return np.vectorize(f, otypes=["f8"])


def digamma(x):
    shift = 0.0
    while x < 8:
        shift, x = shift - 1 / x, x + 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6) + 1 / (240 * x**8)


def trigamma(x):
    shift = 0.0
    while x < 10:
        shift, x = shift + 1 / x**2, x + 1
    return shift + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7) - 1 / (30 * x**9)


def away_from_zero(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# Name: the function, and where it is tried.
UNARY = {
    "negate": (np.negative, -2, 2), "abs": (np.abs, -2, 2), "sign": (np.sign, -2, 2), "floor": (np.floor, -5, 5),
    "ceil": (np.ceil, -5, 5), "round": (away_from_zero, -5, 5), "trunc": (np.trunc, -5, 5), "exp": (np.exp, -3, 3),
    "exp2": (np.exp2, -3, 3), "expm1": (np.expm1, -1, 1), "log": (np.log, 0.1, 9), "log2": (np.log2, 0.1, 9),
    "log10": (np.log10, 0.1, 9), "log1p": (np.log1p, -0.5, 3), "sqrt": (np.sqrt, 0, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "cbrt": (np.cbrt, -9, 9), "sin": (np.sin, -9, 9), "cos": (np.cos, -9, 9),
    "tan": (np.tan, -1, 1), "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9),
    "sinh": (np.sinh, -3, 3), "cosh": (np.cosh, -3, 3), "tanh": (np.tanh, -3, 3), "asinh": (np.arcsinh, -9, 9),
    "acosh": (np.arccosh, 1.1, 9), "atanh": (np.arctanh, -0.9, 0.9), "erf": (elements(math.erf), -3, 3),
    "erfc": (elements(math.erfc), -3, 3), "lgamma": (elements(math.lgamma), 0.1, 9),
    "erfcx": (elements(lambda x: math.exp(x * x) * math.erfc(x)), -1, 3),
    "digamma": (elements(digamma), 0.1, 9), "trigamma": (elements(trigamma), 0.1, 9),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9), "softplus": (lambda x: np.log1p(np.exp(x)), -9, 9),
    "log_sigmoid": (lambda x: -np.log1p(np.exp(-x)), -9, 9), "square": (np.square, -3, 3),
    "reciprocal": (lambda x: 1 / x, 0.1, 3), "relu": (lambda x: np.maximum(x, 0), -3, 3),
    "stop_gradient": (lambda x: x, -3, 3), "real": (np.real, -3, 3),
}


@case(*UNARY)
def unary(s, name):
    f, low, high = UNARY[name]
    for type in ("f4", "f8"):
        x = s.floats(low=low, high=high, type=type)
        yield s.one(name, x), f(x.astype("f8")).astype(type)


COMPLEX = {"conjugate": np.conj, "imag": np.imag, "phase": np.angle}


@case(*COMPLEX)
def of_complex(s, name):
    for type in ("c8", "c16"):
        x = s.complexes(type=type)
        yield s.one(name, x), COMPLEX[name](x)


@case("erf_inv")
def erf_inv(s):
    x = s.floats(low=-0.95, high=0.95)
    found = s.one("erf_inv", x).numpy()
    yield elements(math.erf)(found).astype(x.dtype), x


WHOLE = {
    "bitwise_not": np.invert, "logical_not": lambda x: (x == 0).astype("u1"),
    "population_count": lambda x: np.vectorize(lambda v: int(v).bit_count())(x).astype(x.dtype),
    "count_leading_zeros": lambda x: np.vectorize(lambda v: 8 * x.itemsize - int(v).bit_length())(x).astype(x.dtype),
}


@case(*WHOLE)
def of_whole(s, name):
    for type in ("u1", "u4"):
        x = s.whole(low=0, high=200, type=type)
        yield s.one(name, x), WHOLE[name](x)


@case("is_nan", "is_infinity")
def special(s, name):
    x = s.random.choice(np.array([0, 1, np.nan, np.inf, -np.inf], "f4"), 9)
    yield s.one(name, x), (np.isnan(x) if name == "is_nan" else np.isinf(x)).astype("u1")


@case("as_type")
def as_type(s):
    x = s.floats(low=-99, high=99)
    yield s.one("as_type", x, type="i16"), x.astype("i2")
    yield s.one("as_type", x, type=DType("c64")), x.astype("c8")
    yield s.one("as_type", np.array([1.0, -0.5, 3.140625], "f4"), type="bf16"), np.array([1, -0.5, 3.140625], "f4")


@case("bitcast")
def bitcast(s):
    x = s.floats(type="f4")
    yield s.one("bitcast", x, type="u32"), x.view("u4")


def truth(f):
    return lambda a, b: f(a, b).astype("u1")


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
    "equal": truth(np.equal), "not_equal": truth(np.not_equal), "less": truth(np.less),
    "less_equal": truth(np.less_equal), "greater": truth(np.greater), "greater_equal": truth(np.greater_equal),
    "logical_and": truth(np.logical_and), "logical_or": truth(np.logical_or), "logical_xor": truth(np.logical_xor),
    "remainder": np.fmod,
}


@case(*BINARY)
def binary(s, name):
    for type in ("f4", "f8", "i4", "u1"):
        top = type == "u1"
        a, b = s.pair(lambda shape: s.whole(shape, low=0 if top else -4, high=5, type=type))
        if name == "remainder":
            b[b == 0] = 3
        yield s.one(name, a, b), BINARY[name](a, b)


FLOAT_BINARY = {"divide": np.divide, "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}


@case(*FLOAT_BINARY)
def float_binary(s, name):
    for type in ("f4", "f8"):
        a, b = s.pair(lambda shape: s.floats(shape, low=0.2, high=3, type=type))
        yield s.one(name, a, b), FLOAT_BINARY[name](a, b)


@case("quotient")
def quotient(s):
    a, b = s.pair(lambda shape: s.whole(shape, -99, 100))
    b[b == 0] = 7
    yield s.one("quotient", a, b), np.trunc(a / b).astype("i4")


BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
        "left_shift": np.left_shift, "right_shift": np.right_shift}


@case(*BITS)
def bits(s, name):
    for type in ("u1", "i4", "u8"):
        a, b = s.pair(lambda shape: s.whole(shape, 0, 7, type=type))
        yield s.one(name, a, b), BITS[name](a, b)


@case("complex")
def complex_(s):
    a, b = s.floats((3,), type="f4"), s.floats((3,), type="f4")
    yield s.one("complex", a, b), a + 1j * b


@case("select")
def select(s):
    p, a, b = s.whole((3, 4), 0, 2, "u1"), s.floats((3, 4), type="f4"), s.floats((4,), type="f4")
    yield s.one("select", p, a, b), np.where(p, a, b)


@case("clip")
def clip(s):
    x = s.floats(type="f4", low=-5, high=5)
    yield s.one("clip", x, np.float32(-1), np.float32(2)), np.clip(x, -1, 2).astype("f4")
