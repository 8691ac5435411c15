// Shows what the agents of a run print. Without this script the pages work, but without the output.
"use strict";
const output = document.getElementById("output");
if (output) {
  const events = new EventSource(output.dataset.source);
  events.onmessage = (event) => {
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
