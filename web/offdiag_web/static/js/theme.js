// Switches the theme without leaving the page. Without this module the form does so.
const form = document.getElementById("theme");
let saved = Promise.resolve();
const order = ["auto", "light", "dark"];

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = form.elements.theme;
  const theme = button.value;
  // One after the other, so that the last choice wins, even if the page is left meanwhile.
  const body = new URLSearchParams({ theme });
  saved = saved.then(() => fetch(form.action, { method: "POST", body, keepalive: true }));
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = `Theme: ${theme}`;
  button.value = order[(order.indexOf(theme) + 1) % order.length];
  document.getElementById("announcement").textContent = `Theme: ${theme}`;
});
