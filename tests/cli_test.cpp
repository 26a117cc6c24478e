// The program as a user meets it. Each file in tests/cli is a transcript: prose, commands ("$ …"), and for each command
// its stdout ("1| …"), its stderr ("2| …") and its exit code. Prices in it are those of the GPU in tests/device, which
// no refit moves. docs/cli.md is written from the table of verbs. With TILEWRIGHT_UPDATE=1 (./regenerate) these files,
// the commands of README and tutorial and the picture are rewritten from what the program really says; the diff is the
// review.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "cli/write_configs.h"
#include "on_disk.h"
#include "read/document.h"
#include "render/config_json.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path root = TILEWRIGHT_SOURCE_DIR;
const fs::path transcripts = root / "tests" / "cli";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

struct Outcome {
    std::string out;
    std::string err;
    int code = -1;
};

/// A folder of this process alone.
const fs::path& scratch() {
    static const ScratchFolder folder;
    return folder.path;
}

/// Runs a shell command among the transcripts with the program on PATH and an environment that is always the same.
Outcome run(const std::string& command) {
    const std::string out = (scratch() / "out").string();
    const std::string err = (scratch() / "err").string();
    const std::string setup = "cd '" + transcripts.string() +
                              "' && unset NO_COLOR CLICOLOR_FORCE COLUMNS XDG_CONFIG_HOME && " +
                              "export LC_ALL=C.UTF-8 HOME=/nonexistent TMP='" + scratch().string() + "' PATH='" +
                              fs::path(TILEWRIGHT_PROGRAM).parent_path().string() + "':\"$PATH\" && ";
    const int status = std::system(("{ " + setup + command + "\n} >'" + out + "' 2>'" + err + "' </dev/null").c_str());
    return {slurp(out), slurp(err), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

std::string transcribe(const std::string& command) {
    const Outcome seen = run("export XDG_CONFIG_HOME=../device; " + command);
    std::string text = "$ " + command + "\n";
    for (const std::string& line : lines_of(seen.out)) text += line.empty() ? "1|\n" : "1| " + line + "\n";
    for (const std::string& line : lines_of(seen.err)) text += line.empty() ? "2|\n" : "2| " + line + "\n";
    return text + "exit " + std::to_string(seen.code) + "\n";
}

bool is_recorded(const std::string& line) {
    return line.starts_with("1|") || line.starts_with("2|") || line.starts_with("exit ");
}

/// The transcript as it should be: its prose and commands, with what the program says now.
std::string played(const std::string& transcript) {
    std::string text;
    for (const std::string& line : lines_of(transcript)) {
        if (is_recorded(line)) continue;
        text += line.starts_with("$ ") ? transcribe(line.substr(2)) : line + "\n";
    }
    return text;
}

std::vector<std::string> transcript_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(transcripts)) {
        if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Transcript : public testing::TestWithParam<std::string> {};

TEST_P(Transcript, IsWhatTheProgramSays) {
    const fs::path path = transcripts / (GetParam() + ".txt");
    expect_file(path, played(slurp(path)));
}

INSTANTIATE_TEST_SUITE_P(Cli, Transcript, testing::ValuesIn(transcript_names()),
                         [](const auto& test) { return test.param; });

TEST(Cli, HelpIsComplete) {
    for (const auto& verb : cli::verbs()) {
        const std::string page = run("tilewright " + std::string(verb.name) + " --help").out;
        EXPECT_EQ(run("tilewright help " + std::string(verb.name)).out, page);
        EXPECT_NE(page.find("\n  tilewright " + std::string(verb.name)), page.npos) << "no example in " << page;
        for (const auto& group : verb.flags()) {
            for (const auto& flag : group.flags) EXPECT_NE(page.find(flag.name), page.npos) << flag.name << page;
        }
    }
}

TEST(Cli, ReferenceIsWrittenFromTheTableOfVerbs) { expect_file(root / "docs" / "cli.md", cli::reference_text()); }

/// Where the project's data lies, and files that are written go to the scratch folder.
TEST(Cli, EveryExampleRuns) {
    const fs::path folder = scratch() / "examples";
    fs::create_directories(folder);
    fs::create_symlink(root / "data", folder / "data");
    for (const auto& verb : cli::verbs()) {
        for (const std::string& command : cli::split(verb.examples, '\n')) {
            const Outcome seen = run("cd '" + folder.string() + "' && " + command);
            const bool no_gpu = verb.run == nullptr && seen.code == 3;
            EXPECT_TRUE(seen.code == 0 || no_gpu) << command << "\n" << seen.err;
        }
    }
}

/// In the README and the tutorial a console block is one command of ours, run at the top of the tree, and what it
/// prints. Its prices are those of a shipped profile and move with it, so that only the command and what it is about,
/// its first line, are held to.
TEST(Cli, PagesShowCommandsThatRun) {
    const std::string prompt = "$ ./tilewright ";
    for (const fs::path& path : {root / "README.md", root / "docs" / "tutorial.md"}) {
        const std::string before = slurp(path);
        std::string page;
        bool recorded = false;
        for (const std::string& line : lines_of(before)) {
            if (line.starts_with(prompt)) {
                const Outcome seen = run("cd '" + root.string() + "' && tilewright " + line.substr(prompt.size()));
                EXPECT_EQ(seen.code, 0) << line << "\n" << seen.err;
                EXPECT_NE(before.find(line + "\n" + seen.out.substr(0, seen.out.find('\n') + 1)), std::string::npos)
                    << line;
                page += line + "\n" + seen.out;
                recorded = true;
            } else if (!recorded || line == "```") {
                page += line + "\n";
                recorded = false;
            }
        }
        ASSERT_NE(page.find(prompt), std::string::npos) << path;
        rewritten(path, page);
    }
}

TEST(Cli, TheReadmesPictureIsOneTheProgramDraws) {
    const fs::path path = root / "docs" / "teeth.svg";
    const std::string drawn = run("tilewright report gpt3-2.7b --gpu h200 --svg ffn-far").out, mark = "<title>";
    const std::size_t title = drawn.find(mark);
    ASSERT_NE(title, std::string::npos);
    if (rewritten(path, drawn)) return;
    EXPECT_NE(slurp(path).find(drawn.substr(title, drawn.find("</title>", title) - title)), std::string::npos);
}

TEST(Cli, VersionIsTheProjects) {
    const std::string cmake = slurp(root / "CMakeLists.txt");
    const std::string mark = "project(Tilewright VERSION ";
    const std::size_t from = cmake.find(mark) + mark.size();
    EXPECT_EQ(run("tilewright -V").out, run("tilewright --version").out);
    EXPECT_EQ(run("tilewright --version").out, "tilewright " + cmake.substr(from, cmake.find(' ', from) - from) + "\n");
}

std::string captured(const std::string& name) { return (root / "data" / "captures" / (name + ".json.gz")).string(); }

TEST(Cli, EveryJsonDocumentReadsAndNamesItsSchema) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"predict gpt2 --gpu h200", "tilewright.predict/2"},
        {"predict mixtral-8x7b --gpu h100 --phase decode --tp 2 --scope layer", "tilewright.predict/2"},
        {"predict " + captured("t5-base-forward") + " --gpu a100 --host-scale 2", "tilewright.predict/2"},
        {"lint " + captured("gpt2-medium-train") + " --gpu h200", "tilewright.lint/1"},
        {"lint gpt2 --gpu h200", "tilewright.lint/1"},
        {"search gpt2 --gpu h200", "tilewright.search/3"},
        {"advise gpt2 --gpu h200", "tilewright.advise/3"},
        {"compare gpt2 --heads 6 --gpu h200", "tilewright.compare/2"},
        {"report gpt2 --gpu h200", "tilewright.report/1"},
        {"reproduce", "tilewright.experiments/1"},
        {"reproduce wave-quantization --gpu h200", "tilewright.reproduce/1"},
        {"models", "tilewright.models/1"},
        {"devices", "tilewright.devices/1"}};
    for (const auto& [command, schema] : cases) {
        const Outcome seen = run("tilewright " + command + " --json");
        EXPECT_EQ(seen.code, 0) << command << "\n" << seen.err;
        const auto document = read::read_json(seen.out, "stdout");
        ASSERT_TRUE(document) << command;
        EXPECT_NE(seen.out.find("\"schema\": \"" + schema + "\""), std::string::npos) << command;
        EXPECT_EQ(seen.out.find("null"), std::string::npos) << command << " has a number that is none";
    }
}

