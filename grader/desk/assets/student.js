"use strict";
const name = decodeURIComponent(location.pathname.split("/").pop());
let seen = null, shown = "student";

const check = () => seen.checks.find((each) => each.place === at("place").value);

const fill = () => {
  const now = check();
  if (!now) return;
  at("points").value = now.pending ? "" : now.score;
  at("worth").textContent = `of ${number(now.worth)} · ${now.said}`;
  at("decided").hidden = !now.decision;
  at("decided").textContent = now.decision ? decidedText(now.decision) : "";
  at("undo").hidden = !now.decision;
};

const report = () => {
  at("report").src = path("report", shown, name);
  for (const button of document.querySelectorAll("[data-report]")) button.setAttribute("aria-pressed", button.dataset.report === shown);
};

const files = async () => {
  const answer = await ask(path("students", name, "files"));
  if (!answer.ok) { trouble(answer.said.error); return; }
  at("file").querySelector("div").replaceChildren(...figures(answer.said));
  showComments();
};

const load = async () => {
  const answer = await ask(path("students", name));
  if (!answer.ok) { trouble(answer.said.error); return; }
  const kept = at("place").value;
  seen = answer.said;
  at("name").textContent = seen.shown;
  at("people").textContent = seen.people;
  at("total").textContent = `${seen.score} / ${seen.max}${seen.pending ? ` +${seen.pending}?` : ""}`;
  at("replay").textContent = seen.replay;
  at("place").replaceChildren(...seen.checks.map((each) => make("option", `${each.place} (${each.pending ? "open" : each.score} of ${number(each.worth)})`, { value: each.place })));
  if (kept) at("place").value = kept;
  fill();
  if (!comments.on) commentsOf(seen.comments, path("students", name), seen.reads, report);
  showComments();
  report();
};

const send = async (what, body, said) => {
  const answer = await ask(path("students", name, check().place, what), { state: check().state, ...body });
  at("done").textContent = answer.ok ? said : "";
  trouble(answer.ok ? "" : answer.status === 409 ? "Not saved: somebody decided on it, or it was graded again, a moment ago. It is shown as it is now; look again." : `Not saved: ${answer.said.error}`);
  if (answer.ok) at("why").value = "";
  await load();
};

addEventListener("keydown", async (event) => {
  if (event.key !== "l" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  /* Before it opens: opened empty, it would ask for the same. */
  if (!at("file").querySelector("li")) await files();
  at("file").open = true;
  toLines(at("file"));
});
at("file").addEventListener("toggle", () => { if (at("file").open && !at("file").querySelector("li")) files(); });
at("place").addEventListener("change", fill);
at("change").addEventListener("submit", (event) => {
  event.preventDefault();
  const points = at("points").value.trim().replace(",", ".");
  if (!points || !Number.isFinite(Number(points))) { trouble("Type the points first."); return; }
  if (!at("why").value.trim()) { trouble("Say why: the student reads it."); return; }
  send("decide", { points: Number(points), why: at("why").value }, "Saved.");
});
at("undo").addEventListener("click", () => send("undo", {}, "Taken back."));
for (const button of document.querySelectorAll("[data-report]")) button.addEventListener("click", () => { shown = button.dataset.report; report(); });
load();
