// The board inside a client: it speaks JSON-RPC with the window that holds it, as SEP-1865 has it.
(() => {
  "use strict";
  const waiting = new Map();
  let next = 1, host = {};
  const $ = (selector, from = document) => from.querySelector(selector);
  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params = {}) => send({ method, params });
  const ask = (method, params) => new Promise((done, failed) => {
    const id = next++;
    waiting.set(id, { done, failed });
    send({ id, method, params });
  });
  const tell = (text) => { $("#told").textContent = text; };
  const scheme = (context) => { if (["light", "dark"].includes(context?.theme)) document.documentElement.dataset.scheme = context.theme; };

  // The server renders the board anew; what it answers is parsed as a document that runs nothing.
  let busy = false;
  const refresh = async () => {
    if (busy) return;
    busy = true;
    $("#refresh").disabled = true;
    try {
      const answer = await ask("resources/read", { uri: "ui://understory/board" });
      const text = answer?.contents?.[0]?.text;
      const fresh = typeof text === "string" && $("#app", new DOMParser().parseFromString(text, "text/html"));
      if (!fresh) throw new Error("there is no board in the answer");
      $("#app").replaceWith(document.adoptNode(fresh));
      tell(`As of ${new Date().toTimeString().slice(0, 5)}`);
      size();
    } catch (error) {
      tell(`It could not be refreshed: ${error.message ?? "the client does not pass it on"}. What is shown is from before.`);
    } finally { busy = false; $("#refresh").disabled = false; }
  };

  const notices = {
    "ui/notifications/tool-result": () => refresh(),
    "ui/notifications/tool-input": () => tell("The agent is looking…"),
    "ui/notifications/tool-cancelled": () => tell(""),
    "ui/notifications/host-context-changed": scheme,
  };
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) {
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if (asked && data.error) asked.failed(new Error(String(data.error.message ?? "refused")));
      else asked?.done(data.result);
    } else if (data.id === undefined) notices[data.method]?.(data.params);
    else if (["ping", "ui/resource-teardown"].includes(data.method)) send({ id: data.id, result: {} });
    else send({ id: data.id, error: { code: -32601, message: "the board does not know this" } });
  });

  // Nothing leads out of here; what is clicked, the agent is asked about, by its name alone.
  document.addEventListener("click", (event) => {
    if (event.target.closest("#refresh")) { refresh(); return; }
    const link = event.target.closest("a[href]");
    if (!link) return;
    event.preventDefault();
    const name = decodeURIComponent(link.getAttribute("href").split(/[?]/)[0].split("/").pop()).split("#")[0];
    if (!/^[\w@:.-]{1,80}$/.test(name)) return;
    ask("ui/message", { role: "user", content: [{ type: "text", text: `Tell me about ${name}.` }] })
      .catch(() => tell(`Ask your agent about ${name}.`));
  });

  let told = "";
  const size = () => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    if (told === `${width} ${height}`) return;
    told = `${width} ${height}`;
    notify("ui/notifications/size-changed", { width, height });
  };
  (async () => {
    host = await ask("ui/initialize", {
      protocolVersion: "2026-01-26",
      appInfo: { name: "understory-board", title: "Understory", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    scheme(host?.hostContext);
    notify("ui/notifications/initialized");
    size();
    new ResizeObserver(size).observe(document.body);
  })().catch(() => tell("This client does not answer the board."));
})();
