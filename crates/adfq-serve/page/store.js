// What the server has told of the runs, and what the address of this view says. The server tells of changes by itself; after a
// break the browser connects again, and the server begins with the whole table.

/** Runs by id, and the rest of the table. */
export const table = { runs: new Map(), recordings: [], reports: [], quantities: [], notes: [], known: false };

const listeners = new Set();
const states = new Set();

/** Calls `heard` with the ids of rows that changed, or null for all. Returns what ends it. */
export function listen(heard) {
  listeners.add(heard);
  return () => listeners.delete(heard);
}

/** Calls `heard` with whether the server is there. */
export function onState(heard) {
  states.add(heard);
}

function tell(ids) {
  for (const heard of listeners) heard(ids);
}

export function connect() {
  const source = new EventSource("/api/events");
  source.addEventListener("open", () => states.forEach((heard) => heard(true)));
  source.addEventListener("error", () => {
    states.forEach((heard) => heard(false));
    // A browser gives up where the server answers with an error, as while it starts.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
  });
  source.addEventListener("table", (event) => {
    const told = JSON.parse(event.data);
    table.runs = new Map(told.runs.map((row) => [row.id, row]));
    Object.assign(table, { recordings: told.recordings, reports: told.reports, quantities: told.quantities });
    Object.assign(table, { notes: told.notes, known: true });
    tell(null);
  });
  source.addEventListener("change", (event) => {
    const told = JSON.parse(event.data);
    for (const row of told.runs) table.runs.set(row.id, row);
    for (const id of told.gone) table.runs.delete(id);
    Object.assign(table, { recordings: told.recordings, reports: told.reports, quantities: told.quantities });
    tell([...told.runs.map((row) => row.id), ...told.gone]);
  });
}

// The address: #/curves?runs=a|b&y=loss. Every view writes what it shows there, so that a link leads back to it.

export function place() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  return { page: path.replace(/^\//, "") || "runs", query: new URLSearchParams(query) };
}

/** Changes what the address says, without a new entry in the history. */
export function note(changes) {
  const { page, query } = place();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "" || value === false) query.delete(name);
    else query.set(name, value === true ? "1" : value);
  }
  const text = query.toString();
  history.replaceState(null, "", `#/${page}${text ? `?${text}` : ""}`);
  for (const heard of addressed) heard();
}

const addressed = new Set();

/** Calls `heard` whenever the address was changed by `note`. */
export function onNote(heard) {
  addressed.add(heard);
}

/** Whether a row fits what was typed: every word is in one of its texts; -word is in none. */
export function fits(row, words) {
  const text = `${row.id} ${row.env} ${row.agent} ${row.policy} seed=${row.seed} ${row.state}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).filter(Boolean).every((word) =>
    word.startsWith("-") && word.length > 1 ? !text.includes(word.slice(1)) : text.includes(word));
}

/** The ids of the runs that the address ticks: those named, or with `*` all that fit the filter. */
export function ticked() {
  const { query } = place();
  const runs = query.get("runs") ?? "";
  if (runs === "*") {
    const words = query.get("q") ?? "";
    return [...table.runs.values()].filter((row) => row.state !== "malformed" && fits(row, words)).map((row) => row.id);
  }
  return runs.split("|").filter((id) => id && table.runs.has(id));
}
