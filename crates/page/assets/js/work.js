// Work: walking along the lines of the picture, its size, and cards that are moved.
SVGElement.prototype.click ??= function () { this.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })); };
const nodeOf = (name) => name && $(`#node-${CSS.escape(name)} a`);
const centreOf = (element) => { const box = element.getBoundingClientRect(); return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; };
const WALK = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: -1, ArrowDown: 1 };
document.addEventListener("keydown", (event) => {
  const { key, target } = event, way = WALK[key], node = target.closest?.(".graph .node");
  const open = key === "Escape" && target.closest?.("details.pop[open], details.does[open]");
  if (open) { event.preventDefault(); open.open = false; $("summary", open).focus(); }
  if (!node || !way || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  const { x, y } = centreOf(node);
  const found = isNaN(way) ? (node.dataset[way] ?? "").split(" ").map(nodeOf).filter(Boolean)
    : all(".graph .node a").filter((one) => Math.abs(centreOf(one).x - x) < 80 && (centreOf(one).y - y) * way > 2);
  found.sort((a, b) => Math.abs(centreOf(a).y - y) - Math.abs(centreOf(b).y - y));
  found[0]?.focus();
  found[0]?.scrollIntoView({ block: "nearest", inline: "nearest" });
}, true);

// What would be too small to read is not made to fit by itself.
let graphScale = 0, peeked = null, chosenInView;
const sizeGraph = (by) => {
  const graph = $("#graph"), box = $("#picture");
  if (!graph) return;
  const { width, height } = graph.viewBox.baseVal, fits = Math.min(1, box.clientWidth / width, box.clientHeight / height);
  if (by) graphScale = by === "0" ? fits : Math.min(2.5, Math.max(0.2, (graphScale || 1) * by));
  const now = graphScale || (fits > 0.75 ? fits : 1);
  graph.setAttribute("width", Math.floor(width * now));
  graph.setAttribute("height", Math.floor(height * now));
};
document.addEventListener("click", ({ target }) => {
  const by = target.closest("[data-zoom]")?.dataset.zoom, card = target.closest(".card[data-task]");
  if (by) sizeGraph(by);
  for (const open of all("details.pop[open]")) if (!open.contains(target)) open.open = false;
  if (card && !target.closest("a, button")) $("[data-peek]", card).click();
});
document.addEventListener("toggle", ({ target }) => target.open && target.matches(".pop, .does") && $("input:not([type=hidden]), textarea", target)?.focus(), true);
window.addEventListener("resize", () => sizeGraph());
const shownWork = () => {
  sizeGraph();
  const peek = new URLSearchParams(location.search).get("peek"), chosen = $("#graph .is-chosen");
  // A peek that closes gives the focus back to what it was of.
  if (peeked && !peek) (nodeOf(peeked) ?? $(`#task-${CSS.escape(peeked)} .title`))?.focus({ preventScroll: true });
  if (chosen?.id !== chosenInView) chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
  peeked = peek;
  chosenInView = chosen?.id;
};
document.addEventListener("page:shown", shownWork);

// A card that is moved: the column says what that means. Each move has a button and a key, too.
let dragged = null;
const moveBy = (name, fields) => act(linkTo(`do/${name}`), fieldsOf({ node: dragged.dataset.task, ...fields }));
const cardMoves = {
  in_hand: (from) => from !== "in_hand" && moveBy("claim"),
  ready: (from, lane, y) => {
    if (from !== "ready") return from === "in_hand" && moveBy("release");
    const cards = all(".card", lane).filter((card) => card !== dragged), below = cards.findIndex((card) => centreOf(card).y > y);
    const [a, b] = [below < 0 ? cards.length - 1 : below - 1, below].map((place) => Number(cards[place]?.dataset.priority));
    const priority = String(below < 0 ? a : a > b ? (a + b) / 2 : b + 1), was = dragged.dataset.priority;
    return cards.length && priority !== was && moveBy("prioritise", { priority, was });
  },
  waits: () => { throw Object.assign(new Error("Only a dependency can make a task wait: say what it comes after."), { told: true }); },
  done: async () => {
    const to = new URL(location.href);
    to.searchParams.set("peek", dragged.dataset.task);
    to.searchParams.set("act", "done");
    await goTo(to.href);
    const field = $("#act-done input[name=evidence]");
    if (field) { field.closest("details").open = true; field.focus(); }
  },
};
const laneOf = ({ target }) => dragged && target.closest?.(".lane[data-lane]");
document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  dragged = target.closest?.(".card[data-task]");
  if (dragged) dataTransfer.setData("text/plain", dragged.dataset.task);
});
document.addEventListener("dragover", (event) => laneOf(event) && event.preventDefault());
document.addEventListener("drop", async (event) => {
  const lane = laneOf(event);
  if (!lane) return;
  event.preventDefault();
  $(":scope > .error", lane)?.remove();
  try {
    const said = await cardMoves[lane.dataset.lane](dragged.closest(".lane").dataset.lane, lane, event.clientY);
    if (said) { toast(said.said, said.undo); await refreshNow(); }
  } catch (error) { fail(lane, error.told ? error.message : "The server does not answer. Nothing was moved."); }
});

// A phone has no room for the picture unless somebody asks for it.
if ($("#picture") && innerWidth <= 720 && !/[?&](view|around)=/.test(location.search)) {
  history.replaceState(null, "", `${location.pathname}?${new URLSearchParams([...new URLSearchParams(location.search), ["view", "board"]])}`);
  goTo(location.href, false);
} else shownWork();
