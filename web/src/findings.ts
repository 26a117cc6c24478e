// What in the shape wastes the chip, each with a button that applies its fix.
import type {Finding, Fix} from "./answers";
import type {App} from "./app";
import {turn} from "./controls";
import {h} from "./element";
import {grouped, percent, time} from "./format";
import {button, frame} from "./panel";
import {words} from "./state";

function fix_button(app: App, fix: Fix): HTMLElement {
  const name = fix.dimension.replaceAll("_", "-");
  return button(`${fix.dimension} ${grouped(fix.to)}`, () => turn(app, name, fix.to), {title: `saves ${time(fix.gain_s)}, the step then takes ${time(fix.step_s)}; ${grouped(fix.parameter_change)} parameters more`, "aria-label": `Apply: ${fix.dimension} from ${fix.from} to ${fix.to}, saves ${time(fix.gain_s)}`});
}

function row(app: App, finding: Finding): HTMLElement {
  const page = h("pre", {class: "rule", hidden: true});
  const explain = button(finding.code, () => {
    if (!page.textContent) page.textContent = app.model.ask(["lint", "--explain", finding.code]).out;
    page.hidden = !page.hidden;
    explain.setAttribute("aria-expanded", String(!page.hidden));
  }, {class: "link", "aria-expanded": "false"});
  return h("li", {class: finding.severity}, h("p", {}, explain, ` ${finding.severity}: ${finding.quantity}`), h("p", {class: "hint"}, finding.cost_s > 0 ? `costs ${time(finding.cost_s)}, ${percent(finding.share)} of the step; in ${finding.kernels.join(", ") || "no one kernel"}` : ""),
    h("p", {class: "fixes"}, finding.fixes.length > 0 ? "Apply: " : "", ...finding.fixes.slice(0, 3).map(fix => fix_button(app, fix))), page);
}

export function findings(app: App): HTMLElement {
  const {panel, body, note} = frame("What wastes the chip", "findings", "Sizing rules that this shape breaks here, and what each costs.");
  app.add(() => {
    const asked = words(app.state);
    app.send({kind: "lint", what: "ask", words: ["lint", ...asked, "--json"]}, piece => {
      if (piece.fault || piece.answer!.code > 1) { note.textContent = piece.fault ?? piece.answer!.said; body.replaceChildren(); return; }
      const list = (JSON.parse(piece.answer!.out) as {findings: Finding[]}).findings;
      note.textContent = list.length === 0 ? "Nothing was found." : "";
      body.replaceChildren(h("ul", {class: "findings"}, ...list.map(each => row(app, each))));
    });
  }, "later");
  return panel;
}
