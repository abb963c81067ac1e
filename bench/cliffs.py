"""Plain operations of random shapes beside NumPy, PyTorch and JAX on a CPU: where does a shape fall off?
  cliffs.py random COUNT SEED [KIND]...        lines of random works (cliffs_bench.cpp reads them)
  cliffs.py time LIST [numpy|torch|jax]...     one JSON object a line
  cliffs.py table FILE...                      ratio of the best peer to us, the worst first; repeated times: the best
  cliffs.py beside BENCH LIST [ROUNDS]         all of it, in turns"""
import json, math, random, subprocess, sys, time

ONE = ["negate", "abs", "sqrt", "exp", "tanh", "square", "relu", "floor"]
TWO = ["add", "multiply", "divide", "maximum", "less", "equal", "chain", "where"]
AXES = ["sum", "mean", "max", "min", "product", "any", "variance", "argmax", "softmax", "logsumexp"]
RUNNING = ["cumsum", "cumprod", "cummax"]
PLACES = ["take", "take_along", "indexed_add", "indexed_put"]
COPIES = ["transpose", "reverse", "tile", "broadcast", "cast", "slice", "pad", "concatenate"]
KINDS = ONE + TWO + 2 * AXES + RUNNING + PLACES + COPIES + 6 * ["matmul"]
FLOATS = ["f32", "f32", "f64"]
TYPES = FLOATS + ["i32", "i64", "u8"]
REAL = set(["sqrt", "exp", "tanh", "floor", "divide", "mean", "variance", "softmax", "logsumexp", "product", "cumprod"])


def text(numbers): return ",".join(str(n) for n in numbers)


def random_shape(r, most=1 << 21):
    """Tall, flat, with small axes in the middle, small ones: extents spread over their logarithm."""
    rank = r.choice([1, 2, 2, 2, 3, 3, 4])
    size = 2 ** r.uniform(3, math.log2(most))
    cuts = sorted(r.random() for _ in range(rank - 1))
    parts = [b - a for a, b in zip([0] + cuts, cuts + [1])]
    shape = [max(1, round(size ** part)) for part in parts]
    if r.random() < 0.5: shape[r.randrange(rank)] = r.randint(1, 20)
    while math.prod(shape) > most: shape[shape.index(max(shape))] //= 2
    return shape


