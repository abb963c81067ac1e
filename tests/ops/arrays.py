"""Cases for index maps, indexing, and what makes arrays."""
import itertools

import numpy as np

from values import Array, Exact, Near, INTEGERS, NUMPY, TYPES, samples, complex_samples, COMPLEX

KINDS = ["f32", "u8", "bf16", "i64", "c128"]


def numbered(kind, shape, rng):
    count = int(np.prod(shape))
    x = complex_samples(kind, count, rng) if kind in COMPLEX else Array(kind, rng.integers(0, 120, size=count))
    return Array(kind, x.values.reshape(shape))


def add_shapes(cases, rng):
    for kind in KINDS:
        x = numbered(kind, (3, 5, 7), rng)
        v = x.values
        everywhere = kind in ("f32", "u8")
        for shape in [(105,), (15, 7), (3, 35), (1, 3, 1, 35), (7, 5, 3), (-1, 5)]:
            cases.add("reshape", [x], Exact(kind, v.reshape(shape)), everywhere, shape=list(shape))
        for axes in itertools.permutations(range(3)):
            cases.add("transpose", [x], Exact(kind, v.transpose(axes)), everywhere, axes=list(axes))
        cases.add("transpose", [x], Exact(kind, v.transpose()))
        cases.add("flatten", [x], Exact(kind, v.ravel()))
        y = numbered(kind, (1, 4, 1, 3), rng)
        cases.add("squeeze", [y], Exact(kind, y.values.squeeze()))
        cases.add("squeeze", [y], Exact(kind, y.values.squeeze(2)), axes=[-2])
        cases.add("expand_dims", [x], Exact(kind, v[:, :, None]), axis=2)
        cases.add("expand_dims", [x], Exact(kind, v[..., None]), axis=-1)
        z = numbered(kind, (4, 1, 3), rng)
        cases.add("broadcast_to", [z], Exact(kind, np.broadcast_to(z.values, (2, 4, 5, 3))), everywhere,
                  shape=[2, 4, 5, 3])
        w = numbered(kind, (3, 5), rng)
        cases.add("broadcast_in", [w], Exact(kind, np.broadcast_to(w.values.reshape(3, 1, 5), (3, 4, 5))), everywhere,
                  shape=[3, 4, 5], axes=[0, 2])
        for axes in [(), (0,), (1, 2), (0, 1, 2), (-1,)]:
            cases.add("reverse", [x], Exact(kind, np.flip(v, axes if axes else None)), everywhere, axes=list(axes))
        cases.add("tile", [w], Exact(kind, np.tile(w.values, (2, 3))), repeats=[2, 3])
        cases.add("tile", [w], Exact(kind, np.tile(w.values, (2, 1, 3))), repeats=[2, 1, 3])
        cases.add("tile", [w], Exact(kind, np.tile(w.values, (3, 1))), repeats=[3, 1])
        many = [2, 3, 2, 1, 2, 2, 2, 2]  # more than may become two each
        cases.add("tile", [w], Exact(kind, np.tile(w.values, many)), repeats=many)
    for size in (0, 1, 255, 256, 257):
        x = numbered("f32", (size,), rng)
        cases.add("reverse", [x], Exact("f32", x.values[::-1]))
        cases.add("reshape", [x], Exact("f32", x.values.reshape(size, 1)), shape=[size, 1])
        x = numbered("f32", (size, 2), rng)
        cases.add("transpose", [x], Exact("f32", x.values.T))
        cases.add("broadcast_to", [x], Exact("f32", np.broadcast_to(x.values, (3, size, 2))), shape=[3, size, 2])


