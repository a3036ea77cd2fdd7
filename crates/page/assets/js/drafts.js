// What is typed is kept by its form and field, in the browser, until it is sent.
const drafts = "understory draft ";
const KEPT = 30 * 24 * 3600 * 1000;
const fieldKey = (field) => {
  const form = field.closest?.("form[data-draft]");
  return form && field.name && !["hidden", "checkbox", "radio"].includes(field.type) ? drafts + base + form.dataset.draft + "." + field.name : null;
};
const draftOf = (key) => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };
const restoreDrafts = () => {
  for (const field of all("form[data-draft] textarea, form[data-draft] input:not([type=hidden])")) {
    const saved = draftOf(fieldKey(field));
    // A field that begins with what is stored shows the draft in its place.
    if (saved && field.value === field.defaultValue && saved.text !== field.value) {
      field.value = saved.text;
      const details = field.closest("details");
      if (details) details.open = true;
    }
    if (saved) showKept(field);
  }
};
const showKept = (field) => { const note = $(".kept", field.form ?? document); if (note) note.textContent = field.value === field.defaultValue ? "" : "Draft kept"; };
const dropDrafts = (form) => {
  for (const field of all("textarea, input:not([type=hidden])", form)) {
    const key = fieldKey(field);
    if (key) { localStorage.removeItem(key); field.value = field.defaultValue; showKept(field); }
  }
};
document.addEventListener("input", ({ target }) => {
  const key = fieldKey(target);
  if (!key) return;
  if (target.value !== target.defaultValue) localStorage.setItem(key, JSON.stringify({ text: target.value, at: Date.now() }));
  else localStorage.removeItem(key);
  showKept(target);
});
// What another tab wrote is the newer one, unless this one is being typed into.
window.addEventListener("storage", ({ key }) => {
  for (const field of all("form[data-draft] textarea, form[data-draft] input:not([type=hidden])")) {
    if (fieldKey(field) === key && field !== document.activeElement) { field.value = draftOf(key)?.text ?? field.defaultValue; showKept(field); }
  }
});
const expireDrafts = () => {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(drafts) && !((draftOf(key)?.at ?? 0) > Date.now() - KEPT)) localStorage.removeItem(key);
  }
};
