"""Split reports agree with the published vectors to the byte, and broken ones are refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from letalone.errors import ParameterError
from letalone.local.split.circuits import Circuit, OneOption, WholeNumber, YesNo
from letalone.local.split.prio3 import Check, InvalidReport, Prio3

# From draft-irtf-cfrg-vdaf-18, test_vec: Verifiable Distributed Aggregation Functions (CFRG).
VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("vectors.json").read_text())
GOOD = [name for name in VECTORS if "bad" not in name]
BAD = [name for name in VECTORS if "bad" in name]
KEY, NONCE = bytes(range(32)), bytes(range(16))


@dataclass
class Vector:
    name: str

    @property
    def data(self) -> dict[str, Any]:
        return VECTORS[self.name]

    @property
    def prio3(self) -> Prio3:
        return Prio3(self._circuit(), bytes.fromhex(self.data["ctx"]), self.data["shares"])

    def _circuit(self) -> Circuit:
        if "Count" in self.name:
            return YesNo()
        if "Sum" in self.name:
            return WholeNumber(self.data["max_measurement"])
        return OneOption(self.data["length"], self.data["chunk_length"])

    def begin(self, report: dict[str, Any]) -> list[tuple[Check, bytes]]:
        key, nonce = bytes.fromhex(self.data["verify_key"]), bytes.fromhex(report["nonce"])
        public = bytes.fromhex(report["public_share"])
        return [
            self.prio3.begin_check(key, at, nonce, public, bytes.fromhex(share))
            for at, share in enumerate(report["input_shares"])
        ]


@pytest.mark.parametrize("name", GOOD)
def test_every_byte_is_that_of_the_published_vectors(name: str) -> None:
    vector, prio3 = Vector(name), Vector(name).prio3
    field, added = prio3.circuit.field, []
    for report in vector.data["reports"]:
        nonce, random = bytes.fromhex(report["nonce"]), bytes.fromhex(report["rand"])
        made = prio3.shard(report["measurement"], nonce, random)
        assert [share.hex() for share in made.shares] == report["input_shares"]
        assert made.public.hex() == report["public_share"]
        begun = vector.begin(report)
        assert [told.hex() for _, told in begun] == report["verifier_shares"][0]
        message = prio3.agree([told for _, told in begun])
        assert message.hex() == report["verifier_messages"][0]
        added.append([prio3.finish_check(check, message) for check, _ in begun])
        assert [field.encode(share).hex() for share in added[-1]] == report["out_shares"]
    totals = [prio3.add_up(shares) for shares in zip(*added, strict=True)]
    assert [field.encode(total).hex() for total in totals] == vector.data["agg_shares"]
    result = prio3.add_up(totals)
    assert (result if len(result) > 1 else result[0]) == vector.data["agg_result"]


@pytest.mark.parametrize("name", BAD)
def test_every_published_broken_report_is_refused(name: str) -> None:
    vector = Vector(name)
    (report,) = vector.data["reports"]
    if "verifier_message" in name:
        ((check, _),) = vector.begin({**report, "input_shares": report["input_shares"][:1]})
        with pytest.raises(InvalidReport, match="joint randomness"):
            vector.prio3.finish_check(check, bytes.fromhex(report["verifier_messages"][0]))
        return
    begun = vector.begin(report)
    with pytest.raises(InvalidReport):
        _finish(vector.prio3, begun)


@pytest.mark.parametrize("circuit", [YesNo(), OneOption(3), WholeNumber(5)], ids=repr)
def test_changing_any_byte_of_a_report_makes_it_refused(circuit: Circuit) -> None:
    """A wrong proof passes with a probability below 2^-59 (FIELD64): never here."""
    prio3 = Prio3(circuit, b"survey")
    report = prio3.shard(1, NONCE, bytes(range(prio3.random_size)))
    for place in range(len(report.shares[0])):
        changed = bytearray(report.shares[0])
        changed[place] ^= 1
        with pytest.raises(ParameterError):
            _count(prio3, report.public, (bytes(changed), report.shares[1]))


@pytest.mark.parametrize(
    "circuit", [YesNo(), OneOption(3, 2), OneOption(7), WholeNumber(6)], ids=repr
)
def test_a_device_cannot_count_twice_or_as_two_choices(
    circuit: Circuit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of 0, 1, 2 and −1 that no answer has are refused."""
    prio3 = Prio3(circuit, b"survey")
    largest = {YesNo: 1, OneOption: circuit.length - 1, WholeNumber: 6}[type(circuit)]
    allowed = {tuple(circuit.encode(answer)) for answer in range(largest + 1)}
    minus = circuit.field.modulus - 1
    odd = [2, minus]
    vectors = [[value, *[0] * (circuit.length - 1)] for value in odd]
    vectors += [[1] * circuit.length, [0] * circuit.length, [2, minus, *[0] * circuit.length]]
    for vector in (vector[: circuit.length] for vector in vectors):
        if tuple(vector) in allowed or (isinstance(circuit, WholeNumber) and set(vector) <= {0, 1}):
            continue
        monkeypatch.setattr(type(circuit), "encode", lambda *_, v=vector: list(v))
        report = prio3.shard(0, NONCE, bytes(range(prio3.random_size)))
        with pytest.raises(InvalidReport):
            _count(prio3, report.public, report.shares)
        monkeypatch.undo()