def add_slices(cases, rng):
    for kind in KINDS:
        x = numbered(kind, (6, 9, 4), rng)
        v = x.values
        everywhere = kind in ("f32", "u8")
        cases.add("slice", [x], Exact(kind, v[1:4, 2:9, 0:4]), everywhere, starts=[1, 2, 0], lengths=[3, 7, 4])
        # Lengths count what lies between the ends, as in Nx; steps leave some of it out.
        cases.add("slice", [x], Exact(kind, v[0:6:2, 1:9:3, 3:4]), everywhere, starts=[0, 1, 3], lengths=[6, 8, 1],
                  strides=[2, 3, 1])
        cases.add("slice", [x], Exact(kind, v[1:6:4, 2:9:2, 0:3:2]), starts=[1, 2, 0], lengths=[5, 7, 3],
                  strides=[4, 2, 2])
        cases.add("slice", [x], Exact(kind, v[6:6, 0:9, 0:4]), starts=[6, 0, 0], lengths=[0, 9, 4])
        for starts in [(1, 2, 0), (5, 8, 3), (-3, 100, 1)]:
            clamped = [min(max(s, 0), n - m) for s, n, m in zip(starts, v.shape, (2, 3, 4))]
            out = v[clamped[0]:clamped[0] + 2, clamped[1]:clamped[1] + 3, clamped[2]:clamped[2] + 4]
            inputs = [x] + [Array("i32", s) for s in starts]
            cases.add("dynamic_slice", inputs, Exact(kind, out), everywhere, lengths=[2, 3, 4])
            piece = numbered(kind, (2, 3, 4), rng)
            out = v.copy()
            out[clamped[0]:clamped[0] + 2, clamped[1]:clamped[1] + 3, clamped[2]:clamped[2] + 4] = piece.values
            cases.add("put_slice", [x, piece] + [Array("i64", s) for s in starts], Exact(kind, out), everywhere)
            cases.add("put_slice", [x, piece], Exact(kind, out), starts=clamped)
        add_pads(cases, x, kind, rng, everywhere)
    for size in (1, 255, 256, 257):
        x = numbered("f32", (size,), rng)
        cases.add("slice", [x], Exact("f32", x.values[size // 2:]), starts=[size // 2], lengths=[size - size // 2])


def padded(v, value, padding):
    """One axis at a time: spread, then put between the edges."""
    for axis, (low, high, interior) in enumerate(padding):
        n = v.shape[axis]
        spread = n + interior * max(n - 1, 0)
        shape = list(v.shape)
        shape[axis] = max(low, 0) + spread + max(high, 0)
        out = np.full(shape, value, v.dtype)
        at = [slice(None)] * v.ndim
        at[axis] = slice(max(low, 0), max(low, 0) + spread, interior + 1)
        out[tuple(at)] = v
        at[axis] = slice(max(-low, 0), shape[axis] - max(-high, 0))
        v = out[tuple(at)]
    return v


def add_pads(cases, x, kind, rng, everywhere):
    value = numbered(kind, (), rng) if kind not in COMPLEX else Array(kind, 2 - 3j)
    for padding in [[(1, 2, 0), (0, 0, 0), (3, 0, 0)], [(0, 0, 2), (1, 1, 1), (0, 0, 0)],
                    [(-1, 0, 0), (0, -2, 0), (2, -1, 0)], [(-1, -2, 1), (0, 3, 2), (-2, 1, 3)], [(0, 0, 0)] * 3]:
        low, high, interior = zip(*padding)
        cases.add("pad", [x, value], Exact(kind, padded(x.values, value.values, padding)), everywhere,
                  low=list(low), high=list(high), interior=list(interior))


def add_joins(cases, rng):
    for kind in KINDS:
        everywhere = kind in ("f32", "u8")
        for axis in (0, 1, 2, -1):
            parts = [numbered(kind, (2, 3, 4), rng)]
            for extent in (1, 5, 0):
                shape = [2, 3, 4]
                shape[axis] = extent
                parts.append(numbered(kind, tuple(shape), rng))
            cases.add("concatenate", parts, Exact(kind, np.concatenate([p.values for p in parts], axis)), everywhere,
                      axis=axis)
        parts = [numbered(kind, (3, 4), rng) for _ in range(3)]
        for axis in (0, 1, 2):
            cases.add("stack", parts, Exact(kind, np.stack([p.values for p in parts], axis)), axis=axis)
    parts = [numbered("f32", (n,), rng) for n in (255, 1, 257)]
    cases.add("concatenate", parts, Exact("f32", np.concatenate([p.values for p in parts])), axis=0)
    mixed = [Array("u8", [1, 2]), Array("i8", [-1, 3]), Array("f16", [0.5, 2])]
    cases.add("concatenate", mixed, Exact("f16", [1, 2, -1, 3, 0.5, 2]), axis=0)


def clamp(indices, extent):
    return np.array([min(max(int(i), 0), extent - 1) for i in indices.values.ravel()], np.int64).reshape(indices.shape)


def add_takes(cases, rng):
    for kind in KINDS:
        everywhere = kind in ("f32", "u8")
        x = numbered(kind, (5, 6, 7), rng)
        v = x.values
        for axis in (0, 1, 2):
            for index_kind in ("i32", "u8", "i64"):
                low = 0 if index_kind == "u8" else -2
                i = Array(index_kind, rng.integers(low, v.shape[axis] + 2, size=(2, 3)))
                cases.add("take", [x, i], Exact(kind, np.take(v, clamp(i, v.shape[axis]), axis)),
                          everywhere and index_kind == "i32", axis=axis)
            shape = list(v.shape)
            shape[axis] = 4
            i = Array("i64", rng.integers(-1, v.shape[axis] + 1, size=shape))
            cases.add("take_along_axis", [x, i], Exact(kind, np.take_along_axis(v, clamp(i, v.shape[axis]), axis)),
                      everywhere, axis=axis)
        for axes in [(0,), (0, 1), (0, 1, 2), (2,), (0, 2), (1, 2)]:
            add_gathers(cases, kind, x, axes, rng, everywhere)


def add_gathers(cases, kind, x, axes, rng, everywhere):
    """Result axes: those of the indices but the last, then the axes that no coordinate names."""
    v = x.values
    extents = [v.shape[a] for a in axes]
    i = Array("i32", np.stack([rng.integers(-1, e + 1, size=(4, 3)) for e in extents], -1))
    at = [np.clip(i.values[..., k], 0, e - 1) for k, e in enumerate(extents)]
    moved = np.moveaxis(v, axes, range(len(axes)))
    cases.add("gather", [x, i], Exact(kind, moved[tuple(at)]), everywhere, axes=list(axes))
    # Places repeat: 12 updates for few places; the last one stays.
    flat = Array("i32", i.values.reshape(12, len(axes)))
    places = [tuple(int(p[k]) for p in [a.ravel() for a in at]) for k in range(12)]
    updates = numbered(kind, (12,) + moved.shape[len(axes):], rng)
    put, added = moved.copy(), moved.astype(np.complex128 if kind in COMPLEX else object
                                            if kind in INTEGERS else np.float64)
    for k, place in enumerate(places):
        put[place] = updates.values[k]
        added[place] = added[place] + (updates.values[k].astype(object) if kind in INTEGERS else updates.values[k])
    back = lambda a: np.moveaxis(a, range(len(axes)), axes)
    cases.add("indexed_put", [x, flat, updates], Exact(kind, back(put)), everywhere, axes=list(axes))
    if kind in INTEGERS:
        width = np.iinfo(NUMPY[kind]).bits
        signed = kind.startswith("i")
        wrapped = np.vectorize(lambda n: (n + (2**(width - 1) if signed else 0)) % 2**width
                               - (2**(width - 1) if signed else 0), otypes=[object])(added)
        out = Exact(kind, back(wrapped).astype(NUMPY[kind]))
    else:
        # Small whole numbers in bf16 round at each addition.
        slack = np.abs(back(added)).astype(np.float64) * {"bf16": 2.0**-6, "f32": 2.0**-22, "c128": 2.0**-50}[kind]
        out = Near(kind, back(added), slack=slack, ulp=1, zero_signs=False)
    cases.add("indexed_add", [x, flat, updates], out, everywhere, axes=list(axes))


def add_makers(cases, rng):
    for kind in TYPES:
        for axis in (None, 0, 1, 2, -1):
            shape = (3, 5, 7)
            out = np.arange(105).reshape(shape) if axis is None else np.broadcast_to(
                np.moveaxis(np.arange(shape[axis]).reshape(-1, 1, 1), 0, axis), shape)
            attributes = {"shape": list(shape), "type": kind} | ({} if axis is None else {"axis": axis})
            cases.add("iota", [], Exact(kind, out), everywhere=axis is None, **attributes)
        cases.add("full", [], Exact(kind, np.full((2, 3), 7)), shape=[2, 3], type=kind, number=7)
        cases.add("eye", [], Exact(kind, np.eye(3, 5)), rows=3, columns=5, type=kind)
    for kind in ("f32", "u8", "c64"):
        x = numbered(kind, (3, 4), rng)
        cases.add("zeros_like", [x], Exact(kind, np.zeros((3, 4))))
        cases.add("ones_like", [x], Exact(kind, np.ones((3, 4))))
    for size in (0, 1, 255, 256, 257):
        cases.add("iota", [], Exact("i64", np.arange(size)), shape=[size], type="i64")
        cases.add("arange", [], Exact("i32", np.arange(size)), end=size, type="i32")
    cases.add("full_integer", [], Exact("u64", np.full((2,), 2**63 - 1, np.uint64)), shape=[2], type="u64",
              number=2**63 - 1)
    cases.add("linspace", [], Near("f32", np.linspace(-1, 3, 17), ulp=4, zero_signs=False, slack=1e-6), first=-1, last=3,
              count=17, type="f32")


def add_arrays(cases, rng):
    add_shapes(cases, rng)
    add_slices(cases, rng)
    add_joins(cases, rng)
    add_takes(cases, rng)
    add_makers(cases, rng)
