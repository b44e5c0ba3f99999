// Keeps what is ticked in the address and in every link to another part of the list, so that it
// survives another page, order or filter. Without this module only the ticks of one page count.
const form = document.getElementById("selected");
const shown = document.getElementById("n-selected");
const ticked = new Set(new URLSearchParams(location.search).get("sel")?.split(",").filter(Boolean));

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

function keep() {
  shown.textContent = `${ticked.size} ticked`;
  history.replaceState(history.state, "", withTicks(location.href));
  for (const link of document.querySelectorAll("main a[href]")) {
    if (new URL(link.href).pathname === location.pathname) link.href = withTicks(link.href);
  }
  for (const other of document.querySelectorAll("main form")) keepInForm(other);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !ticked.size || document.querySelector("dialog[open]")) return;
  ticked.clear();
  for (const box of form?.querySelectorAll("input[name=runs]") ?? []) {
    if (box.type === "hidden") box.remove();
    else box.checked = false;
  }
  keep();
});

form?.addEventListener("change", ({ target }) => {
  if (target.name !== "runs") return;
  if (target.checked) ticked.add(target.value);
  else ticked.delete(target.value);
  keep();
});
