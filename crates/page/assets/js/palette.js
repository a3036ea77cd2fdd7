// The palette goes anywhere, over any page: what is found comes as it is typed.
const paletteLink = () => $("[data-palette]");
const HINTS = [["↑ ↓", "choose"], ["↵", "open"], ["Tab", "peek"], ["Alt ↵", "why"], ["@", "people"], ["^", "words"], ["Esc", "close"]];
const openPalette = () => {
  if ($("#palette")) return;
  const from = document.activeElement;
  const box = make("dialog", { id: "palette" });
  box.setAttribute("aria-label", "Search, go anywhere");
  box.dataset.own = "palette";
  const field = make("input", { type: "search", placeholder: "Search, or go anywhere", autocomplete: "off", spellcheck: false, maxLength: 1000 });
  for (const [name, value] of [["role", "combobox"], ["aria-label", "Search, or go anywhere"], ["aria-expanded", "true"], ["aria-controls", "found"], ["aria-autocomplete", "list"]]) field.setAttribute(name, value);
  const told = make("span", { className: "meta" });
  const foot = make("footer");
  for (const [key, does] of HINTS) foot.append(make("span", {}, make("kbd", { textContent: key }), ` ${does}`));
  const head = make("label", {}, $(".mark", paletteLink()).cloneNode(true), field, told);
  box.append(head, make("div", { id: "found" }), foot);
  const rows = () => all("[role=option]", box);
  let at = 0;
  const choose = (to) => {
    const found = rows();
    at = found.length ? (to + found.length) % found.length : 0;
    found.forEach((row, index) => row.setAttribute("aria-selected", String(index === at)));
    if (found[at]) field.setAttribute("aria-activedescendant", found[at].id); else field.removeAttribute("aria-activedescendant");
    found[at]?.scrollIntoView({ block: "nearest" });
    $(".preview", box)?.remove();
  };
  let asked = 0, shown = 0, waits = 0, settled = Promise.resolve();
  const ask = async () => {
    const mine = ++asked;
    const list = await fragmentOf(asking("palette", { q: field.value.trim() })).catch(() => null);
    // An answer that comes after a later one says nothing any more.
    if (!list || mine < shown || !box.open) { if (!list && mine === asked) told.textContent = "The server does not answer."; return; }
    shown = mine;
    $("#found", box).replaceWith(list);
    told.textContent = list.dataset.told;
    choose(0);
    announce(`${rows().length} found`);
  };
  const schedule = (pause) => { clearTimeout(waits); settled = new Promise((done) => { waits = setTimeout(() => ask().finally(done), pause); }); };
  field.oninput = () => schedule(100);
  const open = async (row, why) => {
    const { schemeChoice, task, why: cause } = row.dataset;
    if (schemeChoice !== undefined) {
      if (schemeChoice) localStorage.setItem("understory scheme", schemeChoice); else localStorage.removeItem("understory scheme");
      document.documentElement.dataset.scheme = schemeChoice;
      box.close();
    } else if (task) {
      try {
        const said = await act(linkTo("do/plan"), fieldsOf({ summary: task }));
        box.close();
        toast(said.said, said.undo);
        await refreshNow();
      } catch (error) { fail(box, error.told ? error.message : "The server does not answer. Nothing was added."); }
    } else { box.close(); location.href = why && cause ? cause : row.href; }
  };
  box.onkeydown = async (event) => {
    const { key } = event;
    if (event.isComposing) return;
    if (key === "ArrowDown" || key === "ArrowUp") choose(at + (key === "ArrowDown" ? 1 : -1));
    else if (key === "Enter") {
      event.preventDefault();
      event.stopPropagation();
      const why = event.altKey;
      // What is opened is what was typed, not what stood there before.
      await settled;
      const row = rows()[at];
      if (row) open(row, why);
      return;
    } else if (key === "Tab") {
      const peeked = $(".preview", box);
      const row = rows()[at];
      if (peeked) peeked.remove();
      else if (row?.dataset.name) fragmentOf(asking("preview", { q: row.dataset.name })).then((card) => { if (card && rows()[at] === row) foot.before(card); }).catch(() => {});
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  box.onclick = (event) => {
    const row = event.target.closest("[role=option]");
    if (event.target === box) { box.close(); return; }
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(row, event.altKey);
  };
  box.onclose = () => { clearTimeout(waits); box.remove(); if (from?.isConnected) from.focus(); };
  document.body.append(box);
  box.showModal();
  field.focus();
  schedule(0);
};
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-palette]") || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openPalette();
});
