/* The results of an open survey, asked for anew every five seconds while somebody looks at them.

   Only what has changed is put in its place: open tables stay open, and what has the focus keeps it. A screen
   reader hears how many have answered, and not more often than three times a minute. When nobody has moved for
   a quarter of an hour it stops, so that a browser that was left open is signed out in time. */
"use strict";
(() => {
  const EVERY = 5_000, QUIET = 20_000, ATTENTION = 15 * 60_000;
  const box = document.getElementById("results");
  if (!box?.dataset.live) return;
  const state = document.getElementById("results-state"), said = document.getElementById("results-said");
  const shown = new Map([...box.children].map((part) => [part.id, part.outerHTML]));
  let moved = Date.now(), heard = Date.now(), told = count(box), timer = 0, over = false;

  function count(place) { return place.querySelector("#results-people").textContent.split(".")[0].trim(); }
  const write = (words) => {
    state.hidden = false;
    if (state.textContent !== words) state.textContent = words;
  };

  /* A part as it came, in the place of the old one: what is open, and where the focus is, stay. */
  const put = (part) => {
    const before = document.getElementById(part.id);
    if (!before || shown.get(part.id) === part.outerHTML) return;
    shown.set(part.id, part.outerHTML);
    const focused = ["summary", ".table-box"].find((one) => before.querySelector(one)?.matches(":focus"));
    part.querySelectorAll("details").forEach((one, at) => { one.open = before.querySelectorAll("details")[at]?.open; });
    before.replaceWith(part);
    if (focused) part.querySelector(focused)?.focus({ preventScroll: true });
  };
  const announce = (words) => {
    if (words === told || Date.now() - heard < QUIET) return;
    told = words; heard = Date.now();
    said.textContent = words;
  };
  const stop = (words) => { over = true; write(words); };

  const ask = async () => {
    const response = await fetch(box.dataset.live, { redirect: "manual" });
    if (response.type === "opaqueredirect" || response.status === 401) return stop("You are signed out. Reload the page to sign in.");
    if (!response.ok) throw new Error("not now");
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("results");
    [...fresh.children].forEach(put);
    announce(count(box));
    if (!fresh.dataset.live) return stop("The survey is closed. Reload the page to go on.");
    return write("New answers are shown every 5 seconds.");
  };
  const next = () => { clearTimeout(timer); timer = setTimeout(turn, EVERY); };
  const turn = async () => {
    if (over || document.hidden) return;
    if (Date.now() - moved > ATTENTION) return write("Paused, since nobody has moved here for 15 minutes. Press a key or move to go on.");
    try { await ask(); } catch { write("The service does not answer now. This page tries again."); }
    if (!over) next();
  };
  const awake = () => {
    const slept = Date.now() - moved > ATTENTION;
    moved = Date.now();
    if (slept) next();
  };

  ["pointermove", "pointerdown", "keydown", "scroll"].forEach((name) => addEventListener(name, awake, { passive: true }));
  document.addEventListener("visibilitychange", () => { clearTimeout(timer); if (!document.hidden && !over) turn(); });
  write("New answers are shown every 5 seconds.");
  next();
})();
