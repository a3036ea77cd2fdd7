// Keeps a page alive: follows the log, and makes the page what the server would show now, element by element.
const isBusy = (element) => element.contains(document.activeElement) && document.activeElement !== document.body;
const own = (element, name) => (element.matches("details, dialog") && name === "open") || name === "data-own";

/** Makes `now` what `next` is, and leaves alone whatever is the same, is typed into, or was opened. */
const morph = (now, next) => {
  if (now.isEqualNode(next)) return;
  if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName || now.id !== next.id) {
    if (!isBusy(now)) now.replaceWith(next);
    return;
  }
  if (now.nodeType !== Node.ELEMENT_NODE) { now.data = next.data; return; }
  if (now.hasAttribute("data-own")) return;
  if (now.matches("textarea, input:not([type=hidden]), select")) {
    const typed = now.value !== now.defaultValue;
    if (typed || now === document.activeElement || now.matches("select")) return;
  }
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && !own(now, name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value && !own(now, name)) now.setAttribute(name, value);
  if (now.matches("input:not([type=hidden])")) now.value = next.value;
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
    if (!isBusy(gone) && !gone.matches?.(".error, [data-own]")) gone.remove();
  }
};

/** Keeps what is read where it is while a column changes; says how much came above it. */
const hold = (column) => {
  const rows = all("[id]", column).filter((row) => row.offsetParent !== null);
  const top = column.getBoundingClientRect().top;
  const held = rows.find((row) => row === document.activeElement?.closest("[id]") && row !== column)
    ?? rows.find((row) => row.matches("li:hover, tr:hover"))
    ?? (column.scrollTop > 0 ? rows.find((row) => row.matches("li, tr") && row.getBoundingClientRect().top >= top) : null);
  if (!held) return () => {};
  const before = held.getBoundingClientRect().top;
  const known = new Set(rows.map((row) => row.id));
  return () => {
    if (!held.isConnected) return;
    column.scrollTop += held.getBoundingClientRect().top - before;
    const above = all("li[id]", column).filter((row) => !known.has(row.id) && row.getBoundingClientRect().bottom <= top);
    if (!above.length) return;
    const pill = $(":scope > .pill", column) ?? make("button", { className: "pill", type: "button" });
    pill.dataset.own = String(Number(pill.dataset.own ?? 0) + above.length);
    pill.textContent = `${pill.dataset.own} new, show`;
    pill.onclick = () => { column.scrollTop = 0; pill.remove(); };
    column.prepend(pill);
  };
};

const show = (next) => {
  const released = all(".column").map(hold);
  const thread = $("[data-follow-end]");
  const atEnd = thread && thread.scrollHeight - thread.scrollTop - thread.clientHeight < 40;
  for (const part of ["#content", "#above", "#rail", "main > header"]) if ($(part, next) && $(part)) morph($(part), $(part, next));
  document.body.dataset.csrf = next.body.dataset.csrf ?? "";
  document.title = next.title;
  const icon = $("link[rel=icon]");
  if (icon && icon.href !== $("link[rel=icon]", next)?.href) icon.replaceWith($("link[rel=icon]", next));
  for (const release of released) release();
  if (atEnd) thread.scrollTop = thread.scrollHeight;
  restoreDrafts();
  ages();
  document.dispatchEvent(new Event("page:shown"));
};

const RUN_OUT = "Your link has run out. Get a new one with understory open; your drafts are kept.";
/** The page of an address, as the server shows it now; nothing if it is away. */
const pageOf = async (address) => {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (answer.status === 401) { tell(RUN_OUT); return null; }
  if (!answer.ok && answer.status !== 404) return null;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  return $("#content", next) ? { next, address: answer.url } : null;
};

