"use strict";
// The slider of the playground. Promises are looked up in playground_numbers.js; only the made-up answers
// are drawn here, by the browser's own random numbers: good enough for a picture, not for data about people.
(() => {
  const COUNT = 1000, ANSWERS = 12;
  const steps = window.letalonePlayground;
  const part = (name) => document.getElementById(`playground-${name}`);
  const slider = part("slider");
  slider.max = steps.length - 1;
  slider.value = steps.findIndex((step) => step.epsilon === 1);

  const uniform = () => (crypto.getRandomValues(new Uint32Array(1))[0] + 0.5) / 2 ** 32;
  const laplace = (scale) => scale * Math.log(uniform() / uniform());
  const readable = (number) => number.toLocaleString("en", { maximumSignificantDigits: 3 });

  const drawAnswers = (epsilon) => {
    const drawn = Array.from({ length: ANSWERS }, () => Math.round(COUNT + laplace(1 / epsilon)));
    part("answers").textContent = drawn.map((answer) => answer.toLocaleString("en")).join("   ");
  };
  const drawCurve = (corner) => {
    const at = (alarms, missed) => `${40 + 200 * alarms},${210 - 200 * missed}`;
    const points = [at(0, 0), at(0, 1), at(corner, corner), at(1, 0)];
    part("area").setAttribute("points", points.join(" "));
  };
  const show = () => {
    const step = steps[slider.value];
    const words = `ε = ${step.epsilon}`;
    slider.setAttribute("aria-valuetext", words);
    part("epsilon").textContent = words;
    for (const name of ["guess", "caught", "factor"]) part(name).textContent = step[name];
    part("error").textContent = `± ${readable(step.error)}`;
    drawCurve(step.corner);
    drawAnswers(step.epsilon);
  };
  slider.addEventListener("input", show);
  part("again").addEventListener("click", () => drawAnswers(steps[slider.value].epsilon));
  part("page").hidden = false;
  show();
})();
