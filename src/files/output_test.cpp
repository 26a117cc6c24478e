// Whatever fails, the old file or the new one is there, whole.
#include "files/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "files/input.h"

namespace tilewright::files {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, removed at the end.
struct Folder {
    std::string path = (fs::temp_directory_path() / "tilewright_output.XXXXXX").string();
    Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const std::string& name) const { return path + "/" + name; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string contents(const std::string& path) {
    const auto text = read_whole(path);
    return text ? *text : "unreadable";
}

TEST(Output, MakesAndReplacesKeepingTheMode) {
    const Folder folder;
    const std::string path = folder / "out";
    EXPECT_TRUE(write_file(path, "one").empty());
    fs::permissions(path, fs::perms(0640));
    EXPECT_TRUE(write_file(path, "two").empty());
    EXPECT_EQ(contents(path), "two");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
    EXPECT_EQ(folder.files(), 1U);
}

TEST(Output, FollowsLinksAndKeepsThem) {
    const Folder folder;
    fs::create_directory(folder / "far");
    fs::create_symlink("far/target", folder / "link");
    for (const char* text : {"made", "replaced"}) {
        EXPECT_TRUE(write_file(folder / "link", text).empty());
        EXPECT_TRUE(fs::is_symlink(folder / "link"));
        EXPECT_EQ(contents(folder / "far/target"), text);
    }
    fs::create_symlink("round", folder / "round");
    EXPECT_FALSE(write_file(folder / "round", "x").empty());
}

TEST(Output, WritesPipesAndDevicesDirectly) {
    const Folder folder;
    EXPECT_TRUE(write_file("/dev/null", "x").empty());
    EXPECT_FALSE(write_file("/dev/full", "x").empty());
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = contents(folder / "pipe"); });
    EXPECT_TRUE(write_file(folder / "pipe", "through").empty());
    reader.join();
    EXPECT_EQ(got, "through");
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(Output, WhatIsNotFinishedLeavesTheOldFile) {
    const Folder folder;
    const std::string path = folder / "out";
    ASSERT_TRUE(write_file(path, "old").empty());
    {
        auto output = Output::open(path);
        ASSERT_TRUE(output.ok());
        EXPECT_TRUE(output->write("half of the n").empty());
    }
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(folder.files(), 1U);
    EXPECT_FALSE(write_file(folder.path, "x").empty()) << "a folder";
    EXPECT_FALSE(write_file(folder / "no/such/folder", "x").empty());
    EXPECT_FALSE(write_file("", "x").empty());
}

TEST(Output, PartialResultsStayUnderTheirOwnNameAndAreNotOverwritten) {
    const Folder folder;
    const std::string path = folder / "out";
    ASSERT_TRUE(write_file(path, "old").empty());
    { ASSERT_TRUE(Output::open(path, Unfinished::Kept).ok()); }
    EXPECT_EQ(folder.files(), 1U) << "nothing was written";
    {
        auto output = Output::open(path, Unfinished::Kept);
        EXPECT_TRUE(output->write("rows\n").empty());
    }
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(contents(path + ".partial"), "rows\n");
    const auto refused = Output::open(path, Unfinished::Kept);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.problems()[0].where, path + ".partial");
    EXPECT_EQ(contents(path + ".partial"), "rows\n");
    fs::remove(path + ".partial");
    auto output = Output::open(path, Unfinished::Kept);
    EXPECT_TRUE(output->write("all rows\n").empty());
    EXPECT_TRUE(output->finish().empty());
    EXPECT_EQ(contents(path), "all rows\n");
    EXPECT_EQ(folder.files(), 1U);
}

TEST(Output, RefusesToBeItsOwnInput) {
    const Folder folder;
    const std::string path = folder / "in";
    ASSERT_TRUE(write_file(path, "x").empty());
    fs::create_symlink("in", folder / "link");
    fs::create_hard_link(path, folder / "hard");
    for (const char* name : {"in", "link", "hard", "./in"}) {
        const std::string other = folder / name;
        EXPECT_EQ(refuse_inputs(other, std::vector<std::string>{"/dev/null", path}, "--output").size(), 1U) << name;
    }
    EXPECT_TRUE(refuse_inputs(folder / "new", std::vector<std::string>{path}, "--output").empty());
    EXPECT_TRUE(refuse_inputs("-", std::vector<std::string>{path}, "--output").empty());
    EXPECT_TRUE(refuse_inputs("/dev/null", std::vector<std::string>{"/dev/null"}, "--output").empty());
}

/// In a child, so that its limits and its death are its own; its exit status, or minus the signal.
template <class Work>
int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Output, AFullDiskLeavesTheOldFile) {
    const Folder folder;
    const std::string path = folder / "out";
    ASSERT_TRUE(write_file(path, "old").empty());
    const int code = in_child([&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100000, 100000};
        setrlimit(RLIMIT_FSIZE, &limit);
        return write_file(path, std::string(1000000, 'x')).empty() ? 0 : 7;
    });
    EXPECT_EQ(code, 7);
    EXPECT_EQ(contents(path), "old");
    EXPECT_EQ(folder.files(), 1U);
}

TEST(Output, AKillAtAnyMomentLeavesTheOldFileOrTheNewOne) {
    const Folder folder;
    const std::string path = folder / "out";
    const std::string texts[] = {std::string(3000000, 'a'), std::string(2000000, 'b')};
    ASSERT_TRUE(write_file(path, texts[0]).empty());
    std::mt19937 random(1);
    int killed = 0;
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            for (int turn = i; turn < i + 20; ++turn) static_cast<void>(write_file(path, texts[turn % 2]));
            _exit(0);
        }
        usleep(static_cast<useconds_t>(random() % 20000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        killed += WIFSIGNALED(status) ? 1 : 0;
        const std::string found = contents(path);
        ASSERT_TRUE(found == texts[0] || found == texts[1]) << "run " << i << ", " << found.size() << " bytes";
    }
    EXPECT_GT(killed, 20);
}

TEST(Output, AnEndedProgramTakesItsFileAway) {
    const Folder folder;
    EXPECT_EQ(in_child([&] {
                  auto output = Output::open(folder / "out");
                  static_cast<void>(output->write("half"));
                  remove_unfinished();
                  return 3;
              }),
              3);
    EXPECT_EQ(folder.files(), 0U);
}

TEST(Input, StopsAtItsLimit) {
    const auto endless = read_whole("/dev/zero", 1 << 20);
    ASSERT_FALSE(endless.ok());
    EXPECT_NE(endless.problems()[0].what.find("larger than 1 MiB"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::files