TEST(Cli, TheHostsScaleIsKeptAndUsed) {
    const std::string python = (scratch() / "python3").string(), home = "export XDG_CONFIG_HOME=$TMP/config; ";
    const std::string predict = "tilewright predict " + captured("gpt2-medium-decode") + " --gpu h200 ";
    std::ofstream(python) << "#!/bin/sh\necho '{\"scale\": 1.5, \"with\": \"a test\"}'\n";
    fs::permissions(python, fs::perms::owner_all);
    EXPECT_EQ(run(home + "PATH=$TMP:$PATH tilewright measure host").code, 0);
    const Outcome used = run(home + predict);
    EXPECT_NE(used.out.find("host.toml"), std::string::npos) << used.out << used.err;
    EXPECT_NE(used.out.find("1.5 times as long"), std::string::npos) << used.out;
    EXPECT_EQ(run(home + predict + "--host-scale 1").out, run(predict).out);
    EXPECT_EQ(run(home + "echo 'scale = -1' >$TMP/config/tilewright/host.toml; " + predict).code, 2);
}

/// A file of the user's takes the place of what is built in, however that is spelled.
TEST(Cli, AFileOfTheUsersIsTakenUnderEverySpelling) {
    const std::string home = "export XDG_CONFIG_HOME=$TMP/own; ", folder = (scratch() / "own/tilewright").string();
    for (const char* kind : {"devices", "models"}) fs::create_directories(folder + "/" + kind);
    std::ofstream(folder + "/models/gpt2.toml") << "[shape]\nhidden = 512\nlayers = 2\nheads = 8\nvocab = 1000\n";
    std::string sheet = slurp(root / "data/devices/h100-sxm.toml");
    sheet.replace(sheet.find("NVIDIA H100"), 11, "Our own");
    std::ofstream(folder + "/devices/h100-sxm.toml") << sheet;
    for (const char* shape : {"gpt2", "GPT-2", "openai-community/gpt2"}) {
        for (const char* gpu : {"h100-sxm", "h100", "H100_SXM", "nvidia-h100"}) {
            const Outcome seen = run(home + "tilewright predict " + shape + " --gpu " + gpu);
            EXPECT_NE(seen.out.find("Our own"), std::string::npos) << gpu << ": " << seen.out << seen.err;
            EXPECT_NE(seen.out.find("hidden 512"), std::string::npos) << shape << ": " << seen.out << seen.err;
        }
    }
}

