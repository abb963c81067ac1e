"""docs/c.md: its list of operations is the library's (ADIT_WRITE_PAGES=1 writes it), and its code compiles and runs."""

import ctypes
import difflib
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

PAGE = Path(os.environ["ADIT_C_PAGE"])
START, END = "<!-- operations -->\n", "<!-- end of operations -->\n"


class Operation(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "tensors", "attributes")]


def operations():
    library = ctypes.CDLL(os.environ["ADIT_LIBRARY"])
    library.adit_operation_at.restype = ctypes.POINTER(Operation)
    library.adit_operation_at.argtypes = [ctypes.c_size_t]
    library.adit_operation_count.restype = ctypes.c_size_t
    for i in range(library.adit_operation_count()):
        row = library.adit_operation_at(i)[0]
        yield row.name.decode(), row.tensors.decode(), row.attributes.decode()


def table():
    lines = ["| operation | tensors | attributes |", "|---|---|---|"]
    lines += [f"| `{name}` | {tensors} | {attributes} |" for name, tensors, attributes in operations()]
    return "\n" + "\n".join(lines) + "\n\n"


class Page(unittest.TestCase):
    maxDiff = 4000

    def test_list_of_operations(self):
        before, rest = PAGE.read_text().split(START)
        have, after = rest.split(END)
        if os.environ.get("ADIT_WRITE_PAGES"):
            PAGE.write_text(before + START + table() + END + after)
            have = table()
        difference = [line for line in difflib.ndiff(have.splitlines(), table().splitlines()) if line[0] in "+-"]
        self.assertEqual(difference, [], "build the target c_page; docs/c.md (-), the library (+)")

    def blocks(self):
        return re.findall(r"```c\n(.*?)```", PAGE.read_text(), re.S)

    def compile(self, folder, source, *words):
        path = Path(folder) / "piece.c"
        path.write_text(source)
        library = Path(os.environ["ADIT_LIBRARY"])
        subprocess.run([os.environ["ADIT_CC"], "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                        "-I" + os.environ["ADIT_INCLUDE"], str(path), *words, "-L" + str(library.parent), "-ladit",
                        "-Wl,-rpath," + str(library.parent), "-o", str(Path(folder) / "piece")], check=True)
        return str(Path(folder) / "piece")

    def test_first_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.compile(folder, self.blocks()[0])
            for device in ("cpu", "abacus"):
                done = subprocess.run([program], capture_output=True, text=True, env=os.environ | {"ADIT_DEVICE": device})
                if device == "cpu":
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stdout, r"^11\.1073 on .+\n$")
                else:  # the error's way
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, "^not_found: .*abacus")

    def test_pieces(self):
        """The others stand inside of a function, and run: none of their calls fails."""
        given = """#include <adit/c.h>
#include <stdio.h>
#include <stdlib.h>
static adit_tensor* of(adit_device* device, adit_dtype type, size_t rank, const void* values, size_t size) {
  adit_tensor* made = NULL;
  if (adit_tensor_from_bytes(device, type, rank, (int64_t[]){3}, values, size, &made, NULL)) abort();
  return made;
}
int main(void) {
  adit_error* error = NULL;
  adit_device* device = NULL;
  if (adit_device_open("cpu", &device, &error)) abort();
  float three[] = {0, 1, 2};
  double numbers[] = {0, 10, 1, 1.5};
  adit_tensor *x = of(device, ADIT_F32, 1, three, sizeof three), *y = NULL, *zero = of(device, ADIT_F64, 0, numbers, 8),
              *ten = of(device, ADIT_F64, 0, numbers + 1, 8), *one = of(device, ADIT_F64, 0, numbers + 2, 8),
              *seen = of(device, ADIT_F64, 0, numbers + 3, 8);
  (void)y, (void)zero, (void)ten, (void)one, (void)seen;
"""
        for block in self.blocks()[1:]:
            with self.subTest(block[:60]), tempfile.TemporaryDirectory() as folder:
                program = self.compile(folder, given + block + "  if (error) puts(adit_error_message(error));\n"
                                       "  return error != NULL;\n}\n", "-Wno-unused-but-set-variable")
                done = subprocess.run([program], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
