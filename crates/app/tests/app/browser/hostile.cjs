// Pages full of hostile text: nothing of it runs, loads, or changes what a page is made of.
"use strict";
const assert = require("node:assert");
const { base, person, run, trouble } = require("./lib.cjs");

run(async () => {
  const { browser, page } = await person();
  const reports = [];
  await page.exposeFunction("reported", (what) => reports.push(what));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => window.reported(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  for (const place of JSON.parse(process.env.PLACES)) {
    const answer = await page.goto(`${base}/garden/${place}`);
    assert.ok(answer.status() === 200 || place.startsWith("go/"), `${place}: ${answer.status()}`);
    // What the page consists of, beyond text: only what the templates have.
    const strange = await page.evaluate(() => {
      const scripts = [...document.querySelectorAll("script")].filter((one) => !/^\/assets\/[a-z]+\.js$/.test(one.getAttribute("src"))).length;
      const foreign = document.querySelectorAll("img, iframe, object, embed, base, meta[http-equiv], style, math, video, audio").length;
      const acts = [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some((it) => it.name.startsWith("on"))).length;
      const links = [...document.querySelectorAll("a[href], form[action], button[formaction]")]
        .filter((one) => !/^(https?:|#|\/)/.test(one.getAttribute("href") ?? one.getAttribute("action") ?? one.getAttribute("formaction"))).length;
      return { scripts, foreign, acts, links };
    });
    assert.deepEqual(strange, { scripts: 0, foreign: 0, acts: 0, links: 0 }, place);
    assert.doesNotMatch(await page.title(), /owned/);
    for (const summary of (await page.locator("#content summary:visible").all()).slice(0, 3)) await summary.click();
  }
  assert.deepEqual(reports, []);
  assert.deepEqual(trouble.filter((line) => !line.includes("status of 404")), []);
  await browser.close();
});
