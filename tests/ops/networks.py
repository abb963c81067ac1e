"""Cases for normalisation and attention."""
import numpy as np

from reductions import modest
from values import EPSILON, FLOATS, INTEGERS, Array, Near, compute_type, float_of, promote


def normalised(op, x, axes, epsilon):
    if x.size == 0:
        return x
    centred = x - np.mean(x, axis=axes, keepdims=True) if op == "layer_norm" else x
    return centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + epsilon)


def norm_slack(x, axes, epsilon, kind):
    """Roundings of elements and means, before the division by the deviation; and its own."""
    if x.size == 0:
        return x
    size = np.abs(x) + np.mean(np.abs(x), axis=axes, keepdims=True)
    deviation = np.sqrt(np.var(x, axis=axes, keepdims=True) + epsilon)
    worst = np.max(size, axis=axes, keepdims=True) / deviation
    count = x.size / max(np.sum(np.ones(x.shape), axis=axes).size, 1)
    return (8 + 2 * np.sqrt(count)) * EPSILON[compute_type(kind)] * (1 + worst) * (1 + size / deviation)


def add_norm(cases, op, kind, shape, axes, parts, everywhere, rng, offset=0.0, epsilon=1e-5):
    x = modest(kind, shape, rng)
    if offset:
        x = Array(kind, x.wide() + offset)
    over = tuple(a % len(shape) for a in axes)
    out = float_of(kind)
    extents = [n for a, n in enumerate(shape) if a in over]
    place = [n if a in over else 1 for a, n in enumerate(shape)]
    inputs, attributes = [x], {"axes": list(axes), "epsilon": epsilon}
    result = normalised(op, x.values.astype(np.float64), over, epsilon)
    slack = norm_slack(x.values.astype(np.float64), over, epsilon, out)
    if parts == "shift":
        attributes["shift_only"] = True
    for part in {"": [], "shift": ["shift"], "scale": ["scale"], "both": ["scale", "shift"]}[parts]:
        numbers = modest(out, extents, rng)
        inputs.append(numbers)
        wide = numbers.wide().reshape(place)
        if part == "scale":
            result, slack = result * wide, slack * np.abs(wide)
        else:
            result, slack = result + wide, slack + EPSILON[compute_type(out)] * np.abs(wide)
    slack = slack + 4 * EPSILON[compute_type(out)] * np.abs(result)
    cases.add(op, inputs, Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere, **attributes)


def add_norms(cases, rng):
    for op in ("layer_norm", "rms_norm"):
        for kind in FLOATS:
            for parts in ("", "scale", "shift", "both"):
                add_norm(cases, op, kind, (3, 7), (-1,), parts, kind in ("f32", "f16"), rng)
        for kind in INTEGERS:
            add_norm(cases, op, kind, (3, 7), (-1,), "", False, rng)
        for shape, axes in [((5,), (0,)), ((4, 5), (0,)), ((2, 3, 4), (1,)), ((2, 3, 4), (1, 2)), ((2, 3, 4), (0, 2)),
                            ((2, 3, 4), (0, 1, 2)), ((3, 257), (-1,)), ((2, 4099), (1,)), ((1, 1), (1,)), ((70, 64), (1,)),
                            ((0, 3), (1,)), ((3, 0), (1,))]:
            add_norm(cases, op, "f32", shape, axes, "both", max(shape) < 300, rng)
        add_norm(cases, op, "f32", (4, 100), (-1,), "", True, rng, offset=1000.0)
        add_norm(cases, op, "f64", (4, 100), (-1,), "both", False, rng, offset=1e6)
        add_norm(cases, op, "f32", (4, 10), (-1,), "", False, rng, epsilon=0.5)
        x = modest("f32", (4, 6), rng)
        x.values[1, 2], x.values[2, 3] = np.nan, np.inf
        with np.errstate(all="ignore"):
            out = normalised(op, x.wide(), (1,), 1e-5)
        cases.add(op, [x], Near("f32", out, slack=1e-5, ulp=1, zero_signs=False), True)
        # All equal: the deviation is zero, epsilon alone divides.
        x = Array("f32", np.full((2, 8), 3.0))
        cases.add(op, [x], Near("f32", normalised(op, x.wide(), (1,), 1e-5), slack=1e-5, ulp=1, zero_signs=False), True)


