"""Windows and convolutions."""

import numpy as np
from adit import Function

from .source import case


def windows_of(x, value, window, strides, low, high, dilations):
    """[places..., window...], by loops."""
    padded = np.pad(x, list(zip(low, high)), constant_values=value)
    reach = [d * (w - 1) + 1 for w, d in zip(window, dilations)]
    places = [(n - r) // t + 1 for n, r, t in zip(padded.shape, reach, strides)]
    out = np.empty(tuple(places) + tuple(window), x.dtype)
    for place in np.ndindex(*places):
        for at in np.ndindex(*window):
            out[place + at] = padded[tuple(p * t + a * d for p, t, a, d in zip(place, strides, at, dilations))]
    return out


PLAIN = dict(strides=[1, 1], low=[0, 0], high=[0, 0], dilations=[1, 1])
WIDE = dict(strides=[2, 1], low=[1, 0], high=[0, 2], dilations=[1, 2])
SAME = dict(PLAIN, low=[0, 1], high=[1, 1])  # of a window of 2 by 3: the odd one behind
LAST = (2, 3)

WINDOWED = {"window_sum": (np.sum, 0), "window_product": (np.prod, 1), "window_max": (np.max, -np.inf),
            "window_min": (np.min, np.inf), "window_mean": (np.mean, 0)}


@case(*WINDOWED)
def windowed(s, name):
    f, value = WINDOWED[name]
    x = s.floats((5, 6), type="f8")
    yield s.one(name, x, window=[2, 3]), f(windows_of(x, value, (2, 3), **PLAIN), axis=LAST)
    yield s.one(name, x, window=[2, 3], same=1), f(windows_of(x, value, (2, 3), **SAME), axis=LAST)
    yield s.one(name, x, window=[2, 2], **WIDE), f(windows_of(x, value, (2, 2), **WIDE), axis=LAST)


@case("windows")
def windows(s):
    x = s.floats((5, 6), type="f8")
    yield s.one("windows", x, np.float64(7), window=[2, 2], **WIDE), windows_of(x, 7, (2, 2), **WIDE)
    yield s.one("windows", x, np.float64(7), window=[2, 3], same=1), windows_of(x, 7, (2, 3), **SAME)


@case("max_pool", "average_pool")
def pooled(s, name):
    x = s.floats((1, 2, 5, 6), type="f8")
    f, value = (np.max, -np.inf) if name == "max_pool" else (np.mean, 0)

    def expected(window, how):
        return np.stack([f(windows_of(it, value, window, **how), axis=LAST) for it in x[0]])[None]

    yield s.one(name, x, window=[2, 3]), expected((2, 3), dict(PLAIN, strides=[2, 3]))
    yield s.one(name, x, window=[2, 2], **WIDE), expected((2, 2), WIDE)
    yield s.one(name, x, window=[2, 3], strides=[1, 1], same=1), expected((2, 3), SAME)
    if name == "average_pool":
        ones = np.ones((5, 6))
        counts = np.sum(windows_of(ones, 0, (2, 2), **WIDE), axis=LAST)
        sums = np.stack([np.sum(windows_of(it, 0, (2, 2), **WIDE), axis=LAST) for it in x[0]])[None]
        yield s.one(name, x, window=[2, 2], count_padding=0, **WIDE), sums / counts


@case("window_scatter_max", "window_scatter_min")
def window_scatter(s, name):
    x = s.floats((4, 6), type="f8")
    sign = 1 if name == "window_scatter_max" else -1
    where = np.arange(24.0).reshape(4, 6)
    for window, how, given in (((2, 3), dict(PLAIN, strides=[2, 3]), dict(strides=[2, 3])), ((2, 2), WIDE, WIDE),
                               ((2, 3), SAME, dict(same=1))):
        values, places = windows_of(sign * x, -np.inf, window, **how), windows_of(where, -1, window, **how)
        source = s.floats(values.shape[:2], type="f8")
        expected = np.full(24, 0.5)
        for at in np.ndindex(*source.shape):
            best = np.argmax(values[at].ravel())  # no two are equal
            expected[int(places[at].ravel()[best])] += source[at]
        yield s.one(name, x, source, np.float64(0.5), window=list(window), **given), expected.reshape(4, 6)


@case("window_reduce")
def window_reduce(s):
    x = s.floats((5, 6), type="f8")
    largest = Function(lambda a, b: s.call("maximum", a, b), ("f64", ()), ("f64", ()))
    yield (s.one("window_reduce", x, np.float64(0), window=[2, 2], combine=largest, **WIDE),
           np.maximum(np.max(windows_of(x, 0, (2, 2), **WIDE), axis=LAST), 0))
    yield (s.one("window_reduce", x, np.float64(0), window=[2, 3], same=1, combine=largest),
           np.maximum(np.max(windows_of(x, 0, (2, 3), **SAME), axis=LAST), 0))


def convolved(x, kernel, strides=(1, 1), low=(0, 0), high=(0, 0), dilation=(1, 1)):
    """[batch, channels, ...] with [filters, channels, ...]."""
    out = []
    for image in x:
        parts = np.stack([windows_of(it, 0, kernel.shape[2:], strides, low, high, dilation) for it in image])
        out.append(np.einsum("cxyhw,fchw->fxy", parts, kernel))
    return np.stack(out)


@case("conv")
def conv(s):
    x, kernel = s.floats((2, 4, 5, 6), type="f8"), s.floats((6, 4, 2, 3), type="f8")
    yield s.one("conv", x, kernel), convolved(x, kernel)
    yield s.one("conv", x, kernel, same=1), convolved(x, kernel, low=(0, 1), high=(1, 1))
    yield (s.one("conv", x, kernel, strides=[2, 1], low=[1, 0], high=[0, 2], kernel_dilation=[2, 1]),
           convolved(x, kernel, (2, 1), (1, 0), (0, 2), (2, 1)))
    spread = np.zeros((2, 4, 9, 6))
    spread[:, :, ::2] = x
    yield s.one("conv", x, kernel, input_dilation=[2, 1]), convolved(spread, kernel)
    halves = [convolved(x[:, 2 * i:2 * i + 2], kernel[3 * i:3 * i + 3, :2]) for i in range(2)]
    yield s.one("conv", x, kernel[:, :2].copy(), feature_groups=2), np.concatenate(halves, 1)
    batches = [convolved(x[i:i + 1], kernel[3 * i:3 * i + 3]) for i in range(2)]
    yield s.one("conv", x, kernel, batch_groups=2), np.concatenate(batches, 1)
    # Channels last, in and out.
    yield (s.one("conv", x.transpose(0, 2, 3, 1).copy(), kernel.transpose(2, 3, 1, 0).copy(),
                 input_permutation=[0, 3, 1, 2], kernel_permutation=[3, 2, 0, 1], output_permutation=[0, 3, 1, 2]),
           convolved(x, kernel).transpose(0, 2, 3, 1))
