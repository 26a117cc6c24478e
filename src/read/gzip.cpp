#include "read/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace tilewright::read {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;  ///< zlib's word for: a gzip header and trailer, and nothing else

/// Appends what the members hold until the bytes end, a fault is met or the limit passed; whether all were whole.
bool inflate_members(std::string_view bytes, std::size_t limit, std::string& out) {
    z_stream stream{};
    if (inflateInit2(&stream, gzip_only) != Z_OK) return false;
    std::array<char, 65536> chunk{};
    bool between = false;  // members: the bytes may end here
    int status = Z_OK;
    while (status == Z_OK && out.size() <= limit) {
        if (stream.avail_in == 0) {  // zlib counts in 32 bits
            const std::size_t taken = std::min<std::size_t>(bytes.size(), 1U << 30U);
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
            stream.avail_in = static_cast<uInt>(taken);
            bytes.remove_prefix(taken);
            if (taken == 0) break;
        }
        if (between) status = inflateReset(&stream);
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        status = inflate(&stream, Z_NO_FLUSH);
        out.append(chunk.data(), chunk.size() - stream.avail_out);
        between = status == Z_STREAM_END;
        if (between) status = Z_OK;
    }
    inflateEnd(&stream);
    return between && status == Z_OK;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

Result<std::string> gunzip(std::string_view bytes, const std::string& where, std::size_t limit) {
    std::string out;
    const bool whole = inflate_members(bytes, limit, out);
    if (out.size() > limit) {
        return Problem{where, 0, "holds more than " + std::to_string(limit >> 20U) + " MiB",
                       "is it the file you meant?"};
    }
    if (whole) return out;
    return Problem{where, 0, "is no whole gzip file",
                   "was it cut off, or something put behind it? `gzip -t` checks it"};
}

}  // namespace tilewright::read
