// A person in threads: reads, answers with names that are completed, settles a finding, and sees what comes.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  await page.goto(`${base}/garden/threads`);
  await page.locator("body").press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/garden/threads/th_002");
  const said = page.locator("#said-th_002");
  await said.getByText("word 60").waitFor();

  // It opens where the person has not read; the page goes along only if it was at the end.
  const atEnd = () => said.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 40);
  assert.ok(await page.locator("#new").evaluate((one) => { const { top, bottom } = one.getBoundingClientRect(); return top > 0 && bottom < innerHeight; }));
  await said.evaluate((one) => { one.scrollTop = 0; });
  call("bob", "post_message", { thread_id: "th_002", body: "Come while I read" });
  await page.getByText("Come while I read").waitFor({ timeout: 10_000 });
  assert.equal(await said.evaluate((one) => one.scrollTop), 0);
  await said.evaluate((one) => { one.scrollTop = one.scrollHeight; });
  call("bob", "post_message", { thread_id: "th_002", body: "Come at the end\n\n".repeat(20) });
  await page.getByText("Come at the end").first().waitFor({ timeout: 10_000 });
  await page.waitForFunction(() => { const one = document.querySelector("#said-th_002"); return one.scrollHeight - one.scrollTop - one.clientHeight < 40; });
  assert.ok(await atEnd());

  // Names are completed by the keyboard; Escape keeps what was typed.
  await page.locator("body").press("m");
  const field = page.locator("#message");
  assert.ok(await field.evaluate((one) => one === document.activeElement));
  await page.keyboard.type("See TASK-0");
  await page.locator("#offers li").first().waitFor();
  assert.equal(await field.getAttribute("aria-activedescendant"), "offer-0");
  await page.keyboard.press("ArrowDown");
  assert.equal(await field.getAttribute("aria-activedescendant"), "offer-1");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "See TASK-002 ");
  await page.keyboard.type("and @bo");
  await page.locator("#offers li").first().waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#offers").count(), 0);
  assert.equal(await field.inputValue(), "See TASK-002 and @bo");
  await page.keyboard.type("b ^");
  await page.locator("#offers li").first().waitFor();
  await page.locator("#offers li").first().click();
  assert.match(await field.inputValue(), /^See TASK-002 and @bob \^\w{3,4} $/);
  await page.keyboard.press("Control+Enter");
  const mine = said.locator(".message").last();
  await mine.getByRole("link", { name: "TASK-002" }).waitFor({ timeout: 10_000 });
  assert.equal(await field.inputValue(), "");

  // A name shows what it stands for.
  await mine.getByRole("link", { name: "TASK-002" }).hover();
  await page.locator("#hover").getByText("Rotate the keys").waitFor();
  await page.mouse.move(5, 5);
  await page.locator("#hover").waitFor({ state: "detached" });

  // A finding is settled where it stands, and that is taken back.
  await page.getByRole("button", { name: "Verify" }).click();
  await page.locator(".finding.verified").waitFor({ timeout: 10_000 });
  await page.locator("body").press("u");
  await page.locator(".finding.open").waitFor({ timeout: 10_000 });

  // A credential is shown when it is asked for; a long text, too.
  await page.locator(".secret").click();
  assert.ok(await page.locator(".secret .whole").isVisible());
  await page.getByText(/Show all 9,\d\d\d characters/).click();
  assert.ok(await page.locator("details.fold .words, details.fold > p").first().isVisible());

  // Somebody is woken, and the receipt stands beneath.
  await page.getByRole("button", { name: "Wake bob" }).first().click();
  await said.getByText(/woke/).first().waitFor({ timeout: 10_000 });

  // To another thread without leaving the page.
  await page.getByRole("link", { name: "Which licence?" }).click();
  await page.locator("#said-th_001").waitFor();
  await page.goBack();
  await page.locator("#said-th_002").waitFor();

  // Two people at once: what another tab wrote comes here, and what is half written stays.
  const other = await context.newPage();
  await other.goto(`${base}/garden/threads/th_001`);
  await page.goto(`${base}/garden/threads/th_001`);
  await page.locator("#message").fill("Half wri");
  await other.locator("#message").fill("From the other tab");
  await other.keyboard.press("Control+Enter");
  await page.bringToFront();
  await page.locator("#said-th_001").getByText("From the other tab").waitFor({ timeout: 10_000 });
  await other.close();

  assert.deepEqual(await atEverySize(browser, context, ["threads", "threads/new", "threads/th_002", "threads/th_002?facts=1"]), []);
  assert.deepEqual(trouble, []);
  await browser.close();
});
