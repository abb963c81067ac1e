"""Cases for convolutions: sums of shifted slices, and SciPy's correlation where it has one."""
import numpy as np
from scipy import signal

from reductions import modest
from values import COMPLEX, EPSILON, INTEGERS, NUMPY, TYPES, Array, Exact, Near, compute_type


def dilated(x, axes, steps):
    """Zeros between the elements along some axes."""
    for axis, step in zip(axes, steps):
        shape = list(x.shape)
        shape[axis] = (shape[axis] - 1) * step + 1 if shape[axis] else 0
        wide = np.zeros(shape, x.dtype)
        wide[tuple(slice(None, None, step) if a == axis else slice(None) for a in range(x.ndim))] = x
        x = wide
    return x


def padded(x, axes, padding):
    for axis, (low, high) in zip(axes, padding):
        widths = [(0, 0)] * x.ndim
        widths[axis] = (max(low, 0), max(high, 0))
        x = np.pad(x, widths)
        end = x.shape[axis] + min(high, 0)
        x = x[tuple(slice(max(-low, 0), end) if a == axis else slice(None) for a in range(x.ndim))]
    return x


def convolution(x, w, strides, padding, input_dilation, kernel_dilation, feature_groups, batch_groups):
    """x [batch, channels, ...], w [filters, channels / feature_groups, ...]; loops over the kernel's elements."""
    spatial = range(2, x.ndim)
    x = padded(dilated(x, spatial, input_dilation), spatial, padding)
    reach = [(n - 1) * d + 1 for n, d in zip(w.shape[2:], kernel_dilation)]
    results = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides)]
    batch, filters = x.shape[0] // batch_groups, w.shape[0]
    out = np.zeros([batch, filters] + results, x.dtype)
    each = filters // (feature_groups * batch_groups)
    for g in range(feature_groups * batch_groups):
        part = x[g * batch:(g + 1) * batch] if batch_groups > 1 else x
        if feature_groups > 1:
            part = part[:, g * w.shape[1]:(g + 1) * w.shape[1]]
        own = slice(g * each, (g + 1) * each)
        for k in np.ndindex(*w.shape[2:]):
            seen = part[(slice(None), slice(None)) + tuple(
                slice(at * d, at * d + (r - 1) * s + 1, s) for at, d, r, s in zip(k, kernel_dilation, results, strides))]
            with np.errstate(all="ignore"):
                out[:, own] += np.einsum("nc...,fc->nf...", seen, w[own][(slice(None), slice(None)) + k])
    return out


