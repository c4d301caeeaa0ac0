// The table of all runs. Rows are kept and changed in place, and those beyond the first screen come a frame later: a thousand
// of them stay smooth.

import { brief, count, eachFrame, h, short } from "./dom.js";
import { fits, listen, note, place, table, ticked } from "./store.js";

const COLUMNS = [
  ["id", "Run", (row) => row.id],
  ["env", "Environment", (row) => row.env],
  ["agent", "Agent", (row) => `${row.agent} ${row.policy}`],
  ["seed", "Seed", (row) => row.seed, "number"],
  ["progress", "Progress", (row) => (row.steps ? row.step / row.steps : 0)],
  ["return", "Return", (row) => row.train_return, "number"],
  ["evaluation", "Evaluation", (row) => row.evaluation, "number"],
  ["speed", "Steps/s", (row) => row.speed, "number"],
  ["state", "State", (row) => ["training", "failed", "malformed", "stopped", "finished"].indexOf(row.state)],
];

/** Rows that are drawn at once; the others follow in pieces. */
const AT_ONCE = 60;
const PIECE = 120;

export function runsView(main) {
  const { query } = place();
  let words = query.get("q") ?? "";
  let [by, down] = (query.get("sort") ?? "id").startsWith("-")
    ? [query.get("sort").slice(1), true] : [query.get("sort") ?? "id", false];
  const chosen = new Set(ticked());
  const rows = new Map();
  let turn = 0;

  const filter = h("input", {
    type: "search", value: words, placeholder: "environment, agent, state, -without …",
    "aria-label": "Filter runs", oninput: () => {
      words = filter.value;
      note({ q: words });
      arrange();
    },
  });
  const summary = h("span", { class: "quiet", role: "status" });
  const all = h("input", { type: "checkbox", "aria-label": "Tick all shown", onchange: () => {
    for (const row of shown()) if (row.state !== "malformed") all.checked ? chosen.add(row.id) : chosen.delete(row.id);
    for (const [id, row] of rows) row.tick.checked = chosen.has(id);
    chose();
  } });
  const curves = h("a", { class: "button main" }, "Curves");
  const compare = h("a", { class: "button" }, "Compare");
  const heads = COLUMNS.map(([key, title, , kind]) => {
    const button = h("button", { type: "button", onclick: () => {
      [by, down] = [key, by === key ? !down : kind === "number"];
      note({ sort: `${down ? "-" : ""}${by}` });
      arrange();
    } }, title, h("span", { "aria-hidden": "true" }));
    return h("th", { scope: "col", class: kind, "data-key": key }, button);
  });
  const body = h("tbody");
  const empty = h("p", { class: "quiet" });
  const notes = h("p", { class: "quiet small" });
  main.append(
    h("h1", {}, "Runs"),
    h("div", { class: "bar" }, filter, summary, h("span", { class: "push buttons" }, curves, compare)),
    h("div", { class: "card runs" }, h("table", {},
      h("colgroup", {}, ["tick", ...COLUMNS.map(([key]) => key)].map((name) => h("col", { class: `col-${name}` }))),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, all), heads)), body)),
    empty, notes);

  /** The rows that fit the filter, in order. */
  function shown() {
    const value = COLUMNS.find(([key]) => key === by)?.[2] ?? ((row) => row.id);
    const found = [...table.runs.values()].filter((row) => fits(row, words)).map((row) => [value(row), row]);
    const missing = (x) => x === null || x === undefined || Number.isNaN(x);
    found.sort(([a, x], [b, y]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b) || compareTexts(x.id, y.id);
      const order = typeof a === "number" ? a - b : compareTexts(a, b);
      return (down ? -order : order) || compareTexts(x.id, y.id);
    });
    return found.map(([, row]) => row);
  }

  function arrange() {
    const list = shown();
    body.replaceChildren(...list.slice(0, AT_ONCE).map(element));
    const mine = (turn += 1);
    const follow = (from) => requestAnimationFrame(() => {
      if (mine !== turn || from >= list.length) return;
      body.append(...list.slice(from, from + PIECE).map(element));
      follow(from + PIECE);
    });
    follow(AT_ONCE);
    for (const head of heads) {
      const own = head.dataset.key === by;
      head.querySelector("span").textContent = own ? (down ? "↓" : "↑") : "";
      if (own) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    empty.textContent = list.length ? "" : table.runs.size
      ? "No run fits the filter." : "There is no run here yet. One that is begun appears by itself.";
    notes.textContent = table.notes.join(" ");
    chose();
  }

  function chose() {
    for (const id of chosen) if (!table.runs.has(id)) chosen.delete(id);
    const list = shown().filter((row) => row.state !== "malformed");
    const every = list.length > 0 && list.length === chosen.size && list.every((row) => chosen.has(row.id));
    all.checked = every;
    all.indeterminate = !every && chosen.size > 0;
    note({ runs: every && list.length > 1 ? "*" : [...chosen].join("|") });
    const training = [...table.runs.values()].filter((row) => row.state === "training").length;
    summary.textContent = `${count(table.runs.size)} runs${training ? `, ${training} training` : ""}` +
      `${chosen.size ? `, ${count(chosen.size)} ticked` : ""}`;
    const { query } = place();
    const kept = new URLSearchParams();
    for (const name of ["runs", "q"]) if (query.get(name)) kept.set(name, query.get(name));
    for (const [link, page] of [[curves, "curves"], [compare, "compare"]]) {
      link.href = `#/${page}?${kept}`;
      chosen.size ? link.removeAttribute("aria-disabled") : link.setAttribute("aria-disabled", "true");
    }
  }

  /** The element of a row, made once. */
  function element(row) {
    const known = rows.get(row.id) ?? make(row);
    if (known.row !== row) write(known, row);
    return known.element;
  }

  function make(row) {
    const tick = h("input", { type: "checkbox", checked: chosen.has(row.id), "aria-label": `Tick ${row.id}`, onchange: () => {
      tick.checked ? chosen.add(row.id) : chosen.delete(row.id);
      chose();
    } });
    const cells = {
      name: h("td", { class: "name" }, h("a", { href: `#/curves?${new URLSearchParams({ runs: row.id })}` }, row.id)),
      env: h("td", { "data-label": "" }), agent: h("td", { class: "agent" }), seed: h("td", { class: "number seed", "data-label": "seed" }),
      bar: h("progress", { max: 1 }), steps: h("span"),
      train: h("td", { class: "number", "data-label": "return" }),
      evaluation: h("td", { class: "number evaluation", "data-label": "evaluation" }),
      speed: h("td", { class: "number speed", "data-label": "steps/s" }),
      state: h("span"), why: h("div", { class: "why" }),
      watch: h("a", { class: "small", href: `#/watch?${new URLSearchParams({ run: row.id })}` }, "watch"),
    };
    const made = { tick, cells, row: null, element: h("tr", { "data-id": row.id },
      h("td", { class: "tick" }, tick), cells.name, cells.env, cells.agent, cells.seed,
      h("td", { class: "progress-cell" }, h("span", { class: "progress" }, cells.bar, cells.steps)),
      cells.train, cells.evaluation, cells.speed,
      h("td", { class: "state-cell" }, cells.state, " ", cells.watch, cells.why)) };
    rows.set(row.id, made);
    return made;
  }

  function write(known, row) {
    const { cells } = known;
    const old = known.row;
    known.row = row;
    const set = (element, text) => {
      if (element.textContent !== text) element.textContent = text;
    };
    set(cells.env, row.env);
    set(cells.agent, row.agent ? `${row.agent}, ${row.policy}` : "");
    set(cells.seed, row.state === "malformed" && !row.env ? "" : `${row.seed}`);
    cells.bar.value = row.steps ? row.step / row.steps : 0;
    cells.bar.hidden = !row.steps;
    set(cells.steps, row.steps ? `${brief(row.step)} of ${brief(row.steps)}` : "");
    set(cells.train, short(row.train_return));
    set(cells.evaluation, short(row.evaluation));
    set(cells.speed, row.speed ? count(Math.round(row.speed)) : "");
    set(cells.why, row.why ?? "");
    cells.watch.hidden = row.state === "malformed";
    known.tick.disabled = row.state === "malformed";
    if (old?.state !== row.state) {
      cells.state.className = `state ${row.state}`;
      cells.state.textContent = row.state;
    }
  }

  const rearrange = eachFrame(arrange);
  arrange();
  const stop = listen((ids) => {
    const known = ids !== null && ids.every((id) => rows.has(id) && table.runs.has(id));
    if (ids === null) rows.clear();
    if (known) for (const id of ids) element(table.runs.get(id));
    // Values by which rows are sorted or filtered may be others now.
    if (!known || by !== "id" || words) rearrange();
    else chose();
  });
  return () => {
    turn = -1;
    stop();
  };
}

const collator = new Intl.Collator("en", { numeric: true });
function compareTexts(a, b) {
  return collator.compare(a, b);
}
