#!/usr/bin/env python3
"""Writes cases with independent results for op_test: reference.py FOLDER."""
import sys

import numpy as np

from arrays import add_arrays
from conv import add_conv
from correlations import add_correlations
from cumulative import add_cumulative
from einsums import add_einsums
from elementwise import add_unary
from fourier import add_fft
from linear import add_linear
from networks import add_networks
from pairs import add_pairs
from random_bits import add_random
from reductions import add_factorisations, add_folds, add_products, add_reductions
from sorting import add_sorting
from tables import add_tables
from values import Cases
from windows import add_windows


def main():
    cases = Cases()
    for add in (add_unary, add_pairs, add_arrays, add_reductions, add_folds, add_products, add_factorisations,
                add_cumulative, add_linear, add_sorting, add_fft, add_random, add_windows, add_conv, add_networks,
                add_einsums, add_correlations, add_tables):
        cases.group = add.__name__.removeprefix("add_")
        # Numbers of a group do not depend on the groups beside it.
        add(cases, np.random.default_rng([20240229, *cases.group.encode()]))
    cases.write(sys.argv[1])
    print(f"{len(cases.index)} cases, {cases.size} bytes")


if __name__ == "__main__":
    main()
