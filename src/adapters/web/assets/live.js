// Shows what the agents of a run print. Without this script the pages work, but without the output.
"use strict";
const output = document.getElementById("output");
if (output) {
  watch();
}

function watch() {
  const events = new EventSource(output.dataset.source);
  // A browser connects again by itself after a broken connection, but not after an answer such as
  // that of a proxy while the bot is restarted. All output is then sent again.
  let first = true;
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(watch, 5000);
  };
  events.onmessage = (event) => {
    if (first) output.textContent = "";
    first = false;
    const atEnd = output.scrollTop + output.clientHeight >= output.scrollHeight - 8;
    output.append(event.data);
    if (atEnd) output.scrollTop = output.scrollHeight;
  };
  events.addEventListener("state", (event) => {
    events.close();
    if (!output.textContent) output.textContent = "No agent has printed anything.";
    const badge = document.querySelector("dd .state");
    if (badge && badge.textContent !== event.data) location.reload();
  });
}