def test_reports_of_another_survey_or_under_another_nonce_are_refused() -> None:
    prio3 = Prio3(OneOption(4), b"one survey")
    report = prio3.shard(2, NONCE, bytes(range(prio3.random_size)))
    with pytest.raises(InvalidReport):
        _count(Prio3(OneOption(4), b"another"), report.public, report.shares)
    with pytest.raises(InvalidReport):
        _count(prio3, report.public, report.shares, nonce=bytes(16))
    assert _count(prio3, report.public, report.shares) == [0, 0, 1, 0]


def test_one_share_alone_is_the_same_whatever_was_answered() -> None:
    """The helper's share does not depend on the answer; the leader's is moved by what a seed of the
    helper hides: with equal seeds the shares of yes and no differ by exactly 1."""
    prio3 = Prio3(YesNo(), b"survey")
    random = bytes(range(prio3.random_size))
    no, yes = (prio3.shard(answer, NONCE, random) for answer in (0, 1))
    assert no.shares[1] == yes.shares[1]
    first = [prio3.circuit.field.decode(report.shares[0])[0] for report in (no, yes)]
    assert (first[1] - first[0]) % prio3.circuit.field.modulus == 1


@pytest.mark.parametrize("answer", [-1, 2, 0.5, 10**30])
def test_an_answer_that_is_not_allowed_is_refused_without_repeating_it(answer: Any) -> None:
    prio3 = Prio3(YesNo(), b"survey")
    with pytest.raises(ParameterError, match="whole number from 0 to 1") as caught:
        prio3.shard(answer, NONCE, bytes(prio3.random_size))
    assert str(answer) not in str(caught.value)


@pytest.mark.parametrize("what", ["nonce", "random"])
def test_a_wrong_size_is_refused(what: str) -> None:
    prio3 = Prio3(YesNo(), b"survey")
    sizes = {"nonce": NONCE, "random": bytes(prio3.random_size)} | {what: b"short"}
    with pytest.raises(ParameterError, match="5 bytes, but must have"):
        prio3.shard(1, sizes["nonce"], sizes["random"])


def _count(
    prio3: Prio3, public: bytes, shares: tuple[bytes, ...], nonce: bytes = NONCE
) -> list[int]:
    begun = [prio3.begin_check(KEY, at, nonce, public, share) for at, share in enumerate(shares)]
    return _finish(prio3, begun)


def _finish(prio3: Prio3, begun: list[tuple[Check, bytes]]) -> list[int]:
    message = prio3.agree([told for _, told in begun])
    return prio3.add_up([prio3.finish_check(check, message) for check, _ in begun])
