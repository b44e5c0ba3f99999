// A copied part of a table stays a table: one line for each row and one cell for each value, even
// if cells show two numbers below each other. Pictures and texts only for screen readers are
// left out.
function tableOf(range) {
  const around = range.commonAncestorContainer;
  return (around instanceof Element ? around : around.parentElement)?.closest("table");
}

function cellsIn(range, table) {
  const isCopied = (part) => range.intersectsNode(part) && part.checkVisibility();
  const rows = [...table.rows].filter(isCopied).map((row) => [...row.cells].filter(isCopied));
  return rows.filter((row) => row.length > 0);
}

function textOf(cell) {
  return cell.innerText.replace(/\s+/g, " ").trim();
}

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0);
  const table = tableOf(range);
  const rows = table ? cellsIn(range, table) : [];
  if (rows.flat().length < 2) return;
  const unseen = [...table.querySelectorAll(".vh:not([hidden])")];
  for (const part of unseen) part.hidden = true;
  const copy = document.createElement("table");
  const lines = rows.map((row) => {
    const line = copy.insertRow();
    return row.map((cell) => {
      const text = textOf(cell);
      const place = line.insertCell();
      place.textContent = text;
      place.colSpan = cell.colSpan;
      return text + "\t".repeat(cell.colSpan - 1);
    }).join("\t");
  });
  for (const part of unseen) part.hidden = false;
  event.clipboardData.setData("text/plain", lines.join("\n"));
  event.clipboardData.setData("text/html", copy.outerHTML);
  event.preventDefault();
});
