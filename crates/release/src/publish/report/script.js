
"use strict";
{
  const box = document.getElementById("search-box");
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const rows = Array.from(document.querySelectorAll("#rows tbody tr"));
  const texts = rows.map(row => Array.from(row.cells, cell => cell.textContent.toLowerCase()).join("\n"));
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every(word => texts[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    found.textContent = words.length === 0 ? "" : shown + " of " + rows.length + " rows";
  };
  field.addEventListener("input", search);
  box.hidden = false;
  search();
}
