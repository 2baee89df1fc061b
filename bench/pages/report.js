"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  table.tHead.rows[0].addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!head) return;
    const k = head.cellIndex;
    const down = head.dataset.s === "+";
    for (const each of table.tHead.rows[0].cells) delete each.dataset.s;
    head.dataset.s = down ? "-" : "+";
    const body = table.tBodies[0];
    const value = (row) => {
      const cell = row.cells[k];
      if (!cell) return "";
      return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
    };
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (typeof x === typeof y) return x < y ? -1 : x > y ? 1 : 0;
      return typeof x === "number" ? -1 : 1;
    };
    const rows = [...body.rows].sort(order);
    if (down) rows.reverse();
    body.append(...rows);
  });
}
const choose = document.querySelector(".choose");
if (choose) {
  const show = () => {
    const name = choose.querySelector("button.on").dataset.w;
    const words = choose.querySelector("input").value.toLowerCase().split(/\s+/);
    for (const section of document.querySelectorAll(".workload")) {
      let some = false;
      for (const row of section.querySelectorAll("tbody tr")) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        some ||= !row.hidden;
      }
      section.hidden = (name && section.dataset.w !== name) || !some;
    }
  };
  choose.addEventListener("click", (event) => {
    if (event.target.tagName !== "BUTTON") return;
    for (const each of choose.querySelectorAll("button")) each.classList.remove("on");
    event.target.classList.add("on");
    show();
  });
  choose.addEventListener("input", show);
}
