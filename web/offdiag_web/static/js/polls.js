// Says on the whole page if its subject is gone or the session has ended: it would wait forever.
document.addEventListener("htmx:responseError", ({ detail: { elt, xhr } }) => {
  if (elt.id === "results" && [401, 403, 404].includes(xhr.status)) location.reload();
});

// Keeps the focus where it is while newer results replace those of a page: on the same control if
// it is still there, else on the results.
let kept = null;

const nameOf = (control) => `${control.textContent.trim()} ${control.getAttribute("href")}`;

document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  const at = document.activeElement;
  kept = target.contains(at) ? { place: target.id, tag: at.tagName, name: nameOf(at) } : null;
});

document.addEventListener("htmx:afterSettle", () => {
  const place = kept && document.getElementById(kept.place);
  // What has an id was focused again already.
  if (!place || place.contains(document.activeElement)) return;
  const same = [...place.querySelectorAll(kept.tag)].find((each) => nameOf(each) === kept.name);
  if (!same) place.tabIndex = -1;
  (same ?? place).focus({ preventScroll: true });
  kept = null;
});
