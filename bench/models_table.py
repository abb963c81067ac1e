#!/usr/bin/env python3
"""Ratios of models_bench to its twins, from files of JSON lines: models_table.py OURS PEERS...

With --processors N before the files, our seconds are processor time over N: on a machine that others use too, since
rstan's seconds are processor time as well. A model that stands in several lines of an engine has its last one. Ratios are ours over theirs: above 1 we are faster.
Prints a Markdown table."""
import json
import statistics
import sys


def read(paths):
    """{engine: {model: line}}; what is not JSON is skipped."""
    engines = {}
    for path in paths:
        with open(path) as file:
            for line in file:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict) and "engine" in row and "model" in row:
                    engines.setdefault(row["engine"], {})[row["model"]] = row
    return engines


def number(x):
    if x is None:
        return "-"
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def cells_of(row):
    """Seconds until the first draw, of the run, leapfrogs a second, ESS, ESS a second."""
    if row is None:
        return ["-"] * 5
    if "refused" in row:
        return ["refused", "", "", "", ""]
    warning = f", R-hat {row['r_hat']:.2f}" if row["r_hat"] > 1.05 else ""
    warning += f", {row['divergences']} div." if row["divergences"] else ""
    return [
        number(row["first_draw_s"]),
        number(row["warmup_s"] + row["sampling_s"]),
        number(row["leapfrogs_per_s"]),
        number(row["ess"]) + warning,
        number(row["ess_per_s"]),
    ]


def processors_of(row):
    """How many processors the run had: fewer than the machine's where others used it too, or chains waited."""
    if not row or "processor_s" not in row:
        return "-"
    if "processors" in row:
        return row["processors"]
    return f"{row['processor_s'] / (row['warmup_s'] + row['sampling_s']):.1f}"


def by_processor(row, processors):
    """The line with processor time in the place of the wall's."""
    if "processor_s" not in row:
        return row
    scale = row["processor_s"] / processors / (row["warmup_s"] + row["sampling_s"])
    row = dict(row, processors=processors_of(row))
    for key in ("warmup_s", "sampling_s"):
        row[key] *= scale
    for key in ("leapfrogs_per_s", "ess_per_s", "ess_per_s_sampling"):
        row[key] /= scale
    return row


def ratio(ours, theirs, key):
    if not ours or not theirs or "refused" in ours or "refused" in theirs or not theirs[key]:
        return None
    return ours[key] / theirs[key]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    words = sys.argv[1:]
    processors = int(words[1]) if words[0] == "--processors" else 0
    engines = read(words[2:] if processors else words)
    ours = engines.pop("adit", {})
    if processors:
        ours = {name: by_processor(row, processors) for name, row in ours.items()}
    columns = ["first s", "run s", "leapfrogs/s", "min ESS", "ESS/s"]
    heads = ["model", "chains", "warm-up + draws"] + [f"adit {column}" for column in columns] + ["processors"]
    for engine in engines:
        heads += [f"{engine} {column}" for column in columns]
        heads += [f"leapfrogs, adit / {engine}", f"ESS/s, adit / {engine}"]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    ratios = {engine: ([], []) for engine in engines}
    for name in ours or next(iter(engines.values()), {}):
        row = ours.get(name)
        lines = [row, *(peers.get(name) for peers in engines.values())]
        known = next((each for each in lines if each and "chains" in each), {})
        cells = [name, str(known.get("chains", "")), f"{known.get('warmup', '')} + {known.get('draws', '')}"]
        cells += cells_of(row) + [processors_of(row)]
        for engine, peers in engines.items():
            pace, worth = ratio(row, peers.get(name), "leapfrogs_per_s"), ratio(row, peers.get(name), "ess_per_s")
            cells += cells_of(peers.get(name)) + [number(pace), number(worth)]
            for kept, value in zip(ratios[engine], (pace, worth)):
                if value is not None:
                    kept.append(value)
        print("| " + " | ".join(cells) + " |")
    for engine, (paces, worths) in ratios.items():
        if paces:
            print(
                f"\nGeometric mean beside {engine} of {len(paces)} models: "
                f"leapfrogs {statistics.geometric_mean(paces):.2f}, ESS/s {statistics.geometric_mean(worths):.2f}"
            )


if __name__ == "__main__":
    main()
