// A form that changes something is sent once, also where its button is pressed again while a slow
// answer is on its way. After some seconds it can be sent again, as where nothing came back.
const AGAIN_MS = 5000;
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (event.timeStamp - (sent.get(form) ?? -AGAIN_MS) < AGAIN_MS) event.preventDefault();
  else sent.set(form, event.timeStamp);
});
