"""The works of a list (see shapes_bench.cpp) by PyTorch and JAX, and a table of all.
  shapes_peers.py time LIST [torch|jax]...     one JSON object a line
  shapes_peers.py random KIND COUNT SEED       lines of random shapes
  shapes_peers.py table FILE...                ratio to the better peer, the worst first"""
import json, math, random, sys, time

OF_MATRICES = ["cholesky", "lu", "qr", "inverse", "determinant", "triangular", "solve", "least_squares"]

def parsed(text):
    kind, *words = text.split()
    return kind, {name: [int(n) for n in rest.split(",")] for name, rest in (word.split("=") for word in words)}


def emit(work, peer, call, wait):
    try:
        call(); wait(); start = time.perf_counter()
        while time.perf_counter() - start < 0.3: call(); wait()  # until the card's clock is up
        start = time.perf_counter(); call(); wait()
        repeats = max(3, min(100, int(0.03 / max(time.perf_counter() - start, 1e-6))))
        times = []
        for _ in range(repeats):
            start = time.perf_counter(); call(); wait(); times.append(time.perf_counter() - start)
        start = time.perf_counter()
        for _ in range(repeats): call()
        wait(); each = (time.perf_counter() - start) / repeats
        print(json.dumps(dict(work=work, peer=peer, us=round(min(times) * 1e6, 2),
                              thr_us=round(each * 1e6, 2))), flush=True)
    except Exception as error:
        print(json.dumps(dict(work=work, peer=peer, error=repr(error)[:120])), flush=True)


def torch_works(lines):
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize

    def gradients(work, f, inputs, names, peer="torch", joint=False, forward=False):
        """Backward alone, but for those that are joint with the forward."""
        with torch.no_grad(): emit(work, peer, lambda: f(*inputs), wait)
        if forward: return
        try:
            inputs = [x.detach().requires_grad_() for x in inputs]
            y = f(*inputs); g = torch.randn_like(y)
            if joint == "with forward":
                emit(work + " grad", peer, lambda: torch.autograd.grad(f(*inputs), inputs[:3], g), wait)
            elif joint:
                emit(work + " grad", peer, lambda: torch.autograd.grad(y, inputs, g, retain_graph=True), wait)
            else:
                for name, x in zip(names, inputs):
                    emit(f"{work} {name}", peer, lambda: torch.autograd.grad(y, x, g, retain_graph=True), wait)
        except Exception as error:
            print(json.dumps(dict(work=work, peer=peer, error=repr(error)[:120])), flush=True)

    for text in lines:
        kind, n = parsed(text)
        forward = n.get("forward", [0])[0]
        real = torch.float64 if n.get("double", [0])[0] else torch.float32
        new = lambda shape, dtype=real: torch.randn(shape, device="cuda", dtype=dtype)
        axis = n.get("axis", [-1])[0]
        matrices = lambda shape: torch.complex(new(shape), new(shape)) if n.get("complex", [0])[0] else new(shape)
        if kind == "conv":
            rank = len(n["x"]) - 2
            f = [F.conv1d, F.conv2d, F.conv3d][rank - 1]
            options = dict(stride=n.get("s", [1] * rank), padding=n.get("p", [0] * rank),
                           dilation=n.get("d", [1] * rank), groups=n.get("g", [1])[0])
            gradients(text, lambda x, w: f(x, w, **options), [new(n["x"]), new(n["w"])], ["grad_x", "grad_w"],
                      forward=forward)
        elif kind in ("max_pool", "average_pool"):
            rank = len(n["x"]) - 2
            f = ([F.max_pool1d, F.max_pool2d, F.max_pool3d] if kind == "max_pool" else
                 [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d])[rank - 1]
            gradients(text, lambda x: f(x, n["w"], stride=n.get("s"), padding=n.get("p", [0] * rank)), [new(n["x"])],
                      ["grad_x"], forward=forward)
        elif kind == "attention":
            real = torch.float16 if n.get("half", [0])[0] else torch.float32
            q, k = new(n["q"], real), new(n["k"], real)
            v = new(n["k"][:-1] + n.get("width", [n["k"][-1]]), real)
            given = [q, k, v] + ([new([n["q"][-2], n["k"][-2]], real)] if n.get("mask", [0])[0] else [])
            gqa = len(n["q"]) > 2 and n["q"][-3] != n["k"][-3]

            def f(q, k, v, mask=None):
                extra = dict(enable_gqa=True) if gqa else {}
                return F.scaled_dot_product_attention(q, k, v, attn_mask=mask,
                                                      is_causal=bool(n.get("causal", [0])[0]), **extra)
            for name, which in (("math", SDPBackend.MATH), ("fused", None)):
                if which is None:
                    gradients(text, f, given, [], "torch_fused", "with forward", forward)
                else:
                    with sdpa_kernel(which): gradients(text, f, given, [], "torch_math", "with forward", forward)
            torch.cuda.empty_cache()
        elif kind in ("layer_norm", "rms_norm", "softmax"):
            last = n["x"][-1]
            given = [new(n["x"])] + [new([last])] * {"softmax": 0, "rms_norm": 1, "layer_norm": 2}[kind]
            f = {"softmax": lambda x: torch.softmax(x, axis),
                 "layer_norm": lambda x, w, b: F.layer_norm(x, [last], w, b),
                 "rms_norm": lambda x, w: F.rms_norm(x, [last], w, 1e-5)}[kind]
            gradients(text, f, given, [], joint=True, forward=forward)
        elif kind == "sum":
            x, axes = new(n["x"]), n["axis"]; emit(text, "torch", lambda: torch.sum(x, axes), wait)
        elif kind == "cumsum":
            x = new(n["x"]); emit(text, "torch", lambda: torch.cumsum(x, axis), wait)
        elif kind == "sort":
            x = new(n["x"]); emit(text, "torch", lambda: torch.sort(x, axis)[0], wait)
        elif kind == "argsort":
            x = new(n["x"]); emit(text, "torch", lambda: torch.argsort(x, axis, stable=True), wait)
        elif kind == "top_k":
            x = new(n["x"]); emit(text, "torch", lambda: torch.topk(x, n["k"][0]), wait)
        elif "fft" in kind:
            x = new(n["x"]) if kind == "rfft" else torch.complex(new(n["x"]), new(n["x"]))
            f, along = getattr(torch.fft, kind), {} if kind == "fft2" else dict(dim=axis)
            emit(text, "torch", lambda: f(x, **along), wait)
        elif kind == "matmul":
            x, y = matrices(n["x"]), matrices(n["y"]); emit(text, "torch", lambda: torch.matmul(x, y), wait)
        elif kind in OF_MATRICES:
            x, b = matrices(n["x"]), matrices(n["x"][:-1] + n.get("r", [1]))
            size = n["x"][-1]
            if kind == "cholesky": x = x @ x.mH / size + torch.eye(size, device="cuda", dtype=x.dtype)
            if kind == "triangular": x = x + size * torch.eye(size, device="cuda", dtype=x.dtype)
            L = torch.linalg
            f = {"cholesky": lambda: L.cholesky_ex(x)[0], "lu": lambda: L.lu_factor_ex(x)[:2], "qr": lambda: L.qr(x),
                 "inverse": lambda: L.inv_ex(x)[0], "determinant": lambda: L.det(x),
                 "triangular": lambda: L.solve_triangular(x, b, upper=False), "solve": lambda: L.solve_ex(x, b)[0],
                 "least_squares": lambda: L.lstsq(x, b)[0]}[kind]
            emit(text, "torch", f, wait)
        elif kind == "eigh":
            x = matrices(n["x"]); emit(text, "torch", lambda: torch.linalg.eigh(x), wait)
        elif kind == "svd":
            x = matrices(n["x"]); emit(text, "torch", lambda: torch.linalg.svd(x, full_matrices=False), wait)


