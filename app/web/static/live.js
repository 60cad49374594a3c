// Says so when live updates stopped for half a minute; the stream itself reconnects and sends the whole state again.
"use strict";
(() => {
  let timer = null;
  const notice = () => document.querySelector("[data-cut]");
  document.addEventListener("htmx:sseError", () => {
    timer ??= setTimeout(() => { const found = notice(); if (found) found.hidden = false; }, 30000);
  });
  document.addEventListener("htmx:sseOpen", () => {
    clearTimeout(timer);
    timer = null;
    const found = notice();
    if (found) found.hidden = true;
  });
  // The summary of errors takes the focus, also after a form came back in place.
  const focus = () => document.querySelector("[data-focus]")?.focus();
  document.addEventListener("DOMContentLoaded", focus);
  document.addEventListener("htmx:afterSettle", (event) => { if (event.target.querySelector?.("[data-focus]")) focus(); });
})();
