// Copies a link, or its content, instead of following it. If the browser does not allow access to
// the clipboard, the link is followed, as it is without scripts; a picture is saved as a file.
const announcement = document.getElementById("announcement");

async function copied(control) {
  if (control.dataset.copy === "link") return location.href;
  const answer = await fetch(control.href);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

// A drawing as PNG, at twice its stated size, to look sharp on slides.
async function pictureOf(control) {
  const answer = await fetch(control.href);
  if (!answer.ok) throw new Error(answer.statusText);
  const drawing = new Image();
  drawing.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await answer.text())}`;
  await drawing.decode();
  const canvas = document.createElement("canvas");
  canvas.width = drawing.naturalWidth * 2;
  canvas.height = drawing.naturalHeight * 2;
  canvas.getContext("2d").drawImage(drawing, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function copyPicture(control) {
  const picture = pictureOf(control);
  try {
    // Pass the promise: after waiting for it, browsers no longer know that the user clicked.
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    announcement.textContent = "picture copied";
  } catch {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await picture);
    link.download = "offdiag-card.png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    announcement.textContent = "picture saved";
  }
  control.classList.add("is-done");
}

for (const control of document.querySelectorAll('a[data-copy="picture"]')) {
  control.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    copyPicture(control).catch(() => location.assign(control.href));
  });
}

for (const control of document.querySelectorAll('a[data-copy]:not([data-copy="picture"])')) {
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
