#!/usr/bin/env python3
"""The training loop of training_step.cpp with NumPy, derivatives by hand: training_step.py run.npz

Reads the start and the losses that training_step left, takes the same steps, and compares every loss.
"""
import sys

import numpy as np

RATE = 0.01
TOLERANCE = {np.dtype("float32"): 1e-5, np.dtype("float64"): 1e-12}


def main():
    run = np.load(sys.argv[1])
    x, y, w1, b1, w2, b2 = (run[name] for name in ("x", "y", "w1", "b1", "w2", "b2"))
    theirs = run["losses"]
    rate, two, worst = x.dtype.type(RATE), x.dtype.type(2), 0.0
    for step, their_loss in enumerate(theirs):
        layer = np.tanh(x @ w1 + b1)
        miss = layer @ w2 + b2 - y
        loss = np.mean(miss * miss)
        worst = max(worst, abs(float(loss) - float(their_loss)) / abs(float(loss)))
        if not worst <= TOLERANCE[x.dtype]:
            sys.exit(f"step {step}: loss {their_loss!r}, NumPy has {loss!r}")
        d_out = two * miss / x.dtype.type(miss.size)
        d_layer = (d_out @ w2.T) * (1 - layer * layer)
        w2, b2 = w2 - rate * (layer.T @ d_out), b2 - rate * d_out.sum(axis=0)
        w1, b1 = w1 - rate * (x.T @ d_layer), b1 - rate * d_layer.sum(axis=0)
    if len(theirs) < 100 or theirs[0] < 100 * theirs[-1]:
        sys.exit(f"expected 100 losses that fall a hundredfold, got {len(theirs)} from {theirs[0]} to {theirs[-1]}")
    print(f"{len(theirs)} losses in {x.dtype}, the worst differs from NumPy's by {worst:.1e} of it")


if __name__ == "__main__":
    main()
