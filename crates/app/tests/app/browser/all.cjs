// What holds for every page: no serious finding of axe, two windows agree, a lost connection loses nothing.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { atEverySize, base, call, person, run, trouble, wire } = require("./lib.cjs");

const axe = fs.readFileSync(path.join(path.dirname(process.env.PLAYWRIGHT), "axe-core", "axe.min.js"), "utf8");
const places = JSON.parse(process.env.PLACES);

run(async () => {
  const { browser, context, page } = await person();

  // Everybody can use every page, in both schemes.
  const findings = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const place of places) {
      const answer = await page.goto(`${base}/garden/${place}`);
      assert.equal(answer.status(), 200, place);
      await page.evaluate(axe);
      // Names begin with the words that are seen; that rule also counts the keys beside them, and the words of
      // pictures, which are cut to their boxes.
      const { violations } = await page.evaluate(() => axe.run(document, {
        resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: false } },
      }));
      for (const { id, impact, nodes } of violations) {
        if (["serious", "critical"].includes(impact)) findings.push(`${place} (${colorScheme}): ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
      }
      const doubled = await page.evaluate(() => {
        const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
        return ids.filter((id, at) => ids.indexOf(id) !== at);
      });
      if (doubled.length) findings.push(`${place}: ids twice: ${[...new Set(doubled)].slice(0, 5)}`);
      const headings = await page.locator("h1").count();
      if (headings !== 1) findings.push(`${place}: ${headings} h1`);
    }
  }
  assert.equal(findings.join("\n"), "");
  await page.emulateMedia({ colorScheme: null });
  assert.deepEqual(await atEverySize(browser, context, places), []);

  // Two windows: what one decides, the other sees; what both decide is told to the second, and nothing is done twice.
  await page.goto(`${base}/garden/now?peek=prop_002`);
  const other = await context.newPage();
  await other.goto(`${base}/garden/now?peek=prop_002`);
  await other.route("**/garden/now*", (route) => route.abort());
  await page.getByRole("button", { name: "Accept" }).click();
  await page.locator("#need-prop_002").waitFor({ state: "detached" });
  await other.getByRole("button", { name: "Reject" }).click();
  await other.locator(".error").waitFor();
  await other.close();

  // A connection that is lost is told of, what is typed is kept, and afterwards nothing is missing.
  const { proxy, cut, mend } = await wire();
  const far = await person({ proxy });
  await far.page.goto(`${base}/garden/now?peek=th_001`);
  await far.page.getByLabel("Your answer").fill("Visa, and ");
  cut();
  await far.page.getByText(/^Not connected since/).waitFor({ timeout: 30_000 });
  for (const n of [1, 2, 3]) call("bob", "graph_plan", { nodes: [{ ref: "n", summary: `Came while away ${n}` }] });
  call("bob", "post_message", { to: ["ann"], title: "Meanwhile", body: "Did you see me?" });
  mend();
  await far.page.getByText("Did you see me?").first().waitFor({ timeout: 30_000 });
  assert.equal(await far.page.getByLabel("Your answer").inputValue(), "Visa, and ");
  await far.browser.close();
  await page.goto(`${base}/garden/work?view=list`);
  for (const n of [1, 2, 3]) await page.getByText(`Came while away ${n}`).first().waitFor();

  // Every link of every page answers.
  const seen = new Set();
  const open = places.map((place) => `${base}/garden/${place}`);
  while (open.length && seen.size < 250) {
    const address = open.shift();
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await page.request.get(address, { headers: { Accept: "text/html" } });
    assert.ok(answer.status() < 400, `${address}: ${answer.status()}`);
    if (!address.startsWith(`${base}/garden/`)) continue;
    const found = [...(await answer.text()).matchAll(/<a [^>]*href="([^"#]+)/g)].map(([, href]) => href.replaceAll("&amp;", "&"));
    for (const href of found) if (href.startsWith("/")) open.push(base + href);
  }
  assert.ok(seen.size > 60, [...seen].join("\n"));
  const expected = /status of 4|ERR_FAILED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION|ERR_PROXY|ERR_NETWORK/;
  assert.deepEqual(trouble.filter((line) => !expected.test(line)), []);
  await browser.close();
});
