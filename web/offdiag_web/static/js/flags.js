// Shows a problem beside the list if there is room for both; otherwise its link leads to its
// page, as it does without scripts. Decisions made beside the list return to the list.
const pane = document.getElementById("flag-pane");
const list = document.getElementById("flag-list");
const announcement = document.getElementById("announcement");
const isWide = window.matchMedia("(width >= 88rem)");
const links = () => [...document.querySelectorAll("#flag-list a[data-row]")];

const canShow = (link) => link?.hasAttribute("hx-get");

// On this event, which says that there is room beside the list, the link loads the problem.
function show(link) {
  if (!canShow(link)) return;
  for (const other of links()) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  pane.setAttribute("aria-busy", "true");
  link.dispatchEvent(new Event("beside"));
}

function tellShown() {
  const current = links().find((link) => link.hasAttribute("aria-current"));
  pane.removeAttribute("aria-busy");
  pane.scrollTop = 0;
  history.replaceState(history.state, "", `#${current.id}`);
  announcement.textContent = `${current.id} is shown next to the list.`;
}

function listedAt(hash) {
  return links().find((link) => `#${link.id}` === hash);
}

function countSelected() {
  const count = list.querySelectorAll("input[name=problem]:checked").length;
  const shown = document.getElementById("n-selected");
  if (shown) shown.textContent = `${count} selected`;
}

if (pane && list) {
  const start = listedAt(location.hash);
  if (start) start.focus();
  // By then htmx has processed the links.
  if (isWide.matches) {
    window.addEventListener("load", () => {
      show(start ?? links().find(canShow));
      // Keys act on the problem shown, so it follows the focus.
      list.addEventListener("focusin", (event) => {
        const link = event.target.closest("a[data-row]");
        if (isWide.matches && link && !link.hasAttribute("aria-current")) show(link);
      });
    });
  }
  countSelected();

  pane.addEventListener("htmx:afterSwap", tellShown);
  list.addEventListener("change", countSelected);
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-row]");
    // Enter, a click without a pointer, opens the page.
    const isPlain = event.detail > 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!canShow(link) || !isPlain || !isWide.matches) return;
    event.preventDefault();
    show(link);
  });
  pane.addEventListener("submit", (event) => {
    const all = links();
    const place = all.findIndex((link) => link.hasAttribute("aria-current"));
    const back = event.target.elements.back;
    if (place < 0 || !back) return;
    // A problem that was decided leaves the list, and the next one takes its place.
    const leaves = event.target.hasAttribute("data-decides") && list.dataset.leaves === "yes";
    const target = (leaves && (all[place + 1] ?? all[place - 1])) || all[place];
    back.value = `${location.pathname}${location.search}#${target.id}`;
  });
}
