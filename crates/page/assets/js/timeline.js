// Timeline: marks that are walked by keys, and the strip whose window is moved by hand.
const hrefOf = (link) => link.href.baseVal ?? link.href;
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (!link.closest("#strip")) goTo(new URL(hrefOf(link), location.href).href);
});
document.addEventListener("click", (event) => {
  const menu = event.target.closest?.(".menu");
  for (const open of all(".menu[open]")) if (open !== menu || event.target.closest("a")) open.removeAttribute("open");
});
/** Goes to a window of time, in milliseconds. */
const goToWindow = (from, to) => {
  const address = new URL(location.href);
  if (!address.pathname.endsWith("/timeline")) return;
  address.searchParams.set("from", new Date(from).toISOString());
  if (to < Date.now()) address.searchParams.set("to", new Date(to).toISOString()); else address.searchParams.delete("to");
  address.searchParams.delete("before");
  goTo(address.href);
};
const windowNow = () => { const { from, to } = $("#lanes")?.dataset ?? {}; return [Number(from), Number(to)]; };

// Marks: left and right within a lane, over its end into the next.
const markNow = () => document.activeElement?.closest?.("#picture a");
document.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isField(event.target) || event.target.closest("dialog, .menu")) return;
  const found = all("#picture .dot, #picture .box, #picture .columns-of-time a");
  if (!found.length) return;
  event.preventDefault();
  const at = found.indexOf(markNow() ?? $("#picture .is-chosen"));
  const next = found[at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(found.length - 1, Math.max(0, at + by))];
  for (const one of found) one.setAttribute("tabindex", one === next ? "0" : "-1");
  next.focus();
});
const roving = () => {
  const found = all("#picture .dot, #picture .box, #picture .columns-of-time a");
  if (found.length && !found.some((one) => one.getAttribute("tabindex") === "0")) found.at(-1).setAttribute("tabindex", "0");
};

// The strip.
let held = null;
const stripAt = (strip, x) => {
  const { left, width } = strip.getBoundingClientRect();
  const from = Number(strip.dataset.from), to = Number(strip.dataset.to);
  return from + Math.min(1, Math.max(0, (x - left) / width)) * (to - from);
};
const drawFrame = (from, to) => {
  const strip = $("#strip"), frame = $("#frame");
  const first = Number(strip.dataset.from), length = Number(strip.dataset.to) - first;
  frame.setAttribute("x", `${(from - first) / length * 100}%`);
  frame.setAttribute("width", `${Math.max(0.3, (to - from) / length * 100)}%`);
};
document.addEventListener("pointerdown", (event) => {
  const strip = event.target.closest?.("#strip");
  if (!strip || event.button) return;
  const [from, to] = windowNow();
  const grip = event.target.dataset.grip;
  held = { strip, grip, moves: Boolean(event.target.closest("#frame")), start: event.clientX, at: stripAt(strip, event.clientX), from, to, now: null };
  strip.setPointerCapture(event.pointerId);
  event.preventDefault();
});
document.addEventListener("pointermove", (event) => {
  if (!held || (!held.now && Math.abs(event.clientX - held.start) < 3)) return;
  const { from, to, grip, at } = held, here = stripAt(held.strip, event.clientX);
  if (grip === "from") held.now = [Math.min(here, to - 10_000), to];
  else if (grip === "to") held.now = [from, Math.max(here, from + 10_000)];
  else if (held.moves) held.now = [from + here - at, to + here - at];
  else held.now = [Math.min(at, here), Math.max(at, here)];
  drawFrame(...held.now);
});
document.addEventListener("pointerup", () => {
  if (!held) return;
  const { now, at, from, to, moves } = held;
  held = null;
  if (now) goToWindow(...now);
  else if (!moves) goToWindow(at - (to - from) / 2, at + (to - from) / 2);
});
document.addEventListener("pointercancel", () => { held = null; });
let wheel = 0, turned = null;
document.addEventListener("wheel", (event) => {
  const strip = event.target.closest?.("#strip");
  if (!strip) return;
  event.preventDefault();
  const [from, to] = turned ?? windowNow(), at = stripAt(strip, event.clientX);
  const by = event.deltaY > 0 ? 1.25 : 0.8;
  // It grows and shrinks around the pointer where that is in it, else around its middle.
  const middle = at > from && at < to ? at : (from + to) / 2;
  turned = [middle - (middle - from) * by, middle + Math.max(5_000, (to - middle) * by)];
  drawFrame(...turned);
  clearTimeout(wheel);
  wheel = setTimeout(() => { goToWindow(...turned); turned = null; }, 200);
}, { passive: false });

// What all did in an hour, beside the pointer or the focus.
const hoursCard = (link) => {
  $("#hours-card")?.remove();
  const title = link && $("title", link);
  if (!title) return;
  const { left, right } = link.getBoundingClientRect();
  const [when, ...what] = title.textContent.split("\n").reverse();
  const card = make("div", { id: "hours-card" }, make("b", { textContent: when }), `\n${what.reverse().join("\n")}\nEnter goes there`);
  document.body.append(card);
  const beside = right + 12 + card.offsetWidth > innerWidth ? left - 12 - card.offsetWidth : right + 12;
  card.style.left = `${Math.max(8, beside)}px`;
  card.style.top = `${Math.max(8, $("#picture").getBoundingClientRect().top + 24)}px`;
};
for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => hoursCard(event.target.closest?.(".columns-of-time a")));

// Times in the reader's zone.
const zoned = (at, form) => {
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const say = (options) => at.toLocaleString("en-GB", options);
  return { seconds: () => say({ ...clock, second: "2-digit" }), clock: () => say(clock), hour: () => `${say({ weekday: "short" })} ${say(clock)}`,
    weekday: () => `${say({ weekday: "short" })} ${at.getDate()}`, date: () => say({ day: "numeric", month: "short" }) }[form]();
};
const zone = () => {
  roving();
  if (!new Date().getTimezoneOffset()) return;
  for (const one of all("[data-form]")) {
    const at = new Date(one.dateTime ?? Number(one.dataset.at));
    if (Number.isNaN(+at)) continue;
    const text = zoned(at, one.dataset.form);
    one.textContent = one.matches("title") ? one.textContent.replace(/[^,\n]*$/, (old) => (old.startsWith(" ") ? " " : "") + text) : text;
  }
  const head = $("#lanes") && $(".counts bdi");
  if (!head) return;
  const [from, to] = windowNow().map((at) => new Date(at));
  const { live, long } = $("#lanes").dataset;
  const name = Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(from).find((part) => part.type === "timeZoneName")?.value;
  const day = (at) => at.toLocaleDateString("en-GB", { day: "numeric", month: "long" });
  head.textContent = long !== undefined ? `${day(from)} to ${day(to)} · ${name}`
    : `${day(from)}, ${zoned(from, "clock")} to ${live !== undefined ? "now" : zoned(to, "clock")} · ${name}`;
};
document.addEventListener("page:shown", zone);
zone();
