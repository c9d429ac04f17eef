"use strict";
// The number beside a slider, dark or light, what was typed and not sent, and that something is under way.
// Everything works without this file, but that unsent words outlive a reload.
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
    number.addEventListener("input", () => {
      const value = Math.log10(Number(number.value));
      const moved = number.value !== digits(10 ** Number(slider.value));
      if (moved && Number.isFinite(value)) slider.value = value;
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

  // What was typed and not yet sent stays in this tab: through a reload, and while another grant is looked at.
  // data-unsent="person, data set, purpose, way" says whose and for what; a page without a sign-out drops all.
  const UNSENT = "unsent\n";
  const stored = () => { try { return sessionStorage; } catch { return null; } };
  const named = (form) => UNSENT + form.dataset.unsent;
  const address = () => location.pathname + location.search;
  const fields = (form) => [...form.elements].filter((one) => one.name && !/^(hidden|password|file|submit)$/.test(one.type));
  const forget = (form) => stored()?.removeItem(named(form));
  const forgetAll = () => {
    for (const key of Object.keys(stored() ?? {})) if (key.startsWith(UNSENT)) stored().removeItem(key);
  };
  const ticks = (one) => one.type === "checkbox" || one.type === "radio";
  const key = (one) => ticks(one) ? `${one.name}=${one.value}` : one.name;
  const typed = (one) => ticks(one) ? one.checked : one.value;
  const note = (form) => {
    const values = Object.fromEntries(fields(form).map((one) => [key(one), typed(one)]));
    try { stored()?.setItem(named(form), JSON.stringify({ at: address(), values })); } catch { /* too long */ }
  };
  // A page that was asked for with another question in its address shows that one.
  const asksNothing = () => [...new URLSearchParams(location.search).keys()]
    .every((name) => ["data_set", "purpose", "way"].includes(name));
  const restore = (form) => {
    const found = JSON.parse(stored()?.getItem(named(form)) ?? "null");
    if (!found || (found.at !== address() && !asksNothing())) return;
    for (const one of fields(form).filter((one) => key(one) in found.values && typed(one) !== found.values[key(one)])) {
      one[ticks(one) ? "checked" : "value"] = found.values[key(one)];
      one.closest("details")?.setAttribute("open", "");
      one.dispatchEvent(new Event("input", { bubbles: true }));
    }
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
  document.addEventListener("htmx:after:swap", () => {
    settle();
    document.querySelectorAll("form[data-unsent]").forEach(document.getElementById("preview")?.dataset.at ? forget : note);
  });
  document.addEventListener("htmx:error", (event) => {
    if (event.detail.error?.name !== "AbortError") say("away");
  });

  // A page that the browser had put aside is as old as the moment one left it: what was spent since is not in it.
  addEventListener("pageshow", (event) => {
    if (event.persisted && !("posted" in root.dataset)) location.reload();
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
    if (!document.querySelector('form[action="/sign-out"]')) forgetAll();
    for (const form of document.querySelectorAll("form[data-priced]")) {
      form.addEventListener("input", outdate);
    }
    for (const form of document.querySelectorAll("form[data-unsent]")) {
      restore(form);
      form.addEventListener("input", () => note(form));
      form.addEventListener("submit", () => forget(form));
    }
    for (const form of document.querySelectorAll("form[data-working]")) {
      form.addEventListener("submit", () => { form.querySelector(".working").textContent = "working…"; });
    }
  });
})();
