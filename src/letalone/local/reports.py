"""Reports as bytes and as JSON, format 1: what a client in any language has to write.

A report is a whole number or a row of bytes, all of the same length `report_bytes`.
  A whole number is written big-endian, in as many bytes as the largest one needs.
  A row of bits holds value x in bit 7 − (x mod 8) of byte ⌊x / 8⌋, the highest bit first; bits
  beyond the last value are 0.
Many reports as bytes are one after another. As JSON they are a document with `format`, the
`oracle` (its kind, epsilon, ratio and parameters) and `reports`: hexadecimal texts; of a survey
(`letalone.local.surveys`) such a list for each question, by its name.

  Tested:   golden reports; what is written is read; what is not a report is refused
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from letalone.errors import FormatError, ParameterError
from letalone.errors.spelling import plural

FORMAT = 1
Reports = NDArray[np.int64] | NDArray[np.uint8]


class Reporter(Protocol):
    """Whatever makes reports of one length."""

    kind: ClassVar[str]

    @property
    def report_bytes(self) -> int:
        """How many bytes a report has."""
        ...

    def most_codes(self) -> int | None:
        """Reports are whole numbers below this; None: rows of bytes."""
        ...

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Which of these rows of bytes are reports."""
        ...

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        ...


@runtime_checkable
class ReporterOfSeveral(Protocol):
    """A survey: whose reports are by question, and cannot be one after another."""

    @property
    def oracles(self) -> Mapping[str, Reporter]:
        """What makes the reports of each question."""
        ...

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        ...


AnyReporter = Reporter | ReporterOfSeveral


class CodedReports(ABC):
    """Reports that are whole numbers, and so no rows of bytes."""

    __slots__ = ()

    @abstractmethod
    def most_codes(self) -> int:
        """Reports are whole numbers below this."""

    @property
    def report_bytes(self) -> int:
        """As many as the largest report needs."""
        return bytes_below(self.most_codes())

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """None is one."""
        return np.zeros(len(rows), np.bool_)


def bytes_below(bound: int) -> int:
    """How many bytes a whole number below the bound needs."""
    return max(1, ((bound - 1).bit_length() + 7) // 8)


def read_reports(oracle: Reporter, reports: object) -> Reports:
    """Reports as they come from `privatize`: an array, a list, or a single one."""
    if isinstance(reports, bytes):
        reports = [reports]
    bound = oracle.most_codes()
    return _read_rows(oracle, reports) if bound is None else _read_codes(reports, bound)


def _read_codes(reports: object, bound: int) -> Reports:
    array = _array(reports)
    if array is None or array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError(f"Reports must be whole numbers from 0 to {bound - 1}, in one list.")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < bound):
        raise ParameterError(f"A report is not a whole number from 0 to {bound - 1}.")
    return array.astype(np.int64)


def _read_rows(oracle: Reporter, reports: object) -> Reports:
    rows = _rows(reports, oracle.report_bytes)
    if rows is None or not oracle.is_report(rows).all():
        raise ParameterError(
            f"A report is not one of {type(oracle).__name__}: a report has"
            f" {plural(oracle.report_bytes, 'byte')}, as privatize makes it of an answer. Check the"
            " domain and the epsilon."
        )
    return rows


def _rows(reports: object, length: int) -> NDArray[np.uint8] | None:
    if isinstance(reports, list):
        texts = cast("list[object]", reports)
        if not all(isinstance(text, bytes) and len(text) == length for text in texts):
            return None
        joined = b"".join(cast("list[bytes]", texts))
        return np.frombuffer(joined, np.uint8).reshape(-1, length)
    array = _array(reports)
    if (
        array is None
        or array.dtype != np.uint8
        or array.ndim not in (1, 2)
        or array.shape[-1] != length
    ):
        return None
    return array.reshape(-1, length)


def _array(reports: object) -> NDArray[Any] | None:
    try:
        return np.atleast_1d(np.asarray(reports))
    except ValueError:  # rows of different lengths
        return None


