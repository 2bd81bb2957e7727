"use strict";
{
  const button = document.querySelector(".theme");
  const show = () => { button.querySelector(".now").textContent = button.dataset[root.dataset.theme]; };
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    root.dataset.theme = next;
    /* A browser that keeps nothing for pages from a disk still shows what was chosen. */
    try { localStorage.torchgradeTheme = next; } catch { /* no storage */ }
    show();
  });
  show();
  /* What is folded is on paper, too; the questions' own texts would be ten pages of it. */
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .asked)")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
}
