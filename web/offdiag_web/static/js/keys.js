// Single-key shortcuts. A control names its own key in aria-keyshortcuts, so every shortcut has
// a visible control and this module knows no page. They rest while a field has the focus, and
// always where the reader turned them off.
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
  if (control.matches("input")) control.focus();
  else control.click();
}

function moveRow(step) {
  const links = [...document.querySelectorAll("[data-row]")];
  if (links.length === 0) return false;
  const current = links.indexOf(document.activeElement);
  const next = current < 0 ? (step > 0 ? 0 : links.length - 1) : current + step;
  links[Math.max(0, Math.min(links.length - 1, next))].focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isOff()) return;
  if (event.target.closest(FIELD)) return;
  const typed = prefix ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  const control = document.querySelector(`[aria-keyshortcuts="${CSS.escape(typed)}"]`);
  if (control) act(control);
  else if (typed === "j" || typed === "k") {
    if (!moveRow(typed === "j" ? 1 : -1)) return;
  } else if (typed === "g") {
    prefix = "g";
    setTimeout(() => { prefix = ""; }, PREFIX_MS);
    return;
  } else return;
  event.preventDefault();
});
