{
  for (const button of document.querySelectorAll("[data-open]")) {
    button.addEventListener("click", () => {
      for (const each of document.querySelectorAll("details.question")) each.open = Boolean(button.dataset.open);
    });
  }
  /* A link to a question opens it. */
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", reveal);
  for (const link of document.querySelectorAll(".jump a")) link.addEventListener("click", () => setTimeout(reveal));
  reveal();
}
