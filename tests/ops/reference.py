#!/usr/bin/env python3
"""Writes cases with independent results for op_test: reference.py FOLDER."""
import sys

import numpy as np

from arrays import add_arrays
from elementwise import add_unary
from pairs import add_pairs
from random_bits import add_random
from correlations import add_correlations
from cumulative import add_cumulative
from einsums import add_einsums
from networks import add_networks
from reductions import add_factorisations, add_folds, add_products, add_reductions
from tables import add_tables
from values import Cases


def main():
    cases, rng = Cases(), np.random.default_rng(20240229)
    for add in (add_unary, add_pairs, add_arrays, add_reductions, add_folds, add_products, add_factorisations,
                add_cumulative, add_random, add_networks, add_einsums, add_correlations, add_tables):
        cases.group = add.__name__.removeprefix("add_")
        add(cases, rng)
    cases.write(sys.argv[1])
    print(f"{len(cases.index)} cases, {cases.size} bytes")


if __name__ == "__main__":
    main()
