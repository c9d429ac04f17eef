"""Proofs that a shared answer is valid: made by the person's device, checked by counters on shares.

The device runs the circuit and sends, beside the answer, the polynomial of its gadget's outputs.
Each counter evaluates what it holds at one random point that the device did not know. The sums of
what the counters say are the values of the true polynomials at that point, so a wrong one shows.

  Theorem.  A valid answer is always accepted. One that is not valid is accepted with probability at
            most (2p − 2)/(|field| − p) + 1/|field|, p the least power of two above the calls; where
            joint randomness is used, plus chunk/|field| for each hash that the device tries. What
            the counters tell each other depends on a valid answer in no way.
  Proven:   docs/explanation/proofs/split_reports.md
  Tested:   against the draft's vectors, valid and broken; every single changed element is refused

Boneh, Boyle, Corrigan-Gibbs, Gilboa, Ishai: Zero-knowledge proofs on secret-shared data via fully
linear PCPs (2019), theorem 4.3, in the form of draft-irtf-cfrg-vdaf-18, section 7.3.
"""

from letalone.errors import ParameterError
from letalone.local.split.circuits import Circuit
from letalone.local.split.fields import Vector, complete, double, evaluate


def wire_length(circuit: Circuit) -> int:
    """The values that describe the polynomial of one input: its seed, each call, zeros."""
    return 1 << circuit.calls.bit_length()


def proof_length(circuit: Circuit) -> int:
    """The elements of a proof."""
    return circuit.arity + 2 * wire_length(circuit) - 1


def query_length(circuit: Circuit) -> int:
    """The random elements of a query: one for each check, and the point."""
    return 1 + (circuit.checks if circuit.checks > 1 else 0)


def verifier_length(circuit: Circuit) -> int:
    """The elements that a counter tells."""
    return circuit.arity + 2


def prove(circuit: Circuit, answer: Vector, seeds: Vector, joint: Vector) -> Vector:
    """The seeds of the inputs' polynomials and the gadget's polynomial, but for its last value."""
    wires = _wires(circuit, circuit.inputs(answer, joint, 1), seeds)
    doubled = [double(circuit.field, wire) for wire in wires]
    outputs = [circuit.gadget(inputs) for inputs in zip(*doubled, strict=True)]
    return [*seeds, *outputs[:-1]]


def query(
    circuit: Circuit, answer: Vector, proof: Vector, random: Vector, joint: Vector, shares: int
) -> Vector:
    """What one counter tells the others about its shares of answer and proof."""
    *reducers, point = random
    if pow(point, wire_length(circuit), circuit.field.modulus) == 1:
        raise ParameterError("The test point is a root of unity. Take another nonce.")
    seeds, outputs = proof[: circuit.arity], complete(circuit.field, proof[circuit.arity :])
    wires = _wires(circuit, circuit.inputs(answer, joint, shares), seeds)
    checks = circuit.check(answer, outputs[2 : 2 * circuit.calls + 1 : 2], shares)
    at_point = evaluate(circuit.field, wires, point) + evaluate(circuit.field, [outputs], point)
    return [_reduce(circuit, checks, reducers), *at_point]


def accepts(circuit: Circuit, verifier: Vector) -> bool:
    """Whether the sum of what all counters told shows a valid answer."""
    check, *inputs, output = verifier
    return check == 0 and circuit.gadget(inputs) == output


def _wires(circuit: Circuit, calls: list[Vector], seeds: Vector) -> list[Vector]:
    zeros = [0] * (wire_length(circuit) - 1 - circuit.calls)
    columns = zip(*calls, strict=True)
    return [[seed, *column, *zeros] for seed, column in zip(seeds, columns, strict=True)]


def _reduce(circuit: Circuit, checks: Vector, reducers: Vector) -> int:
    if not reducers:
        return checks[0]
    return sum(r * c for r, c in zip(reducers, checks, strict=True)) % circuit.field.modulus
