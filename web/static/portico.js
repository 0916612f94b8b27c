// What the portal adds to htmx. Every page works without this file.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // Relative times stay true while a page is open. The server renders the same words (web/views/age.go).
  const units = [[86400 * 365, "year", "years"], [86400 * 30, "month", "months"], [86400, "day", "days"],
    [3600, "h", "h"], [60, "min", "min"], [1, "s", "s"]];
  function age(seconds) {
    for (const [size, one, many] of units) {
      const n = Math.floor(seconds / size);
      if (n >= 1) return n + " " + (n === 1 ? one : many);
    }
    return "now";
  }
  // They go by the server's clock, which the page tells as it comes: the browser's may be wrong, or be set right. Time that
  // passes without being counted, as while a laptop sleeps, shows in that both of the browser's clocks went differently; then
  // the server is asked for its time.
  const html = document.documentElement, apart = () => Date.now() - performance.now();
  let server, browser;
  function set(time) {
    server = time - performance.now();
    browser = apart();
  }
  set(Date.parse(html.dataset.now) || Date.now());
  async function ask() {
    const answer = await fetch(document.querySelector("link[rel=icon]").href, { method: "HEAD", cache: "no-store" }).catch(() => null);
    const time = Date.parse(answer?.headers.get("Date"));
    if (!time) return; // the next tick asks again
    set(time);
    show();
  }
  function tick() {
    if (Math.abs(apart() - browser) > 2000) ask();
    show();
  }
  function show() {
    const now = server + performance.now();
    for (const t of document.querySelectorAll("time[data-age]")) {
      const ahead = t.dataset.age === "in", since = (now - Date.parse(t.dateTime)) / 1000;
      const words = age(Math.max(0, ahead ? -since : since));
      const text = words === "now" || !t.dataset.age ? words : ahead ? "in " + words : words + " " + t.dataset.age;
      if (t.textContent !== text) t.textContent = text;
    }
  }
  setInterval(tick, 10000);

  // A form marked data-auto is sent as soon as a choice is made with a pointer. Arrow keys choose what they only pass by
  // (WCAG 3.2.2): who uses them has the button, as those without JavaScript.
  let keys = false;
  addEventListener("keydown", () => { keys = true; }, true);
  addEventListener("pointerdown", () => { keys = false; }, true);
  document.addEventListener("change", (e) => {
    const form = e.target.closest("form[data-auto]");
    if (form && !keys) form.requestSubmit();
  });

  // Inputs that others rule out, or do not call for, are hidden as long as they are empty and nothing is wrong with them.
  // data-when has a condition a line: the other input, "empty" or "is", and the values that will do (none: any).
  function values(name) {
    return [...document.querySelectorAll("#request :is(input:not([type=hidden]), select, textarea)")].filter((el) =>
      (el.name === name || el.name.startsWith(name + ".") || el.name.startsWith(name + "[")) && el.value && (el.type !== "checkbox" || el.checked))
      .map((el) => el.value);
  }
  function holds(rule) {
    const [name, is, ...any] = rule.split(" "), has = values(name);
    return is === "empty" ? !has.length : has.some((v) => !any.length || any.includes(v));
  }
  function arrange() {
    for (const el of document.querySelectorAll("[data-when]")) {
      el.hidden = !el.dataset.when.split("\n").every(holds) && !values(el.dataset.field).length && !el.querySelector(".err");
    }
  }
  for (const name of ["DOMContentLoaded", "htmx:after:swap", "input", "change"]) document.addEventListener(name, arrange);

  // What is entered in a form stays with its place in this tab's history: who comes back to it, or loads it anew, finds it
  // again, as the server shows it. That also makes of a page that answers a form one that can be come back to. What looks like
  // a secret is not kept, by its name or as a login in an address; a text with such a value is not kept as a whole. Signing
  // out forgets all, and so does somebody else who signs in. data-draft says what the server is to do with what was kept.
  // Who signs in on the way, for the session had ended, comes back to another place of the history: what was entered last at
  // the same address is theirs.
  const telling = /pass|pwd|secret|token|credential|(api|access|private|signing|encryption).?key|auth|dsn/i;
  const login = /:\/\/[^\/\s]*:[^\/\s]*@/;
  const named = /\b(?:name|key)["']?\s*:\s*["']?([\w.-]*)/gi;
  const tells = (text) => login.test(text) || text.split(/\n\s*- |\{/).some((item) =>
    /\bvalue["']?\s*:/.test(item) && [...item.matchAll(named)].some((m) => telling.test(m[1])));
  const user = () => document.querySelector(".who b")?.title || "";
  const whose = "draft of", back = "draft back";
  const at = () => "draft at " + location.pathname + location.search;
  let entered = false, recalling = false, draft = "";
  const drafted = () => document.querySelector("form[data-draft]");
  function forget() {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith("draft ")) sessionStorage.removeItem(key);
  }
  function note() { // htmx, and links within the page, have their own ideas of the state of a place; on the way out it is too late
    if (draft && history.state?.draft !== draft) history.replaceState({ ...history.state, draft }, "");
  }
  function keep() {
    const form = drafted();
    if (!form || recalling) return;
    note();
    const data = new FormData(form);
    data.set("do", form.dataset.draft);
    for (const name of [...data.keys()]) {
      const of = name.endsWith(".value") && name.slice(0, -6);
      if (of && (telling.test(data.get(of + ".name") || data.get(of + ".key") || "") || login.test(data.get(name)))) data.delete(name);
    }
    const text = new URLSearchParams(data).toString();
    sessionStorage.removeItem(draft);
    if ([...data.values()].some(tells)) return;
    const put = () => {
      sessionStorage.setItem(draft, text);
      sessionStorage.setItem(whose, user());
      sessionStorage.setItem(at(), draft);
    };
    try {
      put();
    } catch { // the browser keeps no more than so much: the form that is open goes first
      forget();
      try { put(); } catch { /* too large even so */ }
    }
  }
  async function recall(form, kept) {
    form.inert = recalling = true; // what is typed meanwhile would be lost
    const answer = await fetch(form.action, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: kept }).catch(() => null);
    const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("request");
    form.inert = recalling = false;
    if (!page) {
      say("What you entered here could not be brought back just now: load the page anew to try again.");
      return;
    }
    form.replaceWith(document.adoptNode(page));
    htmx.process(page);
    arrange();
    entered = true;
  }
  document.addEventListener("DOMContentLoaded", () => {
    const of = sessionStorage.getItem(whose);
    if (document.querySelector("[data-forget]") || (of && user() && of !== user())) forget();
    const signIn = document.querySelector("a[href*='?return_to=']");
    if (signIn) sessionStorage.setItem(back, "draft at " + new URL(signIn.href).searchParams.get("return_to"));
    const form = drafted(), returned = user() && sessionStorage.getItem(back) === at() && sessionStorage.getItem(at());
    if (user()) sessionStorage.removeItem(back);
    if (!form) return;
    draft = history.state?.draft || returned;
    if (!draft) {
      draft = "draft " + Date.now() + Math.random();
      sessionStorage.removeItem(at()); // that was of another form
    }
    note();
    const kept = sessionStorage.getItem(draft);
    if ("entered" in form.dataset) keep();
    else if (kept) recall(form, kept);
  });
  for (const name of ["input", "change", "htmx:after:swap"]) document.addEventListener(name, () => { entered = true; note(); });
  addEventListener("hashchange", note);
  document.addEventListener("submit", (e) => { if (e.target === drafted()) keep(); });
  addEventListener("pagehide", () => { if (entered) keep(); });
  document.addEventListener("visibilitychange", () => { if (entered && document.hidden) keep(); });

  // Values to choose from come when an input for one gets the focus, and are asked for once; without an answer again. Who may not list
  // them types. There are names, the keys of what is named beside, and what an AWS account has, which depends on other inputs.
  const source = (input) => {
    const has = input.list?.dataset;
    if (has?.offers) {
      const from = new URL(has.offers, location);
      for (const name of has.by.split(" ")) {
        const other = document.getElementsByName(name)[0];
        if (other) from.searchParams.set(name, other.value.trim());
      }
      return from.href;
    }
    const of = input.dataset.keyOf && document.getElementsByName(input.dataset.keyOf)[0]?.value;
    return of ? has?.keys + "?of=" + encodeURIComponent(of) : has?.names;
  };
  const option = (line) => {
    const [value, label] = line.split("\t");
    return new Option(label || value, value);
  };
  const choices = async (input, list, from, tries) => {
    const said = document.getElementById(list.id + "-note");
    const say = (text) => { if (said) said.textContent = text; };
    const answer = await fetch(from, { cache: "no-store", headers: { "HX-Request": "true" } }).catch(() => null);
    const plain = answer?.headers.get("Content-Type")?.startsWith("text/plain"), text = plain ? await answer.text().catch(() => "") : "";
    if (list.dataset.has !== from) return;
    if (answer?.status === 202 && tries > 0) {
      setTimeout(() => { if (list.dataset.has === from) choices(input, list, from, tries - 1); }, 2500);
      return;
    }
    if (answer?.status === 200) list.replaceChildren(...text.split("\n").filter(Boolean).map(option));
    else delete list.dataset.has;
    say(answer?.status === 200 ? (text ? "" : "Nothing found that you can use here. You can type a value.") : answer?.status === 202 ? "AWS takes long to answer. You can type a value." : text);
    if (said && answer?.status === 200 && document.activeElement === input && !input.value) try { input.showPicker(); } catch { /* it opens on the next key */ }
  };
  document.addEventListener("focusin", (e) => {
    const list = e.target.list, from = list && source(e.target);
    if (!from || list.dataset.has === from) return;
    if (list.dataset.has) list.replaceChildren();
    list.dataset.has = from;
    const said = document.getElementById(list.id + "-note");
    if (said) said.textContent = "Asking AWS…";
    choices(e.target, list, from, 4);
  });
  // What is found, or typed, for a list of lines is added to it.
  const adds = (input) => {
    const lines = document.getElementById(input.dataset.adds), value = input.value.trim();
    if (!lines || !value) return;
    const has = lines.value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!has.includes(value)) lines.value = [...has, value].join("\n");
    input.value = "";
    lines.dispatchEvent(new Event("input", { bubbles: true }));
  };
  document.addEventListener("input", (e) => {
    if (e.target.dataset?.adds && [...e.target.list.options].some((o) => o.value === e.target.value)) adds(e.target);
  });
  document.addEventListener("change", (e) => { if (e.target.dataset?.adds) adds(e.target); });

  // Who comes back to a form may have made in another tab what it lets one choose: the choices are asked for again.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !document.getElementById("request")) return;
    for (const list of document.querySelectorAll("datalist[data-has]")) delete list.dataset.has;
    document.body.dispatchEvent(new CustomEvent("portico:back"));
  });

  // Buttons that copy the text of the element they name.
  document.addEventListener("click", async (e) => {
    const button = e.target.closest("button[data-copy]");
    const source = button && document.getElementById(button.dataset.copy);
    if (!source) return;
    const label = button.dataset.label ??= button.textContent; // pressed again, it says something else
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });

  // What nobody may find later goes with the page, also from one that the browser keeps to go back to.
  addEventListener("pagehide", () => {
    for (const el of document.querySelectorAll("[data-secret]")) el[el.form ? "value" : "textContent"] = "";
  });

  // A log that is followed: its lines come as events and are put in as text, never as markup. The first ones take the place
  // of what is there; who has scrolled up stays where they are.
  function write(fresh, text) {
    const log = document.getElementById("log");
    if (!log) return;
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    if (fresh) log.textContent = "";
    log.append(text + "\n");
    if (atEnd) log.scrollTop = log.scrollHeight;
  }
  document.addEventListener("log-start", (e) => write(true, e.detail.data));
  document.addEventListener("log", (e) => write(false, e.detail.data));
  document.addEventListener("DOMContentLoaded", () => {
    const log = document.getElementById("log");
    if (log) log.scrollTop = log.scrollHeight;
  });

  // An error page that may be over soon looks whether it is, and makes way.
  function retry() {
    setTimeout(async () => {
      const back = await fetch(location.href, { cache: "no-store", headers: { "HX-Request": "true" } }).then((r) => r.status < 500, () => false);
      if (back) reload();
      else retry();
    }, 5000);
  }
  document.addEventListener("DOMContentLoaded", () => { if (document.querySelector("[data-retry]")) retry(); });

  // Leaving a page ends its streams; those ends are no losses.
  let leaving = false;
  let sent = -Infinity; // when a form was sent whose answer takes the place of this page
  addEventListener("pagehide", () => { leaving = true; });
  addEventListener("submit", (e) => { if (!e.defaultPrevented) sent = performance.now(); });
  // The answer of a form says more than the page that would be loaded again ("You are signed out"): it is waited for.
  let later; // timer
  function reload() {
    clearTimeout(later);
    const left = sent + 10000 - performance.now();
    if (left > 0) later = setTimeout(reload, left);
    else if (!leaving) location.reload();
  }
  addEventListener("pageshow", (e) => {
    leaving = false;
    sent = -Infinity;
    if (!e.persisted) return;
    tick();
    if (document.querySelector("[data-secret]")) location.replace(location.pathname + location.search); // it may answer a form, which is not to be sent again
    else if (!document.querySelector("[hx-sse\\:connect], #request")) location.reload(); // a stream begins with what is now, and a form has what was entered
  });

  function live(state, words) {
    for (const el of document.querySelectorAll("[data-live]")) {
      el.dataset.live = state;
      if (el.textContent !== words) el.textContent = words;
    }
  }
  function say(words) {
    const flash = document.getElementById("flash");
    if (flash) { flash.textContent = words; flash.hidden = !words; }
  }
  // The session has ended, access is gone or the page no longer exists: the server has the right page for it.
  const over = (status) => status === 401 || status === 403 || status === 404 || status === 410;
  // The identity provider does not answer, without which nobody can tell who this is. The page stays, and goes on by itself.
  const away = (status) => status === 424;
  const awayWords = "Your organisation's sign-in service does not answer. This page shows what was, and goes on by itself as soon as it answers.";

  // With HTTP/1.1 a browser has six connections to a host, whatever the number of its windows. Those that are looked at share
  // four places for streams, and the others look in turns, one after the other: each opens its stream, takes what there is,
  // and closes it. Places are locks, which the browser takes back from a window that is closed, however that happens.
  const limited = navigator.locks && !/^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol);
  const places = 4, pause = 5000;
  let place, turn; // what gives it back, if this window has it
  let quiet, next; // timers
  let finished; // the stream that has ended for good
  let waiting = new AbortController();
  const lock = (name, options) => new Promise((resolve, reject) => {
    navigator.locks.request(name, options, (got) => got ? new Promise(resolve) : resolve()).catch(reject);
  });
  async function enter(signal) {
    for (let n = 1; n <= places && !place; n++) place = await lock("stream " + n, { ifAvailable: true });
    if (!place && !turn) turn = await lock("stream turn", { signal });
    if (!signal.aborted) return;
    free();
    throw signal.reason;
  }
  function free() {
    place?.();
    turn?.();
    clearTimeout(quiet);
    place = turn = undefined;
  }
  function open(stream, after) {
    clearTimeout(next);
    next = setTimeout(() => {
      if (leaving || document.hidden || stream === finished || stream._htmx?.sse || !stream.isConnected) return;
      htmx.ajax("GET", stream.getAttribute("hx-sse:connect"), { source: stream });
    }, after);
  }
  function look(stream, most) { // no longer than something comes
    if (!turn) return;
    clearTimeout(quiet);
    quiet = setTimeout(() => stream._htmx?.sse?.reader?.cancel(), most);
  }
  const isStream = (e) => e.target.hasAttribute?.("hx-sse:connect");
  // A page that is left must keep no connection, not even one whose answer is still to come: it may be kept to go back to.
  const streams = "[hx-sse\\:connect]";
  function stop() {
    const sse = document.querySelector(streams)?._htmx?.sse;
    free();
    if (sse?.reader) sse.reader.cancel();
    else if (sse) sse.abortController?.abort();
    waiting.abort();
    waiting = new AbortController();
  }
  function resume() {
    const stream = document.querySelector(streams);
    if (stream) open(stream, 0);
  }
  if (limited) {
    addEventListener("pagehide", stop);
    addEventListener("pageshow", (e) => { if (e.persisted) resume(); });
    document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else resume(); });
  }

  document.addEventListener("htmx:config:request", (e) => {
    const { ctx } = e.detail;
    ctx.request.cache = "no-store"; // the server need not say so: that would keep the page itself out of the back/forward cache
    if (limited && isStream(e)) ctx.fetch = async (url, request) => {
      const signal = AbortSignal.any([request.signal, waiting.signal]);
      await enter(signal);
      return fetch(url, { ...request, signal });
    };
  });
  // A filter may change while the stream of the one before is still being opened: that stream has nothing to say any more.
  const stale = (e) => e.detail.connection.url !== e.target.getAttribute("hx-sse:connect");
  document.addEventListener("htmx:sse:before:connection", (e) => {
    const again = limited && e.detail.connection.attempt && !place; // after a turn, or after the window was hidden
    if (again) open(e.target, turn ? pause : 0);
    if (again) free();
    if (again || stale(e)) e.detail.connection.cancelled = true;
  });
  document.addEventListener("htmx:sse:before:message", (e) => { if (stale(e)) e.detail.cancelled = true; });
  document.addEventListener("htmx:sse:after:connection", (e) => {
    look(e.target, 2000);
    if (turn) live("on", "Every few seconds");
    else live("on", "Live");
    say("");
  });
  document.addEventListener("htmx:sse:error", (e) => {
    if (leaving) return;
    if (over(e.detail.status)) reload();
    else live("lost", "Reconnecting");
    if (away(e.detail.status)) say(awayWords);
  });
  // htmx opens a stream again that was lost, but not one that never began: that is tried until it does.
  function begin(stream) {
    live("lost", "Reconnecting");
    free();
    open(stream, 5000);
  }
  // What got the focus as the page was opened has had it: htmx would put it there again with every message.
  document.addEventListener("htmx:sse:before:message", () => {
    for (const el of document.querySelectorAll("[autofocus]")) el.removeAttribute("autofocus");
  });
  document.addEventListener("htmx:sse:after:message", (e) => {
    look(e.target, 400);
    tick();
  });
  document.addEventListener("htmx:after:swap", tick);
  document.addEventListener("htmx:sse:close", (e) => {
    if (leaving || e.detail.reason !== "message") return;
    live("off", "Finished");
    finished = e.target;
    free();
  });
  document.addEventListener("htmx:response:error", (e) => {
    const status = e.detail.ctx.response.status;
    if (over(status) && document.getElementById("request")) { // leaving the page would lose what was entered
      say(status === 401 ? "Your session has ended. Sign in again in another tab, then go on here: nothing you entered is lost."
        : "You are not allowed to do this any more, or it is gone. What you entered is still here: copy what you need.");
    } else if (over(status)) reload();
    else if (isStream(e)) {
      begin(e.target);
      if (away(status)) say(awayWords);
    } else if (away(status)) say("Your organisation's sign-in service does not answer, so that Portico cannot tell who you are. Nothing was lost: try again in a minute.");
    else if (status === 429) say("That was too much in a short time. Wait a few seconds, then try again.");
    else if (status >= 500) say("Portico could not do that just now. Nothing was lost: try again in a moment.");
  });
  document.addEventListener("htmx:error", (e) => {
    if (leaving) return;
    if (isStream(e)) begin(e.target);
    else say("Portico cannot be reached. Check your connection and try again.");
  });
})();
