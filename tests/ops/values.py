"""Element types, sample values, and the file of cases that op_test reads."""
import json
import os

import mpmath
import numpy as np

mpmath.mp.prec = 160

UNSIGNED = ["u8", "u16", "u32", "u64"]
SIGNED = ["i8", "i16", "i32", "i64"]
INTEGERS = UNSIGNED + SIGNED
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c64", "c128"]
REALS = INTEGERS + FLOATS
TYPES = REALS + COMPLEX

NUMPY = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "i8": np.int8, "i16": np.int16,
         "i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": np.float32, "f32": np.float32,
         "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
BITS = {name: np.dtype(kind).itemsize * 8 for name, kind in NUMPY.items()} | {"bf16": 16}
# Distance from 1 to the next number, halved: the relative error of one rounding.
EPSILON = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53, "c64": 2.0**-24, "c128": 2.0**-53}


def compute_type(kind):
    """What sums and functions of this type are computed in: halves in f32."""
    return "f32" if kind in ("f16", "bf16") else kind


def float_of(kind):
    return "f32" if kind in INTEGERS else kind


def real_of(kind):
    return {"c64": "f32", "c128": "f64"}.get(kind, kind)


def promote(a, b):
    """The type that holds both, as Nx merges types."""
    if a == b:
        return a
    if a in COMPLEX or b in COMPLEX:
        return "c128" if {a, b} & {"f64", "c128"} else "c64"
    if a in FLOATS and b in FLOATS:
        return "f16" if {a, b} == {"f16", "bf16"} else max(a, b, key=lambda t: BITS[t])
    if a in FLOATS or b in FLOATS:
        return a if a in FLOATS else b
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=lambda t: BITS[t])
    unsigned, signed = (a, b) if a in UNSIGNED else (b, a)
    return f"i{min(64, max(2 * BITS[unsigned], BITS[signed]))}"


def to_bf16(values):
    """f32 numbers rounded to the nearest bf16, ties to even; still held in f32."""
    values = np.atleast_1d(np.asarray(values, np.float32))
    bits = values.view(np.uint32).astype(np.int64)
    bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32)
    return np.where(np.isnan(values), np.float32(np.nan), bits.view(np.float32))


class Array:
    """Numbers of an element type; bf16 is held in f32."""

    def __init__(self, kind, values):
        self.kind = kind
        with np.errstate(all="ignore"):
            self.values = np.ascontiguousarray(values).astype(NUMPY[kind])
        self.values = self.values.reshape(np.shape(values))
        if kind == "bf16":
            self.values = to_bf16(self.values).reshape(np.shape(values))

    @property
    def shape(self):
        return self.values.shape

    def bytes(self):
        if self.kind == "bf16":
            return (self.values.view(np.uint32) >> 16).astype("<u2").tobytes()
        return self.values.astype(self.values.dtype.newbyteorder("<")).tobytes()

    def wide(self):
        """The same numbers where arithmetic is (nearly) exact: f64, complex128, or the integers themselves."""
        if self.kind in COMPLEX:
            return self.values.astype(np.complex128)
        return self.values.astype(np.float64) if self.kind in FLOATS else self.values


class Exact:
    """A result that must have these bits (any NaN for a NaN)."""

    def __init__(self, kind, values):
        self.array = Array(kind, values)


class Near:
    """A result within `ulp` units (None: the row's bound) of high + low, and `slack` beside."""

    def __init__(self, kind, high, low=None, slack=None, ulp=None, zero_signs=True):
        self.kind, self.ulp, self.zero_signs = kind, ulp, zero_signs
        wide = np.complex128 if kind in COMPLEX else np.float64
        self.high = np.asarray(high, wide)
        self.low = None if low is None else np.asarray(low, wide)
        self.slack = None if slack is None else np.broadcast_to(np.asarray(slack, np.float64), self.high.shape)