def to_bytes(oracle: AnyReporter, reports: object) -> bytes:
    """Reports one after another, `report_bytes` each."""
    reporter = _only_one(oracle)
    read = read_reports(reporter, reports)
    if reporter.most_codes() is None:
        return read.tobytes()
    wide = read.astype(">i8").view(np.uint8).reshape(-1, 8)
    return wide[:, 8 - reporter.report_bytes :].tobytes()


def from_bytes(oracle: AnyReporter, content: bytes) -> Reports:
    """The reports that `to_bytes` wrote, checked."""
    reporter = _only_one(oracle)
    length = reporter.report_bytes
    if len(content) % length:
        raise FormatError(f"Reports of {length} bytes cannot add up to {len(content)} bytes.")
    rows = np.frombuffer(content, np.uint8).reshape(-1, length)
    if reporter.most_codes() is None:
        return read_reports(reporter, rows)
    wide = np.zeros((len(rows), 8), np.uint8)
    wide[:, 8 - length :] = rows
    return read_reports(reporter, wide.view(">i8").reshape(-1).astype(np.int64))


def _only_one(oracle: AnyReporter) -> Reporter:
    if isinstance(oracle, ReporterOfSeveral):
        raise ParameterError(
            "Reports of a survey are by question, so they have no form as bytes. Use to_json, or"
            " to_bytes for each of survey.oracles."
        )
    return oracle


def to_json(oracle: AnyReporter, reports: object) -> str:
    """The reports as a JSON document of format 1."""
    several = isinstance(oracle, ReporterOfSeveral)
    texts = _write_several(oracle, reports) if several else _write_texts(oracle, reports)
    try:
        return json.dumps({"format": FORMAT, "oracle": oracle.describe(), "reports": texts})
    except TypeError:
        raise ParameterError(
            "A label of the domain has no form in JSON. Labels must be texts, numbers, True, False"
            " or None; or give the number of values, and keep the labels elsewhere."
        ) from None


def _write_texts(oracle: Reporter, reports: object) -> list[str]:
    content, length = to_bytes(oracle, reports), oracle.report_bytes
    return [content[at : at + length].hex() for at in range(0, len(content), length)]


def _write_several(survey: ReporterOfSeveral, reports: object) -> dict[str, list[str]]:
    named = cast("Mapping[str, object]", reports) if isinstance(reports, Mapping) else None
    if named is None or not set(named) <= set(survey.oracles):
        raise ParameterError(
            "Reports of a survey are a mapping from its questions, as privatize gives them:"
            f" {', '.join(survey.oracles)}."
        )
    return {name: _write_texts(survey.oracles[name], given) for name, given in named.items()}


def from_json(oracle: AnyReporter, text: str) -> Any:
    """The reports of a JSON document that was made for the same oracle; of a survey by question."""
    number, made_for, reports = _read_document(text)
    if number != FORMAT:
        raise FormatError(f"These reports have format {number}; this version reads {FORMAT}.")
    if made_for != json.loads(json.dumps(oracle.describe())):
        raise FormatError("These reports were made for another oracle, domain or epsilon.")
    if not isinstance(oracle, ReporterOfSeveral):
        return from_bytes(oracle, _read_texts(reports))
    if not isinstance(reports, dict) or not set(cast("Any", reports)) <= set(oracle.oracles):
        raise _no_document()
    named = cast("dict[str, object]", reports)
    return {
        name: from_bytes(oracle.oracles[name], _read_texts(each)) for name, each in named.items()
    }


def _read_document(text: str) -> list[Any]:
    try:
        document = json.loads(text)
        return [document[name] for name in ("format", "oracle", "reports")]
    except (ValueError, KeyError, TypeError):
        raise _no_document() from None


def _read_texts(reports: object) -> bytes:
    try:
        return b"".join(bytes.fromhex(report) for report in cast("list[str]", reports))
    except (ValueError, TypeError):
        raise _no_document() from None


def _no_document() -> FormatError:
    return FormatError(
        "This is not a document of local reports, which is JSON with format, oracle and reports."
    )
