// A person looks at two conversations side by side, speaks in one, branches off and ends it.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  await page.goto(`${base}/garden/conversations`);
  await page.locator("#list a.title", { hasText: "Cards" }).click();
  await page.getByText("The gateway keeps the card.").waitFor();
  const entry = page.locator("#list .entry", { hasText: "Cash" });
  await entry.getByRole("link", { name: "Show it beside the other" }).click();
  await page.waitForURL("**right=**");
  assert.equal(await page.locator("section.conversation").count(), 2);
  await page.getByText("Couriers refuse it.").waitFor();

  // What others say comes by itself; what is half written stays.
  const left = page.locator("section.conversation").first();
  const field = left.getByLabel("Say something here");
  await field.fill("And when the gateway ");
  call("ada", "garden_add", { type: "Message", description: "It costs 1.4%." });
  await left.getByText("It costs 1.4%.").waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "And when the gateway ");
  await field.pressSequentially("is away?");
  await page.keyboard.press("Control+Enter");
  await left.locator(".words", { hasText: "And when the gateway is away?" }).waitFor({ timeout: 10_000 });
  await page.locator("body").click({ position: { x: 700, y: 30 } });
  await page.keyboard.press("u");
  await left.getByText("Taken back.").waitFor({ timeout: 10_000 });

  // Ending one asks what it came to.
  await page.locator("section.conversation").nth(1).getByRole("link", { name: "End it…" }).click();
  await page.getByLabel("End this conversation with what it came to").fill("Couriers will not have it");
  await page.getByRole("button", { name: "End it" }).click();
  await page.locator("#list").getByText("ended: Couriers will not have it").waitFor({ timeout: 10_000 });
  await page.getByRole("button", { name: "Take it up again" }).waitFor();

  // Branched off by keys; one stands in it then.
  await page.goto(`${base}/garden/conversations`);
  await page.locator("body").press("f");
  const title = page.getByLabel("What the new conversation is about");
  await title.waitFor();
  assert.ok(await title.evaluate((element) => element === document.activeElement), "the field has the focus");
  await title.fill("Opening hours");
  await page.keyboard.press("Control+Enter");
  await page.locator("section.conversation h2", { hasText: "Opening hours" }).waitFor({ timeout: 10_000 });
  await page.locator("section.conversation .chip", { hasText: "you" }).waitFor();

  const two = await page.locator("#list .entry a.title").evaluateAll((all) => all.map((one) => new URL(one.href).searchParams.get("left")));
  const places = ["conversations", `conversations?left=${two[0]}&right=${two[1]}`, `conversations?left=${two[0]}&do=branch`];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
