// Forms are sent without leaving the page; an error stands under the form that caused it, what was done can be undone.
const fail = (form, text) => {
  const box = $(":scope > .error", form) ?? form.appendChild(make("p", { className: "error" }));
  box.setAttribute("role", "alert");
  box.textContent = text;
};

/** Does an act; the answer, or an error with words for people. */
const act = async (address, fields) => {
  const answer = await fetch(address, { method: "POST", body: fields, headers: { Accept: "application/json" } });
  const said = await answer.json();
  if (answer.ok) return said;
  const { message, hint, details } = said.error ?? {};
  throw Object.assign(new Error([message ?? "That did not work.", hint].filter(Boolean).join(" ")), { told: true, place: details?.place });
};
const fieldsOf = (pairs) => {
  const fields = new URLSearchParams(pairs);
  fields.set("csrf", document.body.dataset.csrf);
  fields.set("key", crypto.randomUUID());
  const { project } = document.body.dataset;
  if (project) fields.set("project", project);
  return fields;
};

// One toast at a time; it stays as long as what was done can be undone, and becomes small.
const UNDO = 5 * 60;
let toasting = 0;
const toast = (text, undo) => {
  clearInterval(toasting);
  $("#toast")?.remove();
  const box = make("div", { id: "toast" }, make("span", { textContent: text }));
  announce(text);
  document.body.append(box);
  if (!undo) { toasting = setInterval(() => { box.remove(); clearInterval(toasting); }, 8000); return; }
  const button = make("button", { type: "button" });
  button.dataset.hotkey = "u";
  const until = Date.now() + UNDO * 1000;
  const begun = Date.now();
  const tick = () => {
    const left = Math.max(0, Math.round((until - Date.now()) / 1000));
    button.textContent = `Undo ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    box.classList.toggle("is-small", Date.now() - begun > 8000);
    if (!left) { box.remove(); clearInterval(toasting); }
  };
  button.onclick = async () => {
    button.disabled = true;
    try {
      const said = await act(linkTo(`do/${undo.act}`), fieldsOf(undo.fields));
      toast(said.said);
      await refreshNow();
    } catch (error) {
      button.disabled = false;
      fail(box, error.told ? error.message : "The server does not answer. It was not undone.");
    }
  };
  box.append(button);
  toasting = setInterval(tick, 1000);
  tick();
};

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("form[data-soft]")) {
    event.preventDefault();
    const address = new URL(form.action);
    address.search = new URLSearchParams([...new FormData(form, event.submitter)].filter(([, value]) => value)).toString();
    goTo(address.href);
    return;
  }
  if (!form.matches("form.act")) return;
  event.preventDefault();
  if (form.dataset.sending) return;
  form.dataset.sending = "true";
  const data = new URLSearchParams(new FormData(form, event.submitter));
  form.dataset.key ??= crypto.randomUUID();
  data.set("key", form.dataset.key);
  $(":scope > .error", form)?.remove();
  try {
    const said = await act(form.action, data);
    delete form.dataset.key;
    dropDrafts(form);
    form.closest("details")?.removeAttribute("open");
    toast(said.said, said.undo);
    if (form.dataset.then) await goTo(form.dataset.then); else await refreshNow();
  } catch (error) {
    if (error.told) delete form.dataset.key;
    // What was written is kept where this leads, beside what stood in its way.
    if (error.place) { dropDrafts(form); announce(error.message); await goTo(linkTo(error.place)); return; }
    fail(form, error.told ? error.message : "The server does not answer. What you wrote is kept; send it again.");
  } finally { delete form.dataset.sending; }
});
