// The page works without its script: the script only shows, beside the pointer, what the charts' titles and lists of
// notes say, for every point of a dense series too.
#include "render/page.h"

#include <fmt/format.h>

#include "render/svg.h"

namespace tilewright::render {
namespace {

constexpr std::string_view style = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2328;--dim:#59616b;--line:#e3e6ea;--soft:#f5f7f9;--accent:#0072b2;--bad:#b3261e;--caution:#8a5a00}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e4e8ee;--dim:#a3acb8;--line:#2a2f37;--soft:#1c2027;--accent:#4fa8e0;--bad:#ff8a80;--caution:#f2b53f}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px 20px 48px;max-width:760px;background:var(--paper);color:var(--ink);font:16px/1.5 Helvetica,Arial,'Liberation Sans',sans-serif;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 4px}
h2{font-size:1.3rem;margin:44px 0 8px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:24px 0 4px;break-after:avoid}
p{margin:8px 0;max-width:68ch}.sub,figcaption,footer{color:var(--dim);font-size:.9rem}
article{margin-top:72px}article:first-child{margin-top:0}.verdict{max-width:none;font-size:1.15rem;line-height:1.45;margin:18px 0;padding:14px 16px;background:var(--soft);border-left:4px solid var(--accent);border-radius:4px}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:10px;margin:16px 0;padding:0;list-style:none}
.facts li{background:var(--soft);border-radius:4px;padding:8px 12px}.facts b{display:block;font-size:1.15rem}.facts span{color:var(--dim);font-size:.82rem}
figure{margin:16px 0 28px;break-inside:avoid}figure svg{display:block;max-width:100%;height:auto}figcaption{margin-top:4px}
.narrow{display:none}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.88rem;margin:8px 0}
th,td{padding:4px 10px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}th{color:var(--dim);font-weight:600}
.kernels table{font-size:.78rem}.kernels td{padding-right:8px}.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}tr{break-inside:avoid}
.finding{margin:14px 0;break-inside:avoid}.finding p{margin:2px 0}.finding ul{margin:2px 0;padding-left:20px}
.badge{font-size:.78rem;font-weight:700;text-transform:uppercase;letter-spacing:.04em;margin-right:8px}
.error{color:var(--bad)}.warning{color:var(--caution)}.info{color:var(--dim)}
.meter,.meter i{print-color-adjust:exact;-webkit-print-color-adjust:exact}.meter{height:6px;background:var(--line);border-radius:3px;margin:4px 0;max-width:320px}.meter i{display:block;height:100%;background:var(--accent);border-radius:3px}
nav a{margin-right:14px}a{color:var(--accent)}
#tip{position:absolute;z-index:2;pointer-events:none;background:var(--ink);color:var(--paper);font-size:.82rem;line-height:1.35;padding:6px 9px;border-radius:4px;white-space:pre-line;max-width:260px}
#dot{fill:none;stroke:var(--ink);stroke-width:2;pointer-events:none}
@media (max-width:560px){body{padding:16px 16px 40px}.wide{display:none}.narrow{display:block}.minor{display:none}h1{font-size:1.4rem}}
@media print{article+article,section~article{break-before:page}body{max-width:none;padding:0;font-size:11pt}.wide{display:block}.narrow,nav,#tip{display:none}.minor{display:table-cell}h2,h2+p{break-after:avoid}.verdict,.facts li{border:1px solid var(--line)}}
)css";

