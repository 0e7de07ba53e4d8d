"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const given = Array.from(body.rows);
  const headings = Array.from(table.tHead.rows[0].cells);
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sorted(given, column, down ? -1 : 1));
    });
  });
}

function sorted(rows, column, sign) {
  const key = (row) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (first, second) => {
    const [a, b] = [key(first), key(second)];
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    // What has no number stands last, whichever way the rest is sorted.
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * a.localeCompare(b, undefined, { numeric: true });
  };
  return rows.slice().sort(compare);
}
