/* The draws of a survey: a question, and the report of an answer. The page is in survey_page.js.

   A law is whole numbers: a set of `chosen` of the `choices` holds the true one if a number below `of`
   is below `held`. Numbers come from crypto.getRandomValues; words beyond the last whole multiple are
   drawn again, so every number below a bound is equally likely. There are no floats in a draw. */
"use strict";

const survey = {
  /* A whole number from 0 to bound - 1, all equally likely; bound is a BigInt below 2^64. */
  below(bound, fill = (words) => crypto.getRandomValues(words)) {
    const all = 1n << 64n, last = all - (all % bound);
    for (;;) {
      const [high, low] = fill(new Uint32Array(2));
      const word = (BigInt(high) << 32n) | BigInt(low);
      if (word < last) return word % bound;
    }
  },

  /* `count` of the numbers 0 to size - 1, every set equally likely (Floyd). */
  choose(size, count, fill) {
    const set = new Set();
    for (let last = size - count; last < size; last += 1) {
      const drawn = Number(survey.below(BigInt(last + 1), fill));
      set.add(set.has(drawn) ? last : drawn);
    }
    return set;
  },

  /* The report of the choice in place `truth`: a row of bits in hexadecimal, one for each choice. */
  report(law, truth, fill) {
    const holds = survey.below(BigInt(law.of), fill) < BigInt(law.held);
    const others = survey.choose(law.choices - 1, law.chosen - (holds ? 1 : 0), fill);
    const bytes = new Uint8Array(Math.ceil(law.choices / 8));
    const set = (place) => { bytes[place >> 3] |= 128 >> (place & 7); };
    others.forEach((place) => set(place < truth ? place : place + 1));
    if (holds) set(truth);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  },

  /* The end to which a number is rounded: 0, the upper, with a chance of place / steps. */
  round(place, steps, fill) {
    return survey.below(BigInt(steps), fill) < BigInt(place) ? 0 : 1;
  },

  /* Where on the steps from lower to upper a typed number lies; beyond the ends, at the end. */
  place(question, typed, steps) {
    const share = (typed - question.lower) / (question.upper - question.lower);
    return Math.round(Math.min(1, Math.max(0, share)) * steps);
  },

  randomise(question, answer, steps, fill) {
    const truth = question.kind === "number"
      ? survey.round(survey.place(question, answer, steps), steps, fill) : answer;
    return survey.report(question, truth, fill);
  },

  /* Which of so many questions one person is asked; the answers are not there yet. */
  question(count, fill) {
    return Number(survey.below(BigInt(count), fill));
  },

  /* What a report says, in words: of a number only to which end of its range it was rounded. */
  words(question, report) {
    const bytes = report.match(/../g).map((pair) => parseInt(pair, 16));
    const held = (place) => bytes[place >> 3] & (128 >> (place & 7));
    const end = (name) => `${question[name]} ${question.measure}`.trim() + ` (the ${name} end)`;
    const labels = { yes_no: ["yes", "no"], one_of: question.options,
      number: question.kind === "number" && [end("upper"), end("lower")] }[question.kind];
    return labels.filter((_, place) => held(place)).join(" or ");
  },
};
