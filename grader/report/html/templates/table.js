{
  /* A heading sorts its table: names go up first; numbers go down first, the interesting end. */
  const value = (row, key) => Number((key[0] === "q" ? row.dataset.q.split(" ")[key.slice(1)] : row.dataset[key]) || 0);
  for (const table of document.querySelectorAll("table:has([data-sort])")) {
    const body = table.tBodies[0], first = new Map(Array.from(body.rows, (row, place) => [row, place]));
    for (const button of table.querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => {
        const key = button.dataset.sort, up = button.dataset.now ? button.dataset.now === "↓" : !key;
        for (const each of table.querySelectorAll("[data-now]")) delete each.dataset.now;
        for (const each of table.querySelectorAll("[aria-sort]")) each.removeAttribute("aria-sort");
        button.dataset.now = up ? "↑" : "↓";
        button.closest("th").ariaSort = up ? "ascending" : "descending";
        const sign = up ? 1 : -1;
        const by = key ? (a, b) => value(a, key) - value(b, key) : (a, b) => first.get(a) - first.get(b);
        body.append(...[...body.rows].sort((a, b) => sign * by(a, b) || first.get(a) - first.get(b)));
      });
    }
  }
}