def jax_works(lines):
    import os
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax, jax.numpy as jnp, numpy as np
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    held = [None]

    def one(work, f, *given):
        g = jax.jit(f)
        def call(): held[0] = g(*given)
        emit(work, "jax", call, lambda: jax.block_until_ready(held[0]))

    rng = np.random.default_rng(1)
    for text in lines:
        kind, n = parsed(text)
        axis = n.get("axis", [-1])[0]
        real = np.float64 if n.get("double", [0])[0] else np.float32
        new = lambda shape: jax.device_put(rng.standard_normal(shape).astype(real))
        matrices = lambda shape: new(shape) + 1j * new(shape) if n.get("complex", [0])[0] else new(shape)
        if kind == "conv":
            rank = len(n["x"]) - 2
            f = lambda x, w: jax.lax.conv_general_dilated(
                x, w, n.get("s", [1] * rank), [(p, p) for p in n.get("p", [0] * rank)],
                rhs_dilation=n.get("d", [1] * rank), feature_group_count=n.get("g", [1])[0], precision="highest")
            x, w = new(n["x"]), new(n["w"])
            one(text, f, x, w)
            if n.get("forward", [0])[0]: continue
            g = new(jax.eval_shape(f, x, w).shape)
            one(text + " grad_x", lambda x, w, g: jax.vjp(lambda y: f(y, w), x)[1](g)[0], x, w, g)
            one(text + " grad_w", lambda x, w, g: jax.vjp(lambda v: f(x, v), w)[1](g)[0], x, w, g)
        elif kind in ("layer_norm", "rms_norm", "softmax"):
            def f(x, *p):
                if kind == "softmax": return jax.nn.softmax(x, axis)
                c = x - x.mean(-1, keepdims=True) if kind == "layer_norm" else x
                y = c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5) * p[0]
                return y + p[1] if kind == "layer_norm" else y
            given = [new(n["x"])] + [new([n["x"][-1]])] * {"softmax": 0, "rms_norm": 1, "layer_norm": 2}[kind]
            one(text, f, *given)
            if n.get("forward", [0])[0]: continue
            one(text + " grad", lambda g, *p: jax.vjp(f, *p)[1](g), new(n["x"]), *given)
        elif kind == "sum": one(text, lambda x: jnp.sum(x, tuple(n["axis"])), new(n["x"]))
        elif kind == "cumsum": one(text, lambda x: jnp.cumsum(x, axis), new(n["x"]))
        elif kind == "sort": one(text, lambda x: jnp.sort(x, axis), new(n["x"]))
        elif kind == "argsort": one(text, lambda x: jnp.argsort(x, axis), new(n["x"]))
        elif kind == "top_k": one(text, lambda x: jax.lax.top_k(x, n["k"][0]), new(n["x"]))
        elif "fft" in kind:
            f, along = getattr(jnp.fft, kind), {} if kind == "fft2" else dict(axis=axis)
            one(text, lambda x: f(x, **along), new(n["x"]) if kind == "rfft" else new(n["x"]) + 1j * new(n["x"]))
        elif kind == "matmul": one(text, jnp.matmul, matrices(n["x"]), matrices(n["y"]))
        elif kind in OF_MATRICES:
            x, b = matrices(n["x"]), matrices(n["x"][:-1] + n.get("r", [1]))
            size = n["x"][-1]
            if kind == "cholesky": x = x @ jnp.conj(jnp.swapaxes(x, -1, -2)) / size + jnp.eye(size, dtype=x.dtype)
            if kind == "triangular": x = x + size * jnp.eye(size, dtype=x.dtype)
            L, S = jnp.linalg, jax.scipy.linalg
            f = {"cholesky": lambda x, b: L.cholesky(x), "lu": lambda x, b: jax.lax.linalg.lu(x)[::2],
                 "qr": lambda x, b: L.qr(x), "inverse": lambda x, b: L.inv(x), "determinant": lambda x, b: L.det(x),
                 "triangular": lambda x, b: S.solve_triangular(x, b, lower=True), "solve": lambda x, b: L.solve(x, b),
                 "least_squares": lambda x, b: L.lstsq(x, b)[0]}[kind]
            one(text, f, x, b)
        elif kind == "eigh": one(text, jnp.linalg.eigh, matrices(n["x"]))
        elif kind == "svd": one(text, lambda x: jnp.linalg.svd(x, full_matrices=False), matrices(n["x"]))


