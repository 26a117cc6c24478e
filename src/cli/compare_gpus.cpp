#include "cli/verb.h"

#include <algorithm>

#include "cli/options.h"
#include "render/answers.h"

namespace tilewright::cli {
namespace {

/// "h100=2.5,h200=EUR 3.1": a price a GPU-hour; letters before the number are the currency.
Result<Prices> prices_of(const Arguments& arguments) {
    Prices prices;
    const auto text = arguments.text("--price");
    if (!text) return prices;
    for (const std::string& pair : split(*text, ',')) {
        const std::size_t equals = pair.find('=');
        const std::string value = equals == std::string::npos ? "" : pair.substr(equals + 1);
        const std::size_t digits = std::min(value.find_first_of("0123456789."), value.size());
        const auto number = parse_real(value.substr(digits));
        if (!number || *number <= 0 || value.find('-') < digits) {
            return Problem{"--price", 0, "'" + pair + "' is no price of a GPU", "say --price h100=2.5,h200=3.1"};
        }
        const Result<FoundDevice> device = find_data_sheet(pair.substr(0, equals));
        if (!device) return device.problems();
        prices.per_hour[device->device.name] = *number;
        std::string currency = value.substr(0, digits);
        while (currency.ends_with(' ')) currency.pop_back();
        if (!currency.empty()) prices.currency = currency;
    }
    return prices;
}

}  // namespace

bool names_several_gpus(const Arguments& arguments) {
    const std::string names = arguments.text("--gpu").value_or("");
    return names == "all" || names.find(',') != std::string::npos;
}

namespace {

/// The question on every GPU that is named; of all there are, on those that can run it.
Result<std::vector<Question>> on_each(const Arguments& arguments, Session& session) {
    const std::string asked = *arguments.text("--gpu");
    const bool all = asked == "all";
    std::vector<Question> questions;
    Problems none;
    for (const std::string& name : all ? all_devices() : split(asked, ',')) {
        Arguments one = arguments;
        one.flags["--gpu"] = name;
        Result<Question> question = make_question(one, arguments.operands[0], session);
        if (question) {
            if (Problems problems = cannot_run(arguments, *question); !problems.empty()) return problems;
            questions.push_back(std::move(*question));
        } else if (all) {
            none.push_back(question.problems().front());
        } else {
            return question.problems();
        }
    }
    if (questions.empty()) return Problems{none.front()};
    for (const Problem& problem : none) warn(session, "left out: " + problem.what);
    return questions;
}

}  // namespace

Result<int> run_compare_gpus(const Arguments& arguments, Session& session) {
    for (const char* flag : {"--profile", "--report"}) {
        if (arguments.has(flag)) return Problem{flag, 0, "is given beside several GPUs", "give one GPU"};
    }
    if (arguments.operands.size() > 1) {
        return Problem{"--gpu", 0, "several shapes on several GPUs are too much for one table",
                       "give one shape, or one GPU"};
    }
    const Result<Prices> prices = prices_of(arguments);
    if (!prices) return prices.problems();
    const Result<std::vector<Question>> questions = on_each(arguments, session);
    if (!questions) return questions.problems();
    for (const auto& [name, price] : prices->per_hour) {
        const auto compared = [&, wanted = &name](const Question& one) { return one.device.name == *wanted; };
        if (std::ranges::none_of(*questions, compared)) {
            return Problem{"--price", 0, name + " is not among the GPUs", "add it to --gpu, or leave its price out"};
        }
    }
    const GpuComparison comparison = compare_gpus(*questions, *prices);
    say(session, comparison, render::gpus_json, render::gpus_text);
    return exit_fine;
}

}  // namespace tilewright::cli