TEST(Cli, TextFitsAHundredColumns) {
    const std::string whisper = "predict " + captured("whisper-small-train") + " --gpu h100 --why";
    for (const char* command :
         {whisper.c_str(), "advise gpt3-2.7b --gpu h200", "predict deepseek-v3 --gpu h200 --tp 8 --why",
          "lint llama-7b --gpu a100-80-sxm", "search gpt2-xl --gpu v100-sxm2", "models", "devices", "reproduce",
          "reproduce gpus", "compare gpt2 gpt2-xl opt-66b llama-3.1-405b --gpu mi300x", "predict --help"}) {
        for (const std::string& line : lines_of(run(std::string("tilewright ") + command).out)) {
            const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
            EXPECT_LE(width, 100) << command << ": " << line;
        }
    }
}

constexpr int rows = 300000;  ///< they take much longer to price than the first of them

fs::path long_file() {
    const fs::path path = scratch() / "long.csv";
    std::ofstream file(path);
    file << "hidden,heads,kv_heads,ffn,mlp,layers,vocab,block,phase,batch,seq,precision,runtime,attention\n";
    for (int i = 0; i < rows; ++i) {
        file << 64 * (i % 64 + 1) << ",1,1,256,gelu,2,512,sequential,train,1,128,bf16,eager,auto\n";
    }
    return path;
}

TEST(Cli, AnInterruptedBulkRunKeepsItsRowsAndExits130) {
    const fs::path from = long_file();
    const fs::path whole = scratch() / "long.out.csv", to = whole.string() + ".partial";
    const Outcome seen =
        run("tilewright predict model --gpu h200 --from '" + from.string() + "' -o '" + whole.string() +
            "' & while kill -0 $! && ! test -s '" + to.string() + "'; do sleep 0.02; done; kill -INT $!; wait $!");
    EXPECT_EQ(seen.code, 130);
    EXPECT_FALSE(fs::exists(whole));
    const std::vector<std::string> lines = lines_of(slurp(to));
    ASSERT_GT(lines.size(), 2u);
    EXPECT_LT(lines.size(), rows + 1u);
    const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
    EXPECT_EQ(commas(lines.back()), commas(lines.front()));
    EXPECT_TRUE(slurp(to).ends_with('\n'));
}

