#!/usr/bin/env python3
"""NumPy (with its BLAS) on the work of tensor_bench: one JSON object a line, for tensor_table.py."""
import json
import statistics
import time

import numpy as np


def emit(work, function):
    function()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    us = statistics.median(times) * 1e6
    print(json.dumps({"work": work, "peer": "numpy", "us": us, "thr_us": us}), flush=True)


def main():
    rng = np.random.default_rng(7)
    a, b, c, d = (rng.standard_normal(1 << 24, dtype=np.float32) for _ in range(4))
    emit("add_f32_4194304", lambda: a[: 1 << 22] + b[: 1 << 22])
    # multiply, add, sigmoid, tanh, multiply, negate, multiply, exp, subtract: nine operations
    emit("chain_f32_16M", lambda: 1 / (1 + np.exp(-(a * b + c))) * np.tanh(d) - np.exp(-a * a))
    x = rng.standard_normal((8192, 8192), dtype=np.float32)
    flat = x.reshape(-1)
    emit("sum_f32_64M", lambda: flat.sum())
    emit("sum_axis0_8k", lambda: x.sum(0))
    emit("sum_axis1_8k", lambda: x.sum(1))
    for n in (256, 1024, 2048):
        p, q = rng.standard_normal((n, n), dtype=np.float32), rng.standard_normal((n, n), dtype=np.float32)
        emit(f"matmul_f32_{n}", lambda: p @ q)
    p, q = rng.standard_normal((1024, 1024)), rng.standard_normal((1024, 1024))
    emit("matmul_f64_1024", lambda: p @ q)


if __name__ == "__main__":
    main()
