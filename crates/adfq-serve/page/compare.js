// What `adfq compare` writes, for the ticked runs.

import { post, postForText } from "./api.js";
import { download, field, h, select, short } from "./dom.js";
import { note, place, ticked } from "./store.js";

export function compareView(main) {
  const { query } = place();
  let returns = query.get("returns") ?? "evaluation";
  let steps = query.get("steps") ?? "";
  let turn = 0;
  const said = h("p", { class: "quiet", role: "status" });
  const result = h("div");
  const limit = h("input", { type: "number", min: 1, value: steps, placeholder: "all", onchange: () => {
    steps = limit.value;
    note({ steps });
    compute();
  } });
  main.append(h("h1", {}, "Compare"),
    h("div", { class: "bar" },
      field("Returns of", select([["evaluation", "evaluations"], ["training", "training episodes"]], returns, (value) => {
        returns = value;
        note({ returns: value === "evaluation" ? null : value });
        compute();
      })), field("Up to step", limit)),
    said, result);

  async function compute() {
    const [mine, runs] = [(turn += 1), ticked()];
    result.replaceChildren();
    if (!runs.length) {
      said.textContent = "No run is ticked. Tick some on the page Runs.";
      return;
    }
    said.textContent = `Comparing ${runs.length} ${runs.length === 1 ? "run" : "runs"}…`;
    const request = { runs, returns, steps: steps ? Number(steps) : null };
    try {
      const answer = await post("/api/compare", request);
      if (mine !== turn) return;
      said.textContent = "";
      show(answer, request);
    } catch (error) {
      if (mine === turn) said.textContent = error.message;
    }
  }

  function show({ comparison, summary, pictures, command }, request) {
    const save = h("div", { class: "bar" },
      h("button", { type: "button", onclick: async () =>
        download("report.html", "text/html", await postForText("/api/compare/report", request)) }, "Report (HTML)"),
      h("button", { type: "button", onclick: () =>
        download("compare.json", "application/json", `${JSON.stringify(comparison, null, 2)}\n`) }, "JSON"),
      h("button", { type: "button", onclick: () => download("compare.txt", "text/plain", summary) }, "Text"));
    result.append(save);
    for (const environment of comparison.environments) {
      const svg = pictures.find(([env]) => env === environment.env)?.[1];
      result.append(h("h2", {}, environment.env), h("div", { class: "pictures" },
        h("div", { class: "card scroll" }, entries(environment), improvements(environment)),
        svg ? h("div", { class: "card figure" }, h("img", { alt: `Learning curves in ${environment.env}`,
          src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` })) : null),
      h("ul", { class: "quiet small" }, environment.notes.map((text) => h("li", {}, text))));
    }
    if (comparison.aggregate) result.append(h("h2", {}, "Over all environments"), h("div", { class: "card scroll" }, overall(comparison)));
    if (comparison.notes.length) result.append(h("ul", { class: "quiet small" }, comparison.notes.map((text) => h("li", {}, text))));
    result.append(h("details", {}, h("summary", {}, "As adfq compare prints it"), h("pre", {}, summary), h("pre", {}, command)));
  }

  compute();
  return () => {
    turn = -1;
  };
}

function score({ value, interval }) {
  return interval ? `${short(value)} [${short(interval.low)}, ${short(interval.high)}]` : short(value);
}

function tableOf(heads, rows) {
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => h(i ? "td" : "th", { scope: i ? null : "row" }, cell))))));
}

function entries({ entries: all, steps }) {
  const heads = ["", "Seeds", "Final return (IQM, 95 %)", "Area (IQM, 95 %)"];
  return h("div", {}, h("p", { class: "quiet small" }, `Up to step ${(steps.at(-1) ?? 0).toLocaleString("en")}`),
    tableOf(heads, all.map((entry) => [entry.label, `${entry.runs.length}`, score(entry.final_return), score(entry.area)])));
}

function improvements({ improvement, entries: all }) {
  if (!improvement.length) return null;
  const labels = all.map((entry) => entry.label);
  const cell = (row, column) => {
    const pair = improvement.find(({ label, over }) => label === row && over === column);
    return pair ? score(pair.probability) : "·";
  };
  return h("div", {}, h("p", { class: "quiet small" }, "P(row > column), final return"),
    tableOf(["", ...labels], labels.map((row) => [row, ...labels.map((column) => cell(row, column))])));
}

function overall({ aggregate }) {
  return tableOf(["", "Normalised final return (IQM, 95 %)"], aggregate.scores.map(({ label, iqm }) => [label, score(iqm)]));
}
