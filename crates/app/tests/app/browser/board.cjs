// The board in the window of a client: a small host that speaks with it as SEP-1865 has it, and with the server.
"use strict";
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { call, person, pictures, run, trouble, watched } = require("./lib.cjs");

const BOARD = "ui://understory/board";

/** A client's connection to the server over its standard streams. */
const connect = async () => {
  const [program, ...first] = JSON.parse(process.env.UNDERSTORY);
  const child = spawn(program, [...first, "mcp", "--agent", "zoe"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let next = 1;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) => new Promise((done) => { const id = next++; waiting.set(id, done); send({ id, method, params }); });
  await ask("initialize", { protocolVersion: "2025-11-25", clientInfo: { name: "host", version: "1" },
    capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
  send({ method: "notifications/initialized" });
  return { ask, end: () => child.kill() };
};

/** What a host does: it answers what it knows and passes on what is the server's. */
const host = () => {
  const frame = document.querySelector("iframe");
  window.heard = [];
  window.say = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  window.addEventListener("message", async ({ data, source }) => {
    if (source !== frame.contentWindow) return;
    window.heard.push(data);
    const { id, method, params } = data;
    if (method === "ui/initialize") {
      window.say({ id, result: { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" },
        hostCapabilities: { serverResources: {} }, hostContext: { theme: "dark" } } });
    } else if (method === "resources/read") {
      const { result, error } = await window.server(method, params);
      window.say(error || window.away ? { id, error: error ?? { code: -32000, message: "not now" } } : { id, result });
    } else if (id !== undefined && method) window.say({ id, result: {} });
  });
};

run(async () => {
  const { browser } = await person();
  const server = await connect();
  const tools = (await server.ask("tools/list", {})).result.tools;
  const linked = tools.find((tool) => tool.name === "graph_onboard")._meta.ui.resourceUri;
  assert.equal(linked, BOARD);
  const [content] = (await server.ask("resources/read", { uri: linked })).result.contents;

  const { page } = await watched(browser, { viewport: { width: 900, height: 700 } });
  await page.exposeFunction("server", (method, params) => server.ask(method, params));
  await page.setContent("<!DOCTYPE html><title>host</title><iframe sandbox='allow-scripts' width=860 height=640></iframe>");
  await page.evaluate(host);
  // The policy that a host has to set where the document declares no domain.
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'";
  const html = content.text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
  await page.evaluate((html) => { document.querySelector("iframe").srcdoc = html; }, html);
  const heard = (method) => page.waitForFunction((method) => window.heard.some((one) => one.method === method), method, { timeout: 10_000 });
  await heard("ui/notifications/initialized");
  await heard("ui/notifications/size-changed");
  const inside = page.frameLocator("iframe");
  await inside.getByText("Sell").first().waitFor();
  assert.equal(await inside.locator("html").getAttribute("data-scheme"), "dark");
  assert.equal(await inside.locator("form:visible").count(), 0, "there is nothing to act with");
  if (pictures) await page.screenshot({ path: `${pictures}/board-app.png` });

  // A tool's result arrives: the board shows what is there now.
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come with a result" }] });
  await page.evaluate(() => {
    window.say({ method: "ui/notifications/tool-input", params: { arguments: {} } });
    window.say({ method: "ui/notifications/tool-result", params: { content: [{ type: "text", text: "{}" }] } });
  });
  await inside.getByText("Come with a result").first().waitFor({ timeout: 10_000 });

  // And when it is asked for, by mouse and by keyboard.
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come by asking" }] });
  await inside.getByRole("button", { name: "Refresh" }).click();
  await inside.getByText("Come by asking").first().waitFor({ timeout: 10_000 });
  await inside.getByText(/As of \d\d:\d\d/).waitFor();
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come by key" }] });
  await inside.getByRole("button", { name: "Refresh" }).press("Enter");
  await inside.getByText("Come by key").first().waitFor({ timeout: 10_000 });

  // What cannot be refreshed stays, and says so.
  await page.evaluate(() => { window.away = true; });
  await inside.getByRole("button", { name: "Refresh" }).click();
  await inside.getByText("It could not be refreshed: not now.").waitFor();
  assert.ok(await inside.getByText("Come by key").first().isVisible());

  // A task that is clicked is asked about, by its name; the window stays where it is.
  await inside.getByRole("link", { name: "Sell" }).first().click();
  await heard("ui/message");
  const asked = await page.evaluate(() => window.heard.find((one) => one.method === "ui/message").params);
  assert.deepEqual(asked, { role: "user", content: [{ type: "text", text: "Tell me about TASK-002." }] });

  // The host ends it, changes its colours, and asks what the board does not know.
  await page.evaluate(() => {
    window.say({ method: "ui/notifications/host-context-changed", params: { theme: "light" } });
    window.say({ id: "bye", method: "ui/resource-teardown", params: {} });
    window.say({ id: "odd", method: "ui/something", params: {} });
  });
  await page.waitForFunction(() => window.heard.some((one) => one.id === "bye" && one.result) && window.heard.some((one) => one.id === "odd" && one.error));
  assert.equal(await inside.locator("html").getAttribute("data-scheme"), "light");
  const over = await inside.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
  assert.ok(over <= 0, `${over} px too wide`);
  assert.deepEqual(trouble, []);
  server.end();
  await browser.close();
});
