"use strict";

/* A file that is dropped is sent as if it had been chosen. */
for (const form of document.querySelectorAll("form.drop")) {
  const input = form.querySelector("input[type=file]");
  const problem = form.querySelector(".problem");
  const fits = () => {
    const tooLarge = input.files.length > 0 && input.files[0].size > Number(form.dataset.limit);
    problem.hidden = !tooLarge;
    problem.textContent = tooLarge ? "This file is too large for this server." : "";
    return input.files.length > 0 && !tooLarge;
  };
  const mark = (event) => {
    event.preventDefault();
    form.classList.toggle("over", event.type === "dragover");
  };
  form.addEventListener("dragover", mark);
  form.addEventListener("dragleave", mark);
  form.addEventListener("drop", (event) => {
    mark(event);
    if (event.dataTransfer.files.length === 1) {
      input.files = event.dataTransfer.files;
      if (fits()) form.requestSubmit();
    } else {
      problem.hidden = false;
      problem.textContent = "Drop one file.";
    }
  });
  input.addEventListener("change", fits);
  form.addEventListener("submit", (event) => {
    if (!fits()) event.preventDefault();
  });
}

/* A button that was pressed says so, until the next page is there. */
for (const form of document.querySelectorAll("form[method=post]:not([hx-post])")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    // Later, for a disabled button is not sent.
    setTimeout(() => form.querySelectorAll("button").forEach((one) => { one.disabled = true; }));
  });
}
window.addEventListener("pageshow", () => {
  document.querySelectorAll("form button").forEach((one) => { one.disabled = false; });
});

/* Screen readers hear of a new step, not of every second. */
const spoken = document.getElementById("spoken");
let lastStep = "";
document.body.addEventListener("htmx:afterSwap", () => {
  const step = document.querySelector("#progress .step");
  const name = step ? step.textContent.split(":")[0] : "";
  if (spoken && name !== lastStep) spoken.textContent = lastStep = name;
});

/* Code can be copied, where the browser allows it. */
for (const button of document.querySelectorAll("button.copy")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

/* The reader's own tier list: items are dragged, or moved by buttons. */
const own = document.getElementById("own");
if (own) {
  const list = own.querySelector(".own");
  const fields = own.querySelectorAll("#fields input");
  const moved = document.getElementById("moved");
  const tiers = () => Array.from(list.children);
  const emptyTier = () => {
    const tier = document.createElement("li");
    tier.className = "tier new";
    tier.dataset.tier = "";
    tier.append(document.createElement("span"), document.createElement("ul"));
    tier.firstChild.className = "number";
    return tier;
  };
  const settle = () => {
    // One empty tier stays above and below, so that there is always room for a new one.
    tiers().forEach((tier) => { if (!tier.querySelector(".card")) tier.remove(); });
    list.prepend(emptyTier());
    list.append(emptyTier());
    tiers().forEach((tier, number) => {
      const cards = tier.querySelectorAll(".card");
      tier.classList.toggle("new", cards.length === 0);
      tier.querySelector(".number").textContent = cards.length ? String(number) : "new";
      cards.forEach((card) => { fields[Number(card.dataset.item)].value = String(number); });
    });
    document.getElementById("verdict").replaceChildren();
  };
  const put = (card, tier) => {
    tier.querySelector("ul").append(card);
    settle();
    const number = tiers().indexOf(card.closest(".tier"));
    moved.textContent = `${card.querySelector(".name").textContent} is now in tier ${number}`;
  };
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-by]");
    if (!button) return;
    const card = button.closest(".card");
    const target = tiers()[tiers().indexOf(card.closest(".tier")) + Number(button.dataset.by)];
    if (target) put(card, target);
    button.focus();
  });
  let dragged = null;
  list.addEventListener("dragstart", (event) => {
    dragged = event.target.closest(".card");
    if (!dragged) return;
    dragged.classList.add("dragged");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.item);
  });
  list.addEventListener("dragend", () => {
    if (dragged) dragged.classList.remove("dragged");
    tiers().forEach((one) => one.classList.remove("over"));
    dragged = null;
  });
  list.addEventListener("dragover", (event) => {
    const tier = event.target.closest(".tier");
    if (!dragged || !tier) return;
    event.preventDefault();
    tiers().forEach((one) => one.classList.toggle("over", one === tier));
  });
  list.addEventListener("drop", (event) => {
    const tier = event.target.closest(".tier");
    tiers().forEach((one) => one.classList.remove("over"));
    if (!dragged || !tier) return;
    event.preventDefault();
    if (tier !== dragged.closest(".tier")) put(dragged, tier);
  });
  document.body.addEventListener("htmx:responseError", (event) => {
    document.getElementById("verdict").textContent = "That did not work. Load the page again.";
    event.preventDefault();
  });
}
