// Single-key shortcuts. A control names its key in aria-keyshortcuts, so every shortcut has a
// visible control and this module knows no page. They are off while a field has the focus, and
// always if the reader turned them off.
const FIELD = "input, select, textarea, [contenteditable], dialog";
const PREFIX_MS = 1000;
const sheet = document.getElementById("shortcuts");
const opener = document.getElementById("open-shortcuts");
const isOff = () => document.documentElement.dataset.shortcuts === "off";
let prefix = "";

if (opener && sheet) {
  opener.hidden = false;
  opener.addEventListener("click", () => sheet.showModal());
}

function act(control) {
  if (control.matches("input, select")) return control.focus();
  control.click();
  // After opening a form, focus its first field.
  const form = control.matches("summary") ? control.parentElement : null;
  if (form?.open) form.querySelector("input:not([type=hidden]), textarea, select")?.focus();
}

// A key may have several controls, such as one for a selection and one for what is open. A
// folded menu counts too; what is about to be replaced does not.
function controlFor(key) {
  const named = document.querySelectorAll(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
  return [...named].find((control) =>
    (control.checkVisibility() || control.closest("#menu")) && !control.closest("[aria-busy=true]"));
}

function selectRow() {
  const box = document.activeElement.closest("li, tr")?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
}

function closeForms() {
  const open = [...document.querySelectorAll(":is(details.decision, details.menu)[open]")];
  for (const form of open) form.open = false;
  open[0]?.querySelector("summary").focus();
}

document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
});

function moveRow(step) {
  const links = [...document.querySelectorAll("[data-row]")];
  if (links.length === 0) return false;
  const line = document.activeElement.closest("li, tr");
  let current = links.findIndex((link) => line?.contains(link));
  // From the details beside a list, continue in the list.
  if (current < 0 && document.activeElement.closest(".pane")) {
    current = links.findIndex((link) => link.hasAttribute("aria-current"));
  }
  const next = current < 0 ? (step > 0 ? 0 : links.length - 1) : current + step;
  links[Math.max(0, Math.min(links.length - 1, next))].focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeForms();
  // AltGr, which some keyboards need for @, is reported as Ctrl and Alt on some systems.
  const isChord = event.ctrlKey || event.metaKey || event.altKey;
  if ((isChord && !event.getModifierState("AltGraph")) || isOff()) return;
  if (event.target.closest(FIELD) && !event.target.matches("input[type=checkbox]")) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const typed = prefix ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  const control = controlFor(typed);
  if (control) act(control);
  else if (typed === "x") {
    if (!selectRow()) return;
  } else if (typed === "j" || typed === "k") {
    if (!moveRow(typed === "j" ? 1 : -1)) return;
  } else if (typed === "g") {
    prefix = "g";
    setTimeout(() => { prefix = ""; }, PREFIX_MS);
    return;
  } else return;
  event.preventDefault();
});
