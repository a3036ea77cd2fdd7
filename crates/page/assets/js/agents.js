// Follow and retrace: what is lit is brought into sight, scrolling stops following, and steps are played.
let attended = null;
/** Scrolls in 200 ms, whatever else moves the column meanwhile. */
const glide = (column, top) => {
  const from = column.scrollTop, begun = performance.now();
  const go = (now) => {
    const part = Math.min(1, Math.max(0, (now - begun) / 200));
    column.scrollTop = from + (top - from) * part;
    if (part < 1) requestAnimationFrame(go);
  };
  requestAnimationFrame(go);
};
const attend = () => {
  const place = $("[data-step]"), column = place?.closest(".column");
  if (!place || attended === location.pathname + place.dataset.step) return;
  const first = attended === null;
  attended = location.pathname + place.dataset.step;
  const still = first || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const bring = (element, within, part) => {
    if (!element || !within) return;
    const by = element.getBoundingClientRect().top - within.getBoundingClientRect().top;
    const top = within.scrollTop + by - within.clientHeight * part;
    if (by < 60 || by > within.clientHeight - 90) still ? within.scrollTo(0, top) : glide(within, top);
  };
  bring($(".was > .is-selected, .was > .is-written, .was > .is-proposed") ?? $(".was > .is-looked"), column, 0.3);
  bring($(".did.is-chosen"), $("#list"), 0.5);
};
document.addEventListener("page:shown", attend);
const stay = ({ target }) => target.closest?.("#body") && $("[data-follows]") && $("[data-pause]")?.click();
document.addEventListener("wheel", stay, { passive: true });
document.addEventListener("touchmove", stay, { passive: true });

// A pause of more than a minute is cut to a second, and that is said.
const LONGEST = 60_000;
let playing = 0, keysSaid = null;
const speedNow = () => Number($("[data-speed][aria-pressed=true]")?.dataset.speed ?? 4);
const sayPause = (text) => {
  const line = $("#pause-said");
  if (!line) return;
  keysSaid ??= [...line.childNodes];
  if (text) line.textContent = text; else line.replaceChildren(...keysSaid);
};
const halt = () => {
  clearTimeout(playing);
  playing = 0;
  sayPause("");
  const button = $("[data-play]");
  if (button) { button.textContent = "▶"; button.setAttribute("aria-label", "Play"); }
};
const onward = async () => {
  const link = $("#transport a[rel=next]");
  if (!link) { halt(); return; }
  history.replaceState(null, "", link.href);
  await goTo(link.href, false);
};
const play = () => {
  const now = $("#transport .is-now a"), next = $("#transport .is-now + li a"), speed = speedNow();
  if (!now || !next) { halt(); return; }
  const gap = next.dataset.at - now.dataset.at;
  sayPause(gap > LONGEST ? `A pause of ${Math.round(gap / 60_000)} min is cut to a second.` : "");
  playing = setTimeout(async () => { await onward(); if (playing) play(); }, gap > LONGEST ? 1000 : Math.max(150, gap / speed));
};
const toggle = () => {
  if (playing) { halt(); return; }
  if (!speedNow()) { onward(); return; }
  const button = $("[data-play]");
  button.textContent = "❚❚";
  button.setAttribute("aria-label", "Pause");
  play();
};
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-play]")) toggle();
  const speed = target.closest("[data-speed]");
  if (!speed) { if (playing && target.closest("a")) halt(); return; }
  for (const one of all("[data-speed]")) one.setAttribute("aria-pressed", String(one === speed));
  if (playing) { halt(); toggle(); }
});
// Before the keys of every page: Space plays, and Esc stays.
document.addEventListener("keydown", (event) => {
  if (isField(event.target) || event.target.closest("dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && $("#transport") && !event.target.closest("button, summary")) { toggle(); }
  else if (event.key === "Escape" && !$("#side") && $("[data-follows]") && $("[data-pause]")) $("[data-pause]").click();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);
attend();
