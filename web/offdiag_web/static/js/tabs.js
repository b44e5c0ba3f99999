// On narrow screens tabs are one line that scrolls: show the current one, and a part of the last.
for (const nav of document.querySelectorAll(".tabs")) {
  const current = nav.querySelector("[aria-current]");
  if (current) nav.scrollLeft = current.offsetLeft - nav.offsetLeft - 48;
}
