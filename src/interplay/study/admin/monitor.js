// Keeps the monitor up to date: asks for its inner part every two seconds while the page is looked at.
"use strict";
const now = document.getElementById("now");
const every = 2000;

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(now.dataset.from, { credentials: "same-origin", cache: "no-store" });
    if (answer.status === 401) {
      location.reload();
    } else if (answer.ok) {
      const text = await answer.text();
      // A link that has the focus would lose it.
      if (!now.contains(document.activeElement)) now.innerHTML = text;
      now.classList.remove("stale");
    } else {
      now.classList.add("stale");
    }
  } catch {
    now.classList.add("stale");
  }
}

setInterval(refresh, every);
