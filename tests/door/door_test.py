"""Every operation of the C door beside NumPy, through ctypes: door_test.py, with ADIT_LIBRARY and ADIT_PROGRAM set."""

import os
import re
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("SKIPPED: python3 has no NumPy, so no operation of the C door is compared with it", file=sys.stderr)
    sys.exit(77)

import adit
from operations import CASES, Source

SEED = int(os.environ.get("ADIT_TEST_SEED") or "1", 0) & 0x7FFFFFFF  # as tests/seeds.hpp
EVERY = {"cast", "as", "into"}

# Rows of the table that no name of the door makes, and why.
UNREACHABLE = {
    "input": "adit_tensor_from_bytes",
    "number": "full, whose value is kept apart from the kernel",
    "constant": "what rules of derivatives write",
    "alias": "what derivatives put around their arguments",
    "broadcast": "broadcast_in and broadcast_to",
    "threefry": "random_bits and all that is made of them",
    "philox": "streams of the sampler",
    "while_vjp": "the derivative of while_loop",
    "cholesky_vjp": "the derivative of cholesky",
    "item": "one result of an operation that has several",
}


def words_of(attributes):
    """The names in "axes=[], keep_axes=0": commas inside of brackets divide nothing."""
    return {it.split("=")[0].strip() for it in re.sub(r"\[[^]]*\]", "", attributes).split(",") if it.strip()}


def tolerance_of(array):
    return {2: 1e-2, 4: 3e-5}.get(np.finfo(array.dtype).dtype.itemsize, 1e-9) if array.dtype.kind in "fc" else 0


class Operations(unittest.TestCase):
    def setUp(self):
        self.device = adit.Device(os.environ.get("ADIT_DOOR_DEVICE", "cpu"))
        self.given = {}  # attributes that were given to each operation

    def call(self, operation, *tensors, **attributes):
        self.given.setdefault(operation, set()).update(name.rstrip("_") for name in attributes)
        return adit.call(operation, *tensors, **attributes)

    def tensor(self, array):
        return adit.tensor(self.device, array)

    def compare(self, got, expected, tolerance=None):
        if isinstance(got, list):
            self.assertEqual(len(got), len(expected))
            for a, b in zip(got, expected):
                self.compare(a, b, tolerance)
            return
        if isinstance(got, adit.Tensor):
            is_bf16, got = got.dtype == "bf16", got.numpy()
            expected = np.asarray(expected)
            if not is_bf16:
                self.assertEqual(got.dtype, expected.dtype)
        self.assertEqual(np.shape(got), np.shape(expected))
        tolerance = tolerance or tolerance_of(np.asarray(got))
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)

    def test_every_operation(self):
        listed = adit.operations()
        for number, (name, tensors, attributes) in enumerate(listed):
            with self.subTest(operation=name, seed=SEED):
                if name not in CASES:
                    self.fail(f"tests/door/operations has no case for {name}")
                for result in CASES[name](Source(SEED + number, self.call, self.tensor)):
                    self.compare(*result)
                # What the list says of its attributes: each was given, and no other.
                self.assertEqual(self.given.get(name, set()) - EVERY, words_of(attributes))
        self.assertLessEqual(set(CASES), {name for name, _, _ in listed}, "cases of operations that are not there")

    def test_names_are_sorted(self):
        names = [name for name, _, _ in adit.operations()]
        self.assertEqual(names, sorted(set(names)))

    def test_every_row_of_the_table(self):
        text = subprocess.run([os.environ["ADIT_PROGRAM"], "ops"], capture_output=True, text=True, check=True).stdout
        rows = {line.split()[0] for line in text.splitlines()[1:] if line.strip()}
        self.assertGreater(len(rows), 100)
        names = {name for name, _, _ in adit.operations()}
        self.assertEqual(rows - names, set(UNREACHABLE), "rows that the door does not reach, and those that are excused")

    def test_cast_as_into(self):
        x = self.tensor(np.arange(6, dtype="i4"))
        for name in ("f16", "bf16", "f32", "f64", "u8", "i64"):
            y = adit.call("multiply", x, x, cast=name, as_=adit.DType("f32"), into=[2, 3])[0]
            self.compare(y, np.arange(6, dtype="f4").reshape(2, 3) ** 2)

    def test_types_are_promoted(self):
        for a, b, expected in (("u8", "i8", "i16"), ("i32", "f32", "f32"), ("f32", "f64", "f64"), ("f32", "c64", "c64"),
                               ("i64", "u8", "i64"), ("f16", "bf16", "f16"), ("f64", "c64", "c128")):
            x, y = (adit.tensor(self.device, np.ones(2, adit.NUMPY[t]) if t != "bf16" else np.ones(2), t) for t in (a, b))
            self.assertEqual(adit.call("add", x, y)[0].dtype, expected, (a, b))

    def refused(self, status, words, operation, *tensors, **attributes):
        with self.assertRaises(adit.Error) as caught:
            adit.call(operation, *tensors, **attributes)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, str(caught.exception))

    def test_errors(self):
        x = self.tensor(np.ones((2, 3), "f4"))
        self.refused("not_found", "'sine'", "sine", x)
        self.refused("bad_argument", "[sin] tensors", "sin")
        self.refused("bad_argument", "[sin] axis", "sin", x, axis=1)
        self.refused("bad_argument", "[sum] axis", "sum", x, axes=[2])
        self.refused("bad_argument", "[reshape] shape", "reshape", x, shape=[7])
        self.refused("bad_argument", "[matmul]", "matmul", x, x)
        # Every operation says something of too many tensors, and of an attribute that it does not have.
        for name, tensors, _ in adit.operations():
            if not tensors.endswith("..."):
                self.refused("bad_argument", f"[{name}] tensors", name, *[x] * 9)

    def test_many_at_once(self):
        x = self.tensor(np.linspace(0, 1, 5, dtype="f4"))
        results = [adit.call(name, x)[0] for name in ("sin", "cos", "exp")]
        adit.evaluate(results)
        self.compare(results, [np.sin(x.numpy()), np.cos(x.numpy()), np.exp(x.numpy())])


if __name__ == "__main__":
    print(f"ADIT_TEST_SEED={SEED}", file=sys.stderr, flush=True)
    unittest.main()
