#!/usr/bin/env python3
"""Times NumPy and PyTorch beside beside_bench on the CPU, work by work and in turns, and prints the ratios.

    bench/beside.py build/release/bench/beside_bench [-n RANDOM] [-s SEED] [word...]

With words only works that contain one of them. -n times that many random works of each family instead. With
ADIT_THREADS=1 times are those of the processor, so that what else runs on the machine hardly counts.
"""
import os
import random
import subprocess
import sys
import time

THREADS = os.environ.get("ADIT_THREADS", "2")
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["ADIT_THREADS"] = THREADS
import numpy as np
import torch

torch.set_num_threads(int(THREADS))
ROUNDS, SECONDS = 4, 0.03
TYPES = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128", "i32": "int32",
         "i64": "int64", "u8": "uint8", "i16": "int16", "f16": "float16"}


def numbers(text):
    return [int(part) for part in text.split(",")] if text else []


def drawn(shape, kind, pattern="random"):
    x = np.random.default_rng(7).standard_normal(shape)
    whole = kind[0] in "iu"
    if whole:
        x = x * 1e4
    if pattern == "few":
        x = np.floor(x * 4 / (1e4 if whole else 1))
    if pattern == "equal":
        x = np.full(shape, 3.0)
    if pattern == "sorted":
        x = np.sort(x, axis=None).reshape(shape)
    if pattern == "reversed":
        x = np.sort(x, axis=None)[::-1].reshape(shape)
    if kind[0] == "c":
        x = x * (1 + 0.5j)
    if whole:
        x = x.astype("int64")  # from there on they wrap
    return np.ascontiguousarray(x.astype(TYPES[kind]))


def conv_of(words, kind):
    x, w = (torch.from_numpy(drawn(numbers(words[key]), kind)) for key in "xw")
    rank = x.dim() - 2
    each = lambda key, otherwise: numbers(words.get(key)) or [otherwise] * rank
    settings = (each("strides", 1), each("padding", 0), each("dilation", 1))
    groups = int(words.get("groups", 1))
    call = [torch.conv1d, torch.conv2d, torch.conv3d][rank - 1]
    with torch.no_grad():
        y = torch.ones_like(call(x, w, None, *settings, groups))
    what = words.get("what", "forward")
    if what == "forward":
        def run():
            with torch.no_grad():
                call(x, w, None, *settings, groups)
        return run
    mask = [what == "grad_x", what == "grad_w", False]
    return lambda: torch.ops.aten.convolution_backward(
        y, x, w, None, *settings, False, [0] * rank, groups, mask)


def peers_of(words):
    """Calls that do the same: a list of (name, call)."""
    op, kind, axis = words["op"], words.get("type", "f32"), int(words.get("axis", -1))
    if op == "conv":
        return [("torch", conv_of(words, kind))]
    x = drawn(numbers(words["x"]), kind, words.get("pattern", "random"))
    t = torch.from_numpy(x)
    more = numbers(words.get("w"))
    if op == "sort":
        return [("numpy", lambda: np.sort(x, axis=axis))]
    if op == "argsort":
        return [("numpy", lambda: np.argsort(x, axis=axis, kind="stable"))]
    if op in ("fft", "ifft", "rfft", "irfft"):
        call = getattr(np.fft, op)
        return [("numpy", lambda: call(x, axis=axis))]
    if op == "fft2":
        return [("numpy", lambda: np.fft.fft2(x))]
    if op == "sum":
        return [("numpy", lambda: x.sum(axis=axis)), ("torch", lambda: t.sum(axis))]
    if op == "max":
        return [("numpy", lambda: x.max(axis=axis)), ("torch", lambda: t.amax(axis))]
    if op == "sum_all":
        return [("numpy", lambda: x.sum()), ("torch", lambda: t.sum())]
    if op == "softmax":
        return [("torch", lambda: torch.softmax(t, axis))]
    if op == "cumsum":
        return [("numpy", lambda: np.cumsum(x, axis=axis)), ("torch", lambda: torch.cumsum(t, axis))]
    if op == "layer_norm":
        s, h = (torch.from_numpy(drawn(x.shape[-1:], kind)) for _ in range(2))
        return [("torch", lambda: torch.layer_norm(t, x.shape[-1:], s, h))]
    if op in ("matmul", "matmul_tanh"):
        w = drawn(more, kind)
        v = torch.from_numpy(w)
        if op == "matmul":
            return [("numpy", lambda: np.matmul(x, w)), ("torch", lambda: torch.matmul(t, v))]
        return [("numpy", lambda: np.tanh(np.matmul(x, w))), ("torch", lambda: torch.tanh(torch.matmul(t, v)))]
    if op == "searchsorted":
        w = drawn(more, kind)
        v = torch.from_numpy(w)
        return [("numpy", lambda: np.searchsorted(x, w)), ("torch", lambda: torch.searchsorted(t, v))]
    places = np.random.default_rng(7).integers(0, x.shape[0], more)
    at = torch.from_numpy(places)
    if op == "take":
        return [("numpy", lambda: np.take(x, places, axis=0)), ("torch", lambda: t[at])]
    updates = torch.from_numpy(drawn([more[0], *x.shape[1:]], kind))
    return [("torch", lambda: torch.index_add(t, 0, at, updates))]


