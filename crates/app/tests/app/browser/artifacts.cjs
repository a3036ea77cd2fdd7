// A person reads a document, asks why, compares versions and decides what is proposed, by mouse and by keys.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  const line = (n) => page.locator(`li.line[id="${n}"]`);

  // Why, from a click on a line; Esc goes back.
  await page.goto(`${base}/garden/artifacts/shop`);
  await line(2).locator(".text").click();
  await page.waitForURL("**/artifacts/shop%3A2");
  await page.locator("#side").getByText("SQLite has one writer, and we have forty.").waitFor();
  assert.equal(await line(2).getAttribute("aria-current"), "true");
  await page.keyboard.press("Escape");
  await page.waitForURL("**/artifacts/shop");
  // Several lines with Shift.
  await line(1).locator("a.n").click();
  await page.waitForURL("**/artifacts/shop%3A1");
  await line(2).locator("a.n").click({ modifiers: ["Shift"] });
  await page.waitForURL("**/artifacts/shop%3A1-2");
  // And by keys alone.
  await page.goto(`${base}/garden/artifacts/shop`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/artifacts/shop%3A2");
  await page.locator("#side").getByText("Open the whole path").waitFor();
  await page.keyboard.press("w");
  await page.waitForURL("**/why/**");
  await page.getByText("It began here. Nothing is named before it.").waitFor();

  // The arrows go through the versions; with Shift two are compared.
  await page.goto(`${base}/garden/artifacts/shop`);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL("**/artifacts/shop@2");
  await page.getByText("Version 2 of 3").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL("**/artifacts/shop@1");
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForURL("**/artifacts/shop@1..2");
  await page.getByText("1 line differs").waitFor();
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForURL("**/artifacts/shop@1..3");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL("**/artifacts/shop@2..3");
  await page.keyboard.press("e");
  await page.waitForURL("**equal=yes");

  // A line that an agent changes is changed here; nothing that is half written is lost.
  await page.goto(`${base}/garden/artifacts/shop?edit=prop_002`);
  const field = page.getByLabel("What is to stand there");
  await field.fill("The real end.");
  const shown = call("ada", "garden_artifact_show", { artifact: "shop" });
  call("ada", "garden_artifact_commit", { artifact: "shop", based_on: shown.commit, content: `${shown.lines.map((one) => one.content).join("\n")}\nAnd after it.\n` });
  await page.getByText("And after it.").waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "The real end.");
  await page.getByRole("button", { name: "Accept as edited" }).click();
  await line(4).getByText("The real end.").waitFor({ timeout: 10_000 });

  // Accepted by a key, and undone by one.
  await page.goto(`${base}/garden/artifacts/shop`);
  await page.locator("body").press("a");
  await line(2).getByText("We store all in files.").waitFor({ timeout: 10_000 });
  await page.keyboard.press("u");
  await line(2).getByText("We store all in PostgreSQL.").waitFor({ timeout: 10_000 });

  // Several: the next with a key, chosen with another, and accepted together.
  for (const [start, content] of [[1, "# Aims"], [3, "A key lives a month."], [5, "Nothing after it."]]) {
    call("eve", "reader_propose", { artifact: "shop", start, end: start, content, reasoning: "shorter" });
  }
  await page.getByText("3 of 3").waitFor({ timeout: 10_000 });
  await page.locator("li.beneath").first().focus();
  await page.keyboard.press("x");
  await page.keyboard.press("n");
  assert.ok(await page.locator("li.beneath").nth(1).evaluate((card) => card === document.activeElement), "the next has the focus");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Accept 2" }).click();
  await line(3).getByText("A key lives a month.").waitFor({ timeout: 10_000 });
  await page.waitForFunction(() => document.querySelectorAll("li.beneath").length === 1, null, { timeout: 10_000 });
  await page.keyboard.press("r");
  await page.locator("li.beneath").waitFor({ state: "detached", timeout: 10_000 });

  // A person proposes.
  await page.keyboard.press("p");
  await page.waitForURL("**propose=**");
  await page.getByLabel("What is to stand there; nothing takes the lines away").fill("# What we want");
  await page.getByLabel("Why", { exact: true }).fill("Plainer");
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  await page.getByText("You propose").waitFor({ timeout: 10_000 });
  await page.getByRole("button", { name: "Take back" }).click();
  await page.getByText("You propose").waitFor({ state: "detached", timeout: 10_000 });

  // A new document.
  await page.goto(`${base}/garden/artifacts`);
  await page.getByRole("link", { name: "New document" }).click();
  await page.getByLabel("Label: letters, digits and _").fill("rules");
  await page.getByLabel("Its text").fill("Be kind.");
  await page.getByRole("button", { name: "Put it in" }).click();
  await page.getByRole("link", { name: "rules" }).waitFor({ timeout: 10_000 });

  const places = ["artifacts", "artifacts/shop", "artifacts/shop:2", "artifacts/shop@1..3", "artifacts/shop?propose=1-2", "why/shop:2@" + shown.commit, "why/shop:1"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