// At most five times a second, however much is written.
const PAUSE = 200;
// What is shown, and what there is: the head of the log, and how often a proof of it changed.
let seen = "", wanted = "", busy = false, last = 0;
const refresh = async () => {
  if (busy || document.hidden || seen === wanted) return;
  busy = true;
  await new Promise((go) => setTimeout(go, Math.max(0, last + PAUSE - Date.now())));
  last = Date.now();
  const upto = wanted, address = location.href;
  let away = false;
  try {
    const found = await pageOf(address);
    if (!found) { away = true; setTimeout(refresh, 1000); return; }
    // The person may have gone on meanwhile.
    if (address === location.href) { show(found.next); seen = upto; }
  } catch { away = true; /* The stream says when the server is back. */ } finally { busy = false; }
  if (seen !== wanted && !away) refresh();
};
const refreshNow = () => { seen = null; return refresh(); };

// Links that change what a page shows (a peek, a filter, a version) do it without leaving the page. The focus
// goes into what was opened, and back to the row, or to the one in its place.
let rowAt = { at: 0 };
const focusAfter = (from) => {
  const into = $("#content [data-focus]");
  if (into) { into.focus(); return; }
  if (from?.isConnected && from.offsetParent) { from.focus({ preventScroll: true }); return; }
  const found = rows();
  const row = document.getElementById(rowAt.id) ?? found[Math.min(rowAt.at, found.length - 1)];
  if (row) mainLink(row)?.focus();
};
const goTo = async (address, push = true) => {
  const found = await pageOf(address).catch(() => null);
  if (!found) { location.href = address; return; }
  if (push) history.pushState(null, "", found.address);
  const from = document.activeElement;
  const row = rowNow();
  if (row) rowAt = { id: row.id, at: rows().indexOf(row) };
  const within = isBusy($("#content"));
  if (within) from.blur();
  show(found.next);
  if (within || (push && $("#content [data-focus]"))) focusAfter(from);
};
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-soft]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  // Of a link within a picture, the address is an object.
  goTo(link.href.baseVal ?? link.href);
});
window.addEventListener("popstate", () => goTo(location.href, false));

// A stream of the log's head. The browser connects again by itself, and says where it was.
let lost = null, headNow = 0, headAtLoss = 0;
const tell = (text) => { const line = $("#connection"); if (line && line.textContent !== text) line.textContent = text; };
let events = null;
const follow = () => {
  events = new EventSource(document.body.dataset.events);
  events.onmessage = ({ data }) => {
    const { head, proof } = JSON.parse(data);
    if (lost) {
      const came = head - headAtLoss;
      lost = null;
      tell(came > 0 ? `Connected again. ${came} ${came === 1 ? "item" : "items"} came meanwhile; none is missing.` : "Connected again.");
      setTimeout(() => lost || tell(""), 4000);
    }
    wanted = `${head} ${proof}`;
    headNow = head;
    refresh();
  };
  events.onerror = () => {
    if (!lost) { lost = new Date(); headAtLoss = headNow; }
    tell(`Not connected since ${lost.toTimeString().slice(0, 5)}. What you write is kept.`);
    if (events?.readyState === EventSource.CLOSED) setTimeout(() => events && follow(), 3000);
  };
};
// A browser opens few connections to one server, so only a tab that is seen keeps one.
document.addEventListener("visibilitychange", () => {
  if (!document.body.dataset.events) return;
  if (document.hidden) { events?.close(); events = null; } else if (!events) follow();
});

// Times in the reader's zone, and ages that go on.
const ages = () => {
  for (const time of all("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(+at)) continue;
    time.title = at.toLocaleString();
    if (time.hasAttribute("data-clock")) { time.textContent = at.toTimeString().slice(0, 5); continue; }
    const past = Math.max(0, (Date.now() - at) / 1000);
    if (!/^\d+ (s|min|h|d)$/.test(time.textContent)) continue;
    time.textContent = past < 60 ? `${Math.floor(past)} s` : past < 3600 ? `${Math.floor(past / 60)} min`
      : past < 86400 ? `${Math.floor(past / 3600)} h` : `${Math.floor(past / 86400)} d`;
  }
};
