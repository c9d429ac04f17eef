"use strict";
// The number beside a slider, dark or light, and that something is under way. Everything works without this file.
(() => {
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const keep = (value) => { try { localStorage.setItem("theme", value); } catch { /* not kept */ } };
  if (kept()) root.dataset.theme = kept();

  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  const digits = (value) => Number(value.toPrecision(2)).toString();

  // <input type="range" data-mirror="id of the number"> holds the base-10 logarithm of the number.
  const mirror = (slider) => {
    const number = document.getElementById(slider.dataset.mirror);
    if (!number) return;
    slider.addEventListener("input", () => {
      number.value = digits(10 ** Number(slider.value));
      number.dispatchEvent(new Event("input", { bubbles: true }));
    });
    number.addEventListener("input", (event) => {
      const value = Math.log10(Number(number.value));
      if (event.isTrusted && Number.isFinite(value)) slider.value = value;
    });
    slider.closest("[hidden]")?.removeAttribute("hidden");
  };

  // A price is for the form as it was: once that changes, there is nothing to spend until it is shown anew.
  const outdate = () => {
    const price = document.getElementById("price");
    if (!price) return;
    price.classList.add("stale");
    price.querySelector(".changed").hidden = false;
    const spend = price.querySelector("[name=agreed]");
    if (spend) spend.disabled = true;
  };

  // A price that did not come: what is there stays, and the page says why. "" hides it again.
  const say = (why) => {
    const box = document.getElementById("no-price");
    for (const words of box.children) words.hidden = words.dataset.why !== why;
    box.hidden = !why;
  };
  document.addEventListener("htmx:after:request", (event) => {
    const { response, text } = event.detail.ctx;
    const there = text.includes('id="preview"');
    say(there ? "" : response.status === 401 ? "over" : "away");
    if (!there) event.preventDefault();
  });
  // A price has an address of its own: a reload, and going back, shows the same.
  const settle = () => {
    const at = document.getElementById("preview")?.dataset.at;
    if (at) history.replaceState(null, "", at + location.hash);
  };
  document.addEventListener("htmx:after:swap", settle);
  document.addEventListener("htmx:error", (event) => {
    if (event.detail.error?.name !== "AbortError") say("away");
  });

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector(".top nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    for (const button of document.querySelectorAll("button.theme")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        root.dataset.theme = dark() ? "light" : "dark";
        keep(root.dataset.theme);
      });
    }
    document.querySelectorAll("[data-mirror]").forEach(mirror);
    settle();
    for (const form of document.querySelectorAll("form[data-priced]")) {
      form.addEventListener("input", outdate);
    }
    for (const form of document.querySelectorAll("form[data-working]")) {
      form.addEventListener("submit", () => { form.querySelector(".working").textContent = "working…"; });
    }
  });
})();
