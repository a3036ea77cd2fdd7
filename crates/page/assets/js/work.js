// Work: walking along the lines of the picture, its size, and cards that are moved.
SVGElement.prototype.click ??= function () { this.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); };
const nodeOf = (name) => name && $(`#node-${CSS.escape(name)} a`);
const centre = (element) => { const { left, width, top, height } = element.getBoundingClientRect(); return { x: left + width / 2, y: top + height / 2 }; };
/** The nearest in height of some nodes. */
const nearest = (from, nodes) => nodes.filter(Boolean).sort((a, b) => Math.abs(centre(a).y - from.y) - Math.abs(centre(b).y - from.y))[0];
const WALK = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: -1, ArrowDown: 1 };
document.addEventListener("keydown", (event) => {
  const node = event.target.closest?.(".graph .node");
  const way = WALK[event.key];
  if (!node || !way || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const from = centre(node);
  const next = typeof way === "string" ? nearest(from, (node.dataset[way] ?? "").split(" ").map(nodeOf))
    : nearest(from, all(".graph .node a").filter((one) => Math.abs(centre(one).x - from.x) < 80 && (centre(one).y - from.y) * way > 2));
  next?.focus();
  next?.scrollIntoView({ block: "nearest", inline: "nearest" });
}, true);

let zoom = null;
const sizeGraph = () => {
  const graph = $("#graph"), box = $("#picture");
  if (!graph || !box) return;
  const [, , width, height] = graph.getAttribute("viewBox").split(" ").map(Number);
  const fits = Math.min(1, box.clientWidth / width, box.clientHeight / height);
  // What would be too small to read is not made to fit by itself.
  const scale = zoom ?? (fits > 0.75 ? fits : 1);
  graph.setAttribute("width", Math.floor(width * scale));
  graph.setAttribute("height", Math.floor(height * scale));
  return { fits, scale };
};
document.addEventListener("click", ({ target }) => {
  const by = target.closest?.("[data-zoom]")?.dataset.zoom;
  if (by) {
    const { fits, scale } = sizeGraph();
    zoom = by === "0" ? fits : Math.min(2.5, Math.max(0.2, scale * (by === "1" ? 1.25 : 0.8)));
    sizeGraph();
  }
  for (const open of all("details.pop[open]")) if (!open.contains(target)) open.open = false;
  // A card is a thing to press, too.
  const card = target.closest?.(".card[data-task]");
  if (card && !target.closest("a, button, form, summary") && !String(getSelection())) $("[data-peek]", card)?.click();
});
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.matches?.("details.pop, details.does")) $("input:not([type=hidden]), textarea", target)?.focus();
}, true);
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest?.("details.pop[open], details.does[open]");
  if (open) { event.preventDefault(); open.open = false; $("summary", open).focus(); }
}, true);

// A peek that closes gives the focus back to what it was of.
const peekNow = () => new URLSearchParams(location.search).get("peek");
let peeked = peekNow();
let shownFor = "";
const shownWork = () => {
  sizeGraph();
  const peek = peekNow();
  if (peeked && !peek) (nodeOf(peeked) ?? $(`#task-${CSS.escape(peeked)} .title`))?.focus({ preventScroll: true });
  peeked = peek;
  const focus = $("#graph .is-chosen");
  if (focus && focus.id !== shownFor) focus.scrollIntoView({ block: "nearest", inline: "nearest" });
  shownFor = focus?.id ?? "";
};
document.addEventListener("page:shown", shownWork);
window.addEventListener("resize", sizeGraph);
const startWork = () => {
  const here = new URL(location.href);
  // A phone has no room for the picture unless somebody asks for it.
  if ($("#picture") && matchMedia("(max-width: 720px)").matches && !here.searchParams.has("view") && !here.searchParams.has("around")) {
    here.searchParams.set("view", "board");
    history.replaceState(null, "", here);
    goTo(here.href, false);
    return;
  }
  shownWork();
};

let dragged = null;
const laneAt = (event) => dragged && event.target.closest?.(".lane[data-lane]");
const laneSays = (lane, text) => { const list = $("ul", lane); $(":scope > .error", lane)?.remove(); fail(lane, text); list.after($(":scope > .error", lane)); };
/** The priority of what lies between two cards. */
const between = (above, below) => {
  const [a, b] = [above, below].map((card) => card && Number(card.dataset.priority));
  return b == null ? (a ?? 0) : a > b ? (a + b) / 2 : b + 1;
};
const moveTo = async (lane, task, before) => {
  const from = dragged.closest(".lane");
  const name = lane.dataset.lane;
  const peek = (what) => { const to = new URL(location.href); to.searchParams.set("peek", task); to.searchParams.set("act", what); return goTo(to.href); };
  $(":scope > .error", lane)?.remove();
  try {
    let said;
    if (name === "waits") throw Object.assign(new Error("Only a dependency can make a task wait: say what it comes after."), { told: true });
    if (name === "done") { await peek("done"); const field = $("#act-done"); if (field) { field.open = true; $("input[name=evidence]", field).focus(); } return; }
    if (name === "in_hand" && from !== lane) said = await act(linkTo("do/claim"), fieldsOf({ node: task }));
    if (name === "ready" && from === lane) {
      const cards = all(".card", lane).filter((card) => card !== dragged);
      const at = before ? cards.indexOf(before) : cards.length;
      const was = dragged.dataset.priority;
      const priority = String(between(cards[at - 1], cards[at]));
      if (priority !== was) said = await act(linkTo("do/prioritise"), fieldsOf({ node: task, priority, was }));
    }
    if (name === "ready" && from.dataset.lane === "in_hand") said = await act(linkTo("do/release"), fieldsOf({ node: task }));
    if (said) { toast(said.said, said.undo); await refreshNow(); }
  } catch (error) { laneSays(lane, error.told ? error.message : "The server does not answer. Nothing was moved."); }
};
document.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.(".card[data-task]");
  if (!dragged) return;
  dragged.classList.add("is-dragged");
  event.dataTransfer.setData("text/plain", dragged.dataset.task);
});
document.addEventListener("dragover", (event) => {
  const lane = laneAt(event);
  for (const one of all(".lane")) one.classList.toggle("is-over", one === lane);
  if (lane) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  const lane = laneAt(event);
  if (!lane) return;
  event.preventDefault();
  const before = all(".card", lane).find((card) => card !== dragged && centre(card).y > event.clientY);
  moveTo(lane, dragged.dataset.task, before);
});
document.addEventListener("dragend", () => { dragged?.classList.remove("is-dragged"); dragged = null; for (const one of all(".lane")) one.classList.remove("is-over"); });
if (document.body.dataset.base) startWork();
