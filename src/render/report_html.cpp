// The page of a report, top to bottom: the verdict, where the time goes, what is wrong, what is faster, what each
// dimension does, how one product fills the chip, the roofline, and what every number rests on.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "render/page.h"
#include "render/report.h"
#include "render/svg.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string verdict(const Report& report) {
    const Prediction& prediction = report.advice.prediction;
    std::string text =
        fmt::format("{} takes {} a step on {}: {} {}, {} of the chip's peak. ", prediction.shape.name,
                    time_text(prediction.time), prediction.device.name, grouped_text(prediction.tokens_per_s),
                    throughput_unit(prediction.workload), percent_text(prediction.mfu));
    if (!prediction.fits) text += misfit_text(prediction) + " ";
    return text + capital(recommendation_points(report.advice).front());
}

/// What stands below the verdict in small type.
std::string remarks(const Report& report) {
    const std::vector<std::string> points = recommendation_points(report.advice);
    std::string out;
    for (std::size_t i = 1; i < points.size(); ++i) out += fmt::format("<p class=\"sub\">{}</p>\n", prose(points[i]));
    return out;
}

std::string fact(const std::string& value, const std::string& what) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", escape(value), escape(what));
}

std::string head(const Report& report) {
    const Prediction& p = report.advice.prediction;
    std::string out = element("h1", p.shape.name + " on " + p.device.name);
    out += fmt::format(
        "<p class=\"sub\">{}</p>\n",
        escape(fmt::format("{} · {} parameters · {} layers, hidden {}, {} heads of {}, {} kv, ffn {}, vocab {} · {}",
                           p.device.full_name, count_text(static_cast<double>(p.params.total)), p.shape.layers,
                           p.shape.hidden, p.shape.heads, p.shape.head_dim, p.shape.kv_heads,
                           p.shape.experts ? p.shape.experts->ffn : p.shape.ffn, p.shape.vocab,
                           workload_text(p.workload))));
    out +=
        fmt::format("<p class=\"verdict\">{}</p>\n{}<ul class=\"facts\">\n", prose(verdict(report)), remarks(report));
    out += fact(time_text(p.time), "a step, 90% interval " + interval_text(p.low, p.high));
    out += fact(grouped_text(p.tokens_per_s), throughput_unit(p.workload));
    out += fact(percent_text(p.mfu), "MFU, " + rate_text(p.flops / p.time));
    out += fact(bytes_text(p.memory.total), "of " + room_text(p.device));
    out += fact(std::string(name_of(p.kernels.sum.evidence)), "evidence");
    return out + "</ul>\n";
}

std::string components(const Prediction& prediction) {
    std::vector<std::vector<std::string>> rows;
    for (const ComponentCost& part : prediction.components) {
        rows.push_back({std::string(name_of(part.component)), time_text(part.time),
                        percent_text(part.time / prediction.kernels.sum.time), percent_text(part.terms[0] / part.time),
                        losses_text(part.terms, part.time, 0.03)});
    }
    return html_table({{"component"},
                       {"time", Align::Right},
                       {"share", Align::Right},
                       {"at roofline", Align::Right, true},
                       {"lost to"}},
                      rows);
}

std::string finding(const Finding& found) {
    const std::string severity(name_of(found.severity));
    std::string out = fmt::format("<div class=\"finding\"><p><span class=\"badge {0}\">{0} {1}</span>{2}</p>\n",
                                  severity, found.code, escape(found.quantity));
    if (found.cost.value > 0) {
        out += fmt::format("<div class=\"meter\"><i style=\"width:{}%\"></i></div>\n",
                           px(std::clamp(100.0 * found.share, 1.0, 100.0)));
        out += element("p", fmt::format("costs {}, {} of the step", time_text(found.cost), percent_text(found.share)));
    }
    out += "<ul>";
    for (const Fix& fix : found.fixes) out += element("li", fix_text(fix));
    return out + "</ul></div>\n";
}

std::string findings(const Report& report) {
    if (report.advice.findings.empty()) return element("p", "No sizing rule is broken.");
    std::string out;
    for (const Finding& found : report.advice.findings) out += finding(found);
    return out + "<p class=\"sub\"><code>tilewright lint --explain CODE</code> has the page of each rule.</p>\n";
}

