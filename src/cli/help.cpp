// Help pages, made from the table of verbs, and docs/cli.md, made of the same pieces.
#include <algorithm>

#include "cli/options.h"
#include "cli/verb.h"
#include "quantity/suggest.h"
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

/// Words to choose from that would push the help text off the page stand in it.
bool has_long_value(const Flag& flag) { return flag.value.size() > 30; }

std::string typed(const Flag& flag) {
    std::string text = flag.name == "--output" ? "-o, --output" : flag.name;
    return flag.value.empty() ? text : text + " " + (has_long_value(flag) ? "WORD" : flag.value);
}

std::string explained(const Flag& flag) {
    if (!has_long_value(flag)) return flag.help;
    std::string words = flag.value;
    for (std::size_t bar = 0; (bar = words.find('|', bar)) != words.npos; bar += 2) words.replace(bar, 1, ", ");
    return flag.help + ": " + words;
}

void append_about(std::string& out, const Verb& verb, const Style& style) {
    append_usage(out, verb, style);
    out += "\n";
    render::append_paragraph(out, std::string(verb.summary) + ".", 0, style);
    for (const std::string& paragraph : split(verb.about, '\n')) {
        out += "\n";
        render::append_paragraph(out, paragraph, 0, style);
    }
}

void append_flags(std::string& out, const std::vector<FlagGroup>& groups, const Style& style) {
    for (const FlagGroup& group : groups) {
        append_title(out, group.title, style);
        render::Table table({{""}, {"", render::Align::Left, true}});
        for (const Flag& flag : group.flags) table.row({typed(flag), explained(flag)});
        table.append_to(out, style);
    }
}

/// Commands are not wrapped: they are there to be copied.
void append_examples(std::string& out, const Verb& verb, const Style& style) {
    append_title(out, verb.examples.find('\n') == verb.examples.npos ? "Example" : "Examples", style);
    for (const std::string& line : split(verb.examples, '\n')) out += "  " + line + "\n";
}

bool has_flag(const FlagGroup& group, const std::string& name) {
    return std::any_of(group.flags.begin(), group.flags.end(), [&](const Flag& flag) { return flag.name == name; });
}

/// Whether the verb's group of the same title has every flag of a shared one.
bool takes(const FlagGroup& group, const FlagGroup& shared) {
    return group.title == shared.title && std::all_of(shared.flags.begin(), shared.flags.end(),
                                                      [&](const Flag& flag) { return has_flag(group, flag.name); });
}

/// Leaves a verb those flags that it does not share, or that do more there; the titles of what it shares.
std::string take_shared(std::vector<FlagGroup>& groups, const std::vector<FlagGroup>& shared) {
    std::vector<std::string> titles;
    for (const FlagGroup& common : shared) {
        const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return takes(g, common); });
        if (found == groups.end()) continue;
        titles.push_back(common.title);
        for (const Flag& flag : common.flags) std::erase(found->flags, flag);
        if (found->flags.empty()) groups.erase(found);
    }
    return joined(titles);
}

void append_block(std::string& out, std::string_view title, const std::string& text) {
    out += "\n## " + std::string(title) + "\n\n```text\n" + text.substr(text.front() == '\n' ? 1 : 0) + "```\n";
}

}  // namespace

std::string help_text(const Verb& verb, const Style& style) {
    std::string out;
    append_about(out, verb, style);
    append_flags(out, verb.flags(), style);
    append_examples(out, verb, style);
    return out;
}

std::string reference_text() {
    const Style style;
    const std::vector<FlagGroup> shared = {device_flags(), workload_flags(), shape_flags(), output_flags()};
    std::string out =
        "# Command line\n\n`tilewright VERB --help` prints all flags of a verb. Here the flags that several verbs take "
        "stand once;\na flag that is listed again under a verb does more there. `./regenerate` rewrites this page.\n";
    append_block(out, "tilewright", overview_text(style));
    std::string flags;
    append_flags(flags, shared, style);
    append_block(out, "Flags that verbs share", flags);
    for (const Verb& verb : verbs()) {
        std::string page;
        append_about(page, verb, style);
        std::vector<FlagGroup> own = verb.flags();
        const std::string titles = take_shared(own, shared);
        if (!titles.empty()) page += "\nShared flags: " + titles + ".\n";
        append_flags(page, own, style);
        append_examples(page, verb, style);
        append_block(out, verb.name, page);
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
    flags.row({"-h, --help", "this page; after a verb, or as `tilewright help VERB`, the page of that verb"});
    flags.row({"-V, --version", "the version"});
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
