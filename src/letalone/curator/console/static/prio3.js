/* Reports that are split between two counters, neither of which can read them: Prio3 of
   draft-irtf-cfrg-vdaf-18 (Count, Sum, Histogram), to the byte what letalone.local.split.prio3 makes.

   prio3.shard(law, survey, answer, nonce, random) gives { public, shares }, all of them Uint8Array.
   Numbers are BigInt; nothing here draws: nonce and random come from crypto.getRandomValues. */
"use strict";

const prio3 = (() => {
  const MASK = (1n << 64n) - 1n, RATE = 168, SEED = 32, VERSION = 18;
  const ROUNDS = ["8000808b", "800000000000008b", "8000000000008089", "8000000000008003", "8000000000008002",
    "8000000000000080", "800a", "800000008000000a", "8000000080008081", "8000000000008080", "80000001",
    "8000000080008008"].map((digits) => BigInt(`0x${digits}`));
  const TURNS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
    .map(BigInt);
  const turn = (lane, by) => by === 0n ? lane : ((lane << by) | (lane >> (64n - by))) & MASK;

  /* Keccak-p[1600, 12], in place; lane (x, y) stands at x + 5y. */
  const permute = (lanes) => {
    for (const constant of ROUNDS) {
      const columns = [0, 1, 2, 3, 4].map((x) =>
        lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
      const mixed = columns.map((_, x) => columns[(x + 4) % 5] ^ turn(columns[(x + 1) % 5], 1n));
      const moved = new Array(25);
      for (let at = 0; at < 25; at += 1) {
        const x = at % 5, y = (at - x) / 5;
        moved[y + 5 * ((2 * x + 3 * y) % 5)] = turn(lanes[at] ^ mixed[x], TURNS[at]);
      }
      for (let at = 0; at < 25; at += 1) {
        const row = at - (at % 5);
        lanes[at] = moved[at] ^ (~moved[row + ((at + 1) % 5)] & MASK & moved[row + ((at + 2) % 5)]);
      }
      lanes[0] ^= constant;
    }
  };

  /* TurboSHAKE128 with domain 1: a function that gives the next bytes. */
  const stream = (message) => {
    const lanes = new Array(25).fill(0n);
    const padded = new Uint8Array(Math.ceil((message.length + 1) / RATE) * RATE);
    padded.set(message);
    padded[message.length] ^= 1;
    padded[padded.length - 1] ^= 128;
    for (let at = 0; at < padded.length; at += RATE) {
      for (let byte = 0; byte < RATE; byte += 1) {
        lanes[byte >> 3] ^= BigInt(padded[at + byte]) << BigInt(8 * (byte & 7));
      }
      permute(lanes);
    }
    let used = 0;
    return (count) => Uint8Array.from({ length: count }, () => {
      if (used === RATE) { permute(lanes); used = 0; }
      const byte = Number((lanes[used >> 3] >> BigInt(8 * (used & 7))) & 255n);
      used += 1;
      return byte;
    });
  };

  const join = (...parts) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));
  const little = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const modulo = (value, modulus) => ((value % modulus) + modulus) % modulus;
  const power = (base, exponent, modulus) => {
    let result = 1n;
    for (let b = base % modulus, e = exponent; e > 0n; e >>= 1n, b = (b * b) % modulus) {
      if (e & 1n) result = (result * b) % modulus;
    }
    return result;
  };
  const field = (odd, bits, size) => {
    const modulus = odd * (1n << bits) + 1n;
    return { modulus, size, bits, generator: power(7n, odd, modulus) };
  };
  const FIELD64 = field(4294967295n, 32n, 8), FIELD128 = field(4611686018427387897n, 66n, 16);
  const encode = (f, vector) => join(...vector.map((element) =>
    Uint8Array.from({ length: f.size }, (_, at) => Number((element >> BigInt(8 * at)) & 255n))));
  const subtract = (f, left, right) => left.map((element, at) => modulo(element - right[at], f.modulus));

  /* Values at the n-th roots of unity; see letalone.local.split.fields. */
  const roots = (f, n) => {
    const root = power(f.generator, (1n << f.bits) / BigInt(n), f.modulus), powers = [1n];
    while (powers.length < n) powers.push((powers[powers.length - 1] * root) % f.modulus);
    return powers;
  };
  const transform = (f, coefficients) => {
    const n = coefficients.length;
    if (n === 1) return coefficients;
    const even = transform(f, coefficients.filter((_, at) => at % 2 === 0));
    const odd = transform(f, coefficients.filter((_, at) => at % 2 === 1));
    const turned = roots(f, n).slice(0, n / 2).map((root, at) => (root * odd[at]) % f.modulus);
    return [...even.map((value, at) => (value + turned[at]) % f.modulus),
      ...even.map((value, at) => modulo(value - turned[at], f.modulus))];
  };
  const double = (f, values) => {
    const n = values.length, backwards = transform(f, values), shifts = roots(f, 2 * n);
    const scale = power(BigInt(n), f.modulus - 2n, f.modulus);
    const odd = values.map((_, at) =>
      (((backwards[(n - at) % n] * scale) % f.modulus) * shifts[at]) % f.modulus);
    const between = transform(f, odd);
    return values.flatMap((value, at) => [value, between[at]]);
  };

  const bits = (value, count) => Array.from({ length: count }, (_, at) => BigInt((value >> at) & 1));
  const CIRCUITS = {
    yes_no: () => ({
      algorithm: 1, field: FIELD64, length: 1, arity: 2, joint: 0,
      encode: (answer) => [BigInt(answer)],
      inputs: (answer) => [[answer[0], answer[0]]],
      gadget: (f, wires) => (wires[0] * wires[1]) % f.modulus,
    }),
    number: ({ largest }) => {
      const length = largest.toString(2).length, rest = 2 ** (length - 1) - 1;
      return {
        algorithm: 2, field: FIELD64, length, arity: 1, joint: 0,
        encode: (answer) => answer <= rest ? [...bits(answer, length - 1), 0n]
          : [...bits(answer - (largest - rest), length - 1), 1n],
        inputs: (answer) => answer.map((bit) => [bit]),
        gadget: (f, [wire]) => modulo(wire * (wire - 1n), f.modulus),
      };
    },
    one_of: ({ options, chunk }) => {
      const calls = Math.ceil(options / chunk);
      return {
        algorithm: 4, field: FIELD128, length: options, arity: 2 * chunk, joint: calls,
        encode: (answer) => Array.from({ length: options }, (_, at) => at === answer ? 1n : 0n),
        inputs: (answer, joint, f) => joint.map((r, call) => {
          let factor = 1n;
          return Array.from({ length: chunk }, (_, at) => answer[call * chunk + at] ?? 0n).flatMap((element) => {
            factor = (factor * r) % f.modulus;
            return [(factor * element) % f.modulus, modulo(element - 1n, f.modulus)];
          });
        }),
        gadget: (f, wires) => {
          let sum = 0n;
          for (let at = 0; at < wires.length; at += 2) sum += wires[at] * wires[at + 1];
          return sum % f.modulus;
        },
      };
    },
  };

  /* The seeds of the inputs' polynomials and the gadget's polynomial, but for its last value. */
  const prove = (circuit, answer, seeds, joint) => {
    const f = circuit.field, calls = circuit.inputs(answer, joint, f);
    const size = 2 ** calls.length.toString(2).length;
    const wires = seeds.map((seed, wire) =>
      double(f, Array.from({ length: size }, (_, at) => at === 0 ? seed : calls[at - 1]?.[wire] ?? 0n)));
    const outputs = wires[0].map((_, at) => circuit.gadget(f, wires.map((wire) => wire[at])));
    return [...seeds, ...outputs.slice(0, -1)];
  };

  const shard = (law, survey, answer, nonce, random) => {
    const circuit = CIRCUITS[law.kind](law), f = circuit.field;
    const tag = (use) => join([VERSION, 0, 0, 0, 0, circuit.algorithm, 0, use], new TextEncoder().encode(survey));
    const open = (seed, use, binder) => {
      const named = tag(use);
      return stream(join([named.length & 255, named.length >> 8], named, [seed.length], seed, binder));
    };
    const expand = (seed, use, binder, length) => {
      const next = open(seed, use, binder), vector = [];
      while (vector.length < length) {
        const element = little(next(f.size));
        if (element < f.modulus) vector.push(element);
      }
      return vector;
    };
    const encoded = circuit.encode(answer), pieces = [];
    for (let at = 0; at < random.length; at += SEED) pieces.push(random.slice(at, at + SEED));
    const [helper, blindOfHelper, blindOfLeader, seedOfProof] = circuit.joint
      ? pieces : [pieces[0], new Uint8Array(0), new Uint8Array(0), pieces[1]];
    const shareOfHelper = expand(helper, 1, [1], circuit.length);
    const shareOfLeader = subtract(f, encoded, shareOfHelper);
    let parts = [], joint = [];
    if (circuit.joint) {
      parts = [[0, blindOfLeader, shareOfLeader], [1, blindOfHelper, shareOfHelper]].map(([counter, blind, share]) =>
        open(blind, 7, join([counter], nonce, encode(f, share)))(SEED));
      joint = expand(open(new Uint8Array(SEED), 6, join(...parts))(SEED), 3, [1], circuit.joint);
    }
    const proof = prove(circuit, encoded, expand(seedOfProof, 4, [1], circuit.arity), joint);
    const proofOfLeader = subtract(f, proof, expand(helper, 2, [1, 1], proof.length));
    return {
      public: join(...parts),
      shares: [join(encode(f, [...shareOfLeader, ...proofOfLeader]), blindOfLeader), join(helper, blindOfHelper)],
    };
  };

  const randomSize = (law) => SEED * (law.kind === "one_of" ? 4 : 2);
  return { shard, stream, randomSize };
})();
