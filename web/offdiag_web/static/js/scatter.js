// The dots of a scatter plot are links: one tab stop, arrow keys move to the nearest dot in
// their direction, and Enter opens it, as for every link.
const DIRECTIONS = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

for (const plot of document.querySelectorAll("svg.scatter")) {
  const dots = [...plot.querySelectorAll("a.dot")];
  if (dots.length > 0) enter(plot, dots);
}

function enter(plot, dots) {
  const makeStop = (dot) => {
    for (const each of dots) each.setAttribute("tabindex", each === dot ? "0" : "-1");
  };
  makeStop(dots.at(-1));
  for (const dot of dots) dot.addEventListener("focus", () => makeStop(dot));
  plot.addEventListener("keydown", (event) => {
    const direction = DIRECTIONS[event.key];
    const from = event.target.closest?.("a.dot");
    if (!direction || !from || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    nearest(from, dots, direction)?.focus();
  });
}

function middle(dot) {
  const box = dot.querySelector(".point").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

// Sideways distance counts double, so that arrows keep their direction.
function nearest(from, dots, [across, down]) {
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const dot of dots) {
    const [atX, atY] = middle(dot);
    const along = (atX - x) * across + (atY - y) * down;
    const aside = Math.abs((atX - x) * down) + Math.abs((atY - y) * across);
    if (dot !== from && along > 0 && along + 2 * aside < least) {
      least = along + 2 * aside;
      best = dot;
    }
  }
  return best;
}
