#!/usr/bin/env python3
"""The programs of bench/stan beside the same models through the C++ API, in turns: a line each, then ratios.

    bench/stan_beside_api.py BUILD [--device ID] [--precision P] [--chains N] [--warmup N] [--draws N] [NAME]...

Leapfrogs are those of warm-up and draws, seconds those of warm-up and sampling. A ratio above 1: the Stan program is
faster. Trees differ where the two write a constraint differently, so leapfrogs a second is what is compared. Runs that
end within a fifth of a second are made longer: they would compare what a run costs before its first leapfrog.
"""
import argparse
import json
import os
import subprocess
import tempfile

parser = argparse.ArgumentParser(description="Stan programs beside the same models through the C++ API.")
parser.add_argument("build")
parser.add_argument("names", nargs="*")
parser.add_argument("--device", default="cpu")
parser.add_argument("--precision", default="auto")
parser.add_argument("--chains", default="4")
parser.add_argument("--warmup", default="300")
parser.add_argument("--draws", default="300")
parser.add_argument("--max-depth", default="10")
parser.add_argument("--limit", type=float, default=60, help="seconds for each")


def nested(shape, values):
    """Values in row-major order as lists of lists; a number where the shape is empty."""
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    step = len(values) // shape[0]
    return [nested(shape[1:], values[i * step : (i + 1) * step]) for i in range(shape[0])]


def as_stan_data(path, target):
    with open(path) as file:
        columns = json.load(file)
    with open(target, "w") as file:
        json.dump({name: nested(column["shape"], column["values"]) for name, column in columns.items()}, file)


def run(command, limit):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"not done in {limit:.0f} s"
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1:]
    return json.loads(done.stdout), ""


def stan_line(options, name, folder, data):
    out = os.path.join(folder, "out")
    return run(
        [os.path.join(options.build, "adit"), "sample", f"bench/stan/{name}.stan", "--data", data, "--device",
         options.device, "--precision", options.precision, "--chains", options.chains, "--warmup", options.warmup,
         "--draws", options.draws, "--max-depth", options.max_depth, "--format", "none", "--json", "--quiet",
         "--overwrite", "--output", out],
        options.limit,
    )


def api_line(options, name):
    return run(
        [os.path.join(options.build, "bench", "models_bench"), "--json", "--model", name, "--device", options.device,
         "--precision", options.precision, "--chains", options.chains, "--warmup", options.warmup, "--draws",
         options.draws, "--max-depth", options.max_depth],
        options.limit,
    )


def main():
    options = parser.parse_intermixed_args()
    bench = os.path.join(options.build, "bench", "models_bench")
    names = options.names or subprocess.run([bench, "--list"], capture_output=True, text=True).stdout.split()
    print("| model | first draw, s: Stan, API | leapfrogs/s: Stan | API | ratio | layouts |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([bench, "--data", folder], check=True)
        for name in names:
            data = os.path.join(folder, f"{name}.stan.json")
            as_stan_data(os.path.join(folder, f"{name}.json"), data)
            api, why_api = api_line(options, name)
            stan, why = stan_line(options, name, folder, data)
            if api and stan and api["warmup_s"] + api["sampling_s"] < 0.2:
                longer = argparse.Namespace(**{**vars(options), "warmup": str(20 * int(options.warmup)),
                                               "draws": str(20 * int(options.draws))})
                api, why_api = api_line(longer, name)
                stan, why = stan_line(longer, name, folder, data)
            if not api or not stan:
                print(f"| {name} | {why} | {why_api} | | | |", flush=True)
                continue
            seconds = stan["seconds"]
            rate = stan["leapfrogs"] / (seconds["warmup"] + seconds["sampling"])
            print(
                f"| {name} | {seconds['open'] + seconds['compile']:.2f}, {api['first_draw_s']:.2f} | {rate:,.0f} |"
                f" {api['leapfrogs_per_s']:,.0f} | {rate / api['leapfrogs_per_s']:.2f} |"
                f" {stan['layout']}, {api['layout']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
