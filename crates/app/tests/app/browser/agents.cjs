// A person follows an agent, stays, goes on, writes to it, and retraces it by mouse, keyboard and player.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  const ada = (tool, args) => call("ada", tool, args);
  await page.goto(`${base}/garden/agents/ada`);
  await page.getByText("The page goes where").waitFor();

  // What another process writes is shown, and the page goes there: line 90 comes into sight.
  ada("reader_scroll", { artifact: "goals", start: 88, end: 92 });
  ada("reader_select", { artifact: "goals", start: 90, end: 90 });
  await page.locator("#line-90.is-selected").waitFor({ timeout: 10_000 });
  const seen = (line) => page.waitForFunction((line) => {
    const box = document.querySelector(`#line-${line}`)?.getBoundingClientRect();
    return box && box.top > 100 && box.bottom < innerHeight;
  }, line, { timeout: 10_000 });
  await seen(90);

  // Esc stays; the agent goes on, and the page does not.
  await page.locator("body").press("Escape");
  await page.getByText("You stay").waitFor();
  ada("reader_select", { artifact: "goals", start: 2, end: 2 });
  await page.getByText("has gone on: 1 step.").waitFor({ timeout: 10_000 });
  await seen(90);
  assert.equal(await page.locator("#line-2.is-selected").count(), 0);
  await page.locator("body").press("f");
  await page.locator("#line-2.is-selected").waitFor();
  await seen(2);

  // Scrolling stays as well.
  await page.mouse.move(900, 500);
  await page.mouse.wheel(0, 300);
  await page.getByText("You stay").waitFor();
  assert.match(page.url(), /at=\d+/);
  await page.getByRole("link", { name: /Go with/ }).click();
  await page.getByText("The page goes where").waitFor();

  // A message to it, by keyboard; a draft survives what comes meanwhile.
  await page.locator("body").press("m");
  const field = page.getByLabel("Message to ada");
  await field.waitFor();
  await page.waitForFunction(() => document.activeElement?.name === "body");
  await page.keyboard.type("Please look at ");
  ada("reader_note", { content: "One more" });
  await page.getByText("One more").first().waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "Please look at ");
  await page.keyboard.type("line 3");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Sent.").first().waitFor({ timeout: 10_000 });
  await page.locator("body").press("Escape");

  // Retraced from the first step: by links, by arrows, by the player.
  await page.getByRole("link", { name: "Retrace", exact: true }).click();
  await page.getByText(/^Step 1 of \d+$/).waitFor();
  await page.locator("body").press("ArrowRight");
  await page.getByText(/^Step 2 of/).waitFor();
  await page.locator("body").press("ArrowLeft");
  await page.getByText(/^Step 1 of/).waitFor();
  await page.getByRole("link", { name: "The next step" }).click();
  await page.getByText(/^Step 2 of/).waitFor();
  await page.getByRole("button", { name: "16×" }).click();
  await page.locator("body").press(" ");
  const all = await page.locator(".did").count();
  await page.getByText(`Step ${all} of ${all}`).waitFor({ timeout: 15_000 });
  await page.waitForFunction(() => document.querySelector("[data-play]").getAttribute("aria-label") === "Play");
  // Step by step, Space is one step.
  await page.locator(".played a").first().click();
  await page.getByText(/^Step 1 of/).waitFor();
  await page.getByRole("button", { name: "Steps" }).click();
  await page.locator("body").press(" ");
  await page.getByText(/^Step 2 of/).waitFor();

  // Without the script all of it is links.
  const { cookies } = await context.storageState();
  const bare = await browser.newContext({ javaScriptEnabled: false });
  await bare.addCookies(cookies);
  const plain = await bare.newPage();
  await plain.goto(`${base}/garden/agents/ada/retrace`);
  assert.equal(await plain.getByRole("button", { name: "Play" }).isVisible(), false);
  await plain.getByRole("link", { name: "The next step" }).click();
  await plain.getByText(/^Step 2 of/).waitFor();
  await bare.close();

  const places = ["agents", "agents/ada", "agents/ada?peek=about", "agents/ada/retrace", "agents/ada/retrace?at=99999"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
