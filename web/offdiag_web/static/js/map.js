// Shows a cross and the names and count of the cell under the pointer, on the map of a large
// matrix. Arrow keys move the cross too, by twelve with Shift; Enter shows its cell in the table.
// Without this module, a click on the map does that.
const form = document.querySelector("form.map");
const button = form?.querySelector("input[type=image]");
const cross = form?.querySelector(".cross");
const said = form?.querySelector(".map-said");
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
let matrix = null;
let asked = false;
let place = null;

// Fetched on first use, because the map itself needs no numbers.
async function load() {
  if (asked) return;
  asked = true;
  const answer = await fetch(form.dataset.map);
  if (answer.ok) matrix = await answer.json();
  show();
}

function show() {
  if (!matrix || !place) return;
  const size = matrix.labels.length;
  place = place.map((at) => Math.max(0, Math.min(size - 1, at)));
  const [down, across] = place;
  const count = matrix.matrix[down][across];
  const isTurned = matrix.axes[0] === "predicted";
  const actual = matrix.labels[isTurned ? across : down];
  const predicted = matrix.labels[isTurned ? down : across];
  const line = isTurned ? matrix.matrix.map((each) => each[across]) : matrix.matrix[down];
  const support = line.reduce((sum, each) => sum + each, 0);
  cross.setAttribute("d", `M0 ${down + 0.5}H${size}M${across + 0.5} 0V${size}`);
  said.hidden = false;
  said.textContent = `actual ${actual}, predicted ${predicted}: ${count} of ${support}`;
  said.classList.toggle("is-left", across > size / 2);
  said.classList.toggle("is-above", down > size / 2);
}

function hide() {
  place = null;
  cross.setAttribute("d", "");
  said.hidden = true;
}

function pointed(event) {
  const box = button.getBoundingClientRect();
  const size = matrix?.labels.length ?? 0;
  const share = (at, start, length) => Math.floor(((at - start) / length) * size);
  return [share(event.clientY, box.top, box.height), share(event.clientX, box.left, box.width)];
}

// Coordinates refer to the picture as drawn, whatever its size on the screen.
function open() {
  const side = Number(form.dataset.side) / matrix.labels.length;
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) address.searchParams.set(name, value);
  address.searchParams.set("at.y", Math.floor((place[0] + 0.5) * side));
  address.searchParams.set("at.x", Math.floor((place[1] + 0.5) * side));
  location.assign(address);
}

if (form && button && cross && said) {
  button.addEventListener("pointerenter", load);
  button.addEventListener("focus", load);
  button.addEventListener("pointermove", (event) => {
    if (!matrix) return;
    place = pointed(event);
    show();
  });
  button.addEventListener("pointerleave", hide);
  button.addEventListener("blur", hide);
  button.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || !matrix || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const length = event.shiftKey ? 12 : 1;
    place = place ? [place[0] + step[0] * length, place[1] + step[1] * length] : [0, 0];
    show();
  });
  button.addEventListener("click", (event) => {
    if (!matrix) return;
    // Keys have no coordinates, so Enter opens the cell under the cross.
    if (event.detail > 0) place = pointed(event);
    if (!place) return;
    event.preventDefault();
    open();
  });
}
