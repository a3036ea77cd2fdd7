// Timeline: marks that are walked by keys, and the strip whose window is moved by hand.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (link && !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    if (!link.closest("#strip") || !event.detail) goTo(new URL(link.href.baseVal, location.href).href);
  }
  const menu = event.target.closest?.(".menu");
  for (const open of all(".menu[open]")) if (open !== menu || event.target.closest("a")) open.removeAttribute("open");
});
/** Goes to a window of time, in milliseconds. */
const goToWindow = (from, to) => {
  const address = new URL(location.href);
  address.searchParams.set("from", new Date(from).toISOString());
  if (to < Date.now()) address.searchParams.set("to", new Date(to).toISOString()); else address.searchParams.delete("to");
  address.searchParams.delete("before");
  goTo(address.href);
};
const windowNow = () => { const { from, to } = $("#lanes")?.dataset ?? {}; return [Number(from), Number(to)]; };

// Marks: left and right, from one to the next.
const marks = () => all("#picture :is(.dot, .box, .of-time a)");
document.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isField(event.target) || event.target.closest("dialog, .menu")) return;
  const found = marks();
  if (!found.length) return;
  event.preventDefault();
  const at = found.indexOf(document.activeElement?.closest?.("#picture a") ?? $("#picture .is-chosen"));
  const next = found[at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(found.length - 1, Math.max(0, at + by))];
  for (const one of found) one.setAttribute("tabindex", one === next ? "0" : "-1");
  next.focus();
});

// The strip: a click jumps, dragging moves the window or its ends, the wheel zooms.
let held = null, wheel = 0, turned = null;
const stripAt = (x) => {
  const strip = $("#strip"), { left, width } = strip.getBoundingClientRect(), from = Number(strip.dataset.from);
  return from + Math.min(1, Math.max(0, (x - left) / width)) * (Number(strip.dataset.to) - from);
};
const drawFrame = (from, to) => {
  const strip = $("#strip"), first = Number(strip.dataset.from), length = Number(strip.dataset.to) - first;
  $("#frame").setAttribute("x", `${(from - first) / length * 100}%`);
  $("#frame").setAttribute("width", `${Math.max(0.3, (to - from) / length * 100)}%`);
};
document.addEventListener("pointerdown", (event) => {
  const strip = event.target.closest?.("#strip");
  if (!strip || event.button || !$("#lanes")) return;
  const [from, to] = windowNow();
  held = { grip: event.target.dataset.grip, moves: event.target.closest("#frame"), start: event.clientX, at: stripAt(event.clientX), from, to };
  strip.setPointerCapture(event.pointerId);
  event.preventDefault();
});
document.addEventListener("pointermove", (event) => {
  if (!held || (!held.now && Math.abs(event.clientX - held.start) < 3)) return;
  const { from, to, grip, at, moves } = held, here = stripAt(event.clientX);
  if (grip === "from") held.now = [Math.min(here, to - 10_000), to];
  else if (grip) held.now = [from, Math.max(here, from + 10_000)];
  else held.now = moves ? [from + here - at, to + here - at] : [Math.min(at, here), Math.max(at, here)];
  drawFrame(...held.now);
});
document.addEventListener("pointerup", () => {
  if (!held) return;
  const { now, at, from, to, moves } = held, half = (to - from) / 2;
  held = null;
  if (now) goToWindow(...now); else if (!moves) goToWindow(at - half, at + half);
});
document.addEventListener("pointercancel", () => { held = null; });
document.addEventListener("wheel", (event) => {
  if (!event.target.closest?.("#strip") || !$("#lanes")) return;
  event.preventDefault();
  const [from, to] = turned ?? windowNow(), at = stripAt(event.clientX), by = event.deltaY > 0 ? 1.25 : 0.8;
  // Around the pointer where that is in the window, else around its middle.
  const middle = at > from && at < to ? at : (from + to) / 2;
  turned = [middle - (middle - from) * by, middle + Math.max(5_000, (to - middle) * by)];
  drawFrame(...turned);
  clearTimeout(wheel);
  wheel = setTimeout(() => { goToWindow(...turned); turned = null; }, 200);
}, { passive: false });

// What all did in an hour, beside the pointer or the focus.
const showHour = (link) => {
  $("#hour")?.remove();
  if (!link) return;
  const [when, ...what] = $("title", link).textContent.split("\n").reverse(), { left, right } = link.getBoundingClientRect();
  const card = make("div", { id: "hour" }, make("b", { textContent: when }), `\n${what.reverse().join("\n")}\nEnter goes there`);
  document.body.append(card);
  card.style.left = `${Math.max(8, right + 12 + card.offsetWidth > innerWidth ? left - 12 - card.offsetWidth : right + 12)}px`;
  card.style.top = `${Math.max(8, $("#picture").getBoundingClientRect().top + 24)}px`;
};
for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => showHour(event.target.closest?.(".of-time a")));

// Times in the reader's zone.
const zoned = (at, form) => {
  const clock = at.toTimeString(), say = (options) => at.toLocaleString("en-GB", options);
  return { seconds: clock.slice(0, 8), clock: clock.slice(0, 5), hour: `${say({ weekday: "short" })} ${clock.slice(0, 5)}`,
    weekday: `${say({ weekday: "short" })} ${at.getDate()}`, date: say({ day: "numeric", month: "short" }) }[form];
};
const zone = () => {
  if (!$("#lanes")) return;
  if (!$("#picture [tabindex='0']")) marks().at(-1)?.setAttribute("tabindex", "0");
  if (!new Date().getTimezoneOffset()) return;
  for (const one of all("[data-form]")) {
    const text = zoned(new Date(one.dateTime ?? Number(one.dataset.at)), one.dataset.form);
    one.textContent = one.matches("title") ? one.textContent.replace(/(\s?)[^,\n]*$/, `$1${text}`) : text;
  }
  const [from, to] = windowNow().map((at) => new Date(at)), { live, long } = $("#lanes").dataset;
  const day = (at) => at.toLocaleDateString("en-GB", { day: "numeric", month: "long" });
  const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(from).at(-1).value;
  $(".counts bdi").textContent = `${long === undefined ? `${day(from)}, ${zoned(from, "clock")} to ${live === undefined ? zoned(to, "clock") : "now"}` : `${day(from)} to ${day(to)}`} · ${zone}`;
};
document.addEventListener("page:shown", () => { showHour(document.activeElement?.closest?.(".of-time a")); zone(); });
zone();
