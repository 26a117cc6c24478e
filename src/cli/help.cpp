// Help pages, made from the table of verbs; docs/cli.md is these pages.
#include <algorithm>

#include "cli/verb.h"
#include "render/table.h"

namespace tilewright::cli {
namespace {

using render::Style;
using render::Tone;

void append_title(std::string& out, std::string_view title, const Style& style) {
    out += "\n" + paint(title, Tone::Strong, style) + "\n";
}

void append_usage(std::string& out, const Verb& verb, const Style& style) {
    std::string_view lead = "usage: tilewright ";
    for (const std::string& line : split(verb.operands, '\n')) {
        render::append_paragraph(out, std::string(lead) + std::string(verb.name) + " " + line, 18, style);
        lead = "       tilewright ";
    }
}

std::string typed(const Flag& flag) {
    std::string text = flag.name == "--output" ? "-o, --output" : flag.name;
    return flag.value.empty() ? text : text + " " + flag.value;
}

}  // namespace

std::string help_text(const Verb& verb, const Style& style) {
    std::string out;
    append_usage(out, verb, style);
    out += "\n";
    render::append_paragraph(out, std::string(verb.summary) + ".", 0, style);
    for (const std::string& paragraph : split(verb.about, '\n')) {
        out += "\n";
        render::append_paragraph(out, paragraph, 0, style);
    }
    for (const FlagGroup& group : verb.flags()) {
        append_title(out, group.title, style);
        render::Table table({{""}, {"", render::Align::Left, true}});
        for (const Flag& flag : group.flags) table.row({typed(flag), flag.help});
        table.append_to(out, style);
    }
    return out;
}

std::string overview_text(const Style& style) {
    std::string out = "usage: tilewright VERB ...\n\nFit a transformer's shape to the GPU it runs on.\n";
    append_title(out, "Verbs", style);
    render::Table table({{""}, {"", render::Align::Left, true}});
    for (const Verb& verb : verbs()) table.row({{std::string(verb.name), Tone::Accent}, std::string(verb.summary)});
    table.append_to(out, style);
    append_title(out, "Flags", style);
    render::Table flags({{""}, {"", render::Align::Left, true}});
    flags.row({"--help", "this page; after a verb, the page of that verb"});
    flags.row({"--version", "the version"});
    flags.append_to(out, style);
    append_title(out, "Exit codes", style);
    render::append_paragraph(out,
                             "0 fine, 1 findings at or above the asked level, 2 bad usage or input, 3 device trouble, "
                             "130 interrupted. The result goes to stdout, everything else to stderr.",
                             0, style);
    out += "\nStart with: tilewright advise gpt3-2.7b --gpu h200\n";
    return out;
}

}  // namespace tilewright::cli
