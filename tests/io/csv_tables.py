"""Python's side of csv_test: csv_tables.py FOLDER writes random tables N.csv, and what the csv module and NumPy read in
them as N.npz (columns c0, c1, ...) and N.json (how the file is written, names, words)."""
import csv
import io
import json
import pathlib
import random
import struct
import sys

import numpy as np

LETTERS = "abcXYZ 0123_-'\"/,;|\t\n#äß漢😀"
TABLES = 300


def whole(rng):
    return rng.choice([rng.randint(-9, 9), rng.randint(-2**63, 2**63 - 1), -2**63, 2**63 - 1])


def real(rng):
    while True:
        number, = struct.unpack("<d", rng.randbytes(8))
        number = rng.choice([number, rng.gauss(0, 1), rng.randint(-2**53, 2**53)])
        if abs(number) < float("inf"):
            return number


def written(rng, number):
    if isinstance(number, int):
        return rng.choice(["", "+"]) + str(number) if number >= 0 else str(number)
    return rng.choice([repr, lambda x: f"{x:.3f}", lambda x: f"{x:.8e}", lambda x: f"{x:G}", lambda x: f"{x:+}"])(number)


def word(rng, may_have_blanks):
    while True:
        text = "w" * rng.randint(0, 1) + "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 8)))
        try:
            float(text)
        except ValueError:
            is_number_of_ours = not set(text) - set("0123,-") and set(text) & set("0123")
            if (may_have_blanks or text == text.strip()) and not is_number_of_ours:
                return text


def column(rng, rows, may_have_blanks):
    kind = rng.choice(["whole", "real", "mixed", "words"])
    if kind == "words":
        pool = [word(rng, may_have_blanks) for _ in range(rng.randint(1, 6))]
        return [rng.choice(pool) for _ in range(rows)]
    makers = {"whole": [whole], "real": [real], "mixed": [lambda r: r.randint(-2**53, 2**53), real]}[kind]
    return [written(rng, rng.choice(makers)(rng)) for _ in range(rows)]


def table(rng):
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    rows, width = rng.randint(1, 40), rng.randint(1, 8)
    columns = [column(rng, rows, quoting == csv.QUOTE_ALL) for _ in range(width)]
    how = {"separator": rng.choice(",;|\t"), "has_names": rng.random() < 0.8}
    end = rng.choice(["\n", "\r\n"])
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=how["separator"], quoting=quoting, lineterminator=end)
    if how["has_names"]:
        writer.writerow([f"name {i}, of \"them\"" for i in range(width)])
    if width == 1 and quoting != csv.QUOTE_ALL:  # a field with another separator in it needs its quotes
        columns[0] = [text.translate({ord(c): "=" for c in ",;|\t"}) for text in columns[0]]
    writer.writerows(zip(*columns))
    text = out.getvalue()
    text = rng.choice(["", "\ufeff"]) + text
    how_it_ends = rng.choice(["", "none", "blank"])
    if how_it_ends == "none":
        text = text.removesuffix(end)
    return how, text + (3 * end if how_it_ends == "blank" else "")


def read(how, text):
    """As the csv module splits it; the type of a column is tried in order."""
    lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=how["separator"], strict=True))
    lines = [line for line in lines if line]
    names = lines.pop(0) if how["has_names"] else [str(i + 1) for i in range(len(lines[0]))]
    arrays, words = {}, {}
    for i, values in enumerate(zip(*lines)):
        try:
            arrays[f"c{i}"] = np.array([int(value) for value in values], dtype=np.int64)
            continue
        except (ValueError, OverflowError):
            pass
        try:
            arrays[f"c{i}"] = np.array(values).astype(np.float64)
        except ValueError:
            labels, codes = np.unique(np.array(values, dtype=object), return_inverse=True)
            arrays[f"c{i}"], words[names[i]] = codes.astype(np.int64), list(labels)
    return names, arrays, words


def numbers(folder, rng):
    """A table of numbers with blanks and comments, as numpy.genfromtxt reads it."""
    rows = [[real(rng) for _ in range(5)] for _ in range(500)]
    lines = ["# made up", "a, b ,c,d,e"] + [", ".join(f"{x!r:>12} " for x in row) for row in rows] + ["# the end"]
    (folder / "numbers.csv").write_text("\n".join(lines) + "\n")
    read_back = np.genfromtxt(folder / "numbers.csv", delimiter=",", skip_header=2)
    assert read_back.shape == (500, 5)
    np.save(folder / "numbers.npy", read_back)


def main(folder):
    rng = random.Random(20240611)
    for i in range(TABLES):
        how, text = table(rng)
        names, arrays, words = read(how, text)
        (folder / f"{i}.csv").write_bytes(text.encode())
        np.savez(folder / f"{i}.npz", **arrays)
        (folder / f"{i}.json").write_text(json.dumps(how | {"names": names, "words": words}))
    numbers(folder, rng)


main(pathlib.Path(sys.argv[1]))
