#!/usr/bin/env python3
"""Ratios of tensor_bench to its peers, from two files of JSON lines: tensor_table.py OURS PEERS

A line is {"work", "peer", "us", "thr_us"}; what is not JSON is skipped. The ratio is the better peer's time in a queue
of calls over ours: above 1 we are faster. Prints a Markdown table."""
import json
import sys


def lines(path):
    with open(path) as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and "thr_us" in row:
                yield row


def main():
    ours = {row["work"]: row for row in lines(sys.argv[1])}
    peers = {}
    for row in lines(sys.argv[2]):
        peers.setdefault(row["work"], {})[row["peer"]] = row
    names = [name for name in ("jax", "torch", "numpy") if any(name in rows for rows in peers.values())]
    print("| work | adit, us (waited / queued) | " + " | ".join(names) + " | ratio |")
    print("|---" * (3 + len(names)) + "|")
    for work, row in ours.items():
        if work not in peers:
            continue
        cells = []
        for peer in names:
            other = peers[work].get(peer)
            cells.append(f"{other['us']:.0f} / {other['thr_us']:.1f}" if other else "-")
        best = min(other["thr_us"] for other in peers[work].values())
        print(f"| {work} | {row['us']:.0f} / {row['thr_us']:.1f} | {' | '.join(cells)} | {best / row['thr_us']:.2f} |")


if __name__ == "__main__":
    main()