def random_matmul(r):
    side = lambda high: r.randint(1, 17) if r.random() < 0.5 else round(2 ** r.uniform(0, math.log2(high)))
    m, k, n = side(5000), side(2000), side(2000)
    while m * k * n > 1 << 25: m, k, n = max(1, m // 2), max(1, k // 2), max(1, n // 2)
    batch = [] if r.random() < 0.6 else [max(1, min(side(1000), (1 << 25) // (m * k * n)))]
    ta, tb = r.random() < 0.25, r.random() < 0.25
    x, y = [k, m] if ta else [m, k], [n, k] if tb else [k, n]
    shared = batch and r.random() < 0.3
    line = f"matmul type={r.choice(FLOATS)} x={text(batch + x)} y={text(([] if shared else batch) + y)}"
    return line + (" ta=1" if ta else "") + (" tb=1" if tb else "")


def random_line(r, kind):
    if kind == "matmul": return random_matmul(r)
    x = random_shape(r)
    line = f"{kind} type={r.choice(FLOATS if kind in REAL else TYPES)} x={text(x)}"
    axis = r.randrange(len(x))
    if kind in TWO or kind == "broadcast":
        y, way = list(x), r.random()
        if way < 0.6 or kind == "broadcast": y = [1 if r.random() < 0.5 else n for n in x]
        if way < 0.3: y = y[r.randrange(len(y)):]
        if kind == "broadcast": return f"{kind} type={r.choice(TYPES)} x={text(y)} y={text(x)}"
        return f"{line} y={text(y)}"
    if kind in RUNNING or kind in ("argmax", "softmax", "reverse"): return f"{line} axis={axis}"
    if kind in AXES:
        axes = sorted(r.sample(range(len(x)), r.choice([1, 1, 1, 2, 3]) if len(x) > 2 else 1))
        return f"{line} axis={text(axes[:len(x)])}"
    if kind == "take": return f"{line} axis={axis} n={max(1, round(x[axis] * r.choice([0.1, 1, 1])))}"
    if kind == "take_along": return f"{line} axis={axis} n={max(1, round(x[axis] * r.choice([0.1, 1, 1])))}"
    if kind.startswith("indexed"): return f"{line} n={max(1, min((1 << 21) // math.prod(x[1:]), round(x[0] * r.choice([0.1, 1, 4]))))}"
    if kind == "transpose": return f"{line} axes={text(r.sample(range(len(x)), len(x)))}"
    if kind == "tile": return f"{line} n={text([r.choice([1, 1, 2, 3]) for _ in x])}"
    if kind == "cast": return f"{line} to={r.choice(TYPES)}"
    if kind == "slice":
        step = [r.choice([1, 1, 1, 2, 3]) for _ in x]
        begin = [r.randint(0, n // 3) for n in x]
        return f"{line} from={text(begin)} step={text(step)} length={text([max(1, (n - b) // s) for n, b, s in zip(x, begin, step)])}"
    if kind == "pad": return f"{line} p={text([r.choice([0, 1, 3]) for _ in x])}"
    if kind == "concatenate":
        y = list(x); y[axis] = r.randint(1, x[axis])
        return f"{line} y={text(y)} axis={axis}"
    return line


def parsed(line):
    kind, *words = line.split()
    n = dict(word.split("=") for word in words)
    return kind, n.pop("type", "f32"), n.pop("to", ""), {k: [int(i) for i in v.split(",")] for k, v in n.items()}


def fastest(call, seconds=0.02):
    call(); start = time.perf_counter(); call()
    one = max(time.perf_counter() - start, 1e-7)
    together = max(1, min(16, int(2e-6 / one)))
    best = 1e9
    for _ in range(max(5, min(2000, int(seconds / one)))):
        start = time.perf_counter()
        for _ in range(together): call()
        best = min(best, (time.perf_counter() - start) / together)
    return best * 1e6


def emit(work, peer, call):
    try: print(json.dumps(dict(work=work, peer=peer, us=round(fastest(call), 3))), flush=True)
    except Exception as error: print(json.dumps(dict(work=work, peer=peer, error=repr(error)[:120])), flush=True)


def by_numpy(np, kind, to, n, x, y, places, updates, type_of):
    """The call, as NumPy and JAX name it."""
    axis = tuple(n.get("axis", [0])); first = axis[0]
    one = {"negate": lambda: -x, "abs": lambda: np.abs(x), "sqrt": lambda: np.sqrt(np.abs(x)), "exp": lambda: np.exp(x),
           "tanh": lambda: np.tanh(x), "square": lambda: np.square(x), "relu": lambda: np.maximum(x, 0), "floor": lambda: np.floor(x),
           "add": lambda: x + y, "multiply": lambda: x * y, "divide": lambda: x / y, "maximum": lambda: np.maximum(x, y),
           "less": lambda: x < y, "equal": lambda: x == y, "chain": lambda: (x + y) * x - y, "where": lambda: np.where(x < y, x, y * 2),
           "sum": lambda: x.sum(axis), "mean": lambda: x.mean(axis), "max": lambda: x.max(axis), "min": lambda: x.min(axis),
           "product": lambda: x.prod(axis), "any": lambda: x.any(axis), "variance": lambda: x.var(axis), "argmax": lambda: x.argmax(first),
           "cumsum": lambda: np.cumsum(x, first), "cumprod": lambda: np.cumprod(x, first),
           "take": lambda: np.take(x, places, first), "take_along": lambda: np.take_along_axis(x, places, first),
           "reverse": lambda: np.flip(x, first).copy(), "tile": lambda: np.tile(x, n["n"]),
           "broadcast": lambda: np.broadcast_to(x, n["y"]).copy(), "cast": lambda: x.astype(type_of(to)),
           "transpose": lambda: np.transpose(x, n["axes"]).copy(), "pad": lambda: np.pad(x, [(p, p) for p in n["p"]]),
           "slice": lambda: x[tuple(slice(f, f + (k - 1) * s + 1, s) for f, k, s in zip(n["from"], n["length"], n["step"]))].copy(),
           "concatenate": lambda: np.concatenate([x, y], first)}
    def softmax():
        e = np.exp(x - x.max(first, keepdims=True)); return e / e.sum(first, keepdims=True)
    def logsumexp():
        m = x.max(axis, keepdims=True); return np.log(np.exp(x - m).sum(axis)) + m.reshape(np.log(np.exp(x - m).sum(axis)).shape)
    def multiplied():
        return np.matmul(np.swapaxes(x, -1, -2) if "ta" in n else x, np.swapaxes(y, -1, -2) if "tb" in n else y)
    one.update(softmax=softmax, logsumexp=logsumexp, matmul=multiplied, cummax=lambda: np.maximum.accumulate(x, first))
    return one.get(kind)


def operands(np, kind, name, n, type_of):
    rng = np.random.default_rng(1)
    def new(shape):
        if name[0] == "f": return rng.standard_normal(shape).astype(type_of(name))
        return np.floor(np.abs(rng.standard_normal(shape)) * 3).astype(type_of(name))
    x = new(n["x"])
    y = new(n["y"]) if "y" in n and kind != "broadcast" else None
    places = updates = None
    if kind in PLACES:
        shape = list(n["x"]); axis = n.get("axis", [0])[0]; count = n["n"][0]
        shape[axis] = count
        places = rng.integers(0, n["x"][axis], shape if kind == "take_along" else [count])
        updates = new(shape)
    return x, y, places, updates


def numpy_type(np): return lambda name: np.dtype({"u8": "u1"}.get(name, name[0] + str(int(name[1:]) // 8)))


def numpy_works(lines):
    import numpy as np
    np.seterr(all="ignore")
    for line in lines:
        kind, name, to, n = parsed(line)
        x, y, places, updates = operands(np, kind, name, n, numpy_type(np))
        call = by_numpy(np, kind, to, n, x, y, places, updates, numpy_type(np))
        if kind.startswith("indexed"):
            def call():
                z = x.copy()
                if kind == "indexed_add": np.add.at(z, places, updates)
                else: z[places] = updates
                return z
        emit(line, "numpy", call)


def torch_works(lines):
    import numpy as np, torch
    types = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
    for line in lines:
        kind, name, to, n = parsed(line)
        x, y, places, updates = [None if a is None else torch.from_numpy(a) for a in operands(np, kind, name, n, numpy_type(np))]
        axis = tuple(n.get("axis", [0])); first = axis[0]
        turn = lambda a, yes: a.transpose(-1, -2) if yes else a
        calls = {"negate": lambda: -x, "abs": lambda: x.abs(), "sqrt": lambda: x.abs().sqrt(), "exp": lambda: x.exp(),
                 "tanh": lambda: x.tanh(), "square": lambda: x * x, "relu": lambda: x.relu(), "floor": lambda: x.floor(),
                 "add": lambda: x + y, "multiply": lambda: x * y, "divide": lambda: x / y, "maximum": lambda: torch.maximum(x, y),
                 "less": lambda: x < y, "equal": lambda: x == y, "chain": lambda: (x + y) * x - y,
                 "where": lambda: torch.where(x < y, x, y * 2),
                 "sum": lambda: x.sum(axis), "mean": lambda: x.mean(axis), "max": lambda: x.amax(axis), "min": lambda: x.amin(axis),
                 "product": lambda: x.prod(first), "any": lambda: x.any(first), "variance": lambda: x.var(axis, unbiased=False),
                 "argmax": lambda: x.argmax(first), "softmax": lambda: x.softmax(first), "logsumexp": lambda: x.logsumexp(axis),
                 "cumsum": lambda: x.cumsum(first), "cumprod": lambda: x.cumprod(first), "cummax": lambda: x.cummax(first)[0],
                 "take": lambda: x.index_select(first, places), "take_along": lambda: x.gather(first, places),
                 "indexed_add": lambda: x.index_add(0, places, updates), "indexed_put": lambda: x.index_copy(0, places, updates),
                 "reverse": lambda: x.flip(first), "tile": lambda: x.tile(n["n"]), "broadcast": lambda: x.expand(n["y"]).clone(memory_format=torch.contiguous_format),
                 "cast": lambda: x.to(types[to]), "transpose": lambda: x.permute(n["axes"]).clone(memory_format=torch.contiguous_format),
                 "pad": lambda: torch.nn.functional.pad(x, [p for p in reversed(n["p"]) for _ in (0, 1)]),
                 "slice": lambda: x[tuple(slice(f, f + (k - 1) * s + 1, s) for f, k, s in zip(n["from"], n["length"], n["step"]))].clone(memory_format=torch.contiguous_format),
                 "concatenate": lambda: torch.cat([x, y], first),
                 "matmul": lambda: torch.matmul(turn(x, "ta" in n), turn(y, "tb" in n))}
        if kind in ("product", "any") and len(axis) > 1: continue
        if kind == "cast" and to == name: continue
        with torch.no_grad(): emit(line, "torch", calls[kind])


def jax_works(lines):
    import jax, jax.numpy as jnp, numpy as np
    jax.config.update("jax_enable_x64", True)
    for line in lines:
        kind, name, to, n = parsed(line)
        given = operands(np, kind, name, n, numpy_type(np))
        def f(x, y, places, updates):
            if kind == "indexed_add": return x.at[places].add(updates)
            if kind == "indexed_put": return x.at[places].set(updates)
            if kind == "cummax": return jax.lax.cummax(x, n["axis"][0])
            return by_numpy(jnp, kind, to, n, x, y, places, updates, numpy_type(np))()
        g = jax.jit(f); given = [None if a is None else jax.device_put(a) for a in given]
        emit(line, "jax", lambda: g(*given).block_until_ready())


def table(rows):
    best = {}
    for row in rows:
        if "us" in row:
            peers = best.setdefault(row["work"], {})
            peers[row["peer"]] = min(row["us"], peers.get(row["peer"], 1e18))
        elif row["peer"].startswith("adit"): print("?", row)
    found = []
    for work, times in best.items():
        own, eager = times.pop("adit", None), times.pop("adit_eager", 0)
        if own and times: found.append((min(times.values()) / own, own, eager, times, work))
    found.sort(key=lambda row: row[0])
    for ratio, own, eager, times, work in found:
        print(f"{ratio:6.2f} {own:9.1f} {eager:9.1f} ", " ".join(f"{p} {t:.1f}" for p, t in times.items()), " ", work)
    if found:
        logs = sum(math.log(row[0]) for row in found) / len(found)
        print(f"{len(found)} works, {sum(row[0] < 1 for row in found)} below 1, {sum(row[0] < 0.67 for row in found)} below 0.67, "
              f"geometric mean {math.exp(logs):.2f}")


def rows_of(lines): return [json.loads(line) for line in lines if line.startswith("{")]


def beside(bench, name, rounds, peers):
    rows = []
    for _ in range(rounds):
        for command in [[bench, "cpu", name]] + [[sys.executable, __file__, "time", name, peer] for peer in peers]:
            rows += rows_of(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines())
    table(rows)


if __name__ == "__main__":
    if sys.argv[1] == "time":
        lines = [line.strip() for line in open(sys.argv[2]) if line.strip() and line[0] != "#"]
        for peer in sys.argv[3:]: globals()[peer + "_works"](lines)
    elif sys.argv[1] == "random":
        r = random.Random(int(sys.argv[3]))
        for _ in range(int(sys.argv[2])): print(random_line(r, r.choice(sys.argv[4:] or KINDS)))
    elif sys.argv[1] == "beside":
        beside(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 2, sys.argv[5:] or ["numpy", "torch"])
    else:
        table([row for name in sys.argv[2:] for row in rows_of(open(name))])
