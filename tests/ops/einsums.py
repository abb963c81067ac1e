"""Cases for einsum, kron and tensordot, against NumPy's."""
import numpy as np

from reductions import modest
from values import COMPLEX, EPSILON, INTEGERS, NUMPY, TYPES, Array, Exact, Near, promote


def sums(kind, function, arrays, terms):
    """`function` of these: exact of integers, in f64 (and on the sizes, for the slack) otherwise."""
    if kind in INTEGERS:
        return Exact(kind, function(*[a.values.astype(NUMPY[kind]) for a in arrays]))
    wide = [a.values.astype(np.complex128 if kind in COMPLEX else np.float64) for a in arrays]
    # Halves are rounded after each product of two.
    roundings = (4 + 2 * len(arrays) + 2 * np.sqrt(terms)) * (2 if kind in COMPLEX else 1)
    slack = roundings * EPSILON[kind] * function(*[np.abs(w) for w in wide])
    return Near(kind, function(*wide), slack=slack, ulp=1, zero_signs=False)


def add_einsum(cases, subscripts, arrays, everywhere=False):
    kind = arrays[0].kind
    for a in arrays[1:]:
        kind = promote(kind, a.kind)
    function = lambda *x: np.asarray(np.einsum(subscripts, *x))
    result = function(*[np.ones(a.shape) for a in arrays])
    terms = np.max(result, initial=1)
    cases.add("einsum", arrays, sums(kind, function, arrays, terms), everywhere, subscripts=subscripts)


def random_subscripts(rng):
    """Letters with extents, terms, and perhaps a result. Some are nonsense: NumPy says which."""
    letters = list("abcdeijkXY")[:rng.integers(2, 8)]
    rng.shuffle(letters)
    extents = {letter: int(rng.integers(1, 5)) for letter in letters}
    count = int(rng.choice([1, 2, 2, 2, 3, 3, 4, 5, 7]))
    others = [int(n) for n in rng.integers(1, 4, size=2)]
    dots = rng.random() < 0.3
    terms, shapes, axes = [], [], 0
    for _ in range(count):
        chosen = list(rng.choice(letters, size=rng.integers(0, 4)))
        term = "".join(chosen)
        shape = [extents[c] for c in chosen]
        # An extent of 1 repeats, now and then.
        shape = [1 if rng.random() < 0.07 and chosen.count(c) == 1 else n for c, n in zip(chosen, shape)]
        if dots and rng.random() < 0.7:
            at, more = int(rng.integers(0, len(chosen) + 1)), int(rng.integers(0, 3))
            term = term[:at] + "..." + term[at:]
            shape[at:at] = others[2 - more:]
            axes = max(axes, more)
        terms.append(term)
        shapes.append(shape)
    text = ",".join(terms)
    if rng.random() < 0.7:
        used = sorted({c for c in text if c.isalpha()})
        rng.shuffle(used)
        out = "".join(used[:rng.integers(0, len(used) + 1)])
        if axes or (dots and rng.random() < 0.5):
            at = int(rng.integers(0, len(out) + 1))
            out = out[:at] + "..." + out[at:]
        text += "->" + out
    if rng.random() < 0.1:
        text = text.replace(",", " , ").replace("->", " -> ")
    return text, shapes


def add_random(cases, rng):
    made = 0
    while made < 300:
        text, shapes = random_subscripts(rng)
        kind = "f32" if made % 3 else str(rng.choice(TYPES))
        arrays = [modest(kind, shape, rng) for shape in shapes]
        try:
            add_einsum(cases, text, arrays, made % 30 == 1)
        except ValueError:
            continue
        made += 1


def add_einsums(cases, rng):
    for text, shapes in [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("ii", [(5, 5)]),
                         ("ii->i", [(5, 5)]), ("ij->ji", [(3, 4)]), ("ba", [(3, 4)]), ("i,i", [(7,), (7,)]),
                         ("i,j->ij", [(3,), (4,)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("ij->", [(3, 4)]),
                         ("...ij,...jk->...ik", [(2, 3, 4), (5, 1, 4, 2)]), ("iji->j", [(3, 2, 3)]),
                         ("ij,ij->", [(3, 4), (3, 4)]), ("ij,ij->i", [(3, 4), (3, 4)]), ("...", [(2, 3)]),
                         ("i...->...", [(2, 3, 4)]), ("...i->i...", [(2, 3, 4)]), ("ijk,jl,kl->il", [(2, 3, 4), (3, 5), (4, 5)]),
                         (",ij->ij", [(), (2, 3)]), ("ij,jk,kl,lm->im", [(2, 9), (9, 2), (2, 9), (9, 3)]),
                         ("ij,j->i", [(0, 3), (3,)]), ("ij,jk->ik", [(2, 0), (0, 3)]), ("ii->i", [(0, 0)]), ("ii", [(1, 1)]),
                         ("ij->i", [(3, 0)]), ("aab,bcc->ac", [(2, 2, 3), (3, 4, 4)]), ("iiii->i", [(3, 3, 3, 3)]),
                         ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]), ("ij,kl->ijkl", [(2, 3), (2, 2)])]:
        for kind in ("f32", "f64", "f16", "bf16", "i32", "u8", "c64", "c128") if len(shapes) < 3 else ("f32", "c64"):
            add_einsum(cases, text, [modest(kind, shape, rng) for shape in shapes], kind == "f32" and len(shapes) < 3)
    add_einsum(cases, "ij,jk,k->i", [modest(k, s, rng) for k, s in (("u8", (3, 4)), ("f32", (4, 5)), ("f64", (5,)))])
    add_einsum(cases, "ij,jk->ik", [modest("f32", (70, 90), rng), modest("f32", (90, 65), rng)], True)
    add_random(cases, rng)
    for kind in TYPES:
        for a, b in [((3,), (2,)), ((2, 3), (3, 2)), ((2, 3), (4,)), ((4,), (2, 3)), ((2, 1, 3), (1, 2, 2))]:
            x, y = modest(kind, a, rng), modest(kind, b, rng)
            cases.add("kron", [x, y], sums(kind, np.kron, [x, y], 1), kind == "f32" and len(a) < 3)
    for a, b in [((), ()), ((), (2, 3)), ((2, 3), ()), ((0, 2), (3, 3)), ((1,), (5,))]:
        x, y = modest("f32", a, rng), modest("f32", b, rng)
        if 0 in a:  # NumPy's own does not take these
            cases.add("kron", [x, y], Exact("f32", np.zeros((0, 6))))
        else:
            cases.add("kron", [x, y], sums("f32", np.kron, [x, y], 1))
    for kind in ("f32", "f64", "bf16", "i16", "c64"):
        for a, b, count in [((2, 3, 4), (3, 4, 5), 2), ((2, 3), (3, 4), 1), ((2, 3), (4,), 0), ((2, 3), (2, 3), 2)]:
            x, y = modest(kind, a, rng), modest(kind, b, rng)
            function = lambda p, q: np.asarray(np.tensordot(p, q, count))
            cases.add("tensordot", [x, y], sums(kind, function, [x, y], 12), kind == "f32", count=count)
        x, y = modest(kind, (4, 2, 3), rng), modest(kind, (3, 5, 4), rng)
        function = lambda p, q: np.tensordot(p, q, ((0, 2), (2, 0)))
        cases.add("tensordot", [x, y], sums(kind, function, [x, y], 12), axes_a=[0, -1], axes_b=[-1, 0])
