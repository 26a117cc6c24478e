// `report`: a page to look at, or one of its pictures.
#include <algorithm>
#include <filesystem>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "files/output.h"
#include "quantity/suggest.h"
#include "render/answers.h"
#include "render/report.h"

namespace tilewright::cli {
namespace {

/// The picture asked for: NAME, or the stem of FILE.svg.
std::optional<std::string> picture_asked(const Arguments& arguments) {
    auto asked = arguments.text("--svg");
    if (asked && asked->ends_with(".svg")) asked = std::filesystem::path(*asked).stem().string();
    return asked;
}

/// Where the answer goes: --output, or the FILE.svg that names the picture, or stdout.
std::string place_of(const Arguments& arguments) {
    const std::string picture = arguments.text("--svg").value_or("");
    return arguments.text("--output").value_or(picture.ends_with(".svg") ? picture : "-");
}

Problems check_picture(const Arguments& arguments, const std::vector<Question>& questions) {
    const auto asked = picture_asked(arguments);
    if (!asked) return {};
    if (questions.size() > 1) return {{"--svg", 0, "is a picture of one shape", "name one shape"}};
    if (arguments.has("--json")) return {{"--json", 0, "is given beside --svg", "give one of them"}};
    std::vector<std::string> names = render::fixed_pictures();
    const std::vector<std::string> swept = sweep_names(questions.front().shape, questions.front().workload);
    names.insert(names.end(), swept.begin(), swept.end());
    if (std::find(names.begin(), names.end(), *asked) != names.end()) return {};
    const std::string near = did_you_mean(*asked, names);
    return {
        {"--svg", 0, "'" + *asked + "' is no picture of this report", near.empty() ? "use " + join_or(names) : near}};
}

Result<std::string> picture(const Report& report, const std::string& asked) {
    for (render::Picture& picture : render::pictures(report)) {
        if (picture.name == asked) return std::move(picture.wide);
    }
    return Problem{"--svg", 0, "this shape has no picture '" + asked + "'", "ask for another, or for the page"};
}

/// The page of a load, its picture, or its values.
Result<std::string> served(const Arguments& arguments, const std::vector<Question>& questions) {
    const auto asked = picture_asked(arguments);
    if (questions.size() > 1)
        return Problem{questions.back().shape.name, 0, "a load is served by one model", "name one"};
    if (asked && *asked != "frontier") return Problem{"--svg", 0, "of a load there is one picture", "say frontier"};
    const Result<ServeQuestion> question = serve_question(arguments, questions.front());
    if (!question) return question.problems();
    const Result<ServeAnswer> answer = serve_load(*question);
    if (!answer) return answer.problems();
    if (asked) return render::svg(render::frontier_chart(answer->found.frontier));
    return arguments.has("--json") ? render::served_json(*answer) : render::served_html(*answer);
}

Result<std::string> answer(const Arguments& arguments, const std::vector<Question>& questions) {
    if (serves_load(arguments)) return served(arguments, questions);
    const Reports reports = tilewright::report(questions, walk_on(core_count()), patience);
    if (const auto asked = picture_asked(arguments)) return picture(reports.shapes.front(), *asked);
    return arguments.has("--json") ? render::report_json(reports.shapes) : render::report_html(reports);
}

}  // namespace

std::vector<FlagGroup> report_flags() {
    FlagGroup load = load_flags();
    load.flags.push_back({"--gpus", "N", "GPUs to use (as few as will do)", Kind::Count});
    load.flags.push_back({"--price", "X", "of one GPU-hour", Kind::Real});
    return {device_flags(),
            load,
            serving_workload_flags(),
            shape_flags(),
            {"Output",
             {{"--output", "FILE", "the page or the picture (stdout)", Kind::Text},
              {"--svg", "NAME|NAME.svg",
               "one picture instead, to stdout or into the file of its name: time, front, front-kv, serving, tiles, "
               "roofline, or "
               "a dimension; of a load, frontier",
               Kind::Text},
              {"--json", "", "the values of the page as JSON", Kind::Switch},
              {"--help", "", "this page", Kind::Switch}}}};
}

Result<int> run_report(const Arguments& arguments, Session& session) {
    std::vector<Asked> shapes;
    for (const std::string& name : arguments.operands) shapes.push_back({name});
    const Result<std::vector<Question>> questions = make_questions(arguments, shapes, session);
    if (!questions) return questions.problems();
    if (Problems bad = check_load_flags(arguments); !bad.empty()) return bad;
    static constexpr const char* of_a_load[] = {"--gpus", "--price"};
    if (Problems bad = serves_load(arguments) ? Problems{} : refuse_flags(arguments, of_a_load, "without a load");
        !bad.empty())
        return bad;
    if (Problems bad = serves_load(arguments) ? Problems{} : check_picture(arguments, *questions); !bad.empty())
        return bad;
    const std::string path = place_of(arguments);
    if (Problems bad = files::refuse_inputs(path, arguments.operands, "--output"); !bad.empty()) return bad;
    Result<files::Output> output = files::Output::open(path);
    if (!output) return output.problems();
    const Result<std::string> text = answer(arguments, *questions);
    if (!text) return text.problems();
    if (Problems bad = output->write(*text); !bad.empty()) return bad;
    if (Problems bad = output->finish(); !bad.empty()) return bad;
    return interrupted() ? exit_interrupted : exit_fine;
}

}  // namespace tilewright::cli
