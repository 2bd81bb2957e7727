"use strict";
const load = async () => {
  const answer = await ask("/finish.json");
  if (!answer.ok) { trouble(answer.said.error); return; }
  const now = answer.said, open = [];
  for (const [question, count] of now.waits) open.push(`${question}: ${count} wait for a person`);
  if (now.pending) open.push(`Submissions whose points wait for a machine: ${now.pending}`);
  if (now.incomplete.length) open.push(`The grader failed at: ${now.incomplete.join(", ")}. Run the same grader batch with --resume`);
  if (now.absent.length) open.push(`Handed in nothing: ${now.absent.join(", ")}`);
  if (now.working) open.push("A batch is at work");
  at("open").replaceChildren(...(open.length ? open : ["Nothing. Every submission has its grade."]).map((text) => make("li", text)));
  const agree = now.agree === now.total;
  at("totals").classList.toggle("bad", !agree);
  at("totals").textContent = agree
    ? `The totals of all ${now.total} submissions in gradebook.csv are those shown here. Decisions by hand: ${now.decided}.`
    : `gradebook.csv is behind at ${now.total - now.agree} of ${now.total} submissions: ${now.otherwise.join(", ")}. Write it now.`;
  at("commands").textContent = now.commands.join("\n");
};
at("write").addEventListener("click", async () => {
  const answer = await ask("/write", {});
  trouble(answer.ok ? "" : answer.said.error);
  await load();
});
onChange(load);
