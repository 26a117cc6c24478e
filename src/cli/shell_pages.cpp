// Completions complete verbs, flags, the words of a choice, and names of models, GPUs and clusters, which the program
// itself lists; anything else is a file.
#include "cli/verb.h"
#include "quantity/suggest.h"

namespace tilewright::cli {
namespace {

std::vector<Flag> flags_of(const Verb& verb) {
    std::vector<Flag> all;
    for (const FlagGroup& group : verb.flags()) all.insert(all.end(), group.flags.begin(), group.flags.end());
    return all;
}

std::string verb_names() {
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) names.emplace_back(verb.name);
    names.emplace_back("help");
    return joined(names, " ");
}

/// What the value of a flag can be completed from: words, a command that prints them, or nothing but files.
struct Values {
    std::string words;
    std::string command;
};

Values values_of(const Flag& flag) {
    if (flag.kind == Kind::Choice) return {joined(split(flag.value, '|'), " "), ""};
    if (flag.name == "--gpu" || flag.name == "--device") return {"", "devices"};
    return {};
}

/// The names in the first column of a list, without the heading.
constexpr std::string_view list_names = "awk 'NR > 1 && NF > 3 {print $1}'";

/// Within single quotes of a shell.
std::string quoted_for_shell(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out;
}

/// zsh reads [, ] and : within a description of a flag.
std::string described_for_zsh(std::string_view text) {
    std::string out;
    for (const char c : quoted_for_shell(text)) {
        if (c == '[' || c == ']' || c == ':') out += '\\';
        out += c;
    }
    return out;
}

/// Text of a manual page: a leading dot or quote would be a request, a backslash an escape, a dash a hyphen.
std::string roff(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
    for (const char c : text) {
        if (c == '-' || c == '\\') out += '\\';
        out += c == '\\' ? 'e' : c;
    }
    return out;
}

void append_verb(std::string& out, const Verb& verb) {
    out += ".SS " + std::string(verb.name) + "\n" + roff(verb.summary) + ".\n";
    for (const std::string& paragraph : split(verb.about, '\n')) out += ".PP\n" + roff(paragraph) + "\n";
    for (const Flag& flag : flags_of(verb)) {
        out += ".TP\n\\fB" + roff(flag.name) + "\\fR" +
               (flag.value.empty() ? "" : " \\fI" + roff(flag.value) + "\\fR") + "\n" + roff(flag.help) + "\n";
    }
    out += ".PP\n.nf\n";
    for (const std::string& example : split(verb.examples, '\n')) out += roff(example) + "\n";
    out += ".fi\n";
}

}  // namespace

std::string bash_completion() {
    std::string out =
        "# Completions of bash for tilewright, made from its table of flags.\n"
        "_tilewright() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} words=\n"
        "    if ((COMP_CWORD == 1)) || [[ $verb == help ]]; then\n"
        "        COMPREPLY=($(compgen -W '" +
        verb_names() +
        " --help --version' -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    case $verb:$before in\n";
    for (const Verb& verb : verbs()) {
        for (const Flag& flag : flags_of(verb)) {
            const Values values = values_of(flag);
            if (values.words.empty() && values.command.empty()) continue;
            const std::string words = values.command.empty() ? "'" + values.words + "'"
                                                             : "$(\"${COMP_WORDS[0]}\" " + values.command +
                                                                   " 2>/dev/null | " + std::string(list_names) + ")";
            out += "        " + std::string(verb.name) + ":" + flag.name + ") words=" + words + " ;;\n";
        }
    }
    out += "    esac\n    if [[ -z $words && $word == -* ]]; then\n        case $verb in\n";
    for (const Verb& verb : verbs()) {
        std::vector<std::string> names;
        for (const Flag& flag : flags_of(verb)) names.push_back(flag.name);
        out += "            " + std::string(verb.name) + ") words='" + joined(names, " ") + "' ;;\n";
    }
    out +=
        "        esac\n    elif [[ -z $words && $before != --* && $word != */* ]]; then\n"
        "        words=$(\"${COMP_WORDS[0]}\" models 2>/dev/null | " +
        std::string(list_names) +
        ")\n    fi\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $([[ $word == -* ]] || compgen -f -- \"$word\"))\n}\n"
        "complete -o filenames -F _tilewright tilewright\n";
    return out;
}

std::string zsh_completion() {
    std::string out =
        "#compdef tilewright\n# Completions of zsh for tilewright, made from its table of flags.\n"
        "local -a verbs\nverbs=(\n";
    for (const Verb& verb : verbs()) {
        out += "    '" + std::string(verb.name) + ":" + quoted_for_shell(verb.summary) + "'\n";
    }
    out +=
        "    'help:the page of a verb'\n)\nif ((CURRENT == 2)); then\n    _describe verb verbs\n    return\nfi\n"
        "local verb=$words[2]\nshift words\n((CURRENT--))\ncase $verb in\nhelp) _describe verb verbs ;;\n";
    for (const Verb& verb : verbs()) {
        out += std::string(verb.name) + ")\n    _arguments -S \\\n";
        for (const Flag& flag : flags_of(verb)) {
            std::string action;
            const Values values = values_of(flag);
            if (!flag.value.empty()) action = ":" + described_for_zsh(flag.value) + ":_files";
            if (!values.words.empty()) action = ":value:(" + values.words + ")";
            if (!values.command.empty()) {
                action =
                    ":GPU:($(tilewright " + values.command + " 2>/dev/null | " + quoted_for_shell(list_names) + "))";
            }
            out += "        '" + flag.name + "[" + described_for_zsh(flag.help) + "]" + action + "' \\\n";
        }
        out += "        '*:shape:_files'\n    ;;\n";
    }
    return out + "esac\n";
}

std::string man_page() {
    std::string out = ".TH TILEWRIGHT 1 \"\" \"tilewright " + std::string(version) +
                      "\" \"User Commands\"\n.SH NAME\n"
                      "tilewright \\- fit a transformer's shape to the GPU it runs on\n.SH SYNOPSIS\n";
    for (const Verb& verb : verbs()) {
        for (const std::string& operands : split(verb.operands, '\n')) {
            out += "\\fBtilewright " + std::string(verb.name) + "\\fR " + roff(operands) + "\n.br\n";
        }
    }
    out +=
        ".SH DESCRIPTION\nThe result goes to standard output, everything else to standard error. "
        "\\fBtilewright help\\fR \\fIVERB\\fR prints the page of one verb.\n.SH VERBS\n";
    for (const Verb& verb : verbs()) append_verb(out, verb);
    return out +
           ".SH EXIT STATUS\n0 fine; 1 findings at or above the asked level, or nothing fits; 2 bad usage or input; "
           "3 device trouble; 130 interrupted.\n";
}

}  // namespace tilewright::cli
