{
  const byId = (id) => document.getElementById(id);
  const body = byId("class").tBodies[0];
  const lookAt = ["review", "unread", "died", "twins", "incomplete"];
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const heads = Array.from(document.querySelectorAll("[data-max]"));
  const rows = Array.from(body.rows, (row) => ({
    row,
    text: fold(row.cells[0].textContent),
    late: Number(row.dataset.l || 0),
    mistakes: new Set(row.dataset.m.split(" ")),
    flags: row.dataset.f.split(" "),
    signs: row.querySelector(".signs").textContent,
  }));
  const which = {
    "": () => true,
    pending: (each) => each.flags.includes("pending"),
    gpu: (each) => each.flags.includes("gpu"),
    review: (each) => each.flags.includes("review"),
    look: (each) => lookAt.some((flag) => each.flags.includes(flag)),
    incomplete: (each) => each.flags.includes("incomplete"),
    full: (each) => "full" in each.row.dataset,
    half: (each) => "half" in each.row.dataset,
    late: (each) => each.late > 0,
  };
  const search = byId("search"), kind = byId("which"), question = byId("question");
  const chosen = document.querySelector(".chosen"), found = byId("found");
  let mistake = "";

  const apply = () => {
    const words = fold(search.value).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const each of rows) {
      const fits = words.every((word) => each.text.includes(word))
        && which[kind.value](each)
        && (!question.value || "◐✗".includes(each.signs[Number(question.value)]))
        && (!mistake || each.mistakes.has(mistake));
      each.row.hidden = !fits;
      count += fits;
    }
    found.textContent = found.dataset.say.replace("%n", count).replace("%all", rows.length);
    byId("nobody").hidden = count > 0;
  };
  const setMistake = (index, words) => {
    mistake = index;
    chosen.hidden = !index;
    chosen.firstElementChild.textContent = index ? found.dataset.mistake.replace("%what", () => words) : "";
    apply();
  };
  const goToTable = () => {
    byId("submissions").scrollIntoView();
    search.focus({ preventScroll: true });
  };

  search.addEventListener("input", apply);
  kind.addEventListener("change", apply);
  question.addEventListener("change", apply);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear-mistake").addEventListener("click", () => { setMistake("", ""); search.focus(); });
  for (const button of document.querySelectorAll("[data-mistake]:is(button)")) {
    button.addEventListener("click", () => {
      setMistake(button.dataset.mistake, button.getAttribute("aria-label").replace(/^[^:]*: /, ""));
      goToTable();
    });
  }
  for (const button of document.querySelectorAll("button[data-question]")) {
    button.addEventListener("click", () => {
      question.value = button.dataset.question;
      apply();
      goToTable();
    });
  }
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      goToTable();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      apply();
    }
  });

  /* A sign gets the title of its question only when somebody points at it: 20 titles a row would be a lot. */
  body.addEventListener("mouseover", ({ target }) => {
    if (!target.matches(".signs b") || target.title) return;
    const place = Array.prototype.indexOf.call(target.parentElement.children, target);
    const points = target.closest("tr").dataset.q.split(" ")[place];
    target.title = `${question.options[place + 1].text}: ${points} / ${heads[place].dataset.max}`;
  });
  byId("all-mistakes")?.addEventListener("click", ({ target }) => {
    byId("mistakes-table").classList.add("all");
    target.hidden = true;
  });
  /* A browser restores what stood in the fields when one comes back. */
  addEventListener("pageshow", apply);
}
