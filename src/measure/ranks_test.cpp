#include "measure/ranks.h"

#include <gtest/gtest.h>

#include <map>

namespace tilewright::measure {
namespace {

Variable from(std::map<std::string, std::string> set) {
    return [set = std::move(set)](const std::string& name) -> std::optional<std::string> {
        const auto found = set.find(name);
        return found == set.end() ? std::nullopt : std::optional(found->second);
    };
}

TEST(Ranks, AreThoseOfTheLauncher) {
    const auto alone = find_ranks(from({{"WORLD_SIZE", "1"}, {"RANK", "0"}}));
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(alone->world, 1);
    const auto torch = find_ranks(from({{"RANK", "9"},
                                        {"WORLD_SIZE", "16"},
                                        {"LOCAL_RANK", "1"},
                                        {"LOCAL_WORLD_SIZE", "8"},
                                        {"MASTER_ADDR", "node0"},
                                        {"MASTER_PORT", "29500"}}));
    ASSERT_TRUE(torch.ok());
    EXPECT_EQ(torch->world, 16);
    EXPECT_EQ(torch->rank, 9);
    EXPECT_EQ(torch->local, 1);
    EXPECT_EQ(torch->on_node, 8);
    EXPECT_EQ(torch->meeting, "node0:29500");
    const auto slurm =
        find_ranks(from({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}));
    ASSERT_TRUE(slurm.ok());
    EXPECT_EQ(slurm->rank, 3);
}

TEST(Ranks, WriteFilesOfTheirOwn) {
    EXPECT_EQ(file_of_rank("a.jsonl", {4, 0, 0, 0, "", ""}), "a.jsonl");
    EXPECT_EQ(file_of_rank("a.jsonl", {4, 3, 1, 0, "", ""}), "a.jsonl.3");
    EXPECT_EQ(file_of_rank("-", {4, 3, 1, 0, "", ""}), "/dev/null");
}

TEST(Ranks, NeedAPlaceToMeet) {
    const Variable mpi = from({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
    EXPECT_FALSE(find_meeting_ranks(mpi).ok());
    EXPECT_EQ(find_ranks(mpi)->world, 2);
    EXPECT_FALSE(
        find_ranks(from({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}})).ok());
}

}  // namespace
}  // namespace tilewright::measure
