// Sends a form that changes something only once, even if its button is pressed again during a
// slow response. After some seconds it can be sent again, in case there was no response.
const AGAIN_MS = 5000;
let sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (event.timeStamp - (sent.get(form) ?? -AGAIN_MS) < AGAIN_MS) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// Whoever comes back to the page, which browsers keep as it was left, may send it again.
window.addEventListener("pagehide", () => { sent = new WeakMap(); });
