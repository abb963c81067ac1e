"""Programs of this folder: texts with a head line `//// name` each, and how they read in Stan 2.21."""

import json
import pathlib
import re

here = pathlib.Path(__file__).resolve().parent


def digest_of(text):
    """FNV-1a, as oracle_programs.cpp has it."""
    digest = 0xCBF29CE484222325
    for byte in text.encode():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"{digest:016x}"


class Program:
    """name, data; text: as it is tested; old: as Stan 2.21 takes it, or None; notes: its head's `// word: rest`."""

    def __init__(self, name, body):
        self.name = name
        self.text, found, self.written_out = body.partition("//// in 2.21\n")
        self.has_old = bool(found)
        self.notes = dict(re.findall(r"^// (data|scale|from|within): (.*)$", self.text, re.M))
        self.data = json.loads(self.notes.get("data", "{}"))
        self.scale = float(self.notes.get("scale", "0.7"))
        self.digest = digest_of(body)

    @property
    def old(self):
        return in_old_syntax(self.written_out if self.has_old else self.text)


def programs():
    found = []
    for path in sorted(here.glob("*.txt")):
        parts = re.split(r"^//// (?!in 2\.21)(\w+)\n", path.read_text(), flags=re.M)
        for name, body in zip(parts[1::2], parts[2::2]):
            found.append(Program(name, body))
    names = [one.name for one in found]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SystemExit(f"expected each name once, got {sorted(repeated)} again")
    return found


_declared = re.compile(
    r"array\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\s+"  # array[sizes]
    r"(\w+(?:<[^<>;]*>)?(?:\[[^\[\]]*\])?)\s+"  # type<bounds>[sizes]
    r"(\w+)"
)
_argument = re.compile(r"array\[([, ]*)\]\s+(\w+)")


def in_old_syntax(text):
    """array[N] real x becomes real x[N]; of arguments and results, array[] real becomes real[]; f_cdf(y | a)
    becomes f_cdf(y, a)."""
    text = re.sub(r"^//.*\n", "", text, flags=re.M)
    text = re.sub(r"(\w+_cdf\([^|()]*) \|", r"\1,", text)
    text = _argument.sub(r"\2[\1]", text)
    return _declared.sub(r"\2 \3[\1]", text)


def in_dump_format(data):
    """Data as R's dump has them: arrays column by column."""

    def text(x):
        return x if isinstance(x, str) else repr(x)  # Inf

    def sizes(x):
        return [len(x), *(sizes(x[0]) if x else [])] if isinstance(x, list) else []

    def flat(x, shape):
        places = [()]
        for n in shape:
            places = [p + (i,) for p in places for i in range(n)]
        places.sort(key=lambda p: p[::-1])
        values = []
        for place in places:
            v = x
            for i in place:
                v = v[i]
            values.append(text(v))
        return values

    lines = []
    for name, x in data.items():
        if not isinstance(x, list):
            lines.append(f"{name} <- {text(x)}")
            continue
        shape = sizes(x)
        values = ", ".join(flat(x, shape))
        if 0 in shape:
            lines.append(f"{name} <- integer(0)")
        elif len(shape) == 1:
            lines.append(f"{name} <- c({values})")
        else:
            lines.append(f"{name} <- structure(c({values}), .Dim = c({', '.join(map(str, shape))}))")
    return "\n".join(lines) + "\n"
