"""Operations that take functions."""

import numpy as np
from adit import Function

from .source import case


def scalar_function(s, operation):
    return Function(lambda a, b: s.call(operation, a, b), ("f64", ()), ("f64", ()))


@case("reduce")
def reduce(s):
    x = s.floats((3, 4), type="f8")
    add = scalar_function(s, "add")
    yield s.one("reduce", x, np.float64(1), combine=add), np.sum(x) + 1
    yield s.one("reduce", x, np.float64(0), axes=[1], keep_axes=1, combine=add), np.sum(x, 1, keepdims=True)


@case("cond")
def cond(s):
    x = s.floats((3,), type="f8")
    branches = dict(on_true=Function(lambda a: s.call("exp", a), ("f64", (3,))),
                    on_false=Function(lambda a: s.call("negate", a), ("f64", (3,))))
    yield s.one("cond", np.uint8(1), x, **branches), np.exp(x)
    yield s.one("cond", np.uint8(0), x, **branches), -x


@case("while_loop")
def while_loop(s):
    limit, step = s.tensor(np.float64(10)), s.tensor(np.float64(1.5))
    condition = Function(lambda a: s.call("less", a, limit), ("f64", ()))
    body = Function(lambda a: s.call("add", a, step), ("f64", ()))
    yield s.one("while_loop", np.float64(0.25), condition=condition, body=body), np.float64(10.75)


@case("scan")
def scan(s):
    x = s.floats((6,), type="f8")

    def step(carry, it):
        total = s.call("add", carry, it)[0]
        return [total, total]

    f = Function(step, ("f64", ()), ("f64", ()))
    yield s.all("scan", np.float64(0), x, step=f, carries=1), [np.sum(x), np.cumsum(x)]
    yield s.all("scan", np.float64(0), x, step=f, carries=1, length=6, reverse=1), [np.sum(x), np.cumsum(x[::-1])[::-1]]
