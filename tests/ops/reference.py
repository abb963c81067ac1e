#!/usr/bin/env python3
"""Writes cases with independent results for op_test: reference.py FOLDER."""
import sys

import numpy as np

from arrays import add_arrays
from elementwise import add_unary
from pairs import add_pairs
from random_bits import add_random
from cumulative import add_cumulative
from linear import add_linear
from fourier import add_fft
from reductions import add_factorisations, add_folds, add_products, add_reductions
from sorting import add_sorting
from conv import add_conv
from windows import add_windows
from values import Cases


def main():
    cases, rng = Cases(), np.random.default_rng(20240229)
    for add in (add_unary, add_pairs, add_arrays, add_reductions, add_folds, add_products, add_factorisations,
                add_cumulative, add_linear, add_sorting, add_fft, add_random, add_windows, add_conv):
        cases.group = add.__name__.removeprefix("add_")
        add(cases, rng)
    cases.write(sys.argv[1])
    print(f"{len(cases.index)} cases, {cases.size} bytes")


if __name__ == "__main__":
    main()
