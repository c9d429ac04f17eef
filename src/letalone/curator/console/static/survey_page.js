/* The page on which one answers: what is shown when, what stays in this browser, what is sent.

   The form's data-state says where one is:
     no-link, keeps-nothing   nothing can be sent, and the page says why
     open                     questions wait for answers
     ready                    a report is made, and nobody has said that it arrived: the same is sent again
     sent, used               the invitation is used up

   True answers are in the form alone. They are cleared as soon as a report is made of them, and whenever
   the page is left: neither Back nor a page that the browser has put aside shows them to the next person. */
"use strict";
(() => {
  const form = document.getElementById("survey");
  if (!form) return;
  const part = (name) => document.getElementById(`survey-${name}`);
  const button = form.querySelector("[type=submit]"), sendWords = button.textContent;
  const data = JSON.parse(form.dataset.survey), token = location.hash.slice(1);
  const address = `/api/v1/surveys/${encodeURIComponent(data.name)}`;
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  const USED = "This invitation was used before. Each invitation counts once, so nothing more can be sent."
    + " If you sent an answer and saw no reply, it most likely arrived.";
  const NO_LINK = "You need your personal link. Open the one that was sent to you.";
  const CUT = "Your personal link is not whole, or has something behind it. Open it again, or copy all of it.";
  const WHOLE = /^[\w-]{24}$/; /* what the service draws for an invitation */
  const KEEPS_NOTHING = "This browser keeps nothing for this page, so an answer might be made random twice."
    + " Use a window that is not private.";
  const SENT = "Thank you. Your random answer was sent; your true answer never left this page, and is cleared from it.";
  const HALVES_SENT = "Thank you. Each counter has a half of your answer, which says nothing by itself.";
  const SENT_BEFORE = "Your answer was sent with this link before. It counts once, so there is nothing more to do.";
  const MADE_BEFORE = "Your answer was made random on this device before, but no reply came."
    + " Press “Send the same again”: it counts once.";
  const OTHER_AWAY = "The other counter cannot be reached. Press “Send the same again” later.";
  const AWAY = "The service cannot be reached. Press “Send the same again” later";
  const NOT_TAKEN = "The service did not take it. Try again later.";

  /* What stays in this browser for an invitation: never an answer. */
  const key = (name) => `letalone-survey-${data.name}-${token.slice(0, 8)}${name}`;
  const kept = (name) => token ? localStorage.getItem(key(name)) : null;
  const keep = (name, value) => { if (token) localStorage.setItem(key(name), value); };
  const keeps = () => { /* a private window may refuse */
    try {
      localStorage.setItem("letalone-survey", "kept");
      return localStorage.getItem("letalone-survey") === "kept";
    } catch { return false; }
  };

  /* What is shown. */
  const tell = (words, kind = "") => {
    part("said").className = kind;
    part("said").textContent = words;
    part("said").focus();
  };
  const enter = (state) => {
    form.dataset.state = state;
    const open = state === "open" || state === "no-link";
    part("questions").hidden = !open && state !== "keeps-nothing";
    part("acts").hidden = state === "sent" || state === "used";
    part("result").hidden = state !== "sent" || !part("sent").children.length;
    part("try").hidden = !open || Boolean(data.split);
    part("try").disabled = !open;
    button.disabled = state !== "open" && state !== "ready";
    form.noValidate = state === "ready"; /* its questions are out of sight, and answered */
    button.textContent = state === "ready" ? "Send the same again" : sendWords;
  };
  const list = (place, reports) => {
    part(place).replaceChildren(...reports.flatMap((report, at) => {
      if (!report) return []; /* of a question that was not drawn */
      const [item, question, words] = ["li", "span", "strong"].map((tag) => document.createElement(tag));
      question.textContent = data.questions[at].text;
      words.textContent = survey.words(data.questions[at], report);
      item.append(question, words);
      return [item];
    }));
  };
  const forget = () => {
    form.reset();
    part("tried").replaceChildren();
    part("demo").hidden = true;
  };
  const finish = (state, words) => {
    keep("-over", state);
    enter(state);
    tell(words, state === "sent" ? "good" : "");
  };

  /* Which questions are asked: all, or the one that is drawn now, before anything is typed. A reload asks the same. */
  const drawQuestion = () => {
    const count = data.questions.length, before = kept("-question");
    const place = /^\d+$/.test(before ?? "") && Number(before) < count ? Number(before) : survey.question(count);
    keep("-question", String(place));
    part("drawn").textContent = `Your browser drew question ${place + 1} of ${count} for you, at random, before you answer.`;
    const box = form.querySelectorAll(".asked")[place];
    box.hidden = false;
    box.querySelectorAll("input").forEach((field) => { field.disabled = false; });
    return [place];
  };
  let asked = data.questions.map((_, at) => at);
  const answers = () => {
    const found = data.questions.map((_, at) => {
      const value = asked.includes(at) ? form.elements[`question-${at}`].value : "";
      return value === "" ? null : Number(value);
    });
    return asked.every((at) => Number.isFinite(found[at])) ? found : null;
  };
  const makeReports = () => {
    const given = answers();
    return given && data.questions.map((question, at) =>
      asked.includes(at) ? survey.randomise(question, given[at], data.steps) : "");
  };

  /* What is sent. */
  const post = (at, body) => fetch(at, { method: "POST", headers: { "Content-Type": "application/json" },
    credentials: "omit", body: JSON.stringify(body) });
  const refused = async (response) => {
    /* Another tab of this browser may have sent the same meanwhile. */
    if (response.status === 409) return kept("-over") === "sent" ? finish("sent", SENT_BEFORE) : finish("used", USED);
    const problem = await response.json().catch(() => ({}));
    return tell(problem.detail || NOT_TAKEN, "bad");
  };

  const sendReports = async () => {
    const before = kept("");
    const reports = before ? JSON.parse(before) : makeReports();
    if (!reports) return tell("Please answer every question.", "bad");
    /* Kept before it is sent: nothing draws again, whatever happens on the way. */
    keep("", JSON.stringify(reports));
    forget();
    enter("ready");
    button.disabled = true;
    let response;
    try {
      response = await post(`${address}/reports`, { token, reports });
    } catch {
      return tell(`${AWAY}: the same random answer is sent.`, "bad");
    }
    if (!response.ok) return refused(response);
    list("sent", reports);
    return finish("sent", SENT);
  };

  /* The name of this invitation's report. It is kept: a counter counts one report of a name, so
     whoever is told to send again is counted once, even by a service that only says that it failed. */
  const nameOfReport = () => {
    const name = kept("-nonce") || hex(crypto.getRandomValues(new Uint8Array(16)));
    keep("-nonce", name);
    return Uint8Array.from(name.match(/../g).map((pair) => parseInt(pair, 16)));
  };
  const split = () => {
    const given = answers();
    if (!given) return null;
    const nonce = nameOfReport();
    const made = data.split.map((law, at) => prio3.shard(law, law.context,
      law.kind === "number" ? survey.place(data.questions[at], given[at], data.steps)
        : law.kind === "yes_no" ? 1 - given[at] : given[at],
      nonce, crypto.getRandomValues(new Uint8Array(prio3.randomSize(law)))));
    return [0, 1].map((place) => ({ nonce: hex(nonce), public: made.map((one) => hex(one.public)),
      shares: made.map((one) => hex(one.shares[place])) }));
  };

  /* Two counters: one half to each. The other one first, since this service then asks it. While the
     page is open the same halves are sent again; both together would tell the answer, so neither is kept. */
  let halves = null;
  const sendHalves = async () => {
    halves ??= split();
    if (!halves) return tell("Please answer every question.", "bad");
    forget();
    enter("ready");
    button.disabled = true;
    let second;
    try {
      second = await post(`${data.other}/api/v1/counters/${data.name}/halves`, halves[1]);
    } catch { return tell(OTHER_AWAY, "bad"); }
    try {
      if (!second.ok) return tell("The other counter did not take its half. Try again later.", "bad");
      const first = await post(`${address}/halves`, { token, ...halves[0] });
      if (!first.ok) return refused(first);
    } catch { return tell(`${AWAY}.`, "bad"); }
    halves = null;
    return finish("sent", HALVES_SENT);
  };

  addEventListener("hashchange", () => location.reload()); /* another invitation, another person */
  addEventListener("pagehide", () => { forget(); halves = null; });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.dataset.state !== "open" && form.dataset.state !== "ready") return;
    await (data.split ? sendHalves() : sendReports());
    button.disabled = form.dataset.state !== "open" && form.dataset.state !== "ready";
  });
  part("try").addEventListener("click", () => {
    if (!form.reportValidity()) return;
    part("demo").hidden = false;
    list("tried", makeReports());
  });

  /* Last of all: until here nothing can be pressed. */
  if (!keeps()) {
    enter("keeps-nothing");
    return tell(KEEPS_NOTHING, "bad");
  }
  if (data.how === "sample") asked = drawQuestion();
  const reports = kept(""), over = kept("-over");
  if (!WHOLE.test(token)) {
    enter("no-link");
    return tell(token ? CUT : NO_LINK, "bad");
  }
  if (over === "sent" && reports) list("sent", JSON.parse(reports));
  if (over) {
    enter(over);
    return tell(over === "sent" ? SENT_BEFORE : USED);
  }
  enter(reports ? "ready" : "open");
  if (reports) tell(MADE_BEFORE);
})();