/// Runs the program with a terminal as its stderr and interrupts it as soon as something is written there.
Outcome interrupt_when_it_speaks(std::vector<std::string> arguments) {
    const std::string out = (scratch() / "out").string();
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        std::vector<char*> words;
        for (std::string& word : arguments) words.push_back(word.data());
        words.push_back(nullptr);
        if (dup2(creat(out.c_str(), 0600), STDOUT_FILENO) >= 0) execv(TILEWRIGHT_PROGRAM, words.data());
        _exit(127);
    }
    char first = 0;
    EXPECT_EQ(::read(terminal, &first, 1), 1);
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    close(terminal);
    return {slurp(out), "", WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

TEST(Cli, AnInterruptedSearchShowsTheBestSoFarAndExits130) {
    const Outcome seen = interrupt_when_it_speaks({"tilewright", "search", "gpt3-6.7b", "--gpu", "h200", "--step",
                                                   "ffn=1,hidden=8", "--tolerance", "0.05", "--kv-bytes", "0"});
    EXPECT_EQ(seen.code, 130);
    EXPECT_NE(seen.out.find("Interrupted: "), std::string::npos) << seen.out << seen.err;
    EXPECT_NE(seen.out.find("Recommendation: "), std::string::npos);
}

TEST(Cli, ConfigurationsReadBackAsTheSameShape) {
    const std::set<std::string> unsaid = {"gpt3-13b"};  // heads that do not divide the hidden size of a GPT
    for (const std::string& name : model_names()) {
        const cli::Config config = cli::config_of(*find_model(name));
        EXPECT_EQ(config.lost.empty(), !unsaid.contains(name)) << name << "\n" << config.text;
    }
    // a shape read from a file is called by its family, and is written as that one
    for (const render::ConfigFamily& family : render::config_families()) {
        const std::string named = "\"" + std::string(family.model_type) + "\"";
        const std::string given = "{\"model_type\": " + named + ", \"num_experts_per_tok\": 2}";
        const auto read = read_shape(given, "config.json", Assume::Yes);
        ASSERT_TRUE(read.ok()) << named;
        const cli::Config config = cli::config_of(read->shape);
        EXPECT_NE(config.text.find(named), std::string::npos) << named << "\n" << config.text;
        EXPECT_TRUE(config.lost.empty()) << named << " lost " << (config.lost.empty() ? "" : config.lost.front());
    }
    // a model of the catalogue as the class that its file names
    const Shape phi3 = *find_model("phi-3-mini");
    EXPECT_NE(cli::config_of(phi3).text.find("\"" + phi3.family + "\""), std::string::npos);
}

TEST(Cli, AWidthThatTheFileLeavesOpenIsWrittenInItsPlace) {
    const std::string text = R"({"model_type": "gpt_neo", "hidden_size": 2048, "intermediate_size": null})";
    cli::ReadConfig read{text, *read_shape(text, "config.json", Assume::No)};
    Shape wider = read.file.shape;
    wider.ffn = 6144;
    const auto written = cli::edited_config(read, wider);
    ASSERT_TRUE(written);
    EXPECT_EQ(*written, R"({"model_type": "gpt_neo", "hidden_size": 2048, "intermediate_size": 6144})");
}

/// BLOOM's class has an MLP of four times its hidden size: a file without the width would be of another model.
TEST(Cli, WritesNoConfigurationOfAnotherModel) {
    const fs::path folder = scratch() / "another-model";
    const Outcome seen =
        run("tilewright search bloom-7b1 --gpu h200 --only layers,ffn --keep 1 --write " + folder.string());
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_NE(seen.err.find("not written, no config.json of transformers says this"), std::string::npos) << seen.err;
    EXPECT_TRUE(fs::exists(folder / "baseline" / "config.json"));
    EXPECT_FALSE(fs::exists(folder / "two-knobs-1"));
    fs::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