clock = time.process_time if THREADS == "1" else time.perf_counter


def timed(call, seconds):
    times, start = [], clock()
    while True:
        begin = clock()
        call()
        end = clock()
        times.append((end - begin) * 1e6)
        if end - start > seconds:
            return times


def typical(times):
    """The time that a quarter of the runs do not take: others share the cores."""
    return sorted(times)[len(times) // 4]


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def compare(ours, work):
    words = dict(word.split("=", 1) for word in work.split())
    answer = ours.ask("work " + work)
    if answer != "ready":
        print(f"{work}: {answer}", flush=True)
        return None
    peers = peers_of(words)
    for _, call in peers:
        call()
    mine, theirs = [], [[] for _ in peers]
    for _ in range(ROUNDS):
        mine += [float(each) for each in ours.ask(f"go {SECONDS}").split()]
        for times, (_, call) in zip(theirs, peers):
            time.sleep(0.002)
            times += timed(call, SECONDS)
        time.sleep(0.002)
    best, name = min((typical(times), name) for times, (name, _) in zip(theirs, peers))
    ratio = best / typical(mine)
    print(f"{ratio:6.2f}  {typical(mine):12.1f} us, {name} {best:12.1f}  {work}", flush=True)
    return ratio


def listed():
    """Works that everyone has."""
    for n in (1000, 10000, 100000, 1000000, 10000000):
        for kind in ("f32", "f64", "i32", "i64", "i16", "u8"):
            yield f"op=sort type={kind} x={n}"
        yield f"op=argsort type=f32 x={n}"
        yield f"op=argsort type=f64 x={n}"
        yield f"op=argsort type=i64 x={n}"
        for pattern in ("sorted", "equal", "few", "reversed"):
            yield f"op=sort type=f32 x={n} pattern={pattern}"
            yield f"op=sort type=f64 x={n} pattern={pattern}"
            yield f"op=argsort type=f32 x={n} pattern={pattern}"
    for shape in ("64,16384", "4096,1000", "100000,10", "100000,31", "20000,100", "1000,301"):
        for kind in ("f32", "f64", "i64"):
            yield f"op=sort type={kind} x={shape}"
        yield f"op=argsort type=f32 x={shape}"
    yield "op=sort type=f32 x=4001,999 axis=0"
    yield "op=argsort type=f32 x=4001,99 axis=0"
    for shape in ("64", "100", "1000", "1021", "1024", "4096", "10007", "65536", "1000000", "1048576", "65537",
                  "1000,1000", "4096,1024", "512,1021", "100,1019", "10000,7", "10000,12", "10000,16", "10000,17",
                  "65536,64", "16,65536", "10,14641", "100,2310", "3,262144", "1000,97", "1000,243"):
        for kind in ("c64", "c128"):
            yield f"op=fft type={kind} x={shape}"
        yield f"op=rfft type=f32 x={shape}"
        yield f"op=rfft type=f64 x={shape}"
        yield f"op=irfft type=c64 x={shape}"
    for shape in ("64,64", "100,100", "512,512", "16,128,128", "251,251", "1000,30", "8,97,101", "1000,8,8"):
        yield f"op=fft2 type=c64 x={shape}"
        yield f"op=fft2 type=c128 x={shape}"
    yield "op=fft type=c64 x=1024,1000 axis=0"
    yield "op=fft type=c64 x=1021,100 axis=0"
    yield from convolutions()
    yield from others()


def convolutions():
    for shapes in (
            "x=32,64,56,56 w=64,64,3,3 padding=1,1", "x=1,64,56,56 w=64,64,3,3 padding=1,1",
            "x=8,64,56,56 w=64,64,1,1", "x=8,256,14,14 w=512,256,1,1", "x=1,3,224,224 w=64,3,7,7 strides=2,2 padding=3,3",
            "x=16,3,32,32 w=32,3,3,3 padding=1,1", "x=8,64,56,56 w=128,64,3,3 strides=2,2 padding=1,1",
            "x=8,128,28,28 w=128,128,3,3 padding=1,1", "x=8,512,7,7 w=512,512,3,3 padding=1,1",
            "x=4,64,28,28 w=64,64,3,3 padding=2,2 dilation=2,2", "x=32,128,28,28 w=128,1,3,3 padding=1,1 groups=128",
            "x=8,96,56,56 w=96,1,5,5 padding=2,2 groups=96 strides=2,2", "x=8,64,28,28 w=64,16,3,3 padding=1,1 groups=4",
            "x=1,1,28,28 w=16,1,5,5", "x=64,1,28,28 w=32,1,3,3", "x=7,13,31,29 w=17,13,5,3 padding=2,1",
            "x=16,64,4096 w=64,64,5 padding=2", "x=4,17,1001 w=31,17,7 padding=3", "x=2,16,16,32,32 w=32,16,3,3,3 padding=1,1,1",
            "x=1,32,3,300 w=32,32,3,3 padding=1,1", "x=1,32,300,3 w=32,32,3,3 padding=1,1", "x=16,4,9,9 w=8,4,3,3",
            "x=4,37,23,19 w=41,37,3,3 padding=1,1", "x=8,128,1000 w=128,1,9 padding=4 groups=128",
            "x=2,8,64,64 w=3,8,3,3 padding=1,1", "x=8,512,14,14 w=512,1,3,3 padding=1,1 groups=512", "x=64,256,7,7 w=256,256,1,1",
            "x=4,24,112,112 w=24,1,3,3 padding=1,1 groups=24 strides=2,2"):
        for what in ("forward", "grad_x", "grad_w"):
            yield f"op=conv {shapes} what={what}"
    yield "op=conv type=f64 x=4,32,28,28 w=32,32,3,3 padding=1,1 what=forward"
    yield "op=conv type=f64 x=4,32,28,28 w=32,32,3,3 padding=1,1 what=grad_x"
    yield "op=conv type=f64 x=4,32,28,28 w=32,32,3,3 padding=1,1 what=grad_w"


def others():
    for kind in ("f32", "f64"):
        for a, b in (("4096,16", "16"), ("4096,16", "16,16"), ("64,64", "64,64"), ("1000,1000", "1000"), ("17,4096", "4096"),
                     ("100,4,4", "100,4,4"), ("10000,4,4", "10000,4,4"), ("1000,16,16", "1000,16,16"), ("16,16", "16,16"),
                     ("8,8", "8,8"), ("128,128", "128,128"), ("97,101", "101,89"), ("256,256", "256,256"), ("1000,3", "3,1000"),
                     ("3,1000", "1000,3"), ("100000,8", "8,8"), ("64,50,70", "64,70,30"), ("1,512", "512,512"), ("8,512", "512,512"),
                     ("512,512", "512,1"), ("100000,3", "3"), ("1009,1013", "1013,1019")):
            yield f"op=matmul type={kind} x={a} w={b}"
        yield f"op=matmul_tanh type={kind} x=4096,16 w=16"
        for shape in ("1000", "1000,1000", "100,100", "1000000", "100000,7", "7,100000", "10,1000,13", "1009,997"):
            for op in ("sum", "max", "softmax", "cumsum"):
                yield f"op={op} type={kind} x={shape}"
                if "," in shape:
                    yield f"op={op} type={kind} x={shape} axis=0"
            if "," in shape:
                yield f"op=layer_norm type={kind} x={shape}"
            yield f"op=sum_all type={kind} x={shape}"
        yield f"op=searchsorted type={kind} x=1000 w=100000 pattern=sorted"
        yield f"op=searchsorted type={kind} x=1000000 w=100000 pattern=sorted"
        for table, count in (("1000", "100"), ("1000000", "1000000"), ("1000,64", "10000"), ("100000,3", "100000"), ("100,1000", "500")):
            yield f"op=take type={kind} x={table} w={count}"
            yield f"op=indexed_add type={kind} x={table} w={count}"


def random_works(count, seed):
    draw = random.Random(seed)
    size = lambda low, high: int(round(low * (high / low) ** draw.random()))
    for _ in range(count):
        rank = draw.choice([1, 2, 2, 2, 3])
        groups = draw.choice([1, 1, 1, 1, 2, 0])
        channels, filters = size(1, 200), size(1, 200)
        if groups == 2:
            channels, filters = channels * 2, filters * 2
        if groups == 0:
            groups = filters = channels
        kernel = [draw.choice([1, 2, 3, 3, 3, 5, 7]) for _ in range(rank)]
        side = [size(k + 4, {1: 2000, 2: 80, 3: 24}[rank]) for k in kernel]
        dilation = [draw.choice([1, 1, 1, 2]) for _ in range(rank)]
        side = [max(s, d * (k - 1) + 1) for s, d, k in zip(side, dilation, kernel)]
        batch = draw.choice([1, 2, 5, 16])
        work = batch * channels * filters // groups
        for s, k in zip(side, kernel):
            work *= s * k
        if work > 2e9:
            continue
        text = lambda values: ",".join(map(str, values))
        yield (f"op=conv x={text([batch, channels, *side])} w={text([filters, channels // groups, *kernel])} groups={groups} "
               f"strides={text([draw.choice([1, 1, 2]) for _ in range(rank)])} dilation={text(dilation)} "
               f"padding={text([draw.choice([0, k // 2]) for k in kernel])} what={draw.choice(['forward', 'grad_x', 'grad_w'])}")
    for _ in range(count):
        n = size(2, 300000)
        batch = size(1, max(1, 1000000 // n))
        op = draw.choice(["fft", "fft", "ifft", "rfft", "irfft"])
        kind = draw.choice(["f32", "f64"] if op == "rfft" else ["c64", "c128"])
        yield f"op={op} type={kind} x={batch},{n}"
    for _ in range(count):
        n = size(2, 3000000)
        rows = size(1, max(1, 3000000 // n))
        yield (f"op={draw.choice(['sort', 'sort', 'argsort'])} type={draw.choice(['f32', 'f64', 'i32', 'i64', 'i16', 'u8'])} "
               f"x={rows},{n} pattern={draw.choice(['random', 'random', 'random', 'sorted', 'few', 'reversed'])}")
    for _ in range(count):
        kind = draw.choice(["f32", "f32", "f64"])
        m, n, k, batch = size(1, 1000), size(1, 1000), size(1, 1000), draw.choice([0, 0, 0, size(2, 100)])
        if m * n * k * max(1, batch) < 5e8:
            lead = f"{batch}," if batch else ""
            yield f"op=matmul type={kind} x={lead}{m},{k} w={lead}{k},{n}"
        op = draw.choice(["sum", "max", "softmax", "cumsum"])
        yield f"op={op} type={kind} x={size(1, 3000)},{size(1, 3000)} axis={draw.choice([0, 1])}"


def main():
    arguments, count, seed, words = sys.argv[2:], 0, 1, []
    while arguments:
        word = arguments.pop(0)
        if word == "-n":
            count = int(arguments.pop(0))
        elif word == "-s":
            seed = int(arguments.pop(0))
        else:
            words.append(word)
    ours, ratios = Ours(sys.argv[1]), {}
    works = list(random_works(count, seed)) if count else list(listed())
    for work in works:
        if words and not any(word in work for word in words):
            continue
        ratio = compare(ours, work)
        if ratio:
            ratios.setdefault(work.split()[0], []).append(ratio)
    for family, list_ in ratios.items():
        list_.sort()
        print(f"{family}: {len(list_)} works, least {list_[0]:.2f}, a tenth below {list_[len(list_) // 10]:.2f}, "
              f"median {list_[len(list_) // 2]:.2f}")


if __name__ == "__main__":
    main()
