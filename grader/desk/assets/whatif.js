"use strict";
const points = ([score, pending, most]) => `${number(score)} / ${number(most)}${pending ? ` +${number(pending)}?` : ""}`;
const final = (value) => value === null ? "open" : number(value);

const show = (now) => {
  at("judge").disabled = now.running;
  at("judging").textContent = now.running ? `Judging, ${now.seconds} s so far. Nobody's code runs.` : "";
  trouble(now.error || "");
  at("changes").hidden = now.running || !now.totals;
  if (at("changes").hidden) return;
  const lose = now.totals.filter((each) => each.difference < 0).length, gain = now.totals.filter((each) => each.difference > 0).length;
  at("sums").textContent = !now.totals.length && !now.checks.length ? `Nothing would change for any of ${now.everybody}.` : `${now.totals.length} of ${now.everybody} would have another total or grade. Lose points: ${lose}; gain points: ${gain}.`;
  at("totals").replaceChildren(...now.totals.map((each) => {
    const line = make("tr"), head = make("th", "", { scope: "row" });
    head.append(make("a", each.shown, { href: path("student", each.name) }));
    const difference = each.difference ? `${each.difference > 0 ? "+" : ""}${number(each.difference)}` : "";
    line.append(head, make("td", points(each.before)), make("td", points(each.after)), make("td", difference),
      make("td", each.finals[0] === each.finals[1] ? "" : `${final(each.finals[0])} → ${final(each.finals[1])}`));
    return line;
  }));
  at("checks").replaceChildren(...now.checks.map((each) => {
    const line = make("tr");
    line.append(make("th", each.check, { scope: "row" }), make("td", each.before), make("td", each.after), make("td", String(each.count)));
    return line;
  }));
  at("said").replaceChildren(...now.said.map((text) => make("li", text)));
  at("how").textContent = now.commands.join("\n");
  for (const [name, rows] of [["totals", now.totals], ["checks", now.checks], ["how", now.commands]]) at(name).closest("section").hidden = !rows.length;
};

const load = async () => {
  const answer = await ask("/whatif.json");
  if (!answer.ok) { trouble(answer.said.error); return; }
  show(answer.said);
  if (answer.said.running) setTimeout(load, 1000);
};
at("judge").addEventListener("click", async () => {
  const answer = await ask("/whatif", {});
  if (answer.ok) await load(); else trouble(answer.said.error);
});
load();
