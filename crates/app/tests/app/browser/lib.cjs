// What the scripts of this folder share: a person's browser that notices every error, and calls by agents.
"use strict";
const { execFileSync } = require("node:child_process");
const http = require("node:http");
const { chromium } = require(process.env.PLAYWRIGHT);

const base = process.env.BASE;
/** Where pictures are put, if they are wanted: `PICTURES=/tmp/x cargo xtask test -p understory-app browser`. */
const pictures = process.env.PICTURES;
/** What went wrong without failing a step: errors of the console, requests elsewhere, dialogs. */
const trouble = [];

/** A call of a tool by an agent, in a process of its own; its answer. */
const call = (agent, tool, args) => {
  const [program, ...first] = JSON.parse(process.env.UNDERSTORY);
  const words = [...first, "call", tool, JSON.stringify(args), "--json", "--agent", agent, "--session", `s-${agent}`];
  return JSON.parse(execFileSync(program, words, { stdio: "pipe" }).toString());
};

/** A window of its own whose troubles are noticed. */
const watched = async (browser, options) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (line) => { if (["error", "warning"].includes(line.type())) trouble.push(line.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", async (dialog) => { trouble.push(`a dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(base)) trouble.push(`asked elsewhere: ${request.url()}`); });
  return { context, page };
};

/** A way to the server that can be cut, as a network is. */
const wire = async () => {
  const sockets = new Set();
  let whole = true;
  const proxy = http.createServer((asked, answer) => {
    const { pathname, search, hostname, port } = new URL(asked.url);
    const onward = http.request({ hostname, port, path: pathname + search, method: asked.method, headers: asked.headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      answer.flushHeaders();
      got.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  proxy.on("connection", (socket) => {
    if (!whole) { socket.destroy(); return; }
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  const cut = () => { whole = false; for (const socket of sockets) socket.destroy(); };
  const mend = () => { whole = true; };
  return { proxy: { server: `http://127.0.0.1:${proxy.address().port}`, bypass: "<-loopback>" }, cut, mend };
};

/** A browser, and a person who has logged in, in a window of 1440 by 900. */
const person = async (options = {}) => {
  const browser = await chromium.launch({
    ...options,
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  const { context, page } = await watched(browser, { viewport: { width: 1440, height: 900 } });
  if (process.env.COOKIE) {
    const [name, value] = process.env.COOKIE.split("=");
    await context.addCookies([{ name, value, url: base, sameSite: "Strict", httpOnly: true }]);
    await page.goto(`${base}/garden/now`);
    return { browser, context, page };
  }
  await page.goto(process.env.LOGIN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "What happens there now" }).click();
  await page.waitForURL("**/garden/now");
  return { browser, context, page };
};

/** At three widths and in both schemes nothing is wider than the window; takes the pictures. */
const atEverySize = async (browser, context, places) => {
  const wide = [];
  const { cookies } = await context.storageState();
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      const other = await watched(browser, { viewport: { width, height }, colorScheme });
      await other.context.addCookies(cookies);
      for (const place of places) {
        await other.page.goto(`${base}/garden/${place}`);
        const over = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) wide.push(`${place} at ${width} is ${over} px too wide`);
        if (pictures) await other.page.screenshot({ path: `${pictures}/${place.replace(/[^a-z0-9_]+/gi, "-")}-${width}-${colorScheme}.png` });
      }
      await other.context.close();
    }
  }
  return wide;
};

/** Runs a script's steps. Each step that fails throws; the last line is `done`. */
const run = (steps) => steps().then(() => { console.log("done"); process.exit(0); }, (error) => { console.error(error, trouble); process.exit(1); });

module.exports = { atEverySize, base, call, person, pictures, run, trouble, watched, wire };
