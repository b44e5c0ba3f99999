// The go-to palette: the page behind the link "Go to…" in a dialog, so that both use one list
// made on the server. Without this module the link simply opens the page.
const opener = document.getElementById("open-palette");
const dialog = document.getElementById("palette");
const field = dialog?.querySelector("input");
const results = dialog?.querySelector("[data-results]");
let asked;
let looking = Promise.resolve();

// The user may have moved to a result before the response to the last letter arrives; the same
// result then keeps the focus, or the field gets it if the result is gone.
function show(found) {
  const focused = results.contains(document.activeElement) ? document.activeElement.href : null;
  results.replaceChildren(...found);
  if (!focused) return;
  const same = [...results.querySelectorAll("a")].find((link) => link.href === focused);
  (same ?? field).focus();
}

async function look() {
  asked?.abort();
  asked = new AbortController();
  const address = `${opener.href}?q=${encodeURIComponent(field.value)}`;
  try {
    const answer = await fetch(address, { signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("found");
    show(found ? found.children : [document.createTextNode("No answer.")]);
  } catch (error) {
    if (error.name !== "AbortError") results.textContent = "The server does not answer.";
  }
}

function open() {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  looking = look();
}

if (opener && dialog) {
  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  field.addEventListener("input", () => {
    looking = look();
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...results.querySelectorAll("a")];
    if (event.key === "Escape") {
      // Otherwise Escape would only clear the search field.
      event.preventDefault();
      dialog.close();
    } else if (event.key === "Enter" && event.target === field) {
      event.preventDefault();
      // The results may still be those for fewer letters.
      looking.then(() => results.querySelector("a")?.click());
    } else if (step && links.length > 0) {
      event.preventDefault();
      const next = links.indexOf(document.activeElement) + step;
      if (next < 0) field.focus();
      else links[Math.min(next, links.length - 1)].focus();
    }
  });
}
