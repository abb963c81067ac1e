"""Shapes and places."""

import numpy as np

from .source import case


@case("reshape")
def reshape(s):
    x = s.floats((2, 3, 4))
    yield s.one("reshape", x, shape=[4, -1]), x.reshape(4, 6)


@case("squeeze")
def squeeze(s):
    x = s.floats((1, 3, 1, 2))
    yield s.one("squeeze", x), x.reshape(3, 2)
    yield s.one("squeeze", x, axes=[2]), x.reshape(1, 3, 2)


@case("transpose")
def transpose(s):
    x = s.floats((2, 3, 4))
    yield s.one("transpose", x), x.T
    axes = [int(i) for i in s.random.permutation(3)]
    yield s.one("transpose", x, axes=axes), x.transpose(axes)


@case("reverse")
def reverse(s):
    x = s.floats((2, 3))
    yield s.one("reverse", x), x[::-1, ::-1]
    yield s.one("reverse", x, axes=[1]), x[:, ::-1]


@case("broadcast_to")
def broadcast_to(s):
    x = s.floats((3, 1))
    yield s.one("broadcast_to", x, shape=[2, 3, 4]), np.broadcast_to(x, (2, 3, 4))


@case("broadcast_in")
def broadcast_in(s):
    x = s.floats((3,))
    yield s.one("broadcast_in", x, shape=[3, 2], axes=[0]), np.repeat(x[:, None], 2, 1)


@case("slice")
def slice_(s):
    x = s.floats((5, 7))
    yield s.one("slice", x, starts=[1, 2], lengths=[3, 4]), x[1:4, 2:6]
    yield s.one("slice", x, starts=[0, 1], lengths=[5, 5], strides=[2, 3]), x[0:5:2, 1:6:3]


@case("dynamic_slice")
def dynamic_slice(s):
    x = s.floats((5, 7))
    yield s.one("dynamic_slice", x, np.int32(1), np.int64(6), lengths=[2, 3]), x[1:3, 4:7]  # clamped


@case("put_slice")
def put_slice(s):
    x, piece = s.floats((4, 5), type="f4"), s.floats((2, 2), type="f4")
    expected = x.copy()
    expected[1:3, 2:4] = piece
    yield s.one("put_slice", x, piece, starts=[1, 2]), expected
    yield s.one("put_slice", x, piece, np.int32(1), np.int32(2)), expected


@case("pad")
def pad(s):
    x = s.floats((3,), type="f4")
    yield s.one("pad", x, np.float32(9), low=[1], high=[2]), np.pad(x, (1, 2), constant_values=9)
    yield (s.one("pad", x, np.float32(0), low=[-1], high=[0], interior=[1]),
           np.array([0, x[1], 0, x[2]], "f4"))


@case("concatenate", "stack")
def joined(s, name):
    parts = [s.floats((2, 3), type="f4") for _ in range(3)]
    f = np.concatenate if name == "concatenate" else np.stack
    yield s.one(name, *parts), f(parts)
    yield s.one(name, *parts, axis=1), f(parts, 1)


@case("tile")
def tile(s):
    x = s.floats((2, 3))
    yield s.one("tile", x, repeats=[2, 2]), np.tile(x, (2, 2))


@case("take")
def take(s):
    x, places = s.floats((4, 5)), s.whole((2, 3), 0, 4)
    yield s.one("take", x, places), x[places]
    yield s.one("take", x, places, axis=1), np.take(x, places, 1)


@case("take_along_axis")
def take_along_axis(s):
    x = s.floats((4, 5))
    yield s.one("take_along_axis", x, s_places := s.whole((4, 2), 0, 5)), np.take_along_axis(x, s_places, 1)
    yield s.one("take_along_axis", x, s_places := s.whole((2, 5), 0, 4), axis=0), np.take_along_axis(x, s_places, 0)


@case("gather")
def gather(s):
    x, places = s.floats((4, 5)), np.stack([s.whole((3,), 0, 4), s.whole((3,), 0, 5)], 1)
    yield s.one("gather", x, places), x[places[:, 0], places[:, 1]]
    yield s.one("gather", x, places[:, :1], axes=[1]), x[:, places[:, 0]].T


@case("indexed_add", "indexed_put")
def indexed(s, name):
    x, updates = s.floats((6,), type="f8"), s.floats((3,), type="f8")
    places = np.array([[1], [4], [1]], "i4")
    expected = x.copy()
    for place, update in zip(places[:, 0], updates):
        expected[place] = update + (expected[place] if name == "indexed_add" else 0)
    yield s.one(name, x, places, updates), expected
    x, updates, expected = s.floats((2, 3), type="f8"), s.floats((1, 2), type="f8"), None
    expected = x.copy()
    expected[:, 2] = updates[0] + (expected[:, 2] if name == "indexed_add" else 0)
    yield s.one(name, x, np.array([[2]], "i4"), updates, axes=[1]), expected
