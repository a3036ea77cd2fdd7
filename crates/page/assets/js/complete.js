// Names are completed while they are typed, in every field of several lines; and a name shows what it stands for.
const fragmentOf = async (address) => {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild : null;
};
const asking = (place, fields) => {
  const address = new URL(linkTo(place));
  for (const [name, value] of Object.entries(fields)) if (value) address.searchParams.set(name, value);
  return address.href;
};
/** What stands before the caret, if it may be the beginning of a name. */
const BEGUN = /(?:^|[\s([{"'])((?:[@^#][\w.-]*)|(?:(?:TASK|PLAN)-\d*)|(?:R\d+)|(?:(?:th|msg|prop)_\d*)|(?:[\p{L}_][\p{L}\p{N}_\/-]*:\d*))$/u;
let offers = null;
const closeOffers = () => {
  if (!offers) return;
  const { field, list } = offers;
  offers = null;
  list.remove();
  for (const name of ["aria-controls", "aria-activedescendant", "aria-expanded"]) field.removeAttribute(name);
};
const chooseOffer = (by) => {
  const { field, list } = offers;
  const rows = all("[role=option]", list);
  offers.at = (offers.at + by + rows.length) % rows.length;
  rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === offers.at)));
  field.setAttribute("aria-activedescendant", rows[offers.at].id);
};
const insertOffer = () => {
  const { field, list, from, to } = offers;
  const name = all("[role=option]", list)[offers.at].dataset.insert;
  closeOffers();
  field.setRangeText(`${field.dataset.complete ? name.replace(/^@/, "") : name} `, from, to, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
let asked = 0, shut = "";
const offer = async (field) => {
  const caret = field.selectionStart;
  const before = field.value.slice(0, caret);
  let typed = before.match(BEGUN)?.[1];
  const word = field.dataset.complete && !typed && before.match(/[\w.-]+$/)?.[0];
  const length = (typed ?? word ?? "").length;
  if (word) typed = field.dataset.complete + word;
  const mine = ++asked;
  // What was closed stays closed until another name is begun.
  if (!typed || (shut && typed.startsWith(shut))) { closeOffers(); if (!typed) shut = ""; return; }
  shut = "";
  const thread = field.form?.elements.thread?.value;
  const list = await fragmentOf(asking("complete", { q: typed, in: thread })).catch(() => null);
  if (mine !== asked || document.activeElement !== field || field.selectionStart !== caret) return;
  closeOffers();
  const rows = list ? all("[role=option]", list) : [];
  if (!rows.length) return;
  offers = { field, list, at: 0, from: caret - length, to: caret };
  list.dataset.own = "offers";
  const box = (field.closest(".write") ?? field).getBoundingClientRect();
  list.style.left = `${box.left}px`;
  list.style.width = `${box.width}px`;
  // Over the field; under it where there is no room.
  const above = box.top > 220;
  list.style[above ? "bottom" : "top"] = `${above ? innerHeight - box.top + 8 : box.bottom + 8}px`;
  rows.forEach((row, at) => {
    row.onmousedown = (event) => { event.preventDefault(); offers.at = at; insertOffer(); };
  });
  document.body.append(list);
  field.setAttribute("aria-controls", "offers");
  field.setAttribute("aria-expanded", "true");
  field.setAttribute("aria-autocomplete", "list");
  chooseOffer(0);
  announce(`${rows.length} ${rows.length === 1 ? "name" : "names"}: Enter inserts, Escape closes`);
};
let typing = 0;
document.addEventListener("input", ({ target, isTrusted }) => {
  if (!isTrusted || !base || !target.matches("textarea, input[data-complete]")) return;
  clearTimeout(typing);
  typing = setTimeout(() => offer(target), 80);
});
// Before the keys of the page: an open list has them first.
document.addEventListener("keydown", (event) => {
  if (!offers || event.target !== offers.field || event.isComposing) return;
  const { key } = event;
  if (key === "ArrowDown" || key === "ArrowUp") chooseOffer(key === "ArrowDown" ? 1 : -1);
  else if ((key === "Enter" && !event.ctrlKey && !event.metaKey) || (key === "Tab" && !event.shiftKey)) insertOffer();
  else if (key === "Escape") { shut = offers.field.value.slice(offers.from, offers.to); asked++; closeOffers(); }
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);
document.addEventListener("focusout", ({ target }) => { if (target === offers?.field) closeOffers(); });
for (const name of ["scroll", "resize"]) addEventListener(name, ({ target }) => { if (target !== offers?.field) closeOffers(); }, true);

// A name shows what it stands for, after a moment under the pointer, and at once with the focus.
const known = new Map();
let hovering = 0;
const unhover = () => { clearTimeout(hovering); hovering = 0; $("#hover")?.remove(); };
const hover = async (link) => {
  const { ref } = link.dataset;
  if (!known.has(ref)) known.set(ref, fragmentOf(asking("preview", { q: ref })).catch(() => null));
  const card = await known.get(ref);
  setTimeout(() => known.delete(ref), 30_000);
  if (!card || !link.isConnected || !link.matches(":hover, :focus")) return;
  $("#hover")?.remove();
  const box = make("div", { id: "hover" }, card.cloneNode(true));
  box.setAttribute("role", "tooltip");
  box.dataset.own = "hover";
  document.body.append(box);
  const at = link.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${at.bottom + box.offsetHeight + 8 > innerHeight ? at.top - box.offsetHeight - 4 : at.bottom + 4}px`;
  link.setAttribute("aria-describedby", "hover");
};
document.addEventListener("mouseover", ({ target }) => {
  const link = target.closest?.("a[data-ref]");
  if (link) { clearTimeout(hovering); hovering = setTimeout(() => hover(link), 300); }
});
document.addEventListener("mouseout", ({ target }) => { if (target.closest?.("a[data-ref]")) unhover(); });
document.addEventListener("focusin", ({ target }) => { if (target.matches("a[data-ref]:focus-visible")) hover(target); });
document.addEventListener("focusout", ({ target }) => { if (target.matches("a[data-ref]")) unhover(); });

// A thread opens where one has not read yet, else at its end.
const placed = new WeakSet();
const placeThread = () => {
  const said = $("[data-follow-end]");
  if (!said || placed.has(said)) return;
  placed.add(said);
  const to = location.hash.length > 1 ? $(`[id="${CSS.escape(location.hash.slice(1))}"]`, said) : $("#new", said);
  if (to) to.scrollIntoView({ block: "center" });
  else said.scrollTop = said.scrollHeight;
};
document.addEventListener("page:shown", () => { placeThread(); if (offers && !offers.field.isConnected) closeOffers(); });
placeThread();
