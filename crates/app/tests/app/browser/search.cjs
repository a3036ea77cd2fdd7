// A person at the palette: goes anywhere and does things by the keyboard, over any page.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  const palette = page.locator("#palette");
  const open = async () => { await page.locator("body").press("/"); await palette.getByRole("combobox").waitFor(); };
  const chosen = () => palette.locator("[aria-selected=true]").innerText();

  // It opens over the page and closes again, and the focus goes back.
  await open();
  await palette.getByText("Go to Timeline").waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  await page.locator("body").press("Control+k");
  await palette.getByRole("combobox").waitFor();

  // Results come as it is typed, the first is chosen; Tab peeks; Enter opens.
  await page.keyboard.type("old key");
  await palette.getByText("These words").waitFor();
  assert.ok(await palette.locator("mark").count() > 0);
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await chosen(), first);
  const active = await palette.getByRole("combobox").getAttribute("aria-activedescendant");
  assert.equal(await palette.locator("[aria-selected=true]").getAttribute("id"), active);
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen(), first);
  await page.keyboard.press("Tab");
  await palette.locator(".preview").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("TASK-001");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/garden/work/TASK-001");

  // Alt Enter asks why.
  await open();
  await page.keyboard.type("TASK-001");
  await palette.getByText("Goes there").waitFor();
  await page.keyboard.press("Alt+Enter");
  await page.waitForURL("**/garden/why/TASK-001");

  // An answer that comes late says nothing any more.
  await page.goto(`${base}/garden/now`);
  await page.route("**/palette?q=ret", async (route) => { await new Promise((go) => setTimeout(go, 1500)); await route.continue(); }, { times: 1 });
  await open();
  await page.keyboard.type("ret");
  await page.waitForTimeout(200);
  await page.keyboard.type("ire");
  await palette.getByText("New task “retire”").waitFor();
  await page.waitForTimeout(1800);
  assert.ok(await palette.getByText("New task “retire”").isVisible());
  await page.keyboard.press("Escape");

  // It does things: a task, the scheme, a letter to somebody.
  await open();
  await page.keyboard.type("Paint the shed");
  await palette.getByText("New task “Paint the shed”").click();
  await page.locator("#toast").getByText("Added.").waitFor({ timeout: 10_000 });
  await page.goto(`${base}/garden/now`);
  await open();
  await page.keyboard.type("dark");
  await palette.getByRole("option", { name: "Dark", exact: false }).last().waitFor();
  await palette.locator("[data-scheme-choice=dark]").click();
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).colorScheme), "dark");
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.scheme), "dark");
  await open();
  await page.keyboard.type("write to bo");
  await palette.getByText("Write to bob").waitFor();
  while (!(await chosen()).includes("Write to bob")) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/garden/threads/new?to=bob");
  assert.equal(await page.locator("input[name=to]").inputValue(), "bob");

  // Without the script it is a page.
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
  const still = await plain.newPage();
  await still.goto(`${base}/garden/now`);
  await still.locator("[data-palette]").click();
  await still.getByLabel("Words, a question or a name").fill("old key");
  await still.getByRole("button", { name: "Search" }).click();
  await still.getByText("These words").waitFor();
  await plain.close();

  assert.deepEqual(await atEverySize(browser, context, ["search", "search?q=old+key", "search?q=nothingatall€"]), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
