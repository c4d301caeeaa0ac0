// The beliefs of a tabular run at one of its moments: a map with V, σ and the greedy action in every cell, or a list of states
// where the domain has no map.

import { color, h, isDark, s, short } from "./dom.js";

const CELL = 74;
/** More states than this are not listed. */
const MOST = 60;

/** What is believed of a state at a moment: the greedy action, its mean and its standard deviation. */
function greedy(moment, state) {
  const means = moment.mean[state];
  const action = means.reduce((best, mean, i) => (mean > means[best] ? i : best), 0);
  return { action, mean: means[action], sd: moment.sd ? moment.sd[state][action] : null };
}

/** The least and the greatest value over a whole recording, so that colours mean the same at every moment. */
export function rangeOf(recording) {
  let [low, high, sd] = [Infinity, -Infinity, 0];
  for (const moment of recording.moments) {
    recording.states.forEach((state, i) => {
      if (!state.reachable) return;
      const belief = greedy(moment, i);
      [low, high] = [Math.min(low, belief.mean), Math.max(high, belief.mean)];
      sd = Math.max(sd, belief.sd ?? 0);
    });
  }
  return { low, high, sd };
}

/** A small number in two digits. */
function tiny(value) {
  return value !== 0 && value < 1e-3 ? value.toExponential(0).replace("-", "−") : `${Number(value.toPrecision(2))}`;
}

/** From light to dark (or the other way round on dark) as the value grows. */
function shade(share) {
  const [from, to] = isDark() ? [[38, 46, 56], [40, 130, 190]] : [[240, 246, 250], [70, 150, 205]];
  return `rgb(${from.map((start, i) => Math.round(start + (to[i] - start) * share)).join(" ")})`;
}

export function drawMoment(recording, moment, layer, range) {
  return recording.map.length ? map(recording, moment, layer, range) : list(recording, moment);
}

function map(recording, moment, layer, { low, high, sd }) {
  const rows = recording.map;
  const width = Math.max(...rows.map((row) => row.length));
  const picture = s("svg", { viewBox: `0 0 ${width * CELL} ${rows.length * CELL}`, role: "img",
    "aria-label": `${recording.domain} after ${moment.step} steps` });
  rows.forEach((row, y) => [...row].forEach((sign, x) => {
    const wall = sign === "W";
    picture.append(s("rect", { x: x * CELL + 1, y: y * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 6,
      fill: wall ? "var(--line)" : "var(--soft)" }));
    if (!wall && sign !== "O") picture.append(s("text", { x: x * CELL + 8, y: y * CELL + 18, "font-weight": 600 }, sign));
  }));
  picture.style.maxWidth = `${width * CELL * 1.35}px`;
  const span = high > low ? high - low : 1;
  for (const index of recording.layers[layer]?.states ?? []) {
    const state = recording.states[index];
    if (!state.cell || !state.reachable) continue;
    const [y, x] = state.cell;
    const belief = greedy(moment, index);
    const [left, top] = [x * CELL, y * CELL];
    const share = (belief.mean - low) / span;
    const best = Math.max(...state.q);
    const right = state.q[belief.action] >= best - 1e-6 * Math.max(1, Math.abs(best));
    const arrow = s("text", { x: left + CELL / 2, y: top + CELL / 2 - 1, "text-anchor": "middle", class: "strong" }, state.arrows[belief.action]);
    arrow.style.fontSize = "22px";
    if (!right) arrow.style.fill = "var(--bad)";
    const numbers = [short(belief.mean), belief.sd === null ? "" : `± ${tiny(belief.sd)}`].map((words, line) => {
      const made = s("text", { x: left + CELL / 2, y: top + CELL - 19 + 12 * line, "text-anchor": "middle", class: "strong" }, words);
      made.style.fontSize = "11px";
      return made;
    });
    const text = [
      s("title", {}, `${state.label}: ${recording.actions.map((name, i) =>
        `${name} ${short(moment.mean[index][i])}${moment.sd ? ` ± ${short(moment.sd[index][i])}` : ""}`).join(", ")}`),
      s("rect", { x: left + 1, y: top + 1, width: CELL - 2, height: CELL - 2, rx: 6, fill: shade(share) }),
      // The ring grows with σ: where it is wide, the agent does not know.
      ...(belief.sd === null ? [] : [s("circle", { cx: left + CELL / 2, cy: top + CELL / 2 - 8, r: 5 + 22 * Math.sqrt(belief.sd / (sd || 1)),
        fill: color(4), "fill-opacity": 0.3 })]),
      arrow, ...numbers,
    ];
    const sign = rows[y][x];
    if (sign !== "O") text.push(s("text", { x: left + 8, y: top + 18, "font-weight": 600, class: "strong" }, sign));
    picture.append(s("g", {}, ...text));
  }
  return picture;
}

/** Every action of every state as mean ± 2σ, with the truth as a tick. */
function list(recording, moment) {
  const states = recording.states.map((state, i) => [state, i]).filter(([state]) => state.reachable).slice(0, MOST);
  const ends = states.flatMap(([state, i]) => moment.mean[i].flatMap((mean, a) => {
    const sd = moment.sd?.[i][a] ?? 0;
    return [mean - 2 * sd, mean + 2 * sd, state.q[a]];
  }));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const [left, width, row] = [150, 560, 16];
  const at = (value) => left + ((value - low) / (high - low || 1)) * width;
  let y = 12;
  const parts = [];
  for (const [state, i] of states) {
    parts.push(s("text", { x: 0, y: y + 8, class: "strong" }, state.label));
    moment.mean[i].forEach((mean, a) => {
      const sd = moment.sd?.[i][a] ?? 0;
      parts.push(
        s("text", { x: left - 8, y: y + 8, "text-anchor": "end" }, recording.actions[a]),
        s("line", { x1: at(mean - 2 * sd), x2: at(mean + 2 * sd), y1: y + 4, y2: y + 4, stroke: color(a), "stroke-width": 5, "stroke-opacity": 0.45 }),
        s("circle", { cx: at(mean), cy: y + 4, r: 3.5, fill: color(a) }),
        s("line", { x1: at(state.q[a]), x2: at(state.q[a]), y1: y - 2, y2: y + 10, stroke: "var(--ink)", "stroke-width": 1.5 }));
      y += row;
    });
    y += 8;
  }
  parts.push(s("text", { x: left, y: y + 10 }, short(low)), s("text", { x: left + width, y: y + 10, "text-anchor": "end" }, short(high)));
  const more = recording.states.length - states.length;
  return h("div", {}, s("svg", { viewBox: `0 0 ${left + width + 20} ${y + 16}`, role: "img", "aria-label": "Beliefs by state" }, ...parts),
    h("p", { class: "quiet small" }, `Dots are means, bars ± 2σ, ticks the truth Q*.${more > 0 ? ` ${more} more states are not shown.` : ""}`));
}
