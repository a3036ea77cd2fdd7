// Documents: several lines, the next proposal, several proposals at once; and what can be copied as text.
document.addEventListener("click", (event) => {
  const line = event.target.closest?.(".line");
  const link = line && $("a.n", line);
  // A line is chosen by a click anywhere in it, unless its text is being selected.
  if (link && !event.defaultPrevented && !event.target.closest("a") && !String(getSelection())) {
    if (event.shiftKey) between(link); else link.click();
    return;
  }
  if (link && event.shiftKey && event.target === link) { event.preventDefault(); between(link); return; }
  const to = event.target.closest?.("a[data-card]");
  if (to) {
    const card = document.getElementById(to.hash.slice(1));
    if (!card) return;
    event.preventDefault();
    card.scrollIntoView({ block: "center" });
    card.focus({ preventScroll: true });
    announce(card.getAttribute("aria-label") ?? "");
  }
  const opened = event.target.closest?.("a[data-open]");
  if (opened) {
    const details = document.getElementById(opened.dataset.open);
    event.preventDefault();
    details.open = true;
    $("input, textarea", details)?.focus();
    details.scrollIntoView({ block: "nearest" });
  }
  const copies = event.target.closest?.("[data-copy]");
  const text = copies && $("p", document.getElementById(copies.dataset.copy) ?? copies)?.textContent;
  if (text && navigator.clipboard) {
    event.preventDefault();
    navigator.clipboard.writeText(text).then(() => toast("Copied."), () => { location.hash = copies.dataset.copy; });
  } else if (copies) { const part = document.getElementById(copies.dataset.copy); if (part) part.open = true; }
}, true);
/** Chooses from the chosen line to another. */
const between = (link) => {
  const from = Number($(".line.is-chosen a.n")?.dataset.line ?? link.dataset.line);
  const [first, last] = [from, Number(link.dataset.line)].sort((a, b) => a - b);
  const address = new URL(link.href);
  address.pathname = address.pathname.replace(/(%3A|:)\d+(?=@|%40|$)/i, `%3A${first}-${last}`);
  getSelection().removeAllRanges();
  goTo(address.href);
};
// Shift with an arrow moves the second of two versions.
document.addEventListener("keydown", (event) => {
  if (!event.shiftKey || isField(event.target) || event.ctrlKey || event.metaKey) return;
  const link = $(`#content [data-shift="${CSS.escape(event.key)}"]`);
  if (link) { event.preventDefault(); link.click(); }
}, true);
// What is chosen is counted on the buttons, wherever they were drawn last.
const countChosen = () => {
  const count = all('input[form="chosen"]:checked').length;
  for (const button of all("[data-count]")) button.textContent = count ? `${button.dataset.count} ${count}` : `${button.dataset.count} chosen`;
};
document.addEventListener("change", ({ target }) => { if (target.matches?.('input[form="chosen"]')) countChosen(); });
document.addEventListener("page:shown", countChosen);
