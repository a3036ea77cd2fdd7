// The palette goes anywhere, over any page: what is found comes as it is typed. It is made on the server, whole.
const openPalette = async () => {
  const from = document.activeElement, box = await fragmentOf("palette", {});
  if (!box) { location.href = linkTo("search"); return; }
  if ($("#palette")) return;
  const field = $("input", box), told = $("label .meta", box);
  const list = () => $("#found", box);
  let asked = 0, shown = 0, waits = 0, settled = null;
  const ask = async () => {
    const mine = ++asked, next = await fragmentOf("palette", { q: field.value.trim() });
    // An answer that comes after a later one says nothing any more.
    if (mine < shown) return;
    if (!next) { told.textContent = "The server does not answer."; return; }
    shown = mine;
    list().replaceWith($("#found", next));
    told.textContent = $("label .meta", next).textContent;
    $(".preview", box)?.remove();
    choose(field, list());
    announce(`${all("[role=option]", list()).length} found`);
  };
  field.oninput = () => {
    clearTimeout(waits);
    settled = new Promise((done) => { waits = setTimeout(() => ask().then(done), 100); });
  };
  const open = async (row, why) => {
    const { schemeChoice, task } = row.dataset;
    if (task) {
      try {
        const { said, undo } = await act(linkTo("do/plan"), fieldsOf({ summary: task }));
        toast(said, undo);
        refreshNow();
      } catch (error) { fail(box, error.told ? error.message : "The server does not answer. Nothing was added."); return; }
    }
    box.close();
    if (schemeChoice !== undefined) {
      localStorage.setItem("understory scheme", schemeChoice);
      document.documentElement.dataset.scheme = schemeChoice;
    } else if (!task) location.href = (why && row.dataset.why) || row.href;
  };
  const peek = async (row) => {
    const there = $(".preview", box), card = !there && row?.dataset.name && await fragmentOf("preview", { q: row.dataset.name });
    there?.remove();
    if (card && row === optionNow(list())) $("footer", box).before(card);
  };
  box.onkeydown = async (event) => {
    const { key, altKey } = event;
    if (key === "Escape") event.stopPropagation();
    if (event.isComposing || !["ArrowDown", "ArrowUp", "Enter", "Tab"].includes(key)) return;
    event.preventDefault();
    event.stopPropagation();
    // What is opened is what was typed, not what stood there before.
    if (key === "Enter") await settled;
    const row = optionNow(list());
    if (key === "Tab") peek(row);
    else if (key !== "Enter") { $(".preview", box)?.remove(); choose(field, list(), key === "ArrowDown" ? 1 : -1); }
    else if (row) open(row, altKey);
  };
  box.onclick = (event) => {
    const row = event.target.closest("[role=option]");
    if (event.target === box) box.close();
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(row, event.altKey);
  };
  box.onclose = () => { clearTimeout(waits); box.remove(); from?.focus(); };
  document.body.append(box);
  box.showModal();
  field.focus();
  choose(field, list());
};
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-palette]") || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openPalette();
});
