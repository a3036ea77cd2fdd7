// A person at the timeline: marks and the list, by mouse and by keys, the strip, and news.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  await page.goto(`${base}/garden/timeline`);

  // An item of the list opens to its causes and effects, which are drawn too.
  await page.locator("#items a.title", { hasText: "ada noted" }).first().click();
  await page.locator("#items .is-open dt", { hasText: "led to" }).first().waitFor();
  assert.ok(await page.locator("#items .is-open dt", { hasText: "because" }).count() >= 3, await page.locator("#items .is-open").innerText());
  assert.ok(await page.locator("#picture .is-related").count() >= 3);
  assert.match(page.url(), /sel=\d+/);
  await page.goBack();
  await page.locator("#items .is-open").waitFor({ state: "detached" });

  // By keys: down the list, open, along the marks.
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("#items .is-open").waitFor();
  const first = page.url();
  await page.keyboard.press("ArrowLeft");
  assert.ok(await page.evaluate(() => Boolean(document.activeElement.closest("#picture a"))), "a mark has the focus");
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => location.href !== old, first);

  // The window: shorter, longer, all of it, and by hand.
  const length = () => page.locator("#lanes").evaluate((one) => Number(one.dataset.to) - Number(one.dataset.from));
  await page.goto(`${base}/garden/timeline`);
  const before = await length();
  await page.keyboard.press("+");
  await page.waitForFunction((old) => { const { from, to } = document.querySelector("#lanes").dataset; return to - from < old * 0.6; }, before);
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  await page.waitForFunction((old) => { const { from, to } = document.querySelector("#lanes").dataset; return to - from > old * 0.9; }, before);
  await page.keyboard.press("0");
  await page.waitForFunction((old) => { const { from, to } = document.querySelector("#lanes").dataset; return to - from < old * 0.9; }, before);
  await page.goto(`${base}/garden/timeline`);
  const box = await page.locator("#strip").boundingBox();
  const grip = await page.locator("#frame [data-grip=from]").boundingBox();
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, grip.y + 4, { steps: 4 });
  const whole = await length();
  await page.mouse.up();
  await page.waitForFunction((old) => { const { from, to } = document.querySelector("#lanes").dataset; return to - from < old * 0.9; }, whole);

  // News come by themselves, and a filter is kept while they do.
  await page.goto(`${base}/garden/timeline?agent=bob`);
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "Come while I look" }] });
  call("ada", "graph_plan", { nodes: [{ ref: "n", summary: "Not of bob" }] });
  await page.locator("#items", { hasText: "Come while I look" }).waitFor({ timeout: 10_000 });
  assert.equal(await page.locator("#items", { hasText: "Not of bob" }).count(), 0);
  await page.locator("#menu-agents summary").click();
  await page.locator("#menu-agents a", { hasText: "All agents" }).click();
  await page.locator("#items", { hasText: "Not of bob" }).waitFor();

  // Bars of a long window say what was done in an hour.
  await page.goto(`${base}/garden/timeline?from=2026-01-01`);
  await page.keyboard.press("ArrowLeft");
  await page.locator("#hour", { hasText: "Enter goes there" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/from=.*/);
  await page.locator("#hour").waitFor({ state: "detached" });

  assert.deepEqual(await atEverySize(browser, context, ["timeline", "timeline?from=2026-01-01", "timeline?agent=nobody"]), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
