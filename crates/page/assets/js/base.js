// What the other files share. Each file is a part of the page's script, which is one function.
"use strict";
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (name, fields = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), fields);
  element.append(...inside);
  return element;
};
const base = document.body.dataset.base?.split("?")[0];
const linkTo = (place) => {
  const address = new URL(base + place, location.href);
  const { project } = document.body.dataset;
  if (project) address.searchParams.set("project", project);
  return address.href;
};
const isField = (element) => element?.matches?.("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");
/** Says a sentence to a screen reader, at most one in five seconds. */
const announce = (() => {
  let last = 0;
  return (text) => {
    const line = $("#told");
    if (!line || Date.now() - last < 5000) return;
    last = Date.now();
    line.textContent = text;
  };
})();
