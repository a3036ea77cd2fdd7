// Keeps a page alive: it follows the log, replaces what changed, keeps what is being typed, and sends forms.
"use strict";
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const base = document.body.dataset.base;
  const drafts = "understory draft ";
  const KEPT = 30 * 24 * 3600 * 1000;

  // What is typed is kept by its form and field until it is sent.
  const fieldKey = (field) => {
    const form = field.closest("form[data-draft]");
    return form && field.name && field.type !== "hidden" ? drafts + base + form.dataset.draft + "." + field.name : null;
  };
  const restore = () => {
    for (const field of all("form[data-draft] textarea, form[data-draft] input:not([type=hidden])")) {
      const saved = localStorage.getItem(fieldKey(field));
      if (saved && !field.value) field.value = JSON.parse(saved).text;
    }
  };
  const expire = () => {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(drafts) && JSON.parse(localStorage.getItem(key)).at < Date.now() - KEPT) localStorage.removeItem(key);
    }
  };
  document.addEventListener("input", ({ target }) => {
    const key = fieldKey(target);
    if (!key) return;
    if (target.value) localStorage.setItem(key, JSON.stringify({ text: target.value, at: Date.now() }));
    else localStorage.removeItem(key);
  });

  // Makes `now` what `next` is, and leaves alone whatever is the same, is typed into, or was opened.
  const morph = (now, next) => {
    if (now.isEqualNode(next)) return;
    if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName || now.id !== next.id) {
      if (!now.contains(document.activeElement)) now.replaceWith(next);
      return;
    }
    if (now.nodeType === Node.TEXT_NODE) { now.data = next.data; return; }
    if (now.matches("textarea, input:not([type=hidden])")) return;
    for (const { name } of [...now.attributes]) {
      if (!next.hasAttribute(name) && !(now.matches("details") && name === "open")) now.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (now.getAttribute(name) !== value && !(now.matches("details") && name === "open")) now.setAttribute(name, value);
    }
    const kept = new Map([...now.children].filter((child) => child.id).map((child) => [child.id, child]));
    let at = now.firstChild;
    for (const child of [...next.childNodes]) {
      const known = child.id && kept.get(child.id);
      if (known) {
        kept.delete(child.id);
        if (known === at) at = at.nextSibling; else now.insertBefore(known, at);
        morph(known, child);
      } else if (at && !at.id && !child.id && at.nodeName === child.nodeName) {
        const same = at;
        at = at.nextSibling;
        morph(same, child);
      } else {
        now.insertBefore(child, at);
        if (child.nodeType === Node.ELEMENT_NODE && child.id) child.classList.add("fresh");
      }
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      if (!gone.contains(document.activeElement) && !(gone.matches?.(".error"))) gone.remove();
    }
  };

  // At most five times a second, however much is written.
  const PAUSE = 200;
  let seen = 0, wanted = 0, busy = false, last = 0;
  const refresh = async () => {
    if (busy || document.hidden || seen === wanted) return;
    busy = true;
    await new Promise((go) => setTimeout(go, Math.max(0, last + PAUSE - Date.now())));
    last = Date.now();
    const upto = wanted;
    let away = false;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected || answer.status === 401) { tell("Your link has run out. Get a new one with understory open; your drafts are kept."); return; }
      if (!answer.ok && answer.status !== 404) { away = true; setTimeout(refresh, 1000); return; }
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      if ($("#content", next)) {
        morph($("#content"), $("#content", next));
        morph($("#rail"), $("#rail", next));
        morph($("main > header"), $("main > header", next));
        document.title = next.title;
      }
      seen = upto;
    } catch { away = true; /* The stream says when the server is back. */ } finally { busy = false; }
    if (seen !== wanted && !away) refresh();
  };

  // A stream of the log's head. The browser connects again by itself, and says where it was.
  let lost = null;
  const tell = (text) => { const line = $("#connection"); if (line && line.textContent !== text) line.textContent = text; };
  let events = null;
  const follow = () => {
    events = new EventSource(document.body.dataset.events);
    events.onopen = () => { if (lost) { lost = null; tell("Connected again."); setTimeout(() => tell(""), 4000); } };
    events.onmessage = ({ data }) => {
      const { head } = JSON.parse(data);
      if (!wanted && !seen) seen = head - 1;
      wanted = head;
      refresh();
    };
    events.onerror = () => {
      lost ??= new Date();
      tell(`Not connected since ${lost.toTimeString().slice(0, 5)}. What you write is kept.`);
      if (events?.readyState === EventSource.CLOSED) setTimeout(() => events && follow(), 3000);
    };
  };
  // A browser opens few connections to one server, so only a tab that is seen keeps one.
  document.addEventListener("visibilitychange", () => {
    if (!document.body.dataset.events) return;
    if (document.hidden) { events?.close(); events = null; } else if (!events) follow();
  });

  // Forms are sent without leaving the page; an error stands under the form that caused it.
  const fail = (form, text) => {
    const box = $(".error", form) ?? form.appendChild(Object.assign(document.createElement("p"), { className: "error" }));
    box.setAttribute("role", "alert");
    box.textContent = text;
  };
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form.act")) return;
    event.preventDefault();
    const data = new URLSearchParams(new FormData(form, event.submitter));
    form.dataset.key ??= crypto.randomUUID();
    data.set("key", form.dataset.key);
    $(".error", form)?.remove();
    try {
      const answer = await fetch(form.action, { method: "POST", body: data, headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) {
        const { message, hint } = said.error ?? {};
        fail(form, [message ?? "That did not work.", hint].filter(Boolean).join(" "));
        delete form.dataset.key;
        return;
      }
      delete form.dataset.key;
      for (const field of all("textarea, input:not([type=hidden])", form)) {
        localStorage.removeItem(fieldKey(field));
        field.value = "";
      }
      form.closest("details")?.removeAttribute("open");
      seen = -1;
      await refresh();
    } catch {
      fail(form, "The server does not answer. What you wrote is kept; send it again.");
    }
  });

  // Keys. Single letters do nothing in a field.
  let go = 0;
  const rows = () => all(".entry, .agent, .row, .card, .log li, .message");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter") { event.target.closest("form")?.requestSubmit(); return; }
    if (event.key === "Escape") { document.activeElement?.blur(); return; }
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = go && Date.now() - go < 1500 && $(`.rail a[data-key="${CSS.escape(event.key)}"]`);
    go = 0;
    if (place) { location.href = place.href; return; }
    if (event.key === "g") { go = Date.now(); return; }
    if (event.key === "m") { const field = $("#message"); if (field) { event.preventDefault(); field.focus(); } return; }
    if (event.key === "/") { event.preventDefault(); const field = $("#content input[type=search]"); if (field) field.focus(); else location.href = `${base}search`; return; }
    if (event.key === "j" || event.key === "k") {
      const found = rows();
      const at = found.findIndex((row) => row.contains(document.activeElement));
      const next = found[Math.min(found.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))];
      $("a, summary, button", next ?? document.createElement("i"))?.focus();
    }
  });

  // Times in the reader's zone, and ages that go on.
  const ages = () => {
    for (const time of all("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(+at)) continue;
      time.title = at.toLocaleString();
      const past = Math.max(0, (Date.now() - at) / 1000);
      if (!/^\d+ (s|min|h|d)$/.test(time.textContent)) continue;
      time.textContent = past < 60 ? `${Math.floor(past)} s` : past < 3600 ? `${Math.floor(past / 60)} min`
        : past < 86400 ? `${Math.floor(past / 3600)} h` : `${Math.floor(past / 86400)} d`;
    }
  };
  // A link that `understory open` opened needs no further click.
  $("form[data-go]")?.submit();
  expire();
  restore();
  ages();
  setInterval(() => document.hidden || ages(), 60_000);
  if (document.body.dataset.events && !document.hidden) follow();
})();
