// Recomputes costs while typing, with the arithmetic of the server: the same products in the same
// order, so both get the same digits. The server's response then replaces what is shown; if the
// two ever differed, the page would say so.
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const SMALLEST = 1e-15;
const LARGEST = 1e15;
const PER = 1000;
const WAIT_MS = 250;
const STEPS = 10;
const DIGITS = 4;
const MOST_DECIMALS = 6;
const LARGEST_RATIO = 100;
const POSITIONS = 200;
const SLIDER = ["at", "shown", "lever"];

// The cost that was typed, null if there is none.
export function parseCost(text) {
  if (!NUMBER.test(text.trim())) return null;
  const cost = Number(text);
  return cost === 0 || (Math.abs(cost) >= SMALLEST && Math.abs(cost) <= LARGEST) ? cost + 0 : null;
}

// The ratio at a position of the slider, from 1 to 100 in equal steps of its logarithm.
export function ratioAt(position) {
  return Number((LARGEST_RATIO ** (position / POSITIONS)).toPrecision(3));
}

export function placeOfRatio(ratio) {
  const share = Math.log(ratio) / Math.log(LARGEST_RATIO);
  return Math.round(Math.min(1, Math.max(0, share)) * POSITIONS);
}

// Cells [index in row order, cases] as the page writes them: "3:17 8:2.5".
export function readCells(text) {
  return text.split(" ").filter(Boolean).map((cell) => cell.split(":").map(Number));
}

// Groups of class codes: "0,1 2,5".
export function readGroups(text) {
  return text.split(" ").filter(Boolean).map((group) => group.split(",").map(Number));
}

// Weights in row order, where confusions inside groups cost as much as correct predictions.
export function forgiven(weights, size, groups) {
  const found = [...weights];
  for (const group of groups) {
    for (const actual of group) {
      for (const predicted of group) {
        found[actual * size + predicted] = weights[actual * size + actual];
      }
    }
  }
  return found;
}

// Sum of cost times cases over cells [index, cases] in row order.
export function totalCost(cells, weights) {
  let total = 0;
  for (const [place, cases] of cells) total += cases * weights[place];
  return total;
}

// The cheapest constant prediction for these cases of each class: its code and its total.
export function bestConstant(support, weights) {
  const size = support.length;
  let best = null;
  for (let code = 0; code < size; code += 1) {
    let total = 0;
    for (let actual = 0; actual < size; actual += 1) {
      total += support[actual] * weights[actual * size + code];
    }
    if (best === null || total < best.total) best = { code, total };
  }
  return best;
}

export function perThousand(total, cases) {
  return (total / cases) * PER;
}

// An amount with this many decimals; only 0 is written as "0".
export function amountText(amount, decimals) {
  const body = Math.abs(amount).toFixed(decimals);
  const isNothing = !/[1-9]/.test(body);
  if (amount !== 0 && isNothing) {
    const step = (10 ** -decimals).toFixed(decimals);
    return amount > 0 ? `<${step}` : `>\u2212${step}`;
  }
  const [whole, part] = body.split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return `${amount < 0 && !isNothing ? "\u2212" : ""}${grouped}${part ? `.${part}` : ""}`;
}

// As many decimals as show four digits of the largest amount, none if it has as many before them.
export function decimalsFor(amounts) {
  const largest = Math.max(0, ...amounts.map(Math.abs));
  if (largest === 0 || !Number.isFinite(largest)) return 0;
  const before = Number(largest.toExponential().split("e")[1]) + 1;
  return Math.min(MOST_DECIMALS, Math.max(0, DIGITS - before));
}

// Ranks from 1 for the lowest; equal values share the better rank.
export function ranks(values) {
  return values.map((value) => 1 + values.filter((other) => other < value).length);
}

export function movedText(rank, before) {
  if (rank === before) return "";
  return `${rank < before ? "\u2191" : "\u2193"}\u00a0${Math.abs(rank - before)}`;
}