constexpr std::string_view script = R"js(
const tip = Object.assign(document.createElement("div"), {id: "tip", hidden: true});
document.body.append(tip);
const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
dot.id = "dot";
dot.setAttribute("r", 5);
for (const title of document.querySelectorAll("svg title")) {
  if (title.parentNode.ownerSVGElement) title.parentNode.note = title.textContent;
  title.remove();
}
const axis = (svg, name) => {
  const [from, to, low, high, kind] = svg.dataset[name].split(" ");
  const [a, b, p, q] = [from, to, low, high].map(Number);
  const value = px => kind === "log" ? a * (b / a) ** ((px - p) / (q - p)) : a + (b - a) * (px - p) / (q - p);
  const grain = Math.abs((b - a) / (q - p)) / 50;
  return px => {
    const v = value(px);
    const whole = kind !== "log" && grain < 0.4 && Math.abs(v - Math.round(v)) <= Math.max(grain, 1e-9);
    return whole ? String(Math.round(v)) : String(Number(v.toPrecision(4)));
  };
};
const points = path => {
  if (path.points) return path.points;
  let x = 0, y = 0;
  path.points = [];
  for (const [, command, first, second] of path.getAttribute("d").matchAll(/([MLHVh])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
    if (command === "h") continue;
    if (command === "V") { y = +first; path.points.push([x, y]); continue; }
    x = +first;
    if (command === "H") continue;
    y = +second;
    path.points.push([x, y]);
  }
  return path.points;
};
const nearest = (svg, at) => {
  let best = null;
  for (const path of svg.querySelectorAll("[data-series]")) {
    points(path).forEach(([x, y], index) => {
      const far = Math.hypot(x - at.x, y - at.y);
      if (far < 24 && (!best || far < best.far)) best = {far, x, y, index, path};
    });
  }
  return best;
};
const describe = (svg, hit) => {
  const {series, notes, which} = hit.path.dataset;
  const lines = [`${svg.dataset.xLabel.replace(/ \(.*/, "")} ${axis(svg, "x")(hit.x)}${series ? " (" + series + ")" : ""}`,
                 `${svg.dataset.yLabel}: ${axis(svg, "y")(hit.y)}`];
  if (which) lines.push(notes.split("|")[which.split(" ")[hit.index]]);
  return lines.join("\n");
};
const show = event => {
  const svg = event.target.closest?.("svg.chart, figure svg")?.closest("figure svg");
  let text = event.target.note || "";
  dot.remove();
  const root = svg && (svg.ownerSVGElement || svg);
  if (root && root.dataset.x) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
    const hit = nearest(root, at);
    if (hit) {
      text = describe(root, hit) + (text && !hit.path.dataset.which ? "\n" + text : "");
      dot.setAttribute("cx", hit.x);
      dot.setAttribute("cy", hit.y);
      root.append(dot);
    }
  }
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(8, Math.min(room, event.clientX + 14)) + scrollX + "px";
  tip.style.top = event.clientY + scrollY + 16 + "px";
};
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
)js";

/// A picture without its style sheet: the page has one for all.
std::string unstyled(std::string_view svg) {
    constexpr std::string_view end = "</style>";
    const std::size_t from = svg.find("<style>");
    const std::size_t to = svg.find(end);
    if (from == std::string_view::npos || to == std::string_view::npos) return std::string(svg);
    return std::string(svg.substr(0, from)) + std::string(svg.substr(to + end.size()));
}

std::string attributes_of(const HtmlColumn& column) {
    const std::string kind = std::string(column.align == Align::Right ? "r" : "") +
                             (column.minor ? (column.align == Align::Right ? " minor" : "minor") : "");
    return kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
}

}  // namespace

std::string page(std::string_view title, std::string_view description, std::string_view body) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"description\" content=\"{}\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"icon\" "
        "href=\"data:,\">\n<style>{}{}</style>\n</head>\n<body>\n{}<script "
        "type=\"module\">{}</script>\n</body>\n</html>\n",
        escape(title), escape(description), style, svg_style(), body, script);
}

std::string prose(std::string_view words) {
    constexpr std::string_view arrow = "-&gt;";
    std::string text = escape(words);
    for (std::size_t at = text.find(arrow); at != std::string::npos; at = text.find(arrow, at)) {
        text.replace(at, arrow.size(), "→");
    }
    return text;
}

std::string element(std::string_view name, std::string_view words) {
    return fmt::format("<{0}>{1}</{0}>\n", name, prose(words));
}

std::string section(std::string_view title, std::string_view body, std::string_view kind) {
    return fmt::format("<section class=\"{}\">\n{}{}</section>\n", kind, element("h2", title), body);
}

std::string html_table(const std::vector<HtmlColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
    std::string out = "<div class=\"scroll\"><table>\n";
    bool titled = false;
    std::string head;
    for (const HtmlColumn& column : columns) {
        titled = titled || !column.title.empty();
        head += fmt::format("<th scope=\"col\"{}>{}</th>", attributes_of(column), escape(column.title));
    }
    if (titled) out += "<thead><tr>" + head + "</tr></thead>\n";
    out += "<tbody>\n";
    for (const std::vector<std::string>& row : rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size() && i < columns.size(); ++i) {
            out += fmt::format("<td{}>{}</td>", attributes_of(columns[i]), prose(row[i]));
        }
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string figure(std::string_view wide, std::string_view narrow, std::string_view caption) {
    return fmt::format(
        "<figure>\n<div class=\"wide\">{}</div>\n<div "
        "class=\"narrow\">{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
        unstyled(wide), unstyled(narrow), escape(caption));
}

std::string made_by(std::string_view command) {
    return fmt::format("<footer><p>Made by <code>{}</code>. The page is one file and fetches nothing.</p></footer>\n",
                       escape(command));
}

}  // namespace tilewright::render
