#!/usr/bin/env python3
"""Times NumPy and, where it is installed, PyTorch beside `adit bench device`, in turns, and prints the ratios.

    bench/side_by_side.py build/release/adit            # the cpu device beside NumPy
    bench/side_by_side.py build/release/adit vulkan:0   # a GPU beside PyTorch
"""
import json
import statistics
import subprocess
import sys
import time

ROUNDS = 3


def median_seconds(work, repeats=15):
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def numpy_figures():
    import numpy

    count = 16 << 20
    a, b = numpy.ones(count, numpy.float32), numpy.ones(count, numpy.float32)
    c = numpy.zeros(count, numpy.float32)
    small = [numpy.ones(1024, numpy.float32) for _ in range(3)]

    def thousand():
        for _ in range(1000):
            numpy.add(small[0], small[1], out=small[2])

    return {
        "add_16m": count * 12 / median_seconds(lambda: numpy.add(a, b, out=c)) / 1e9,
        "sum_16m": count * 4 / median_seconds(lambda: a.sum()) / 1e9,
        "add_1024": median_seconds(thousand) * 1e3,
    }


def torch_figures():
    import torch

    def synchronised(work):
        def run():
            work()
            torch.cuda.synchronize()

        return run

    small = [torch.ones(1024, device="cuda") for _ in range(3)]
    x = torch.zeros(64, device="cuda")
    figures = {}

    def dependent():
        for _ in range(1000):
            x.add_(1)

    def thousand():
        for _ in range(1000):
            torch.add(small[0], small[1], out=small[2])

    figures["launch"] = median_seconds(synchronised(lambda: x.add_(1)), 500) * 1e6
    figures["dependent"] = median_seconds(synchronised(dependent)) * 1e3
    figures["add_1024"] = median_seconds(synchronised(thousand)) * 1e3
    for key, count in (("add_16m", 16 << 20), ("add_64m", 64 << 20)):
        a, b, c = (torch.ones(count, device="cuda") for _ in range(3))

        def twenty():
            for _ in range(20):
                torch.add(a, b, out=c)

        figures[key] = count * 12 * 20 / median_seconds(synchronised(twenty)) / 1e9
    a = torch.ones(16 << 20, device="cuda")

    def sums():
        for _ in range(1):
            a.sum()

    figures["sum_16m"] = (16 << 20) * 4 / median_seconds(synchronised(sums)) / 1e9
    return figures


def main():
    adit, device = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu"
    peer_name, peer = ("NumPy", numpy_figures) if device == "cpu" else ("PyTorch", torch_figures)
    ours, theirs = {}, {}
    names, units = {}, {}
    for _ in range(ROUNDS):
        for key, value in peer().items():
            theirs.setdefault(key, []).append(value)
        text = subprocess.run([adit, "bench", "device", "--device", device, "--json"], check=True, capture_output=True).stdout
        for row in json.loads(text)["results"]:
            ours.setdefault(row["key"], []).append(row["value"])
            names[row["key"]], units[row["key"]] = row["name"], row["unit"]
    print(f"| {device} | Adit | {peer_name} | Adit is better by |")
    print("|---|---|---|---|")
    for key, values in ours.items():
        mine, unit = statistics.median(values), units[key]
        if key not in theirs:
            print(f"| {names[key]} | {mine:.4g} {unit} | | |")
            continue
        other = statistics.median(theirs[key])
        ratio = mine / other if unit == "GB/s" else other / mine
        print(f"| {names[key]} | {mine:.4g} {unit} | {other:.4g} {unit} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
