"""A plan with a price: everything that is decided before data is touched.

`compiled(plan, epsilon=…, delta=…)` fixes the parts, their shares of ε, the noise, the measures
to ask an engine for, and the errors to expect, from the plan alone. `.finish` turns the exact
integers of an engine into private answers; nothing else ever sees them.

Theorem.  `.privacy`, the composition of all parts, is at most (epsilon, delta); where no part
uses a delta its pure ε is the typed one exactly.
  Proven:   docs/explanation/proofs/tables.md, section 7
  Tested:   tests/tables: over many plans; the audit of every aggregate; nothing but `finish`
            changes with the data
  Assumed:  the engine's integers are the measures that were asked for
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.measures import Exact, Listed, Measure, RowScope, scope_of
from letalone.errors import ParameterError
from letalone.errors.spelling import plural
from letalone.exact.typed import CONFIDENCE, DELTA, EPSILON, Constraint, Number
from letalone.plans.aggregates.facts import ErrorKind, facts_of
from letalone.plans.aggregates.formulas import Formula, inner_name, shown_name
from letalone.plans.plan import Plan
from letalone.plans.types import Key
from letalone.privacy import Privacy, compose
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.tables.columns import NoisyAnswer, NoisyColumn
from letalone.tables.formula_answers import as_double, confidence_of, evaluate_formula, linear
from letalone.tables.parts.discovery import Discovery, Keys
from letalone.tables.parts.part import ChoicePart, VectorPart
from letalone.tables.sensitivity import contribution
from letalone.tables.split import Split, split

Found = list[tuple[tuple[Key, ...], int]]
SURE = Constraint(
    "a number from 1e-9 to 0.999999999",
    lambda x: Fraction(1, 10**9) <= x <= 1 - Fraction(1, 10**9),
    CONFIDENCE.hint,
    (*CONFIDENCE.refused, 0.9999999999),
)


@dataclass(frozen=True, slots=True)
class PricePart:
    """One part of the price: what it buys, its share of ε, how, and the error to expect.

    `errors` are the half-widths to expect by name; None where they depend on private numbers
    of rows (means, variances: see `expected_error`). Those of choices are in rows.
    """

    name: str
    share: Fraction
    words: str
    groups: str
    errors: dict[str, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """What a plan will do and cost; made by `compiled`."""

    plan: Plan
    epsilon: Fraction
    delta: Fraction
    confidence: float
    split: Split
    keys: Keys | None

    @property
    def privacy(self) -> Privacy:
        """What the whole answer reveals."""
        schema, neighbours = self.plan.schema, self.plan.schema.neighbours
        label = neighbours if neighbours.unit else neighbours.of(schema.unit or "row")
        return compose(*self.split.privacies).labelled(label)

    @property
    def scope(self) -> RowScope:
        split, scope = self.split, scope_of(self.plan)
        return replace(scope, keys=self.keys, weight_bits=split.weight_bits, norm=split.norm)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What an engine must measure, each once."""
        measures = {repr(m): m for part in self.split.parts.parts for m in part.measures}
        return tuple(measures.values())

    @property
    def discovery(self) -> Discovery | None:
        """The private choice of keys, where none are listed."""
        return self.split.discovery

    @property
    def parts(self) -> tuple[PricePart, ...]:
        split, keys = self.split, self.split.discovery
        shares = tuple(self._share(place) for place in range(len(split.parts.parts)))
        if keys is None:
            return shares
        groups = f"a unit counts in at most {keys.unit.found_in:,} of the groups that it is in"
        return (PricePart("keys", split.keys_share, keys.words, groups, {}), *shares)

    def _share(self, place: int) -> PricePart:
        part, shared = self.split.parts.parts[place], self.split.parts.shared
        counts = shared.names if shared is not None and shared.reads(place) else ()
        names = tuple(dict.fromkeys(shown_name(name) for name in (*part.names, *counts)))
        words = part.words if isinstance(part, ChoicePart) else self.split.noises[place].words
        errors: dict[str, float | None] = dict.fromkeys(names)
        for name in names:
            with suppress(ParameterError):
                errors[name] = self.expected_error(name)
        return PricePart(", ".join(names), self.split.shares[place], words, self._groups, errors)

    @property
    def _groups(self) -> str:
        """How groups are charged, in words (P6)."""
        unit = contribution(self.plan)
        if not self.plan.groups:
            return "no groups"
        many = "all groups" if unit.keys is None else f"all {unit.keys:,} groups"
        charge = f"one charge for {many} together"
        if unit.lattice > 1:
            limit = plural(unit.rows or 0, "row")
            rows = "" if unit.rows is None else f", and counts for at most {limit}"
            return f"{charge}: a unit may be in any of them{rows}"
        relation = " at most" if unit.groups > 1 else " only"
        touched = unit.groups * (2 if unit.replace else 1)
        return f"{charge}: neighbours differ in{relation} {touched:,} of them"

    def expected_error(self, name: str, *, rows: int | None = None) -> float:
        """The half-width to expect for an aggregate, at the confidence; no data is touched.

        A mean's and a variance's depend on `rows`, how many rows a group has: a public number,
        or one from an earlier release. That of a quantile is in rows (of rank).
        """
        aggregate = dict(self.plan.aggregates).get(name)
        if isinstance(aggregate, Formula):
            return self._formula_error(name, aggregate, rows)
        return self._part_error(name, self.confidence, rows)

    def _formula_error(self, name: str, formula: Formula, rows: int | None) -> float:
        factors = linear(formula.tree)
        kinds = {facts_of(part).error for part in formula.parts}
        in_rows = ErrorKind.IN_ROWS in kinds
        needs_rows = rows is None and kinds != {ErrorKind.STEADY}
        if factors is None or in_rows or needs_rows:
            raise ParameterError(
                f"The error of the formula {name!r} depends on its answers, or on how many rows a"
                " group has. Ask for its parts to see theirs."
            )
        sure = confidence_of(len(formula.parts), self.confidence)
        errors = {part: self._part_error(inner_name(name, part), sure, rows) for part in factors}
        return sum(abs(as_double(factor)) * errors[part] for part, factor in factors.items())

    def _part_error(self, name: str, confidence: float, rows: int | None) -> float:
        split = self.split
        if split.parts.shared is not None and name in split.parts.shared.names:
            return split.parts.shared.error(split.noises, confidence)
        for place, part in enumerate(split.parts.parts):
            if name not in part.names:
                continue
            if isinstance(part, ChoicePart):
                return part.error(split.epsilons[place], confidence=confidence)
            noise = split.noises[place]
            return part.error(name, noise, confidence=confidence, rows=rows)
        names = ", ".join(name for name, _ in self.plan.aggregates)
        raise ParameterError(f"There is no aggregate {name!r}. The aggregates are: {names}.")

    def check(self) -> None:
        """Refuses a price for which a choice's numbers, or a width, would be too large.

        Widths are found here, before anything is charged: afterwards only an engine can fail.
        """
        for place, part in enumerate(self.split.parts.parts):
            levels = self._by_confidence(part.names)
            if isinstance(part, ChoicePart):
                part.check(self.split.epsilons[place], confidence=max(levels))
            else:
                noise = self.split.noises[place]
                _check_widths([part.width(noise, sure) for sure in levels])
        shared = self.split.parts.shared
        if shared is not None:
            levels = self._by_confidence(shared.names)
            _check_widths([shared.error(self.split.noises, sure) for sure in levels])

    def with_keys(self, found: Found, bits: BitSource = SYSTEM) -> "Compiled":
        """The same with the keys that private discovery lists, from what an engine found."""
        if self.discovery is None:
            raise ParameterError("The keys are given, so none are to be found. Call .finish.")
        return replace(self, keys=self.discovery.choose(found, bits))

    def finish(self, exact: Sequence[Exact], bits: BitSource = SYSTEM) -> NoisyAnswer:
        """The private answers from an engine's exact integers, in the order of `measures`."""
        keys = self.keys if self.plan.groups else ((),)
        if keys is None:
            raise ParameterError("The keys are not known yet. Call .with_keys first.")
        measured = zip(self.measures, exact, strict=True)
        arrays = {repr(measure): _array(measure, numbers) for measure, numbers in measured}
        answers, noisy = self._drawn(arrays, bits)
        shared = self.split.parts.shared
        if shared is not None:
            for sure, names in self._by_confidence(shared.names).items():
                counted = shared.answers(noisy, self.split.noises, sure)
                answers |= {name: counted[name] for name in names}
        for name, aggregate in self.plan.aggregates:
            if isinstance(aggregate, Formula):
                answers[name] = evaluate_formula(name, aggregate, answers)
        ordered = {name: answers[name] for name, _ in self.plan.aggregates}
        return NoisyAnswer(keys, ordered, self.confidence)

    def _by_confidence(self, names: Sequence[str]) -> dict[float, list[str]]:
        """The names by how sure their intervals must be: the parts of a formula surer."""
        aggregates = dict(self.plan.aggregates)
        by_confidence: dict[float, list[str]] = {}
        for name in names:
            shown = aggregates.get(shown_name(name))
            parts = len(shown.parts) if isinstance(shown, Formula) else 1
            by_confidence.setdefault(confidence_of(parts, self.confidence), []).append(name)
        return by_confidence

    def _drawn(
        self, arrays: Mapping[str, NDArray[Any]], bits: BitSource
    ) -> tuple[dict[str, NoisyColumn], dict[int, NDArray[np.float64]]]:
        answers: dict[str, NoisyColumn] = {}
        noisy: dict[int, NDArray[np.float64]] = {}
        for place, part in enumerate(self.split.parts.parts):
            exact = [arrays[repr(measure)] for measure in part.measures]
            if isinstance(part, VectorPart):
                noise = self.split.noises[place]
                noisy[place] = noise.release(part.vector(exact), bits)
                for sure, names in self._by_confidence(part.names).items():
                    read = part.answers(noisy[place], noise, sure)
                    answers |= {name: read[name] for name in names}
            else:
                # A choice is drawn once, so all its names get the surest interval.
                cost, sure = self.split.epsilons[place], max(self._by_confidence(part.names))
                answers |= part.answers(exact, cost, confidence=sure, bits=bits)
        return answers, noisy


def compile_plan(
    plan: Plan, *, epsilon: Number, delta: Number = 0, confidence: Number = 0.95
) -> Compiled:
    """What a plan will do and cost at (epsilon, delta), from public facts alone."""
    cost, slack = EPSILON.typed("epsilon", epsilon), DELTA.typed("delta", delta)
    sure = float(SURE.typed("confidence", confidence))
    parted = split(plan, epsilon=cost, delta=slack, confidence=sure)
    priced = Compiled(plan, cost, slack, sure, parted, plan.keys)
    priced.check()
    return priced


def _check_widths(widths: Sequence[float]) -> None:
    if not all(isfinite(width) for width in widths):
        raise ParameterError(
            "A part of the answer would be off by more than a float can hold. Give a larger"
            " epsilon, or narrower bounds."
        )


def _array(measure: Measure, exact: Exact) -> NDArray[Any]:
    """Whole numbers of any size, one or a row of cells for each key."""
    array = np.array(exact, dtype=object)
    return array.reshape(-1, measure.count) if isinstance(measure, Listed) else array
