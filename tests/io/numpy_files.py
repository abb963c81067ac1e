"""NumPy's side of io_test: numpy_files.py write FOLDER, or numpy_files.py check FOLDER."""
import json
import pathlib
import struct
import sys
import zipfile

import numpy as np

TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
         "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
SHAPES = {"scalar": (), "vector": (5,), "matrix": (2, 3), "cube": (2, 3, 4), "empty": (2, 0, 3)}


def values(code, shape):
    """Element i is i, but for the signed types -i where i is odd, and i + 2i j for the complex ones."""
    counts = np.arange(np.prod(shape, dtype=int))
    if code[0] == "u":
        numbers = counts
    elif code[0] == "c":
        numbers = counts + 2j * counts
    else:
        numbers = np.where(counts % 2, -counts, counts)
    return numbers.astype(code).reshape(shape)


def write(folder):
    for name, code in TYPES.items():
        for shape_name, shape in SHAPES.items():
            array = values(code, shape)
            np.save(folder / f"{name}-{shape_name}-little.npy", array.astype(array.dtype.newbyteorder("<")))
            np.save(folder / f"{name}-{shape_name}-big.npy", array.astype(array.dtype.newbyteorder(">")))
            np.save(folder / f"{name}-{shape_name}-fortran.npy", np.asfortranarray(array).reshape(shape, order="A"))
            for version in ((2, 0), (3, 0)):
                with open(folder / f"{name}-{shape_name}-v{version[0]}.npy", "wb") as out:
                    np.lib.format.write_array(out, array, version=version)
    arrays = {f"{name}-{shape_name}": values(code, shape) for name, code in TYPES.items()
              for shape_name, shape in SHAPES.items()}
    np.savez(folder / "plain.npz", **arrays)
    np.savez_compressed(folder / "packed.npz", **arrays)
    write_long(folder / "long.npz", arrays)
    write_long(folder / "long-one.npz", {"x": values("i2", (2, 3))})
    np.save(folder / "bool.npy", np.array([[True, False], [False, True]]))


def write_long(path, arrays):
    """With the records for 64 bits everywhere, as files beyond 4 GiB have them."""
    limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP64_LIMIT = zipfile.ZIP_FILECOUNT_LIMIT = 0
    np.savez_compressed(path, **arrays)
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits
    assert b"PK\6\6" in path.read_bytes()


def read_safetensors(path):
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    assert length % 8 == 0
    header = json.loads(data[8:8 + length])
    assert header.pop("__metadata__") == {"made by": "io_test", "ünï": "cödé"}
    codes = {"F": "f", "I": "i", "U": "u", "C": "c"}
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        code = codes[entry["dtype"][0]] + str(int(entry["dtype"][1:]) // 8)
        assert (8 + length + begin) % np.dtype(code).itemsize == 0, "not aligned"
        arrays[name] = np.frombuffer(data[8 + length + begin:8 + length + end], code).reshape(entry["shape"])
    return arrays


def check(folder):
    files = {"plain.npz": np.load(folder / "plain.npz"), "packed.npz": np.load(folder / "packed.npz"),
             "all.safetensors": read_safetensors(folder / "all.safetensors")}
    seen = 0
    for name, code in TYPES.items():
        for shape_name, shape in SHAPES.items():
            key, wanted = f"{name}-{shape_name}", values(code, shape)
            found = {"npy": np.load(folder / f"{key}.npy")}
            found.update({file: arrays[key] for file, arrays in files.items()
                          if not (file == "all.safetensors" and name == "c128")})
            for file, array in found.items():
                assert array.dtype == wanted.dtype and array.shape == wanted.shape, (file, key, array)
                assert array.tobytes() == wanted.tobytes(), (file, key, array)
                seen += 1
    assert seen == len(SHAPES) * (4 * len(TYPES) - 1), seen


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
