// Moves through a confusion matrix with the arrow keys. The whole table is one tab stop; the
// row and column heads of the current cell are highlighted.
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// Three images of a cell, from its page of examples. If the first page has none, the samples of
// this dataset have no images to show, and no other page is loaded.
const REST_MS = 150;
const MOST = 3;
const pictures = new Map();
let [waiting, hasNone] = [0, false];

async function picturesOf(address) {
  if (!pictures.has(address)) {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    pictures.set(address, [...page.querySelectorAll(".sample-tile img")].slice(0, MOST));
    hasNone = pictures.size === 1 && pictures.get(address).length === 0;
  }
  return pictures.get(address);
}

function showExamples(link) {
  const box = document.querySelector("[data-cell-examples]");
  clearTimeout(waiting);
  if (!box || !link || hasNone) return;
  waiting = setTimeout(async () => {
    const shown = waiting;
    const found = await picturesOf(link.href);
    if (shown === waiting) box.replaceChildren(...found.map((each) => document.importNode(each)));
  }, REST_MS);
}

function setUp(table) {
  if (table.dataset.roving === "ready") return;
  table.dataset.roving = "ready";
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td[data-cell]")]);
  const heads = [...table.querySelectorAll("thead th[data-class]")];
  let current = rows[0]?.[0];
  if (!current) return;
  for (const cell of rows.flat()) cell.tabIndex = -1;
  // Enter on a cell follows its link, so the link need not be a stop of its own.
  for (const link of table.querySelectorAll("td[data-cell] a")) link.tabIndex = -1;
  current.tabIndex = 0;
  // The region scrolls with the focused cell, so it need not be a stop of its own.
  table.closest("[tabindex='0'].scrollx")?.removeAttribute("tabindex");

  const place = (cell) => {
    const row = rows.findIndex((cells) => cells.includes(cell));
    return [row, row < 0 ? -1 : rows[row].indexOf(cell)];
  };
  const cross = (cell) => {
    for (const head of table.querySelectorAll(".is-crossed")) head.classList.remove("is-crossed");
    const [row, column] = place(cell);
    if (row < 0) return;
    cell.parentElement.querySelector("th[scope='row']").classList.add("is-crossed");
    heads[column]?.classList.add("is-crossed");
  };
  const moveTo = (row, column) => {
    const cells = rows[Math.max(0, Math.min(rows.length - 1, row))];
    const cell = cells[Math.max(0, Math.min(cells.length - 1, column))];
    current.tabIndex = -1;
    current = cell;
    cell.tabIndex = 0;
    cell.focus();
  };

  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td[data-cell]");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = place(cell);
    const step = STEPS[event.key];
    if (step) moveTo(row + step[0], column + step[1]);
    else if (event.key === "Home") moveTo(row, 0);
    else if (event.key === "End") moveTo(row, rows[row].length - 1);
    else if (event.key === "Enter") cell.querySelector("a")?.click();
    else return;
    event.preventDefault();
  });
  const look = (cell) => {
    cross(cell);
    showExamples(cell?.querySelector("a"));
  };
  table.addEventListener("focusin", (event) => look(event.target));
  table.addEventListener("mouseover", (event) => look(event.target.closest("td[data-cell]")));
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-cell]");
    if (cell) moveTo(...place(cell));
  });
}

const setUpAll = () => document.querySelectorAll("table[data-roving]").forEach(setUp);
setUpAll();
document.addEventListener("htmx:afterSettle", setUpAll);
