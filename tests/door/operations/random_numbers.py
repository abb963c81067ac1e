"""Random numbers: what is the same for the same key, and moments."""

import numpy as np

from .source import case


def key_of(s, seed=None):
    return s.call("random_key", seed=int(s.random.integers(2**40)) if seed is None else seed)[0]


def close(got, expected, error):
    """Within five standard errors."""
    return np.float64(abs(got - expected) <= 5 * error), np.float64(1)


@case("random_key")
def random_key(s):
    yield key_of(s, 7 * 2**32 + 5), np.array([7, 5], "u4")


@case("random_split")
def random_split(s):
    key = key_of(s)
    two, five = s.call("random_split", key)[0].numpy(), s.call("random_split", key, parts=5)[0].numpy()
    yield [np.array(two.shape), np.array(five.shape)], [np.array([2, 2]), np.array([5, 2])]
    yield np.float64(len({tuple(row) for row in five})), np.float64(5)


@case("random_fold_in")
def random_fold_in(s):
    key = key_of(s)
    many = s.call("random_fold_in", key, s.tensor(np.arange(4)))[0].numpy()
    one = s.call("random_fold_in", key, s.tensor(np.int64(2)))[0].numpy()
    yield [one, np.float64(len({tuple(row) for row in many}))], [many[2], np.float64(4)]


@case("random_bits")
def random_bits(s):
    key = key_of(s)
    a, b = (s.call("random_bits", key, shape=[4000], type="u8")[0].numpy() for _ in range(2))
    yield a, b
    yield close(np.mean(a), 127.5, 74 / np.sqrt(4000))
    yield np.array(s.call("random_bits", key, shape=[3])[0].numpy().dtype.itemsize), np.array(4)


@case("random_uniform")
def random_uniform(s):
    x = s.call("random_uniform", key_of(s), shape=[5000], low=-1.0, high=3.0, type="f64")[0].numpy()
    yield np.array([x.min() >= -1, x.max() < 3]), np.array([True, True])
    yield close(np.mean(x), 1, np.sqrt(16 / 12 / 5000))


@case("random_normal")
def random_normal(s):
    x = s.call("random_normal", key_of(s), shape=[5000], mean=2.0, deviation=3.0, type="f64")[0].numpy()
    yield close(np.mean(x), 2, 3 / np.sqrt(5000))
    yield close(np.std(x), 3, 3 / np.sqrt(10000))


@case("random_randint")
def random_randint(s):
    x = s.call("random_randint", key_of(s), shape=[5000], low=-2, high=4, type="i64")[0].numpy()
    yield np.unique(x), np.arange(-2, 4)
    yield close(np.mean(x), 0.5, np.sqrt(35 / 12 / 5000))


@case("random_gumbel")
def random_gumbel(s):
    x = s.call("random_gumbel", key_of(s), shape=[5000], type="f64")[0].numpy()
    yield close(np.mean(x), 0.5772157, np.pi / np.sqrt(6 * 5000))


@case("random_gamma")
def random_gamma(s):
    x = s.call("random_gamma", key_of(s), s.tensor(np.float64(2.5)), shape=[5000])[0].numpy()
    yield close(np.mean(x), 2.5, np.sqrt(2.5 / 5000))


@case("random_categorical")
def random_categorical(s):
    p = np.array([0.1, 0.2, 0.7])
    logits = np.broadcast_to(np.log(p)[:, None], (3, 5000))
    x = s.call("random_categorical", key_of(s), s.tensor(logits), axis=0)[0].numpy()
    for i in range(3):
        yield close(np.mean(x == i), p[i], np.sqrt(p[i] * (1 - p[i]) / 5000))


@case("random_exponential")
def random_exponential(s):
    x = s.call("random_exponential", key_of(s), shape=[5000], rate=4.0, type="f64")[0].numpy()
    yield close(np.mean(x), 0.25, 0.25 / np.sqrt(5000))


@case("random_bernoulli")
def random_bernoulli(s):
    x = s.call("random_bernoulli", key_of(s), s.tensor(np.float64(0.3)), shape=[5000])[0].numpy()
    yield close(np.mean(x), 0.3, np.sqrt(0.21 / 5000))


@case("random_shuffle")
def random_shuffle(s):
    x = np.arange(200.0).reshape(2, 100)
    mixed = s.call("random_shuffle", key_of(s), s.tensor(x), axis=1)[0].numpy()
    yield np.sort(mixed, 1), x
    yield np.array([np.any(mixed != x)]), np.array([True])


@case("random_permutation")
def random_permutation(s):
    yield np.sort(s.call("random_permutation", key_of(s), n=100)[0].numpy()), np.arange(100)
