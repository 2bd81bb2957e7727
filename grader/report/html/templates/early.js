"use strict";
/* In the head: what was chosen shows from the first painted frame on. */
const root = document.documentElement;
root.classList.add("scripted");
const themes = ["auto", "light", "dark"];
const chosenTheme = () => {
  try { return themes.includes(localStorage.torchgradeTheme) ? localStorage.torchgradeTheme : "auto"; }
  catch { return "auto"; }
};
root.dataset.theme = chosenTheme();
