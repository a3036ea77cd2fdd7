// A person at the branches, in a real browser.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  await page.locator("body").press("g");
  await page.keyboard.press("b");
  await page.waitForURL("**/garden/reasoning");

  // By the picture of the lineage to the pair that one wants to compare.
  await page.locator(".lineage-lines").getByRole("link", { name: "what-if" }).click();
  await page.waitForURL("**right=what-if**");
  await page.getByText("not on main").first().waitFor();

  // The merge says what it would do, and what is left to choose; a conflict is settled by its key.
  await page.getByRole("link", { name: "Merge into main" }).click();
  await page.getByText("4 thoughts and edges come over").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByText("Both changed this one.").waitFor({ timeout: 10_000 });
  await page.locator("main").press("2");
  await page.getByText("Both changed this one.").waitFor({ state: "detached", timeout: 10_000 });
  await page.getByRole("button", { name: /^Undo/ }).click();
  await page.locator("#pair-h1").getByText("The clock drifts by hours").waitFor({ timeout: 10_000 });

  // What an agent thinks appears by itself.
  call("bob", "branchmind_graph_apply", { workspace: "garden", branch: "what-if", doc: "graph", ops: [{ op: "node_upsert", id: "n9", type: "decision", title: "Accept an old key" }] });
  await page.locator("#pair-n9").getByText("Accept an old key").waitFor({ timeout: 10_000 });

  // A thought opens beside the pairs by Space and is left by Esc.
  await page.locator("#pair-h1 a[data-peek]").first().focus();
  await page.keyboard.press(" ");
  await page.locator("#side").getByText("Joined to").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#side").getByText("Best next step").waitFor();

  await page.locator("main").press("c");
  await page.getByLabel("What the what-if is called").fill("another");
  await page.keyboard.press("Enter");
  await page.locator(".lineage-lines").getByRole("link", { name: "another" }).waitFor({ timeout: 10_000 });

  const places = ["reasoning", "reasoning?left=main&right=what-if", "reasoning?right=what-if&view=picture", "reasoning?right=what-if&peek=h1&on=what-if",
    "reasoning?right=what-if&act=merge", "reasoning?left=main&right=main"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble, []);
  await page.goto(`${base}/garden/reasoning?right=nowhere`);
  await browser.close();
});