def attended(q, k, v, mask, causal, scale):
    """Of f64 numbers; heads of queries that share those of keys are repeated."""
    if q.ndim > 2 and k.ndim > 2:
        heads = max(k.shape[-3], v.shape[-3] if v.ndim > 2 else 1)
        groups = q.shape[-3] // heads if heads else 1
        if groups > 1:
            k = np.repeat(np.broadcast_to(k, k.shape[:-3] + (heads,) + k.shape[-2:]), groups, axis=-3)
            if v.ndim > 2:
                v = np.repeat(np.broadcast_to(v, v.shape[:-3] + (heads,) + v.shape[-2:]), groups, axis=-3)
    s = scale * q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        s = np.where(mask.values != 0, s, -np.inf) if mask.kind in INTEGERS else s + mask.wide()
    if causal:
        s = np.where(np.arange(s.shape[-1]) <= np.arange(s.shape[-2])[:, None], s, -np.inf)
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(s - np.where(np.isinf(top), 0, top))
    total = np.sum(powers, axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    size = np.max(np.abs(np.where(np.isinf(s), 0, s)), axis=-1, keepdims=True, initial=0)
    return weights @ v, (weights * (1 + size)) @ np.abs(v)


def add_attention_case(cases, kinds, shapes, everywhere, rng, mask=None, causal=False, scale=None,
                       fused=False):
    q, k, v = (modest(kind, shape, rng) for kind, shape in zip(kinds, shapes))
    if kinds[0] in INTEGERS:
        q, k = Array(q.kind, q.values // 20), Array(k.kind, k.values // 20)
    out = float_of(kinds[0])
    for kind in kinds[1:]:
        out = promote(out, kind)
    depth = shapes[0][-1]
    factor = scale if scale is not None else 1 / np.sqrt(max(depth, 1))
    result, size = attended(q.values.astype(np.float64), k.values.astype(np.float64), v.values.astype(np.float64), mask,
                            causal, factor)
    # Scores and weights of halves are halves.
    slack = (16 + np.sqrt(depth + shapes[1][-2])) * EPSILON[out] * size
    attributes = {"causal": True} if causal else {}
    if fused:
        attributes["fused"] = True
    if scale is not None:
        attributes["scale"] = scale
    cases.add("attention", [q, k, v] + ([mask] if mask is not None else []),
              Near(out, result, slack=slack, ulp=1, zero_signs=False), everywhere, **attributes)


def add_attention(cases, rng):
    for kind in FLOATS + ["i32"]:
        for causal in (False, True):
            add_attention_case(cases, [kind] * 3, [(5, 4), (7, 4), (7, 3)], kind in ("f32", "f16"), rng, causal=causal)
    add_attention_case(cases, ["f32", "f64", "f16"], [(5, 4), (7, 4), (7, 3)], False, rng)
    for shapes in [[(2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)], [(2, 4, 5, 4), (2, 2, 6, 4), (2, 2, 6, 3)],
                   [(2, 4, 5, 4), (2, 1, 6, 4), (2, 1, 6, 3)], [(6, 5, 4), (3, 6, 4), (3, 6, 2)],
                   [(3, 1, 5, 4), (2, 6, 4), (6, 3)], [(4, 5, 4), (4, 6, 4), (1, 6, 3)], [(2, 4, 5, 4), (2, 4, 6, 4), (6, 3)], [(2, 3, 5, 4), (6, 4), (6, 4)], [(5, 4), (2, 6, 4), (2, 6, 3)],
                   [(1, 4), (1, 4), (1, 1)], [(5, 1), (6, 1), (6, 2)], [(5, 0), (6, 0), (6, 2)], [(0, 4), (6, 4), (6, 2)],
                   [(5, 4), (0, 4), (0, 2)], [(5, 4), (6, 4), (6, 0)], [(2, 0, 5, 4), (2, 0, 6, 4), (2, 0, 6, 4)],
                   [(2, 17, 64), (2, 33, 64), (2, 33, 16)], [(1, 2, 70, 16), (1, 2, 131, 16), (1, 2, 131, 16)]]:
        add_attention_case(cases, ["f32"] * 3, shapes, np.prod(shapes[0]) < 400, rng, causal=bool(rng.integers(2)))
    shapes = [(2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 3)]
    for mask in [(5, 6), (2, 1, 5, 6), (2, 4, 5, 6), (6,), (1, 6), (4, 1, 1), ()]:
        keep = Array("u8", rng.random(mask) < 0.7)
        add_attention_case(cases, ["f32"] * 3, shapes, len(mask) == 2, rng, mask=keep)
        add_attention_case(cases, ["f32"] * 3, shapes, len(mask) == 4, rng, mask=modest("f32", mask, rng), causal=True)
    # A query that sees nothing gives zeros.
    keep = Array("i32", [[1, 0, 1], [0, 0, 0], [0, 0, 3]])
    add_attention_case(cases, ["f32"] * 3, [(3, 4), (3, 4), (3, 4)], True, rng, mask=keep)
    low = Array("f32", np.where(keep.values, 0, -np.inf))
    add_attention_case(cases, ["f32"] * 3, [(3, 4), (3, 4), (3, 4)], True, rng, mask=low, scale=0.0)
    # Scores far beyond what exp takes.
    add_attention_case(cases, ["f32"] * 3, [(4, 8), (9, 8), (9, 2)], True, rng, scale=200.0)


def add_fused(cases, rng):
    """By one kernel where a device has it: around the ends of its blocks and tiles, and for widths of all kinds."""
    for kind in FLOATS:
        for causal in (False, True):
            add_attention_case(cases, [kind] * 3, [(2, 5, 4), (2, 7, 4), (2, 7, 3)], not causal, rng, causal=causal, fused=True)
            add_attention_case(cases, [kind] * 3, [(1, 2, 33, 16), (1, 1, 35, 16), (1, 1, 35, 16)], kind == "f32" and causal,
                               rng, causal=causal, fused=True)
    for number, shapes in enumerate([[(1, 1), (1, 1), (1, 1)], [(64, 8), (32, 8), (32, 8)], [(65, 8), (33, 8), (33, 32)],
                   [(63, 5), (31, 5), (31, 33)], [(2, 3, 16, 2), (2, 3, 16, 2), (2, 3, 16, 2)],
                   [(2, 6, 17, 4), (2, 2, 70, 4), (2, 2, 70, 4)], [(20, 64), (40, 64), (40, 64)],
                   [(9, 128), (18, 128), (18, 100)], [(3, 130), (5, 130), (5, 4)], [(3, 7), (200, 7), (200, 1)],
                   [(200, 3), (7, 3), (7, 6)], [(5, 0), (6, 0), (6, 2)], [(0, 4), (6, 4), (6, 2)]]):
        for causal in (False, True):  # every case is a kernel to compile
            add_attention_case(cases, ["f32"] * 3, shapes, causal == bool(number % 2), rng, causal=causal, fused=True)
    # Scores that grow along the keys, and fall: the largest so far changes with every tile, or never again.
    for sign in (1, -1):
        q, k, v = np.ones((20, 4)), sign * np.outer(np.arange(150), np.ones(4)), rng.normal(size=(150, 8))
        arrays = [Array("f32", x) for x in (q, k, v)]
        result, size = attended(*[a.wide() for a in arrays], None, False, 0.5)
        cases.add("attention", arrays, Near("f32", result, slack=64 * EPSILON["f32"] * size, ulp=1), True, fused=True)
    x = [modest("f32", shape, rng) for shape in ((6, 4), (40, 4), (40, 4))]
    x[1].values[35, 2] = np.nan
    result = np.full((6, 4), np.nan)
    cases.add("attention", x, Near("f32", result), True, fused=True)
    # The key that is not a number comes later than causal queries see.
    result = attended(x[0].wide(), np.nan_to_num(x[1].wide()), x[2].wide(), None, True, 0.5)[0]
    cases.add("attention", x, Near("f32", result, slack=1e-5, ulp=1), True, fused=True, causal=True)


def add_networks(cases, rng):
    add_norms(cases, rng)
    add_attention(cases, rng)
    add_fused(cases, rng)