const form = document.getElementById("scenario");
if (form) setUp(form, document.getElementById("grid"));

function setUp(scenario, grid) {
  const fields = grid ? [...grid.querySelectorAll("input")] : [];
  const size = Math.round(Math.sqrt(fields.length));
  const range = document.getElementById("ratio");
  const at = document.getElementById("at");
  let isMoved = false;
  let pending = null;
  let timer = 0;

  const codesOf = (field) => field.name.slice(1).split(".").map(Number);
  const initial = (field) => field.dataset.initial ?? field.defaultValue;
  const before = (field) => field.dataset.before ?? field.defaultValue;
  const isSame = (one, other) => parseCost(one) === parseCost(other);
  const say = (text) => { document.getElementById("announcement").textContent = text; };

  // The weights in row order, null while a field is invalid.
  function weights() {
    const found = new Array(size * size);
    for (const field of fields) {
      const [actual, predicted] = codesOf(field);
      const cost = parseCost(field.value.trim() || initial(field));
      if (cost === null) return null;
      found[actual * size + predicted] = cost;
    }
    return forgiven(found, size, readGroups(scenario.dataset.groups));
  }

  function totals(prices) {
    const found = new Map();
    for (const row of document.querySelectorAll("#ranking [data-letter]")) {
      if (row.dataset.total === "") continue;
      found.set(row.dataset.letter, totalCost(readCells(row.dataset.cells), prices));
    }
    return found;
  }

  // Whether the server's totals equal those computed here, to the last digit.
  function compare() {
    const prices = size ? weights() : null;
    if (prices === null) return;
    let agree = true;
    const mine = totals(prices);
    for (const row of document.querySelectorAll("#ranking [data-letter]")) {
      const total = mine.get(row.dataset.letter);
      if (total !== undefined && total !== Number(row.dataset.total)) agree = false;
    }
    document.getElementById("disagreement").hidden = agree;
  }

  function mark(field) {
    const cell = field.parentElement;
    const isBroken = field.value.trim() !== "" && parseCost(field.value) === null;
    const isEdited = !isBroken && !isSame(field.value.trim() || initial(field), before(field));
    if (isBroken) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    cell.classList.toggle("edited", isEdited);
    let note = cell.querySelector("small");
    if (isBroken || isEdited) {
      if (!note) note = cell.appendChild(document.createElement("small"));
      note.textContent = isBroken ? "no number" : `* was ${before(field)}`;
    } else note?.remove();
  }

  // Shows costs and ranks immediately; what needs the server is dimmed until it responds.
  function show(prices) {
    const table = document.getElementById("ranking");
    const rows = [...table.querySelectorAll("[data-letter]")];
    const priced = rows.filter((row) => row.dataset.total !== "");
    const mine = totals(prices);
    const means = priced.map((row) => perThousand(mine.get(row.dataset.letter), Number(row.dataset.n)));
    const places = ranks(means);
    const constant = constantOf(table.querySelector(".constant"), prices, Number(rows[0].dataset.n));
    const decimals = decimalsFor(constant ? [...means, constant.mean] : means);
    priced.forEach((row, index) => {
      row.querySelector("[data-cost]").textContent = amountText(means[index], decimals);
      row.querySelector("[data-rank]").textContent = places[index];
      row.querySelector("[data-moved]").textContent = movedText(places[index], Number(row.dataset.accuracyRank));
      for (const cell of row.querySelectorAll("[data-stale]")) cell.classList.add("stale");
    });
    const byPlace = priced.map((row, index) => [places[index], row.dataset.letter, row]);
    byPlace.sort((one, other) => one[0] - other[0] || (one[1] < other[1] ? -1 : 1));
    for (const [, , row] of [...byPlace].reverse()) table.tBodies[0].prepend(row);
    if (constant) showConstant(constant, decimals);
    showHeat(prices);
    document.querySelector(".threshold-card")?.classList.add("stale");
    say(`Cost recalculated, ${byPlace[0][1]} first`);
  }

  function constantOf(row, prices, cases) {
    if (!row) return null;
    const best = bestConstant(row.dataset.support.split(" ").map(Number), prices);
    return { row, code: best.code, mean: perThousand(best.total, cases) };
  }

  function showConstant({ row, code, mean }, decimals) {
    const head = document.querySelector(`#a${code} + * > span`);
    row.querySelector("[data-cost]").textContent = amountText(mean, decimals);
    row.querySelector("[data-constant]").textContent = head.title || head.textContent;
  }

  // Amounts of all cells; totals and the end of the ramp follow with the server's response.
  function showHeat(prices) {
    const heat = document.getElementById("heat");
    if (!heat) return;
    const order = heat.dataset.order.split(" ").map(Number);
    const found = [...heat.querySelectorAll("table[data-letter]")].map((table) => {
      const row = document.querySelector(`#ranking [data-letter="${table.dataset.letter}"]`);
      const amounts = new Array(size * size).fill(0);
      for (const [place, cases] of readCells(row.dataset.cells)) {
        amounts[place] = perThousand(cases * prices[place], Number(row.dataset.n));
      }
      return [table, amounts];
    });
    const largest = Math.max(0, ...found.flatMap(([, amounts]) => amounts.map(Math.abs)));
    const decimals = decimalsFor([largest]);
    for (const [table, amounts] of found) {
      table.querySelectorAll("td").forEach((cell, index) => {
        const amount = amounts[order[Math.floor(index / size)] * size + order[index % size]];
        const text = amountText(amount, decimals);
        const isNothing = amount === 0 || /^[<>]/.test(text);
        const step = Math.max(1, Math.min(STEPS, Math.round((Math.abs(amount) / largest) * STEPS)));
        cell.textContent = isNothing ? (amount === 0 ? "" : "\u00b7") : text;
        cell.className = isNothing ? "zero" : `${amount > 0 ? "error" : "correct"}-${step}`;
      });
    }
  }

  // The line of the flip chart that marks the current cost.
  function showNow(x) {
    const line = document.querySelector(".flip-chart .now");
    if (!line) return;
    const { low, high, left, right } = Object.fromEntries(
      Object.entries(line.dataset).map(([name, text]) => [name, Number(text)]),
    );
    const share = Math.min(1, Math.max(0, Math.log(x / low) / Math.log(high / low)));
    line.setAttribute("d", line.getAttribute("d").replace(/^M[\d.]+/, `M${(left + share * (right - left)).toFixed(2)}`));
  }

  // The slider sets the cells of its lever, which remains the one that is varied.
  function move(x) {
    for (const [name, price] of range.dataset.cells.split(" ").map((cell) => cell.split(":"))) {
      const field = fields.find((each) => each.name === name);
      if (!field) continue;
      field.value = String(x * Number(price));
      mark(field);
    }
    isMoved = true;
    showNow(x);
    const prices = size ? weights() : null;
    if (prices !== null) show(prices);
    later();
  }

  // Its position is of a logarithmic scale and means nothing to those who hear it.
  function place(x) {
    range.value = String(placeOfRatio(x));
    range.setAttribute("aria-valuetext", String(x));
  }

  function setUpSlider() {
    if (!range) return;
    range.hidden = false;
    place(Number(at.value));
    range.addEventListener("input", () => {
      at.value = String(ratioAt(Number(range.value)));
      range.setAttribute("aria-valuetext", at.value);
      move(Number(at.value));
    });
    at.addEventListener("input", () => {
      const x = parseCost(at.value);
      if (x === null || x <= 0) return;
      place(x);
      move(x);
    });
  }

  // The server's texts about the slider, without replacing it under the pointer.
  function takeSlider(answer) {
    const found = answer.getElementById("slider");
    const shown = document.getElementById("slider");
    if (!found || !shown) return;
    for (const name of ["shown", "lever"]) {
      shown.querySelector(`[name=${name}]`).value = found.querySelector(`[name=${name}]`).value;
    }
    const ratio = found.querySelector("#ratio");
    range.dataset.cells = ratio.dataset.cells;
    range.setAttribute("aria-label", ratio.getAttribute("aria-label"));
    shown.querySelector(".slider-label").textContent = found.querySelector(".slider-label").textContent;
    if (at === document.activeElement || range === document.activeElement) return;
    at.value = found.querySelector("#at").value;
    place(Number(at.value));
  }

  function address() {
    const asked = new URLSearchParams();
    for (const [name, value] of new FormData(scenario)) {
      if (/^w\d+\.\d+$/.test(name)) continue;
      if (size && SLIDER.includes(name)) continue;
      asked.append(name, value);
    }
    if (size && isMoved) asked.set("vary", scenario.elements.lever.value);
    for (const field of fields) {
      if (field.value.trim() && !isSame(field.value, initial(field))) asked.append(field.name, field.value);
    }
    return `${scenario.action}?${asked}`;
  }

  function warn(text) {
    const notice = document.createElement("p");
    notice.className = "callout callout-warning";
    notice.textContent = text;
    document.getElementById("notices").replaceChildren(notice);
    say(text);
  }

  async function recalculate() {
    clearTimeout(timer);
    pending?.abort();
    pending = new AbortController();
    const results = document.getElementById("results");
    results.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address(), { signal: pending.signal, headers: { Accept: "text/html" } });
      if (response.status === 401) return location.assign(address());
      const answer = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!response.ok || !answer.getElementById("results")) throw new Error(response.statusText);
      takeSlider(answer);
      for (const id of ["verdict", "slider-what", "results", "checks", "notices", "changes", "saved-question", "levers"]) {
        const shown = document.getElementById(id);
        const found = answer.getElementById(id);
        if (!shown || !found || shown === document.activeElement) continue;
        // Copies, because taking an option out of a list would select the next one.
        shown.replaceChildren(...[...found.childNodes].map((node) => document.importNode(node, true)));
      }
      document.dispatchEvent(new Event("replaced"));
      history.replaceState(null, "", response.url);
      compare();
    } catch (error) {
      if (error.name === "AbortError") return;
      warn("The server did not answer; costs are the browser's, intervals are those before.");
    }
    results.removeAttribute("aria-busy");
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(recalculate, WAIT_MS);
  }

  scenario.addEventListener("input", (event) => {
    if (fields.includes(event.target)) {
      mark(event.target);
      const prices = weights();
      if (prices === null) return;
      show(prices);
    } else if (/^t[apx]$/.test(event.target.name)) return;
    else if (event.target === range || event.target === at) return;
    if (event.target.name === "vary") isMoved = false;
    later();
  });
  scenario.addEventListener("submit", (event) => {
    // A multiplication changes the fields themselves, so the page is reloaded.
    if (scenario.elements.tx.value.trim()) return;
    event.preventDefault();
    recalculate();
  });
  grid?.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const place = fields.indexOf(event.target);
    const next = step && place >= 0 ? fields[place + step * size] : null;
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.select();
  });
  grid?.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!/[\t\n]/.test(text.trim())) return;
    event.preventDefault();
    const block = text.replace(/\r/g, "").replace(/\n+$/, "").split("\n").map((line) => line.split("\t"));
    if (block.flat().some((cell) => parseCost(cell) === null)) {
      warn("Only numbers can be pasted here; a table with class names goes into the form of a new version.");
      return;
    }
    const place = fields.indexOf(event.target);
    block.forEach((line, down) => line.forEach((cell, right) => {
      const row = Math.floor(place / size) + down;
      const column = (place % size) + right;
      if (row >= size || column >= size) return;
      fields[row * size + column].value = cell.trim();
      mark(fields[row * size + column]);
    }));
    const prices = weights();
    if (prices !== null) show(prices);
    later();
  });

  setUpSlider();
  fields.filter((field) => field.value !== field.defaultValue).forEach(mark);
  compare();
}