class Cases:
    """Cases as an index (JSON) beside one file of bytes."""

    def __init__(self):
        self.index, self.data, self.size, self.group = [], [], 0, ""

    def put(self, content):
        at = self.size
        padding = -len(content) % 16
        self.data.append(content + b"\0" * padding)
        self.size += len(content) + padding
        return at

    def put_array(self, array):
        return {"type": array.kind, "shape": list(array.shape), "at": self.put(array.bytes())}

    def add(self, op, inputs, output, everywhere=False, **attributes):
        """`everywhere`: on slow test devices too."""
        case = {"op": op, "group": self.group, "attributes": attributes, "inputs": [self.put_array(a) for a in inputs]}
        if everywhere:
            case["everywhere"] = True
        if isinstance(output, Exact):
            case["output"] = self.put_array(output.array)
        else:
            entry = {"type": output.kind, "shape": list(output.high.shape),
                     "high": self.put(output.high.tobytes())}
            if output.low is not None:
                entry["low"] = self.put(output.low.tobytes())
            if output.slack is not None:
                entry["slack"] = self.put(np.ascontiguousarray(output.slack).tobytes())
            if output.ulp is not None:
                entry["ulp"] = output.ulp
            if not output.zero_signs:
                entry["zero_signs"] = False
            case["output"] = entry
        self.index.append(case)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "data.bin"), "wb") as file:
            file.writelines(self.data)
        # The index last: it tells the build that all is there.
        with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
            json.dump({"cases": self.index}, file, indent=0)


def special_values(kind):
    if kind in INTEGERS:
        info = np.iinfo(NUMPY[kind])
        return [0, 1, 2, 3, info.max, info.max - 1, info.max // 2, info.min, info.min + 1, 7, 100] + (
            [-1, -2, -7, -100] if kind in SIGNED else [])
    tiny, least, largest = {
        "f16": (2.0**-14, 2.0**-24, 65504.0), "bf16": (2.0**-126, 2.0**-133, (2 - 2.0**-7) * 2.0**127),
        "f32": (2.0**-126, 2.0**-149, (2 - 2.0**-23) * 2.0**127),
        "f64": (2.0**-1022, 2.0**-1074, np.finfo(np.float64).max)}[real_of(kind)]
    positive = [0.0, 1.0, np.inf, least, tiny - least, tiny, largest, 0.5, 1.5, 2.0, 2.5, 3.0, 10.0, np.pi / 2,
                2 * EPSILON[kind] + 1, 1 - EPSILON[kind]]
    return positive + [-x for x in positive] + [np.nan]


def samples(kind, count, rng, domain="any"):
    """Special values first, then numbers of many sizes inside the domain."""
    if kind in INTEGERS:
        info = np.iinfo(NUMPY[kind])
        wide = rng.integers(info.min, info.max, size=count, dtype=NUMPY[kind], endpoint=True)
        small = rng.integers(0 if kind in UNSIGNED else -20, 20, size=count).astype(NUMPY[kind])
        values = np.where(rng.random(count) < 0.5, wide, small)
    else:
        scale = rng.choice([1e-6, 1e-2, 1.0, 1.0, 1.0, 10.0, 1e3 if kind != "f16" else 30.0], size=count)
        values = rng.normal(size=count) * scale
        if kind in ("f64", "f32", "c64", "c128"):
            wild = rng.normal(size=count) * 10.0 ** rng.uniform(-30, 30, size=count)
            values = np.where(rng.random(count) < 0.1, wild, values)
        if domain == "unit":
            values = rng.uniform(-1.02, 1.02, size=count)
        if domain == "positive":
            values = np.where(rng.random(count) < 0.9, np.abs(values), values)
        if domain == "above_one":
            values = 1 + np.abs(values) * np.where(rng.random(count) < 0.95, 1, -1)
        if domain == "moderate":
            values = rng.normal(size=count) * rng.choice([0.1, 1, 5, 30], size=count)
    special = np.array(special_values(kind), values.dtype if kind in FLOATS else object)[:count]
    if count > 1:
        values[:len(special)] = special.astype(values.dtype)
    return Array(kind, values)


def complex_samples(kind, count, rng, scales=(1e-2, 1.0, 1.0, 3.0)):
    """Finite, of modest size, and a few on the axes."""
    scale = rng.choice(scales, size=count)
    z = (rng.normal(size=count) + 1j * rng.normal(size=count)) * scale
    axes = np.array([0, 1, -1, 1j, -1j, 0.5, -0.5, 2, 2j, 1 + 1j, -1 - 1j])[:count]
    if count > 1:
        z[:len(axes)] = axes
    return Array(kind, z)


def split(number):
    """An mpmath number as the sum of two doubles."""
    high = float(number)
    low = float(number - mpmath.mpf(high)) if np.isfinite(high) else 0.0
    return high, low
