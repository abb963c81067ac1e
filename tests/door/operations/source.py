"""Random arrays, and the list of cases."""

import numpy as np

CASES = {}


def case(*names):
    def register(f):
        for name in names:
            CASES[name] = (lambda s, name=name: f(s, name)) if len(names) > 1 else f
        return f

    return register


class Source:
    """Random arrays of random shapes, and calls whose attributes are noted."""

    def __init__(self, seed, call, tensor):
        self.random = np.random.default_rng(seed)
        self.call, self.tensor = call, tensor

    def shape(self, least=0, most=3):
        return tuple(int(n) for n in self.random.integers(1, 5, self.random.integers(least, most + 1)))

    def type(self, *types):
        return np.dtype(str(self.random.choice(types or ("f4", "f8"))))

    def floats(self, shape=None, low=-2.0, high=2.0, type=None):
        shape = self.shape() if shape is None else shape
        return self.random.uniform(low, high, shape).astype(type or self.type())

    def complexes(self, shape=None, type="c8"):
        shape = self.shape() if shape is None else shape
        return (self.random.normal(size=shape) + 1j * self.random.normal(size=shape)).astype(type)

    def whole(self, shape=None, low=-9, high=10, type="i4"):
        shape = self.shape() if shape is None else shape
        return self.random.integers(low, high, shape).astype(type)

    def pair(self, make):
        """Two arrays whose shapes broadcast."""
        shape = self.shape(1, 3)
        other = tuple(n if self.random.random() < 0.6 else 1 for n in shape)[int(self.random.integers(0, len(shape))):]
        return make(shape), make(other)

    def one(self, operation, *arrays, **attributes):
        return self.call(operation, *[self.tensor(it) for it in arrays], **attributes)[0]

    def all(self, operation, *arrays, **attributes):
        return self.call(operation, *[self.tensor(it) for it in arrays], **attributes)
