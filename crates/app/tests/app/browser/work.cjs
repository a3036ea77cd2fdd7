// The picture of tasks, its panel, and the board, by mouse and by keys, while agents work.
"use strict";
const assert = require("node:assert");
const { atEverySize, base, call, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, context, page } = await person();
  const node = (name) => page.locator(`#node-${name}`);
  const side = page.locator("#side");
  const toast = page.locator("#toast");

  // Along the lines by arrows, into the panel and back; the focus is never lost.
  await page.goto(`${base}/garden/work`);
  await node("TASK-001").locator("a").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".node")?.dataset.task), "TASK-002");
  await page.keyboard.press("Enter");
  await side.getByText("Move the store").waitFor();
  assert.match(page.url(), /peek=TASK-002/);
  await page.keyboard.press("Escape");
  await side.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.closest(".node")?.dataset.task), "TASK-002", "the focus comes back");

  // Taken by its key, and given back by the toast's.
  await node("TASK-004").locator("a").click();
  await side.getByText("Translate the guide").waitFor();
  await page.keyboard.press("t");
  await toast.getByText("TASK-004 is yours.").waitFor();
  await page.locator("#node-TASK-004.held").waitFor();
  await page.keyboard.press("u");
  await page.locator("#node-TASK-004.ready").waitFor();

  // Somebody else takes it meanwhile, in another process: the picture shows it by itself.
  call("bob", "graph_update", { updates: [{ node_id: "TASK-004", claim: true }] });
  await node("TASK-004").locator("text.state", { hasText: "bob" }).waitFor({ timeout: 10_000 });
  await page.getByRole("button", { name: "Take over" }).click();
  await toast.getByText("TASK-004 is yours; bob had it.").waitFor();
  await page.keyboard.press("u");
  await page.locator("#node-TASK-004.ready").waitFor();

  // What would be a circle is refused where it was asked for.
  await node("TASK-002").locator("a").click();
  await side.getByText("Move the store").waitFor();
  await side.locator("#act-more > summary").click();
  await side.getByLabel("Comes after").fill("TASK-003");
  await side.getByRole("button", { name: "Add", exact: true }).click();
  await side.getByText("That would be a circle: TASK-002 → TASK-003 → TASK-002.").waitFor();

  // A comment, and its draft.
  await page.keyboard.press("Escape");
  await side.locator("#act-note > summary").click();
  await side.getByLabel("A note on this task").fill("Take a turn per workspace.");
  await page.keyboard.press("Control+Enter");
  await side.locator(".note").getByText("Take a turn per workspace.").waitFor();

  // A new task without the mouse.
  await page.goto(`${base}/garden/work`);
  await page.keyboard.press("c");
  await page.locator("#new-task input[name=summary]:focus").waitFor();
  await page.keyboard.type("Draw the opening hours");
  await page.keyboard.press("Enter");
  await page.locator("#node-TASK-005.ready").waitFor();

  // Larger, smaller, and as large as there is room.
  const width = () => page.locator("#graph").evaluate((graph) => graph.getBoundingClientRect().width);
  const before = await width();
  await page.getByRole("button", { name: "Larger" }).click();
  assert.ok(await width() > before);
  await page.getByRole("button", { name: "Fit" }).click();
  assert.ok(await width() <= before);

  // Cards that are moved.
  await page.getByRole("link", { name: "Board" }).click();
  await page.locator("#lane-ready #task-TASK-005").waitFor();
  await page.locator("#task-TASK-005").dragTo(page.locator("#lane-waits"));
  await page.locator("#lane-waits").getByText("Only a dependency can make a task wait").waitFor();
  await page.locator("#task-TASK-005").dragTo(page.locator("#lane-ready #task-TASK-004"), { targetPosition: { x: 20, y: 4 } });
  await toast.getByText("TASK-005 has priority 1.").waitFor();
  await page.locator("#task-TASK-005[data-priority='1']").waitFor();
  await page.locator("#task-TASK-005").dragTo(page.locator("#lane-in_hand"));
  await page.locator("#lane-in_hand #task-TASK-005").waitFor();
  await page.locator("#task-TASK-005").dragTo(page.locator("#lane-done"));
  const evidence = page.getByLabel("What shows it");
  await evidence.waitFor();
  await evidence.fill("git:0c77d1e");
  await page.keyboard.press("Enter");
  await page.locator("#lane-done #task-TASK-005").waitFor();

  // On a phone the states are tabs.
  const phone = await context.newPage();
  await phone.setViewportSize({ width: 390, height: 844 });
  await phone.goto(`${base}/garden/work`);
  await phone.waitForURL("**/work?view=board");
  await phone.getByRole("link", { name: /^Ready \d/ }).click();
  await phone.locator("#task-TASK-004").waitFor();
  assert.ok(await phone.locator("#lane-waits").isHidden());
  await phone.close();

  const places = ["work?view=picture", "work?view=picture&peek=TASK-002", "work?view=picture&around=TASK-002", "work?view=board", "work?view=list", "work/TASK-002"];
  assert.deepEqual(await atEverySize(browser, context, places), []);
  assert.deepEqual(trouble.filter((line) => !line.includes("status of 4")), []);
  await browser.close();
});
