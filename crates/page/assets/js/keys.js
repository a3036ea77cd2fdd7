// Keys. Single letters do nothing in a field, and can be switched off.
const lettersOff = "understory letters off";
let go = 0;
const rows = () => all("#content [data-row], #content .entry, #content .agent, #content .row").filter((row) => row.offsetParent !== null);
const rowNow = () => document.activeElement?.closest("[data-row], .entry, .agent, .row");
const mainLink = (row) => $("a[data-main]", row) ?? $("a.title", row) ?? $("a, summary, button", row);
/** Presses an element; one within a picture has no `click`. */
const press = (one) => (one.click ? one.click() : one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
/** What a key presses: in the row that has the focus, else in the panel, else anywhere. */
const pressed = (key) => {
  const sought = `[data-hotkey="${CSS.escape(key)}"]`;
  const places = [rowNow(), $("#side"), $("#content"), document];
  return places.map((place) => place && all(sought, place).find((one) => one.offsetParent !== null)).find(Boolean);
};
const step = (by) => {
  const found = rows();
  const at = found.indexOf(rowNow());
  const next = found[at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(found.length - 1, Math.max(0, at + by))];
  if (next) mainLink(next)?.focus();
};
const KEYS = [
  ["/ or Ctrl K", "search, go anywhere"], ["g, then n t w r b c h a p", "Now, Timeline, Work, Records, Reasoning, Conversations, Threads, Artifacts, Proof"],
  ["j k", "next, previous"], ["Space", "peek"], ["Enter", "open"], ["Esc", "back"], ["Ctrl Enter", "send"], ["?", "these keys"],
];
const showKeys = () => {
  $("#keys")?.remove();
  const found = new Map(all("[data-hotkey]").filter((one) => one.offsetParent !== null)
    .map((one) => [one.dataset.hotkey, one.getAttribute("aria-label") ?? one.title ?? one.textContent.trim()]));
  const box = make("dialog", { id: "keys" }, make("h2", { textContent: "Keys" }));
  const list = make("dl");
  for (const [key, does] of [...KEYS, ...found]) list.append(make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: does || "presses it" }));
  const off = make("input", { type: "checkbox", checked: Boolean(localStorage.getItem(lettersOff)) });
  off.onchange = () => (off.checked ? localStorage.setItem(lettersOff, "1") : localStorage.removeItem(lettersOff));
  box.append(list, make("p", {}, make("label", {}, off, " Single letters do nothing")));
  box.dataset.own = "keys";
  document.body.append(box);
  box.onclose = () => box.remove();
  box.showModal();
};
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if ((event.ctrlKey || event.metaKey) && key === "Enter") { target.closest("form")?.requestSubmit(); return; }
  if ((event.ctrlKey || event.metaKey) && key === "k" && $("[data-palette]")) { event.preventDefault(); $("[data-palette]").click(); return; }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape") {
    const close = $("#side [data-close]");
    if (isField(target)) target.blur();
    else if (close) close.click();
    else document.activeElement?.blur();
    return;
  }
  if (isField(target) || target.closest("dialog")) return;
  if (key === " " && rowNow() && !target.matches("button, summary, input")) {
    const peek = $("a[data-peek]", rowNow());
    if (peek) { event.preventDefault(); press(peek); }
    return;
  }
  if (key.length === 1 && localStorage.getItem(lettersOff) && key !== "?") return;
  const place = go && Date.now() - go < 1500 && $(`.rail a[data-key="${CSS.escape(key)}"]`);
  go = 0;
  if (place) { location.href = place.href; return; }
  if (key === "g") { go = Date.now(); return; }
  if (key === "/") { event.preventDefault(); $("[data-palette]")?.click(); return; }
  if (key === "?") { showKeys(); return; }
  if (key === "j" || (key === "ArrowDown" && rowNow())) { event.preventDefault(); step(1); return; }
  if (key === "k" || (key === "ArrowUp" && rowNow())) { event.preventDefault(); step(-1); return; }
  const found = pressed(key);
  if (!found) return;
  event.preventDefault();
  if (isField(found)) found.focus(); else found.click();
});
