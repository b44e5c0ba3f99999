// Shows the text of the mark next to the pointer, or of the one reached by arrow keys, in a line
// below. A menu saves the chart as a picture or, if marks carry values, for Vega-Lite.
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
  "display", "font-family", "font-size", "font-weight", "paint-order"];

// The titles of both axes, x and y.
function axesOf(svg) {
  const named = (...at) => svg.querySelector(at.join())?.textContent;
  return [
    named(".axis-name[text-anchor=middle]", ".axis-title[text-anchor=end]") ?? "across",
    named(".axis-name[text-anchor=start]", ".axis-title[text-anchor=start]") ?? "up",
  ];
}

// The corners of a line in an area of shares, each as text with its two values.
function corners(svg, line) {
  const [left, top, width, height] = svg.dataset.shares.split(" ").map(Number);
  const [nameAcross, nameUp] = axesOf(svg);
  const marks = [];
  let x = 0;
  let y = 0;
  for (const [, command, rest] of line.getAttribute("d").matchAll(/([MLHV])([^MLHVZ]*)/g)) {
    const numbers = rest.trim().split(/[ ,]+/).map(Number);
    if (command === "H") [x] = numbers;
    else if (command === "V") [y] = numbers;
    else [x, y] = numbers;
    const across = (x - left) / width;
    const up = (top + height - y) / height;
    const text = `${nameAcross} ${across.toFixed(3)}, ${nameUp} ${up.toFixed(3)}`;
    marks.push({ x, y, text, across, up });
  }
  return marks;
}

function marksOf(svg) {
  const marks = [...svg.querySelectorAll("[data-read]")].map((mark) => {
    const box = mark.getBBox();
    const { read, x: across, y: up, series } = mark.dataset;
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, text: read,
      across: Number(across), up: Number(up), series, link: mark.closest("a") };
  });
  if (svg.dataset.shares) {
    for (const line of svg.querySelectorAll(".curve, .run-line")) {
      const { series } = line.dataset;
      marks.push(...corners(svg, line).map((mark) => ({ ...mark, series,
        text: series ? `${series}: ${mark.text}` : mark.text })));
    }
  }
  return marks.sort((a, b) => a.x - b.x || a.y - b.y);
}

// Where the lines of runs cross parallel axes, in percent of each axis.
function meetings(svg) {
  const names = [...svg.querySelectorAll(".axis-name")].map((name) => name.textContent);
  return [...svg.querySelectorAll(".run-line")].flatMap((line) => {
    const text = line.querySelector("title").textContent;
    return line.dataset.places.split(",").map((place, axis) => (
      { across: names[axis], up: place === "" ? NaN : Number(place), text, series: text }));
  }).filter(({ up }) => Number.isFinite(up));
}

// With the colours of the page on the elements, because a file has no stylesheet.
function alone(svg) {
  const copy = svg.cloneNode(true);
  const all = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, place) => {
    const style = getComputedStyle(all[place]);
    for (const name of DRAWN) element.setAttribute(name, style.getPropertyValue(name));
  });
  copy.querySelector(".read-at")?.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  for (const name of ["tabindex", "aria-describedby"]) copy.removeAttribute(name);
  return new XMLSerializer().serializeToString(copy);
}

function save(content, type, name) {
  const link = document.createElement("a");
  link.href = content instanceof Blob ? URL.createObjectURL(content)
    : URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function savePicture(svg, name) {
  const { width, height } = svg.viewBox.baseVal;
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(alone(svg))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, "image/png", `${name}.png`));
}

function specification(svg, marks) {
  const isTime = svg.matches(".model-trend:not(.by-size)");
  const isNamed = svg.matches(".parallel");
  const [x, y] = isTime ? ["logged", svg.getAttribute("aria-label")]
    : isNamed ? ["axis", "% of the axis"] : axesOf(svg);
  const isLine = isNamed || svg.dataset.shares || svg.querySelector(".line, .curve");
  const hasSeries = marks.some(({ series }) => series);
  return JSON.stringify({
    $schema: "https://vega.github.io/schema/vega-lite/v5.json",
    description: svg.getAttribute("aria-label"),
    data: { values: marks.map(({ across, up, text, series }) => ({ x: across, y: up, text, series })) },
    mark: { type: isLine ? "line" : "point", tooltip: true },
    encoding: {
      x: { field: "x", type: isTime ? "temporal" : isNamed ? "nominal" : "quantitative", title: x, sort: null },
      y: { field: "y", type: "quantitative", title: y },
      tooltip: { field: "text" },
      ...(hasSeries && { [isNamed ? "detail" : "color"]: { field: "series", type: "nominal" } }),
    },
  }, null, 1);
}

function menuOf(svg, marks) {
  const menu = document.createElement("details");
  menu.className = "chart-menu";
  const summary = document.createElement("summary");
  summary.textContent = "Save chart";
  menu.append(summary);
  const label = svg.getAttribute("aria-label") ?? "chart";
  summary.ariaLabel = `Save chart: ${label}`;
  const name = label.split(/[^\p{L}\p{N}]+/u).slice(0, 6).join("-");
  const ways = [
    ["PNG", () => savePicture(svg, name)],
    ["SVG", () => save(alone(svg), "image/svg+xml", `${name}.svg`)],
  ];
  if (marks.every(({ across, up }) => !Number.isNaN(across) && Number.isFinite(up))) {
    ways.push(["Vega-Lite", () => save(specification(svg, marks), "application/json", `${name}.json`)]);
  }
  for (const [text, act] of ways) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button", textContent: text });
    button.addEventListener("click", act);
    menu.append(button);
  }
  return menu;
}

function setUp(svg) {
  // Parallel axes read out their lines themselves.
  const isRead = svg.matches(".parallel");
  const marks = isRead ? meetings(svg) : marksOf(svg);
  if (marks.length === 0 || svg.dataset.readOut) return;
  svg.dataset.readOut = "on";
  if (isRead) {
    svg.after(menuOf(svg, marks));
    return;
  }
  const line = document.createElement("p");
  line.className = "chart-read";
  line.setAttribute("aria-live", "polite");
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "read-at");
  ring.setAttribute("r", "7");
  let current = -1;
  const tell = (place) => {
    current = Math.max(0, Math.min(marks.length - 1, place));
    const mark = marks[current];
    ring.setAttribute("cx", mark.x);
    ring.setAttribute("cy", mark.y);
    svg.append(ring);
    line.textContent = mark.text;
  };
  const isLinked = marks.some(({ link }) => link);
  if (!isLinked) svg.tabIndex = 0;
  // Marks that are links take the focus; a listener would make the chart a stop as well.
  marks.forEach(({ link }, place) => link?.addEventListener("focus", () => tell(place)));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!step || isLinked || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    tell(current + step);
  });
  const tellNearest = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = marks.map(({ x, y }) => (x - at.x) ** 2 + (y - at.y) ** 2);
    tell(far.indexOf(Math.min(...far)));
  };
  // A finger that taps does not move.
  for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, tellNearest);
  svg.after(line, menuOf(svg, marks));
}

const CHARTS = ["chart", "plot", "trend", "scatter", "model-trend", "parallel"];
const setUpAll = () => document.querySelectorAll(CHARTS.map((name) => `main svg.${name}`)).forEach(setUp);
setUpAll();
// Sent by pages that replace their content, and by htmx.
for (const event of ["replaced", "htmx:afterSwap"]) document.addEventListener(event, setUpAll);
