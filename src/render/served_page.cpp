// The page of a load served: the plans, and the frontier of throughput against latency as a picture.
#include <fmt/format.h>

#include <map>

#include "render/answers.h"
#include "render/page.h"
#include "render/units.h"

namespace tilewright::render {
namespace {

std::string split_name(const Parallelism& p) {
    std::string text = fmt::format("tp {}", p.tp);
    if (p.pp > 1) text += fmt::format(" pp {}", p.pp);
    if (p.ep > 1) text += fmt::format(" ep {}", p.ep);
    return text;
}

std::string plans_html(const ServeAnswer& answer) {
    std::vector<std::vector<std::string>> rows;
    for (const ServePlan& plan : answer.found.plans) {
        const Served& served = plan.served;
        rows.push_back({split_name(plan.layout.parallel), std::to_string(plan.layout.parallel.dp),
                        std::to_string(plan.limits.max_batch), std::to_string(plan.limits.chunk),
                        grouped_text(served.output_tok_s / static_cast<double>(plan.gpus)),
                        time_text({served.ttft_s.p50}), time_text({served.ttft_s.p95}), time_text({served.tpot_s.p50}),
                        time_text({served.tpot_s.p95}), plan.within ? "met" : "missed"});
    }
    if (rows.empty()) return element("p", "No layout serves this load.");
    return html_table({{"split"},
                       {"replicas", Align::Right},
                       {"batch", Align::Right, true},
                       {"chunk", Align::Right, true},
                       {"tokens/s per GPU", Align::Right},
                       {"first token p50", Align::Right, true},
                       {"p95", Align::Right},
                       {"per token p50", Align::Right, true},
                       {"p95", Align::Right},
                       {"limits"}},
                      rows);
}

}  // namespace

Chart frontier_chart(const std::vector<FrontierPoint>& frontier) {
    Chart chart{"Latency against throughput, serving", ""};
    chart.x = {"throughput (output tokens/s per GPU)", true};
    chart.y = {"time per output token (ms)", true};
    std::map<std::string, std::size_t> places;
    for (const FrontierPoint& point : frontier) {
        const std::string name = split_name(point.parallel);
        const auto [place, fresh] = places.emplace(name, chart.series.size());
        if (fresh) chart.series.push_back({name, Mark::Line});
        Series& line = chart.series[place->second];
        line.x.push_back(point.output_tok_s_gpu);
        line.y.push_back(point.tpot.value * 1e3);
        line.labels.push_back(grouped_text(point.batch));
        line.notes.push_back(
            fmt::format("{}, {} requests of a replica\n{} per token, {} to the first\n{} tokens/s per GPU", name,
                        grouped_text(point.batch), time_text(point.tpot), time_text(point.ttft),
                        grouped_text(point.output_tok_s_gpu)));
    }
    if (!frontier.empty()) {
        const FrontierPoint &first = frontier.front(), &last = frontier.back();
        chart.description =
            fmt::format("From {} tokens/s per GPU at {} a token ({}) to {} at {} ({}).",
                        grouped_text(first.output_tok_s_gpu), time_text(first.tpot), split_name(first.parallel),
                        grouped_text(last.output_tok_s_gpu), time_text(last.tpot), split_name(last.parallel));
    }
    return chart;
}

std::string served_html(const ServeAnswer& answer) {
    const std::string title = answer.shape.name + " served on " + answer.device.name;
    std::string out = "<article>\n" + element("h1", title) + element("p", served_words(answer));
    out += section("Ways to serve it", plans_html(answer));
    if (!answer.found.frontier.empty()) {
        const Chart chart = frontier_chart(answer.found.frontier);
        out += section("Throughput against latency",
                       figure(svg(chart, {720, 400}), svg(chart, {358, 340}),
                              "No way to serve these lengths has more throughput at as little latency; the numbers say "
                              "how many requests a replica answers at once. In closed form, without queues."));
    }
    return page(title, served_words(answer), out + "</article>\n");
}

}  // namespace tilewright::render
