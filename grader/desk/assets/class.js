"use strict";
const SIGNS = { passed: "✓", partial: "◐", failed: "✗", deferred: "…", skipped: "–", error: "!" };
const SVG = "http://www.w3.org/2000/svg";
let seen = null;

const bar = ([low, high, count], most) => {
  const box = make("div", "");
  box.append(make("span", count ? String(count) : ""));
  const svg = document.createElementNS(SVG, "svg"), rect = document.createElementNS(SVG, "rect");
  const tall = Math.round(100 * count / most);
  svg.setAttribute("height", `${tall}`);
  for (const [name, value] of [["width", "100%"], ["height", tall]]) rect.setAttribute(name, value);
  svg.append(rect);
  box.append(svg, make("span", low === 100 ? "100" : `${low}–`, { class: "dim" }));
  return box;
};

const row = (each) => {
  const line = make("tr"), head = make("th", "", { scope: "row" });
  head.append(make("a", each.shown, { href: path("student", each.name) }));
  if (each.people) head.append(make("div", each.people, { class: "dim small" }));
  const points = each.status === "incomplete" ? "incomplete" : `${each.score} / ${each.max}${each.pending ? ` +${each.pending}?` : ""}`;
  const strip = make("td", "", { class: "strip" });
  for (const status of each.strip) strip.append(make("span", SIGNS[status] || "?", { class: `mark ${status}`, title: status }));
  line.append(head, make("td", points), make("td", each.waits ? String(each.waits) : ""), strip);
  return line;
};

const show = () => {
  const wanted = at("search").value.trim().toLocaleLowerCase(), only = at("only").checked;
  const rows = seen.rows.filter((each) => (!only || each.waits) && `${each.shown} ${each.people}`.toLocaleLowerCase().includes(wanted));
  at("rows").replaceChildren(...rows.map(row));
  at("found").textContent = `Shown: ${rows.length} of ${seen.rows.length}`;
};

const standing = () => {
  const graded = seen.total ? `${seen.rows.length} of ${seen.total} graded` : `${seen.rows.length} graded`;
  const waits = seen.rows.filter((each) => each.waits).length;
  const work = !seen.working ? "No batch is at work" : seen.watched ? `${seen.watched} is watched` : `A batch is at work${seen.left ? `, ${seen.left}` : ""}`;
  return `${graded}. ${work}. ${waits ? `Waiting for a person: ${waits}.` : "Nobody waits for a person."}`;
};

onChange(async () => {
  const answer = await ask("/class.json");
  if (!answer.ok) { trouble(answer.said.error); return; }
  trouble("");
  seen = answer.said;
  at("standing").textContent = standing();
  const most = Math.max(1, ...seen.bars.map((each) => each[2]));
  at("bars").replaceChildren(...seen.bars.map((each) => bar(each, most)));
  at("bars").setAttribute("aria-label", "Submissions by share of the points: " + seen.bars.map(([low, , count]) => `from ${low} %: ${count}`).join(", "));
  at("absent").hidden = !seen.absent.length;
  at("absent").querySelector("p").textContent = seen.absent.join(", ");
  show();
});
at("search").addEventListener("input", () => seen && show());
at("only").addEventListener("change", () => seen && show());