def add_case(cases, kind, rng, x_shape, w_shape, everywhere=False, permute=False, same=False, x=None, **options):
    rank = len(x_shape)
    ones = [1] * (rank - 2)
    x, w = x or modest(kind, x_shape, rng), modest(kind, w_shape, rng)
    full = {"strides": ones, "padding": [[0, 0] for _ in ones], "input_dilation": ones, "kernel_dilation": ones,
            "feature_groups": 1, "batch_groups": 1} | options
    if same:
        reach = [(n - 1) * d + 1 for n, d in zip(w_shape[2:], full["kernel_dilation"])]
        full["padding"] = [[(r - 1) // 2, r // 2] for r in reach]
        options["same"] = True
    out = convolution(x.wide(), w.wide(), **full)
    given = dict(options)
    inputs = [x, w]
    if permute:
        orders = [[int(a) for a in rng.permutation(rank)] for _ in range(3)]
        given |= dict(zip(("input_permutation", "kernel_permutation", "output_permutation"), orders))
        # Axis i of the canonical tensor is axis order[i] of the one that is given.
        inputs = [Array(kind, np.transpose(a.values, np.argsort(order))) for a, order in zip(inputs, orders)]
    turn = (lambda a: np.transpose(a, np.argsort(orders[2]))) if permute else (lambda a: a)
    if kind in INTEGERS:
        cases.add("conv", inputs, Exact(kind, turn(out).astype(NUMPY[kind])), everywhere, **given)
        return
    size = convolution(np.abs(x.wide()), np.abs(w.wide()), **full)
    count = max(1, int(np.prod(w_shape[1:])))
    slack = turn(size) * (4 + count) * EPSILON[compute_type(kind)] * (3 if kind in COMPLEX else 1)
    cases.add("conv", inputs, Near(kind, turn(out), slack=slack, ulp=1, zero_signs=False), everywhere, **given)


def add_against_scipy(cases, rng):
    for x_shape, w_shape in [((1, 1, 17), (1, 1, 4)), ((1, 1, 9, 11), (1, 1, 3, 2)), ((1, 1, 5, 6, 7), (1, 1, 2, 3, 2))]:
        x, w = modest("f64", x_shape, rng), modest("f64", w_shape, rng)
        out = signal.correlate(x.values[0, 0], w.values[0, 0], mode="valid", method="direct")[None, None]
        cases.add("conv", [x, w], Near("f64", out, slack=1e-13 * np.ones_like(out), ulp=1, zero_signs=False))


def add_random_options(cases, rng, count):
    for number in range(count):
        spatial = int(rng.integers(1, 4))
        groups = int(rng.choice([1, 1, 2, 3]))
        by_batch = groups > 1 and rng.random() < 0.4
        channels, filters = int(rng.integers(1, 4)), int(rng.integers(1, 4)) * groups
        window = [int(n) for n in rng.integers(1, 4, size=spatial)]
        extents = [int(n) for n in rng.integers(4, 10, size=spatial)]
        batch = int(rng.integers(1, 3)) * (groups if by_batch else 1)
        options = {"strides": [int(n) for n in rng.integers(1, 4, size=spatial)],
                   "padding": [[int(rng.integers(-1, 4)), int(rng.integers(-1, 4)) + 4] for _ in extents],
                   "input_dilation": [int(n) for n in rng.integers(1, 4, size=spatial)],
                   "kernel_dilation": [int(n) for n in rng.integers(1, 4, size=spatial)]}
        if groups > 1:
            options["batch_groups" if by_batch else "feature_groups"] = groups
        kind = ("f32", "f64", "i32", "f16", "c64", "f32")[number % 6]
        x_shape = [batch, channels * (1 if by_batch else groups)] + extents
        add_case(cases, kind, rng, x_shape, [filters, channels] + window, kind == "f32", rng.random() < 0.5, **options)


def add_conv(cases, rng):
    for kind in TYPES:
        add_case(cases, kind, rng, (2, 3, 8), (4, 3, 3), kind in ("f32", "i32"))
        add_case(cases, kind, rng, (2, 4, 7, 9), (6, 2, 3, 2), kind == "f32", feature_groups=2, strides=[2, 1],
                 padding=[[1, 1], [0, 2]])
        add_case(cases, kind, rng, (2, 5, 6, 6), (5, 1, 3, 3), kind == "f32", feature_groups=5, same=True)
        # Beyond what is computed where it is read.
        add_case(cases, kind, rng, (3, 17, 19, 23), (21, 17, 3, 3), kind == "f32", same=True)
    for kind in ("f32", "f64", "f16", "bf16", "c64", "c128", "i32", "u8"):
        add_case(cases, kind, rng, (2, 32, 31, 29), (48, 16, 5, 3), kind == "f32", feature_groups=2, strides=[2, 3],
                 padding=[[2, -1], [3, 1]], kernel_dilation=[1, 2])
        add_case(cases, kind, rng, (2, 24, 65), (40, 24, 5), kind == "f32", padding=[[4, 4]], input_dilation=[3],
                 kernel_dilation=[2])
        add_case(cases, kind, rng, (1, 8, 11, 12, 13), (9, 8, 3, 2, 3), kind == "f32", permute=True,
                 padding=[[1, 1], [0, 1], [2, 0]], input_dilation=[1, 2, 1])
        add_case(cases, kind, rng, (2, 64, 33, 35), (128, 1, 3, 3), kind == "f32", feature_groups=64, strides=[1, 2],
                 padding=[[1, 1], [1, 1]])
        add_case(cases, kind, rng, (6, 16, 20, 21), (24, 16, 3, 3), kind == "f32", batch_groups=3, same=True)
        add_case(cases, kind, rng, (4, 128, 9, 9), (130, 128, 1, 1), kind == "f32")
    # Windows that are longer than the results are many, as in gradients of kernels.
    for kind in ("f32", "f64", "i32"):
        add_case(cases, kind, rng, (16, 8, 30, 31), (24, 8, 28, 29), kind == "f32", kernel_dilation=[1, 1])
        add_case(cases, kind, rng, (20, 8, 30, 31), (66, 8, 28, 29), kind == "f32")
        add_case(cases, kind, rng, (12, 6, 500), (20, 6, 249), kind == "f32", padding=[[1, -1]], kernel_dilation=[2])
        add_case(cases, kind, rng, (3, 320, 12, 12), (16, 20, 10, 10), kind == "f32", feature_groups=16)
    for shape, window in [((0, 2, 5), (3, 2, 2)), ((2, 0, 5), (3, 0, 2)), ((2, 3, 5), (0, 3, 2)), ((1, 1, 1), (1, 1, 1)),
                          ((2, 2, 1, 1), (3, 2, 1, 1))]:
        add_case(cases, "f32", rng, shape, window, True)
    add_case(cases, "f32", rng, (2, 2, 0), (3, 2, 2), True, padding=[[2, 1]])
    x = modest("f32", (1, 2, 9), rng)
    x.values[0, 1, 4] = np.nan
    add_case(cases, "f32", rng, x.shape, (2, 2, 3), True, x=x)
    add_against_scipy(cases, rng)
    add_random_options(cases, rng, 36)
