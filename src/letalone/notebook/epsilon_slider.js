// Draws the slider, the price, the errors and the button. It loads nothing and sends nothing
// anywhere but to the kernel: where the slider stands, and the price on the button when pressed.

const make = (parent, tag, more = {}) => parent.appendChild(Object.assign(document.createElement(tag), more));

const fill = (table, rows) => {
  table.replaceChildren();
  for (const [name, error] of rows) {
    const row = make(table, "tr");
    make(row, "th", { scope: "row", textContent: name });
    make(row, "td", { textContent: error });
  }
};

const drawn = (el) => {
  const root = make(el, "section", { className: "letalone-slider" });
  root.setAttribute("aria-label", "Price of a question");
  const question = make(root, "p", { className: "letalone-question" });
  const label = make(root, "label");
  const name = make(label, "span");
  const slider = make(label, "input", { type: "range", min: 0, step: 1 });
  const live = make(root, "div", { className: "letalone-live" });
  live.setAttribute("aria-live", "polite");
  make(live, "p", { textContent: "Expected error:" });
  const errors = make(live, "table");
  const notes = make(live, "ul");
  const left = make(live, "p", { className: "letalone-left" });
  const button = make(root, "button", { type: "button" });
  const answer = make(root, "div", { className: "letalone-answer" });
  answer.setAttribute("aria-live", "polite");
  // Else JupyterLab takes the arrow keys and Enter for its own commands.
  for (const part of [slider, button]) part.setAttribute("data-lm-suppress-shortcuts", "true");
  return { question, name, slider, errors, notes, left, button, answer };
};

const WORDS = {
  ready: (price) => `Spend ${price} and answer`,
  asking: (price) => `Asking for ${price} …`,
  answered: (price) => `Answered for ${price}`,
  refused: (price) => `Not answered for ${price}`,
};

function render({ model, el }) {
  const parts = drawn(el);
  const { slider, button } = parts;
  let behind = false; // the slider has moved, and its price has not come yet

  const showEpsilon = () => {
    const words = `ε = ${model.get("epsilons")[slider.value]}`;
    parts.name.textContent = words;
    slider.setAttribute("aria-valuetext", words);
  };
  const showButton = () => {
    const state = model.get("state");
    button.textContent = WORDS[state](model.get("shown").price);
    // Not `disabled`: that would take the focus away from whoever pressed it by keyboard.
    button.setAttribute("aria-disabled", String(behind || state !== "ready"));
  };
  const showPrice = () => {
    const shown = model.get("shown");
    behind = false;
    parts.question.textContent = shown.question;
    fill(parts.errors, shown.errors);
    parts.notes.replaceChildren();
    for (const note of shown.notes) make(parts.notes, "li", { textContent: note });
    parts.left.textContent = shown.fits ? shown.left : `This does not fit. ${shown.left}`;
    parts.left.classList.toggle("letalone-over", !shown.fits);
    showButton();
  };
  const showScale = () => {
    slider.max = model.get("epsilons").length - 1;
    slider.value = model.get("place");
    showEpsilon();
  };
  const showAnswer = () => {
    const { price, html, words } = model.get("answered");
    parts.answer.replaceChildren();
    if (!price) return;
    if (words) make(parts.answer, "p", { textContent: words, className: "letalone-over" });
    else parts.answer.innerHTML = html; // every word in it was escaped in Python
  };

  slider.addEventListener("input", () => {
    behind = Number(slider.value) !== model.get("place");
    showEpsilon();
    showButton();
    model.set("place", Number(slider.value));
    model.save_changes();
  });
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    model.send({ pressed: model.get("shown").price });
  });

  const shows = { epsilons: showScale, place: showScale, shown: showPrice, state: showButton, answered: showAnswer };
  for (const [trait, show] of Object.entries(shows)) model.on(`change:${trait}`, show);
  showScale();
  showPrice();
  showAnswer();
  return () => {
    for (const [trait, show] of Object.entries(shows)) model.off(`change:${trait}`, show);
  };
}

export default { render };
