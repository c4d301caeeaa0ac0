// The frame of the page: which view is shown, light or dark, and whether the server is there.

import { compareView } from "./compare.js";
import { curvesView } from "./curves.js";
import { h } from "./dom.js";
import { explorerView } from "./explorer.js";
import { reportsView } from "./reports.js";
import { runsView } from "./runs.js";
import { connect, listen, onNote, onState, place } from "./store.js";
import { watchView } from "./watch.js";

const VIEWS = {
  runs: ["Runs", runsView],
  curves: ["Curves", curvesView],
  watch: ["Watch", watchView],
  compare: ["Compare", compareView],
  explorer: ["Explorer", explorerView],
  reports: ["Reports", reportsView],
};

const main = document.getElementById("main");
const nav = document.getElementById("nav");
let leave = () => {};
let shown = null;

/** Ticked runs and the filter go along from view to view. */
function draw_nav() {
  const { page, query } = place();
  const kept = new URLSearchParams();
  for (const name of ["runs", "q"]) if (query.get(name)) kept.set(name, query.get(name));
  const tail = kept.toString() ? `?${kept}` : "";
  nav.replaceChildren(...Object.entries(VIEWS).map(([name, [title]]) =>
    h("a", { href: `#/${name}${tail}`, "aria-current": name === page ? "page" : null }, title)));
  nav.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
}

function show() {
  const { page } = place();
  draw_nav();
  leave();
  const [title, view] = VIEWS[page] ?? VIEWS.runs;
  document.title = `adfq · ${title}`;
  main.replaceChildren();
  main.dataset.view = page;
  leave = view(main) ?? (() => {});
  if (shown !== null && shown !== page) main.focus({ preventScroll: true });
  shown = page;
  scrollTo(0, 0);
}

const theme = document.getElementById("theme");
const stored = localStorage.getItem("theme");
if (stored) document.documentElement.dataset.theme = stored;
function draw_theme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.textContent = dark ? "☀" : "☾";
  theme.title = dark ? "Light" : "Dark";
}
theme.addEventListener("click", () => {
  const dark = theme.title === "Dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  localStorage.setItem("theme", dark ? "dark" : "light");
  draw_theme();
  show();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  draw_theme();
  show();
});
draw_theme();

const state = document.getElementById("link-state");
onState((there) => {
  state.textContent = there ? "live" : "waiting for the server";
  state.className = `link-state ${there ? "there" : "away"}`;
});

// The token is in a cookie by now; in the address it would end up in the history.
const address = new URL(location.href);
if (address.searchParams.has("token")) {
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}

addEventListener("hashchange", show);
onNote(draw_nav);
// Every view begins with the table: the first one waits for it.
const first = listen(() => {
  first();
  show();
});
draw_nav();
connect();
