// A person at the records, in a real browser.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();

  // By keys alone: to the records, to the one with two versions, and the second is taken.
  await page.locator("body").press("g");
  await page.keyboard.press("r");
  await page.waitForURL("**/garden/records");
  await page.getByRole("link", { name: "Two versions of" }).waitFor();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL("**/records/R002/settle**");
  await page.getByText("bob's version, kept aside").waitFor();
  assert.equal(await page.locator(".two-sides ins").count() > 0, true, "what differs is marked");

  // A third version begins with the one in force, and is kept while it is written.
  const body = page.locator(".third textarea[name=body]");
  assert.equal(await body.inputValue(), "Accepted for two hours.");
  await page.getByRole("button", { name: "Insert bob's body" }).click();
  assert.equal(await body.inputValue(), "Accepted for two hours.\nAccepted for 65 minutes.");
  await page.getByText("Draft kept").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("body").press("2");
  await page.waitForURL("**/records/R002");
  await page.locator(".words").getByText("Accepted for 65 minutes.").waitFor({ timeout: 10_000 });
  await page.getByRole("button", { name: /^Undo/ }).waitFor();
  await page.keyboard.press("u");
  await page.locator(".words").getByText("Accepted for two hours.").waitFor({ timeout: 10_000 });

  // What another changes comes by itself; what one types meanwhile stays, and is not written over it.
  await page.locator("body").press("e");
  const edit = page.locator("form[id^=edit-] textarea[name=body]");
  await edit.fill("Accepted for three hours.");
  call("ada", "activate", { id: "R002", override: true });
  call("ada", "update_record", { id: "R002", title: "How long is it good?" });
  await page.locator("h1").getByText("How long is it good?").waitFor({ timeout: 10_000 });
  assert.equal(await edit.inputValue(), "Accepted for three hours.");
  await page.getByText("ada changed it").waitFor();
  await page.reload();
  assert.equal(await edit.inputValue(), "Accepted for three hours.", "a draft survives");
  call("ada", "update_record", { id: "R002", body: "Accepted for a day." });
  await edit.press("Control+Enter");
  await page.waitForURL("**/records/R002/settle", { timeout: 10_000 });
  await page.getByText("Nothing of yours was written over it").waitFor();
  await page.getByRole("button", { name: "Keep ada's" }).click();
  await page.waitForURL("**/records/R002");
  await page.locator(".words").getByText("Accepted for a day.").waitFor();
  const known = trouble.filter((line) => !line.includes("status of 4"));
  assert.deepEqual(known, []);
  trouble.length = 0;

  // A new record below this one, and a way back to the tree.
  await page.locator("body").press("c");
  await page.getByLabel("Title").fill("Clocks drift");
  await page.getByLabel("Body, which must explain itself").fill("By 40 ms.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("treeitem", { name: "Clocks drift" }).first().waitFor({ timeout: 10_000 });

  const places = ["records", "records/R001", "records/R002", "records/R002/history", "records/R002/settle", "records/R003",
    "records/R002?act=edit", "records?act=new", "records?text=accepted"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
