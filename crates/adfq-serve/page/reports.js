// Reports that lie under the root: `adfq paper`, `adfq study`, `adfq compare --out` and the like.

import { h } from "./dom.js";
import { listen, table } from "./store.js";

export function reportsView(main) {
  const list = h("ul", { class: "list" });
  const empty = h("p", { class: "quiet" });
  main.append(h("h1", {}, "Reports"), list, empty);
  const draw = () => {
    list.replaceChildren(...table.reports.map((report) => {
      const folder = report.id === "." ? "" : `${report.id.split("/").map(encodeURIComponent).join("/")}/`;
      return h("li", { class: "card" },
        h("a", { href: `/report/${folder}${report.page}`, target: "_blank", rel: "noopener" }, report.title),
        h("div", { class: "quiet small" }, report.id === "." ? report.page : `${report.id}/${report.page}`));
    }));
    empty.textContent = table.reports.length ? "" :
      "There is no report under this folder. adfq paper, adfq study and adfq compare --out write some.";
  };
  draw();
  return listen(draw);
}
