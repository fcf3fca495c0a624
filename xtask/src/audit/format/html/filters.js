"use strict";
{
  const form = document.getElementById("filters");
  const groups = [...document.querySelectorAll(".matrix > tbody")];
  const apply = () => {
    const [id, place, finding] = ["id", "place", "finding"].map((name) => form.elements[name].value.trim().toLowerCase());
    let shown = 0;
    for (const group of groups) {
      const { id: number, name } = group.dataset;
      const named = id === "" || number === id || (!/^\d+$/.test(id) && name.toLowerCase().includes(id));
      const rows = [...group.querySelectorAll(":scope > tr[data-place]")];
      const matching = rows.filter((row) => {
        const kinds = row.dataset.findings.split(" ").filter(Boolean);
        const found = finding === "" || (finding === "*" ? kinds.length > 0 : kinds.includes(finding));
        return (place === "" || row.dataset.place === place) && found;
      });
      group.hidden = !named || matching.length === 0;
      shown += group.hidden ? 0 : 1;
      // The first row carries the attribute's name, so rows are dimmed and not taken out.
      for (const row of rows) row.classList.toggle("dim", !matching.includes(row));
    }
    form.elements.count.value = `${shown} of ${groups.length} attributes`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  form.elements.unfold.addEventListener("click", () => {
    const folded = [...document.querySelectorAll(".matrix > tbody:not([hidden]) details")];
    const open = folded.some((details) => !details.open);
    for (const details of folded) details.open = open;
  });
  form.hidden = false;
  apply();
}
