"""Which oracle to take: the smallest variance, and of nearly equal ones the shortest report.

The choice looks at the domain, ε, the number of people and the bytes that a report may have: all of
them are public.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number, whole_from
from letalone.local.frequencies.count_mean_sketch import CountMeanSketch
from letalone.local.frequencies.hadamard_response import HadamardResponse
from letalone.local.frequencies.k_ary_response import KaryResponse
from letalone.local.frequencies.local_hashing import LocalHashing
from letalone.local.frequencies.oracle import FrequencyOracle
from letalone.local.frequencies.subset_selection import SubsetSelection
from letalone.local.frequencies.unary_encoding import UnaryEncoding
from letalone.mechanisms.randomized_response import Categories

KINDS: tuple[type[FrequencyOracle], ...] = (
    SubsetSelection,
    KaryResponse,
    UnaryEncoding,
    LocalHashing,
    HadamardResponse,
)
NEARLY = 1.01  # variances up to a hundredth apart count as equal
BYTES = whole_from(1, "It is how many bytes a report may have.")


@dataclass(frozen=True, slots=True)
class OracleChoice:
    """The oracle that was chosen, why, and all that were looked at, the best first."""

    oracle: FrequencyOracle
    why: str
    considered: tuple[FrequencyOracle, ...]

    def __repr__(self) -> str:
        return f"{self.oracle!r}: {self.why}"


def best(
    domain: int | Sequence[Hashable],
    *,
    epsilon: Number,
    n: int,
    bytes: int | None = None,  # noqa: A002
) -> OracleChoice:
    """The oracle with the smallest variance; of those within 1 %, the one with short reports.

    `n` is how many people will report; `bytes` is how long a report may be.
    """
    people, values = int(COUNT.typed("n", n)), Categories.of(domain).count
    limit = None if bytes is None else int(BYTES.typed("bytes", bytes))
    made = [kind(domain, epsilon=epsilon) for kind in KINDS if values <= kind.largest_domain]
    if not made:
        made = [CountMeanSketch(domain, epsilon=epsilon)]
    fitting = [oracle for oracle in made if limit is None or oracle.report_bytes <= limit]
    if not fitting:
        shortest = min(oracle.report_bytes for oracle in made)
        raise ParameterError(
            f"bytes is {limit}, but the shortest report about {values} values has {shortest}."
        )
    ranked = sorted(fitting, key=lambda oracle: oracle.variance(people))
    least = ranked[0].variance(people)
    equal = [oracle for oracle in ranked if oracle.variance(people) <= NEARLY * least]
    chosen = min(equal, key=lambda oracle: oracle.report_bytes)
    return OracleChoice(chosen, _explain(chosen, ranked, people), tuple(ranked))


def _explain(chosen: FrequencyOracle, ranked: list[FrequencyOracle], people: int) -> str:
    """What it costs and gains beside the others."""
    deviation = chosen.variance(people) ** 0.5
    rest = ", ".join(
        f"{type(oracle).__name__} {oracle.variance(people) ** 0.5:.3g} with {oracle.report_bytes}"
        for oracle in ranked
        if oracle is not chosen
    )
    beside = f"; others: {rest} bytes" if rest else ""
    return (
        f"a share is off by about ±{deviation:.3g} (one standard deviation) with {people} people"
        f" and {chosen.report_bytes} bytes a report{beside}"
    )
