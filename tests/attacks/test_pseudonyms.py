"""Hashes of small spaces are found, all of them; keyed hashes are not."""

import hmac
from collections.abc import Callable
from hashlib import md5, sha1, sha256
from typing import Any

import pyarrow as pa
import pytest

from letalone.attacks import reverse_hashes
from letalone.errors import ParameterError

TEXTS = ["02139", "1957-04-01", "04/01/1957", "7B82", "99999", "31.12.2029", "20291231"]
FAST = {"largest": 1_000}


@pytest.mark.few("MD5", "SHA-256")
@pytest.mark.parametrize(("name", "hashed"), [("MD5", md5), ("SHA-1", sha1), ("SHA-256", sha256)])
def test_a1_every_hash_of_a_small_space_is_reversed(
    name: str, hashed: Callable[[bytes], Any]
) -> None:
    digests = [hashed(text.encode()).hexdigest() for text in [*TEXTS, "712", "712"]]
    shown = [digest.upper() for digest in digests[:4]] + digests[4:]
    (found,) = reverse_hashes(pa.table({"id": shown}), **FAST).columns
    assert (found.algorithm, found.found, found.values) == (name, 8, 8)
    assert found.rows_found == found.rows == 9
    assert found.spaces == {"whole numbers": 1, "#@##": 1, "#####": 2, "dates": 4}


@pytest.mark.long  # test_a1_every_hash_of_a_small_space_is_reversed
def test_hashes_with_a_key_are_not_reversed_and_the_share_is_that_of_the_others() -> None:
    keyed = [hmac.digest(b"key", text.encode(), "md5").hex() for text in TEXTS]
    plain = [md5(b"7B82", usedforsecurity=False).hexdigest()] * 2
    table = pa.table({"id": [*keyed, *plain, None]})
    (found,) = reverse_hashes(table, patterns=["##"], largest=10).columns
    assert (found.found, found.values) == (1, 8)
    assert (found.rows_found, found.rows) == (2, 10)
    assert found.example is not None
    assert found.example[0] == "7B82"


def test_a_pattern_of_ones_own_is_tried() -> None:
    table = pa.table({"id": [sha1(b"+1202555777", usedforsecurity=False).hexdigest()]})
    assert reverse_hashes(table, patterns="+1202555###", **FAST).columns[0].found == 1


def test_columns_that_are_no_hashes_are_left_out_or_refused_by_name() -> None:
    table = pa.table({"word": ["a" * 31, "b" * 32], "hex": ["g" * 32, "0" * 32], "n": [1, 2]})
    assert reverse_hashes(table, **FAST).columns == ()
    assert "No column looks like a hash" in reverse_hashes(table, **FAST).words
    with pytest.raises(ParameterError, match="'word' does not hold MD5"):
        reverse_hashes(table, columns="word", **FAST)


def test_a_pattern_too_large_to_try_is_refused() -> None:
    with pytest.raises(ParameterError, match="has 10,000,000,000 values, but at most"):
        reverse_hashes(patterns=["##########"])


def test_a1_all_medallions_of_the_stage_are_found() -> None:
    (found,) = reverse_hashes().columns
    assert found.found == found.values > 4000
