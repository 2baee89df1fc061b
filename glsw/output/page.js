"use strict";

// Sorts a table by a column: numbers by data-v, others by their text.
function sortBy(header) {
  const table = header.closest("table"), body = table.tBodies[0], column = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  const value = (row) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
  };
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const rows = [...body.rows].map((row) => [value(row), row]);
  rows.sort((a, b) => (down ? order(b[0], a[0]) : order(a[0], b[0])));
  body.append(...rows.map((pair) => pair[1]));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
}

// Opens the alignments that a link leads to.
function openTarget() {
  const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (found instanceof HTMLDetailsElement) found.open = true;
}

// Lists the queries, if there are several: name, letters, hits, best E-value or score.
function listQueries() {
  const sections = [...document.querySelectorAll(".query")];
  const totals = document.getElementById("totals");
  const hits = sections.reduce((sum, each) => sum + Number(each.dataset.hits), 0);
  totals.textContent = ` · ${sections.length} ${sections.length === 1 ? "query" : "queries"}, ` +
    `${hits} ${hits === 1 ? "hit" : "hits"}`;
  if (sections.length < 2) return;
  const list = document.getElementById("queries"), body = list.querySelector("tbody");
  for (const section of sections) {
    const row = body.insertRow(), name = row.insertCell(), link = document.createElement("a");
    name.className = "name";
    link.href = "#" + section.id;
    link.append(section.querySelector("h2 bdi").cloneNode(true));
    name.append(link);
    for (const key of ["length", "hits", "best"]) {
      const cell = row.insertCell(), value = section.dataset[key];
      cell.textContent = value;
      cell.dataset.v = value === "" ? Infinity : value;
    }
  }
  list.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const row of body.rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    }
  });
  list.hidden = false;
}

addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("th").forEach((header) => {
    const button = document.createElement("button");
    button.append(...header.childNodes);
    header.append(button);
  });
  document.addEventListener("click", (event) => {
    const header = event.target.closest("th"), all = event.target.closest("button[data-open]");
    if (header) sortBy(header);
    if (all) {
      const open = all.dataset.open === "yes";
      all.closest(".query").querySelectorAll("details").forEach((each) => { each.open = open; });
    }
  });
  listQueries();
  document.querySelectorAll(".tools[hidden]").forEach((each) => { each.hidden = false; });
  addEventListener("hashchange", openTarget);
  openTarget();
});
