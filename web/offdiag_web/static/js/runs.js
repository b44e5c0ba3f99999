// The list of runs. Without this module only selections on one page count, and columns keep
// their width.
const form = document.getElementById("selected");
const shown = document.getElementById("n-selected");
const ticked = new Set(new URLSearchParams(location.search).get("sel")?.split(",").filter(Boolean));
const boxes = () => [...(form?.querySelectorAll("input[type=checkbox][name=runs]") ?? [])];
const MOST_NAMED = 3;
let last = null;

// The selection is kept in the address and in every link to another part of the list, so it
// stays when page, order or filter change.
function withTicks(url) {
  const target = new URL(url, location.href);
  target.searchParams.delete("sel");
  const query = [target.searchParams.toString()].filter(Boolean);
  if (ticked.size) query.push(`sel=${[...ticked].join(",")}`);
  target.search = query.join("&");
  return target.href;
}

function keepInForm(owner) {
  const field = owner.elements.namedItem("sel") ?? document.createElement("input");
  Object.assign(field, { type: "hidden", name: "sel", value: [...ticked].join(",") });
  if (ticked.size) owner.append(field);
  else field.remove();
}

function tell() {
  const names = boxes().filter((box) => box.checked).map((box) => box.ariaLabel.slice(7));
  const some = names.slice(0, MOST_NAMED).join(", ") + (names.length > MOST_NAMED ? ", …" : "");
  shown.textContent = `${ticked.size} selected ${some}`;
  form.classList.toggle("has-selected", ticked.size > 0);
}

function keep() {
  tell();
  history.replaceState(history.state, "", withTicks(location.href));
  for (const link of document.querySelectorAll("main a[href]")) {
    if (new URL(link.href).pathname === location.pathname) link.href = withTicks(link.href);
  }
  for (const other of document.querySelectorAll("main form")) keepInForm(other);
}

function tick(box, checked) {
  box.checked = checked;
  if (checked) ticked.add(box.value);
  else ticked.delete(box.value);
}

function clear() {
  ticked.clear();
  for (const box of form?.querySelectorAll("input[name=runs]") ?? []) {
    if (box.type === "hidden") box.remove();
    else box.checked = false;
  }
  keep();
}

// Shift and a click, or Shift and j, select all lines in between.
form?.addEventListener("click", (event) => {
  const { target } = event;
  if (target.name !== "runs") return;
  const all = boxes();
  const [from, to] = [all.indexOf(last), all.indexOf(target)].sort((a, b) => a - b);
  const meant = event.shiftKey && last ? all.slice(from, to + 1) : [target];
  for (const box of meant) tick(box, target.checked);
  last = target;
  keep();
});

document.getElementById("clear-selection")?.addEventListener("click", (event) => {
  event.preventDefault();
  clear();
});

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && ticked.size) clear();
  if (event.key !== "J" || document.documentElement.dataset.shortcuts === "off") return;
  const all = boxes();
  const here = all.findIndex((box) => box.closest("tr").contains(document.activeElement));
  if (here < 0 || here + 1 >= all.length) return;
  for (const box of all.slice(here, here + 2)) tick(box, true);
  last = all[here + 1];
  last.closest("tr").querySelector("[data-row]").focus();
  keep();
});
if (form && ticked.size) tell();

// The right edge of a column changes its width, by pointer or with the arrow keys; Home or a
// double click restores the default width. The widths are stored in this browser.
const KEY = "offdiag-run-columns";
const [STEP, LEAST, MOST] = [8, 32, 800];
const table = document.querySelector(".runs");
const heads = [...document.querySelectorAll(".runs thead th[data-col]")];

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function show(head, width) {
  head.style.width = width ? `${width}px` : "";
  table.classList.toggle("resized", heads.some((each) => each.style.width));
  const now = Math.round(head.getBoundingClientRect().width);
  head.querySelector(".resize").setAttribute("aria-valuenow", now);
}

function resize(head, width) {
  const widths = kept();
  if (width === null) delete widths[head.dataset.col];
  else widths[head.dataset.col] = Math.min(MOST, Math.max(LEAST, Math.round(width)));
  show(head, widths[head.dataset.col]);
  try {
    localStorage.setItem(KEY, JSON.stringify(widths));
  } catch {
    // Without storage, the width lasts until the page is left.
  }
}

function addGrip(head) {
  const grip = document.createElement("span");
  Object.assign(grip, { className: "resize", tabIndex: 0, role: "separator" });
  const words = {
    orientation: "vertical",
    label: `Width of ${head.firstElementChild.textContent}`,
    valuemin: LEAST,
    valuemax: MOST,
  };
  for (const [name, value] of Object.entries(words)) grip.setAttribute(`aria-${name}`, value);
  head.append(grip);
  const width = () => head.getBoundingClientRect().width;
  grip.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (step) resize(head, width() + step);
    else if (event.key === "Home") resize(head, null);
    else return;
    event.preventDefault();
  });
  grip.addEventListener("dblclick", () => resize(head, null));
  grip.addEventListener("pointerdown", (event) => {
    const [start, before] = [event.clientX, width()];
    const move = (next) => resize(head, before + next.clientX - start);
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
    const stop = () => grip.removeEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", stop, { once: true });
    event.preventDefault();
  });
}

heads.forEach(addGrip);
const widths = kept();
for (const head of heads) show(head, widths[head.dataset.col]);
