"""A case for every operation of the C door: calls, and what NumPy says of them.

A case is a function of a Source of random arrays; it yields (results, expected) or (results, expected, tolerance), where
results are tensors or arrays. CASES has them by the operation's name.
"""

from . import elementwise, functions, linear, random_numbers, reductions, shapes, windows  # noqa: F401, they register
from .source import CASES, Source  # noqa: F401