std::string candidates(const SearchResult& found) {
    constexpr std::size_t most = 3;  // of each kind
    std::vector<std::vector<std::string>> rows;
    const bool by_loss = found.objective == Objective::Loss;
    for (const auto& [kind, list] : kinds(found)) {
        for (std::size_t i = 0; i < std::min(most, list.size()); ++i) {
            const Candidate& candidate = list[i];
            rows.push_back({i == 0 ? std::string(kind) : "", speedup_text(candidate.speedup),
                            speedup_interval(candidate.low, candidate.high), time_text(candidate.time),
                            change_text(candidate.parameter_change), by_loss ? loss_text(candidate.loss) : "",
                            by_loss ? speedup_text(candidate.to_loss) : "", causes_text(candidate)});
        }
    }
    const std::string looked =
        fmt::format("{} shapes of equal size were priced{}.", grouped_text(static_cast<double>(found.shapes_priced)),
                    found.exhaustive ? ", all there are within the guards" : "");
    if (rows.empty()) return element("p", "None is predicted to be faster. " + looked);
    return html_table({{"turning"},
                       {"speed-up", Align::Right},
                       {"interval", Align::Right, true},
                       {"time", Align::Right, true},
                       {"parameters", Align::Right, true},
                       {"loss at equal tokens", Align::Right, true},
                       {"time to loss", Align::Right, true},
                       {"change and what it moves most"}},
                      rows) +
           element("p", looked);
}

std::string limits(const Serving& serving) {
    std::vector<std::vector<std::string>> rows;
    for (const Serving::Limit& limit : serving.limits) {
        const auto first = std::find_if(serving.points.begin(), serving.points.end(),
                                        [&](const ServingPoint& point) { return point.tp == limit.tp; });
        const bool fits = first != serving.points.end();
        rows.push_back({fmt::format("{}", limit.tp), fits ? time_text(first->first_token) : "-",
                        fits ? time_text(first->output_token) : "-",
                        grouped_text(static_cast<double>(limit.cached_tokens)),
                        grouped_text(static_cast<double>(limit.full_batch)), takeover_text(limit)});
    }
    return html_table({{"tp", Align::Right},
                       {"first token", Align::Right},
                       {"each after it", Align::Right},
                       {"cache holds (tokens)", Align::Right, true},
                       {"requests", Align::Right},
                       {"computing takes over"}},
                      rows);
}

std::string serving(const Report& report, const std::string& picture) {
    const Serving& found = report.serving;
    if (found.points.empty()) return element("p", "Not one request fits: the parameters fill the memory of a node.");
    const std::string context = grouped_text(static_cast<double>(found.points.front().context));
    return element("p", fmt::format("Prompts and caches of {} tokens, split over tp GPUs of a node. First token: the "
                                    "prefill of one prompt; each after it: decoding for one request.",
                                    context)) +
           picture + limits(found);
}

/// The pictures of that name, or of any name not among the others: the sweeps.
std::string shown(const std::vector<Picture>& all, std::string_view name) {
    const std::vector<std::string> single = fixed_pictures();
    std::string out;
    for (const Picture& picture : all) {
        const bool is_single = std::find(single.begin(), single.end(), picture.name) != single.end();
        if (is_single ? picture.name == name : name == "sweeps") {
            out += figure(picture.wide, picture.narrow, picture.caption);
        }
    }
    return out;
}

std::string body(const Report& report) {
    const Prediction& prediction = report.advice.prediction;
    const std::vector<Picture> all = pictures(report);
    std::string out = head(report);
    out += section("Where the time goes", shown(all, "time") + components(prediction));
    out += section("What in the shape wastes the chip", findings(report));
    out += section("Faster shapes of equal size",
                   candidates(report.advice.found) + shown(all, "front") + shown(all, "front-kv"));
    out += section("Serving it", serving(report, shown(all, "serving")));
    out += section("What each dimension does", shown(all, "sweeps"));
    if (report.tiles) out += section("How one product fills the chip", shown(all, "tiles"));
    out += section("How near the roof", shown(all, "roofline"));
    out += section("What the numbers rest on", evidence_html(prediction));
    return out + section("Every kernel", kernels_html(prediction), "kernels");
}

}  // namespace

std::string report_html(const Reports& reports) {
    std::string out;
    std::string names;
    const bool several = reports.shapes.size() > 1;
    for (Report report : reports.shapes) {
        if (several) std::erase_if(report.sweeps, [](const Sweep& sweep) { return sweep.step > 1; });  // for its size
        names += " " + report.advice.prediction.shape.name;
        out += "<article>\n" + body(report) + "</article>\n";
    }
    const std::string& device = reports.shapes.front().advice.prediction.device.name;
    if (several) out = comparison_html(reports.comparison) + out;
    return page(fmt::format("{} on {}", names.substr(1), device),
                several ? fastest_text(reports.comparison) : verdict(reports.shapes.front()),
                out + made_by(fmt::format("tilewright report{} --gpu {}", names, device)));
}

}  // namespace tilewright::render
