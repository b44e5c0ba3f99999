// Ranges on the axes of parallel coordinates: lines outside them fade, and so do their runs in
// the table below. Without this module all lines are drawn alike.
const { brushY, select } = globalThis.d3;
const chart = document.querySelector(".parallel");
const told = document.getElementById("in-range");
const lines = [...(chart?.querySelectorAll(".run-line") ?? [])].map((path) => ({
  path,
  name: path.querySelector("title").textContent,
  places: path.dataset.places.split(",").map((text) => (text === "" ? null : Number(text))),
  row: document.querySelector(`.runs input[value="${CSS.escape(path.dataset.run)}"]`)?.closest("tr"),
}));
const ranges = new Map();
const REACH = 14;

function isIn({ places }) {
  return [...ranges].every(
    ([axis, [low, high]]) => places[axis] !== null && places[axis] >= low && places[axis] <= high,
  );
}

function apply() {
  const inside = lines.filter(isIn);
  for (const line of lines) {
    const isOut = !inside.includes(line);
    line.path.classList.toggle("out", isOut);
    line.row?.classList.toggle("out", isOut);
  }
  told.textContent = ranges.size ? `${inside.length} of ${lines.length} runs in the chosen ranges.` : "";
}

function addBrush(axis) {
  const { axis: place, x, top, bottom } = axis.dataset;
  const [left, upper, lower] = [Number(x), Number(top), Number(bottom)];
  const share = (y) => (100 * (lower - y)) / (lower - upper);
  const brush = brushY()
    .extent([[left - REACH, upper], [left + REACH, lower]])
    .on("brush end", ({ selection }) => {
      if (selection) ranges.set(Number(place), [share(selection[1]), share(selection[0])]);
      else ranges.delete(Number(place));
      apply();
    });
  select(chart).append("g").call(brush);
}

function point(line, isOver) {
  line.path.classList.toggle("over", isOver);
  if (isOver) told.textContent = line.name;
  else apply();
}

for (const line of lines) {
  line.path.addEventListener("pointerenter", () => point(line, true));
  line.path.addEventListener("pointerleave", () => point(line, false));
  for (const [begin, end] of [["pointerenter", "pointerleave"], ["focusin", "focusout"]]) {
    line.row?.addEventListener(begin, () => point(line, true));
    line.row?.addEventListener(end, () => point(line, false));
  }
}
for (const axis of chart?.querySelectorAll(".axis") ?? []) addBrush(axis);