def random_conv(r):
    rank = r.choice([1, 2, 2, 2, 2, 3])
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    groups, kind = 1, r.random()
    inputs, filters = side(1, 300), side(1, 300)
    if r.random() < 0.15: inputs = 3
    per = inputs
    if kind < 0.15: groups, per, filters = inputs, 1, inputs * r.choice([1, 1, 2])
    elif kind < 0.3:
        groups = r.choice([2, 3, 4, 8]); per = max(1, inputs // groups); inputs = per * groups
        filters = max(1, filters // groups) * groups
    most = {1: 5000, 2: 150, 3: 40}[rank]
    space = [side(7, most) for _ in range(rank)]
    window = [r.choice([1, 2, 3, 3, 3, 4, 5, 7]) for _ in range(rank)]
    if r.random() < 0.6: window = [window[0]] * rank
    strides = [r.choice([1, 1, 1, 2, 3])] * rank
    dilation = [r.choice([1, 1, 1, 1, 2])] * rank
    padding = [(w - 1) * d // 2 if r.random() < 0.8 else 0 for w, d in zip(window, dilation)]
    space = [max(s, (w - 1) * d + 1) for s, w, d in zip(space, window, dilation)]
    batch = side(1, 64)
    size = inputs
    for s in space: size *= s
    work = filters * per
    for w in window: work *= w
    for s, t in zip(space, strides): work *= max(1, s // t)
    batch = max(1, min(batch, (1 << 26) // size, int(2e10 // max(1, work))))
    text = lambda v: ",".join(str(i) for i in v)
    line = f"conv x={text([batch, inputs] + space)} w={text([filters, per] + window)}"
    if strides[0] > 1: line += f" s={text(strides)}"
    if any(padding): line += f" p={text(padding)}"
    if dilation[0] > 1: line += f" d={text(dilation)}"
    return line + (f" g={groups}" if groups > 1 else "")


def random_attention(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    depth = r.choice([16, 32, 40, 64, 64, 80, 96, 128, 128, 256, 50])
    n = r.choice([side(16, 4096), 1 << r.randint(5, 12)])
    m = n if r.random() < 0.7 else side(16, 4096)
    heads = r.choice([1, 4, 8, 12, 16, 32])
    batch = max(1, min(side(1, 64), (1 << 28) // (heads * n * m)))
    causal = r.random() < 0.3 and n == m
    mask = not causal and r.random() < 0.2
    return (f"attention q={batch},{heads},{n},{depth} k={batch},{heads},{m},{depth}" +
            (" causal=1" if causal else "") + (" mask=1" if mask else ""))


def random_rows(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    rows, columns = side(1, 100000), side(2, 100000)
    rows = max(1, min(rows, (1 << 26) // columns))
    return f"{r.choice(['layer_norm', 'rms_norm', 'softmax'])} x={rows},{columns}"


def random_sum(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    rank = r.choice([2, 2, 3, 3, 4])
    shape = [side(1, 20000) for _ in range(rank)]
    while math.prod(shape) > 1 << 26: shape[shape.index(max(shape))] //= 2
    axes = sorted(r.sample(range(rank), r.randint(1, max(1, rank - 1))))
    return f"sum x={','.join(map(str, shape))} axis={','.join(map(str, axes))}"


def random_sort(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    n = side(8, 4000000)
    rows = max(1, min(side(1, 50000), (1 << 24) // n))
    kind = r.choice(["sort", "sort", "argsort", "top_k"])
    if kind == "top_k": return f"top_k x={rows},{n} k={side(1, min(n, 200))}"
    return f"{kind} x={n},{rows} axis=0" if r.random() < 0.2 else f"{kind} x={rows},{n}"


def random_cumsum(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    shape = [side(1, 3000), side(2, 300000), side(1, 300)]
    while math.prod(shape) > 1 << 26: shape[shape.index(max(shape))] //= 2
    return f"cumsum x={','.join(map(str, shape))} axis={r.choice([0, 1, 1, 2])}"


def random_fft(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    n = side(16, 100000)
    rows = max(1, min(side(1, 20000), (1 << 23) // n))
    if r.random() < 0.2: return f"fft x={n},{rows} axis=0"
    return f"{r.choice(['fft', 'fft', 'ifft', 'rfft'])} x={rows},{n}"


def random_pool(r):
    side = lambda low, high: int(round(low * (high / low) ** r.random()))
    rank = r.choice([1, 2, 2, 2, 3])
    window = [r.choice([2, 2, 3, 3, 5, 7])] * rank
    space = [max(window[0], side(7, {1: 5000, 2: 230, 3: 60}[rank])) for _ in range(rank)]
    stride = r.choice([1, 2, window[0]])
    channels = side(1, 256); size = channels
    for s in space: size *= s
    batch = max(1, min(side(1, 64), (1 << 26) // size))
    text = lambda v: ",".join(str(i) for i in v)
    return (f"{r.choice(['max_pool', 'average_pool'])} x={text([batch, channels] + space)} w={text(window)} "
            f"s={text([stride] * rank)} p={text([r.choice([0, window[0] // 2])] * rank)}")


def table(files):
    rows = {}
    for name in files:
        for text in open(name):
            if not text.startswith("{"): continue
            row = json.loads(text)
            rows.setdefault(row["work"], {})[row["peer"] if "peer" in row else "adit"] = row
    found = []
    for work, peers in rows.items():
        adit = peers.pop("adit", None)
        # The queue's time, but where the device was shared with others meanwhile.
        own = lambda row: min(row["thr_us"], row["us"])
        times = {p: own(row) for p, row in peers.items() if "thr_us" in row}
        if adit is None or not times or "thr_us" not in adit:
            print("?", work, adit and adit.get("error"), times); continue
        found.append((min(times.values()) / own(adit), own(adit), times, work))
    for ratio, us, times, work in sorted(found, key=lambda row: row[0]):
        print(f"{ratio:6.2f} {us:10.1f} ", " ".join(f"{p} {t:.1f}" for p, t in times.items()), " ", work)


if __name__ == "__main__":
    if sys.argv[1] == "time":
        lines = [line.strip() for line in open(sys.argv[2]) if line.strip() and line[0] != "#"]
        for peer in sys.argv[3:] or ["torch", "jax"]: (torch_works if peer == "torch" else jax_works)(lines)
    elif sys.argv[1] == "random":
        r = random.Random(int(sys.argv[4]))
        for _ in range(int(sys.argv[3])): print(globals()["random_" + sys.argv[2]](r))
    else:
        table(sys.argv[2:])
