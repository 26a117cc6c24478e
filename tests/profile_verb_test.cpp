// `profile` from end to end on the fake GPUs of tilewright-measure: alone, continued, and as the ranks of a job.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "on_disk.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

/// A folder of a user's own for each test.
class ProfileVerb : public ::testing::Test {
protected:
    ScratchFolder scratch;
    const fs::path& folder = scratch.path;

    fs::path own(const std::string& name) const { return folder / "tilewright" / name; }

    /// The exit code of a shell command with the program as $T; what it says is in `said`.
    int run(const std::string& command) {
        const std::string out = (folder / "said").string();
        const std::string setup = "unset RANK WORLD_SIZE OMPI_COMM_WORLD_SIZE SLURM_NTASKS; export XDG_CONFIG_HOME='" +
                                  folder.string() + "' T='" TILEWRIGHT_PROGRAM "'; cd '" + folder.string() + "'; ";
        const int status = std::system(("{ " + setup + command + "\n} >'" + out + "' 2>&1 </dev/null").c_str());
        said = slurp(out);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::string said;
};

TEST_F(ProfileVerb, LearnsAGpuThatLocalThenMeans) {
    EXPECT_EQ(run("$T predict gpt2 --gpu local"), 3);
    EXPECT_NE(said.find("tilewright profile"), std::string::npos) << said;
    ASSERT_EQ(run("$T profile --fake large --budget 12s"), 0) << said;
    EXPECT_NE(said.find("Held out"), std::string::npos) << said;
    EXPECT_NE(said.find(own("profiles/fake-gpu-1000.toml").string()), std::string::npos) << said;
    ASSERT_EQ(run("$T predict gpt2 --gpu local"), 0) << said;
    const std::string local = said;
    for (const char* name : {"fake-gpu-1000", "'Fake GPU 1000'"}) {
        EXPECT_EQ(run(std::string("$T predict gpt2 --gpu ") + name), 0) << said;
        EXPECT_EQ(said, local) << name;
    }
    EXPECT_EQ(run("$T devices fake"), 0);
    EXPECT_NE(said.find("profiled today"), std::string::npos) << said;
    // A profile of another version is refused with what to do.
    ASSERT_EQ(run("sed -i s,profile/2,profile/1, tilewright/profiles/fake-gpu-1000.toml; $T predict gpt2 --gpu local"),
              2);
    EXPECT_NE(said.find("tilewright.profile/1"), std::string::npos) << said;
    EXPECT_NE(said.find("tilewright profile"), std::string::npos) << said;
}

TEST_F(ProfileVerb, ContinuesAndLearnsFromAPrefix) {
    ASSERT_EQ(run("$T profile --fake small --budget 12s --samples run.jsonl -o short.toml"), 0) << said;
    const auto before = fs::file_size(folder / "run.jsonl");
    EXPECT_FALSE(fs::exists(own("profiles")));
    ASSERT_EQ(run("$T measure profile --fake small --budget 22s --out run.jsonl"), 0) << said;
    EXPECT_GT(fs::file_size(folder / "run.jsonl"), before);
    EXPECT_EQ(run("grep -c '\"run\"' run.jsonl; grep -o '\"spent_s\":[0-9.]*' run.jsonl | sort -t: -k2 -n | tail -1"),
              0);
    EXPECT_NE(said.find("\"spent_s\":22."), std::string::npos) << said;
    // What was taken in the first 12 s teaches what it did then, from the file alone.
    ASSERT_EQ(run("$T fit --samples run.jsonl --within 12s -o again.toml"), 0) << said;
    const auto constants = [&](const char* name) {
        const std::string text = slurp(folder / name);
        return text.substr(text.find("compute_fraction"));
    };
    EXPECT_EQ(constants("again.toml"), constants("short.toml"));
}

TEST_F(ProfileVerb, FourRanksShareItOneProfileForEachKindOfGpu) {
    const std::string ranks =
        "export WORLD_SIZE=4 TORCHELASTIC_RUN_ID=j; for r in 0 1 2 3; do "
        "RANK=$r $T profile --fake $(test $r -lt 2 && echo large || echo small) --budget 8s --samples all.jsonl & "
        "p=\"$p $!\"; done; "
        "c=0; for i in $p; do wait $i || c=$?; done; exit $c";
    ASSERT_EQ(run("( " + ranks + " )"), 0) << said;
    for (const char* name : {"fake-gpu-1000", "fake-gpu-500"}) {
        EXPECT_TRUE(fs::exists(own("profiles") / (std::string(name) + ".toml"))) << name << said;
    }
    for (const char* file : {"all.jsonl", "all.jsonl.1", "all.jsonl.3"}) EXPECT_TRUE(fs::exists(folder / file)) << file;
    // No two ranks time the same shape, but for the peaks that each takes.
    EXPECT_EQ(run("cat all.jsonl all.jsonl.1 | grep '\"tags\"' | sed 's/\"device\":\"[^\"]*\",//; s/\"status\".*//' | "
                  "sort | uniq -d | wc -l"),
              0);
    EXPECT_EQ(said.substr(0, 2), "0\n") << said;
}

TEST_F(ProfileVerb, NamesTheRanksThatAreMissing) {
    EXPECT_EQ(run("export WORLD_SIZE=3 RANK=0; $T profile --fake small --budget 3s --wait 1s"), 2);  // too few samples
    EXPECT_NE(said.find("no word of rank 1, 2 of 3"), std::string::npos) << said;
}

TEST_F(ProfileVerb, SaysWhatItWouldTake) {
    EXPECT_EQ(run("$T profile --plan --budget 90s"), 0);
    EXPECT_NE(said.find("for 90 s"), std::string::npos) << said;
    EXPECT_EQ(run("$T profile --budget soon"), 2);
    EXPECT_EQ(run("$T profile --fake none"), 2);
}

}  // namespace
}  // namespace tilewright
