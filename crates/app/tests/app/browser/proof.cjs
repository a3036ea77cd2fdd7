// A person proves the log, signs a checkpoint and downloads it.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  await page.getByText("Not proved yet").waitFor();
  await page.locator("body").press("g");
  await page.keyboard.press("p");
  await page.waitForURL("**/garden/proof");

  // Another page that is open learns of the proof, too.
  const other = await context.newPage();
  await other.goto(`${base}/garden/work`);
  await other.getByText("Not proved yet").waitFor();
  await page.bringToFront();
  await page.getByRole("button", { name: "Prove the log" }).click();
  await page.getByText(/The log is what was written, up to #\d+/).waitFor({ timeout: 15_000 });
  await page.locator("#rail").getByText(/Proved up to #\d+/).waitFor();
  // A tab that nobody sees catches up when it is shown.
  await other.bringToFront();
  await other.locator("#rail").getByText(/Proved up to #\d+/).waitFor({ timeout: 10_000 });
  await other.close();
  await page.bringToFront();

  // What is written meanwhile is shown, and is not proved yet.
  call("bob", "graph_plan", { nodes: [{ ref: "n", summary: "One more" }] });
  await page.waitForFunction(() => /The log has (\d+) items/.exec(document.body.innerText)?.[1] > /up to #(\d+)/.exec(document.body.innerText)?.[1], null, { timeout: 10_000 });

  await page.getByRole("button", { name: "Sign a checkpoint" }).click();
  const link = page.getByRole("link", { name: "Download" });
  await link.waitFor({ timeout: 15_000 });
  const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const text = fs.readFileSync(await file.path(), "utf8");
  assert.equal(JSON.parse(text).workspace, "garden");

  // An error stands under its form, and what was pasted is kept.
  await page.getByText("Compare with a checkpoint").click();
  const field = page.getByLabel("The checkpoint, as its file has it");
  await field.fill("nonsense");
  await page.getByRole("button", { name: "Prove and compare" }).click();
  await page.locator("#against .error").waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "nonsense");
  await field.fill(text);
  await page.getByRole("button", { name: "Prove and compare" }).click();
  await page.getByText(/against 2 checkpoints/).waitFor({ timeout: 15_000 });

  assert.deepEqual(await atEverySize(browser, context, ["proof"]), []);
  assert.deepEqual(trouble.filter((line) => !line.includes("status of 400")), []);
  await browser.close();
});
