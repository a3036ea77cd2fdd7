// Records: what another version says, put into the field where one writes what holds.
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-insert]");
  const field = button?.form?.elements.body;
  if (!field) return;
  field.value += (field.value && !field.value.endsWith("\n") ? "\n" : "") + button.dataset.insert;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
});
