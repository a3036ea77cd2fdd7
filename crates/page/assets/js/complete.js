// Names are completed while they are typed, and show what they stand for.
const fragmentOf = async (place, fields) => {
  const address = new URL(linkTo(place));
  for (const [name, value] of Object.entries(fields)) if (value) address.searchParams.set(name, value);
  const answer = await fetch(address).catch(() => null);
  return answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild : null;
};
const optionNow = (list) => $("[aria-selected=true]", list);
/** Chooses the first row of a list, or the next or last, round and round. */
const choose = (field, list, by = 0) => {
  const rows = all("[role=option]", list);
  const row = rows[by ? (rows.indexOf(optionNow(list)) + by + rows.length) % rows.length : 0];
  for (const one of rows) one.setAttribute("aria-selected", String(one === row));
  field.setAttribute("aria-activedescendant", row?.id ?? "");
  row?.scrollIntoView({ block: "nearest" });
};
/** What stands before the caret, if it may be the beginning of a name. */
const BEGUN = /(?:^|[\s([{"'])([@^#][\w.-]*|(?:TASK|PLAN)-\d*|R\d+|(?:th|msg|prop)_\d*|[\p{L}_][\p{L}\p{N}_/-]*:\d*)$/u;
let offers = null, offered = 0, shut = "", typing = 0;
const closeOffers = () => {
  offers?.list.remove();
  for (const name of ["aria-controls", "aria-activedescendant"]) offers?.field.removeAttribute(name);
  offers = null;
};
const insertOffer = () => {
  const { field, list, from, to } = offers, name = optionNow(list).dataset.insert;
  closeOffers();
  field.setRangeText(`${field.dataset.complete ? name.replace("@", "") : name} `, from, to, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const offer = async (field) => {
  const mine = ++offered, to = field.selectionStart, before = field.value.slice(0, to);
  const word = field.dataset.complete ? before.match(/[\w.-]+$/)?.[0] : before.match(BEGUN)?.[1];
  // What was closed stays closed until another name is begun.
  if (!word || (shut && word.startsWith(shut))) { closeOffers(); return; }
  shut = "";
  const list = await fragmentOf("complete", { q: (field.dataset.complete ?? "") + word, in: field.form?.elements.thread?.value });
  if (mine !== offered || document.activeElement !== field || field.selectionStart !== to) return;
  closeOffers();
  if (!$("li", list ?? document.createElement("p"))) return;
  offers = { field, list, from: to - word.length, to };
  list.dataset.own = "offers";
  const { left, width, top, bottom } = (field.closest(".write") ?? field).getBoundingClientRect();
  const over = top > 220;
  Object.assign(list.style, { left: `${left}px`, width: `${width}px`, [over ? "bottom" : "top"]: `${over ? innerHeight - top + 8 : bottom + 8}px` });
  list.onmousedown = (event) => {
    event.preventDefault();
    const row = event.target.closest("li");
    if (row) { optionNow(list).setAttribute("aria-selected", "false"); row.setAttribute("aria-selected", "true"); insertOffer(); }
  };
  document.body.append(list);
  field.setAttribute("aria-controls", "offers");
  choose(field, list);
  announce(`${list.children.length} names: Enter inserts, Escape closes`);
};
document.addEventListener("input", ({ target, isTrusted }) => {
  clearTimeout(typing);
  if (isTrusted && base && target.matches("textarea, input[data-complete]")) typing = setTimeout(() => offer(target), 80);
});
// Before the keys of the page: an open list has them first.
document.addEventListener("keydown", (event) => {
  const { key } = event;
  if (event.target !== offers?.field || event.isComposing || event.ctrlKey || event.metaKey) return;
  if (key === "ArrowDown" || key === "ArrowUp") choose(offers.field, offers.list, key === "ArrowDown" ? 1 : -1);
  else if (key === "Enter" || key === "Tab") insertOffer();
  else if (key === "Escape") { shut = offers.field.value.slice(offers.from, offers.to); closeOffers(); }
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);
for (const name of ["focusout", "scroll", "resize"]) addEventListener(name, ({ target }) => { if (name === "focusout" || target !== offers?.field) closeOffers(); }, true);

let hovering = 0;
const unhover = () => { clearTimeout(hovering); $("#hover")?.remove(); };
const hover = ({ target }, pause) => {
  const link = target.closest?.("a[data-ref]");
  if (!link) return;
  unhover();
  hovering = setTimeout(async () => {
    const card = await fragmentOf("preview", { q: link.dataset.ref });
    if (!card || !link.matches(":hover, :focus")) return;
    unhover();
    const box = make("div", { id: "hover", role: "tooltip" }, card), { left, top, bottom } = link.getBoundingClientRect();
    box.dataset.own = "hover";
    document.body.append(box);
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${bottom + box.offsetHeight > innerHeight ? top - box.offsetHeight - 4 : bottom + 4}px`;
    link.setAttribute("aria-describedby", "hover");
  }, pause);
};
document.addEventListener("mouseover", (event) => hover(event, 300));
document.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) hover(event, 50); });
for (const name of ["mouseout", "focusout"]) document.addEventListener(name, ({ target }) => { if (target.closest?.("a[data-ref]")) unhover(); });

// A thread opens where one has not read yet, else at its end.
let placed = null;
const placeThread = () => {
  const said = $("[data-follow-end]");
  if (said === placed) return;
  placed = said;
  const to = said && ($(`[id="${CSS.escape(location.hash.slice(1))}"]`, said) ?? $("#new", said));
  if (to) to.scrollIntoView({ block: "center" });
  else if (said) said.scrollTop = said.scrollHeight;
};
document.addEventListener("page:shown", placeThread);
placeThread();
