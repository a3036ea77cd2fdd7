// A person at the pages, in a real browser.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  assert.match(await page.title(), /^\(2\) Now/, await page.locator("body").innerText());

  // What is half written survives a reload, and news that come meanwhile.
  await page.locator("#needs ~ ul .title").filter({ hasText: "ada" }).first().click();
  const field = page.getByLabel("Your answer");
  await page.waitForFunction(() => document.activeElement?.name === "body");
  await page.waitForURL(/now\?peek=th_001$/);
  await field.fill("Take Visa, then ");
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come while I type" }] });
  call("bob", "graph_update", { updates: [{ node_id: "TASK-004", resolved: true }] });
  await page.getByText("Come while I type").waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "Take Visa, then ");
  assert.ok(await field.evaluate((element) => element === document.activeElement), "the focus was lost");
  await page.reload();
  await page.getByText("Draft kept").waitFor();
  assert.equal(await field.inputValue(), "Take Visa, then ");

  // Answered without leaving; what needed the person is gone.
  await field.pressSequentially("Mastercard.");
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => document.title.startsWith("(1) Now"), null, { timeout: 10_000 });
  await page.getByRole("button", { name: /^Undo/ }).waitFor();

  // What waits is walked through and decided by keys alone.
  await page.waitForFunction(() => document.activeElement?.closest(".entry"), null, { timeout: 10_000 });
  await page.keyboard.press(" ");
  await page.getByRole("button", { name: "Accept" }).waitFor();
  await page.keyboard.press("a");
  await page.getByText("Nothing needs you.").waitFor({ timeout: 10_000 });
  await page.waitForURL(/now$/);

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
    for (const link of await page.locator("a[href]").evaluateAll((all) => all.map((one) => new URL(one.getAttribute("href"), one.baseURI).href.split("#")[0]))) open.push(link);
  }
  assert.ok(seen.size > 8, [...seen].join("\n"));

  const places = ["now", "timeline", "work", "threads", "artifacts", "threads/th_001", "work/TASK-002", "artifacts/goals",
    "why/goals:2", "search?q=sell"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
