// A person at the pages, in a real browser. Each step that fails throws; the last line is `done`.
"use strict";
const { execFileSync } = require("node:child_process");
const assert = require("node:assert");
const { chromium } = require(process.env.PLAYWRIGHT);

const base = process.env.BASE;
const pictures = process.env.PICTURES;
const trouble = [];

/** A call of a tool by an agent, in a process of its own. */
const call = (agent, tool, args) => {
  const [program, ...first] = JSON.parse(process.env.UNDERSTORY);
  execFileSync(program, [...first, "call", tool, JSON.stringify(args), "--agent", agent, "--session", `s-${agent}`], { stdio: "pipe" });
};

const watched = async (browser, options) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (line) => { if (["error", "warning"].includes(line.type())) trouble.push(line.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", async (dialog) => { trouble.push(`a dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(base)) trouble.push(`asked elsewhere: ${request.url()}`); });
  return { context, page };
};

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  const { context, page } = await watched(browser, { viewport: { width: 1440, height: 900 } });

  // In by the link.
  await page.goto(process.env.LOGIN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "What happens there now" }).click();
  await page.waitForURL("**/garden/now");
  assert.match(await page.title(), /^\(2\) Now/, await page.locator("body").innerText());

  // What is half written survives a reload, and news that come meanwhile.
  await page.getByText("Answer", { exact: true }).first().click();
  const field = page.getByLabel("Your answer");
  await field.fill("Take Visa, then ");
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come while I type" }] });
  call("bob", "graph_update", { updates: [{ node_id: "TASK-004", resolved: true }] });
  await page.getByText("Come while I type").waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "Take Visa, then ");
  assert.ok(await field.evaluate((element) => element === document.activeElement), "the focus was lost");
  await page.reload();
  await page.getByText("Answer", { exact: true }).first().click();
  assert.equal(await field.inputValue(), "Take Visa, then ");

  // Answered without leaving; what needed the person is gone.
  await field.pressSequentially("Mastercard.");
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => document.title.startsWith("(1) Now"), null, { timeout: 10_000 });
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText("Nothing needs you.").waitFor({ timeout: 10_000 });

  // By keys alone.
  await page.locator("body").press("g");
  await page.keyboard.press("h");
  await page.waitForURL("**/garden/threads");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/garden/threads/th_001");
  await page.getByText("Take Visa, then Mastercard.").waitFor();

  // An error stands where it happened, and nothing that was written is lost.
  await page.goto(`${base}/garden/work`);
  await page.getByText("New task", { exact: true }).click();
  await page.getByLabel("What is to be done").fill("x".repeat(20_000));
  await page.getByRole("button", { name: "Add" }).click();
  await page.locator("form .error").waitFor({ timeout: 10_000 });
  assert.equal((await page.getByLabel("What is to be done").inputValue()).length, 20_000);
  await page.getByLabel("What is to be done").fill("Paint the shed");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("link", { name: "Paint the shed" }).waitFor({ timeout: 10_000 });
  const known = trouble.filter((line) => !line.includes("status of 4"));
  assert.deepEqual(known, []);
  trouble.length = 0;

  // What is written after the page was made and before its stream begins is not missed.
  await page.route("**/events", async (route) => {
    call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come in between" }] });
    await route.continue();
  }, { times: 1 });
  await page.goto(`${base}/garden/timeline`);
  await page.getByText("Come in between").waitFor({ timeout: 10_000 });

  // Every link of every page answers; nothing on any page acts or looks elsewhere.
  const seen = new Set();
  const open = ["now", "timeline", "work", "threads", "artifacts", "search?q=sell"].map((place) => `${base}/garden/${place}`);
  while (open.length && seen.size < 60) {
    const address = open.shift();
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await page.goto(address);
    assert.ok(answer.status() < 400, `${address}: ${answer.status()}`);
    for (const link of await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.href.split("#")[0]))) open.push(link);
  }
  assert.ok(seen.size > 8, [...seen].join("\n"));

  // At three widths and in both schemes nothing is wider than the window.
  const { cookies } = await context.storageState();
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      const other = await watched(browser, { viewport: { width, height }, colorScheme });
      await other.context.addCookies(cookies);
      for (const place of ["now", "timeline", "work", "threads", "artifacts", "threads/th_001", "work/TASK-002", "artifacts/goals", "why/goals:2", "search?q=sell"]) {
        await other.page.goto(`${base}/garden/${place}`);
        const wide = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${place} at ${width} is ${wide} px too wide`);
        if (pictures) await other.page.screenshot({ path: `${pictures}/${place.replace(/[^a-z0-9_]+/gi, "-")}-${width}-${colorScheme}.png` });
      }
      await other.context.close();
    }
  }
  assert.deepEqual(trouble, []);
  await browser.close();
  console.log("done");
})().catch((error) => { console.error(error); process.exit(1); });
