"""Counts the rows of each unit, beside each row.

Tested:   tests/engines/test_row_counts.py
"""

import numpy as np
from numpy.typing import NDArray

from letalone.engines.arrow import number_codes

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


def count_rows(codes: Codes, missing: Flags, kept: Flags | None = None) -> NDArray[np.uint32]:
    """How many kept rows the unit of each row has; 0 where the unit is missing or the row is not
    kept."""
    counted = ~missing if kept is None else kept & ~missing
    numbered = number_codes(codes) if codes.size else codes
    each = np.bincount(numbered[counted], minlength=1)
    counts = each[np.minimum(numbered, each.size - 1)].astype(np.uint32)
    counts[~counted] = 0
    return counts
