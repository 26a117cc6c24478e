// Opening and writing output files.
#include "cli/output.h"

#include <cerrno>
#include <cstring>

namespace tilewright::cli {
namespace {

int leave_open(std::FILE* /*stream*/) { return 0; }

}  // namespace

Output open_output(const std::string& path) {
    if (path == "-") return {stdout, leave_open};
    return {std::fopen(path.c_str(), "wb"), std::fclose};
}

Problems write_all(const Output& output, std::string_view bytes, const std::string& path) {
    const bool written =
        std::fwrite(bytes.data(), 1, bytes.size(), output.get()) == bytes.size() && std::fflush(output.get()) == 0;
    return written ? Problems{} : Problems{cannot_write(path)};
}

Problem cannot_write(const std::string& path) {
    return {path == "-" ? "stdout" : path, 0, std::string("cannot be written: ") + std::strerror(errno),
            "check the path and the disk"};
}

}  // namespace tilewright::cli
