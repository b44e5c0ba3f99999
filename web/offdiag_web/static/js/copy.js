// Copies a link, or what stands behind it, instead of following it. Where the browser does not
// let a page write to the clipboard the link is followed, as it is without scripts.
const announcement = document.getElementById("announcement");

async function copied(control) {
  if (control.dataset.copy === "link") return location.href;
  const answer = await fetch(control.href);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

for (const control of document.querySelectorAll("a[data-copy]")) {
  control.addEventListener("click", async (event) => {
    if (!navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(await copied(control));
      announcement.textContent = `${control.textContent.replace("Copy ", "")} copied`;
      control.classList.add("is-done");
    } catch {
      location.assign(control.href);
    }
  });
}
