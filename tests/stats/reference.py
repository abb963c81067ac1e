#!/usr/bin/env python3
"""Writes cases with independent results for distribution_test: reference.py FILE."""
import sys

from cases import Cases
from continuous import add_continuous


def main():
    cases = Cases()
    add_continuous(cases)
    cases.write(sys.argv[1])
    print(f"{len(cases.list)} cases")


if __name__ == "__main__":
    main()
