#include "clients/amqp/compression.hpp"

#include <brotli/decode.h>
#include <bzlib.h>
#include <cstdint>
#include <functional>
#include <lzma.h>
#include <memory>
#include <zlib.h>
#include <zstd.h>

#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr std::size_t chunk = 64UL * 1024;
/// That a dictionary may take: more than kombu's compressors ask for.
constexpr std::uint64_t max_memory = 128ULL * 1024 * 1024;
constexpr int max_zstd_window = 27;  // 2^27 bytes
constexpr int any_head = 15 + 32;    // the largest window; zlib's head or gzip's

/// What one step of an unpacker did.
enum class Step { more, end, damaged };

/// Takes input from the front of its view, and appends at most `chunk` bytes.
using Unpacker = std::function<Step(std::string_view& in, std::string& out)>;

/// Lets `run` write behind the present content; it returns how many bytes it left.
template <class Run>
void append(std::string& out, Run run) {
    const std::size_t before = out.size();
    out.resize(before + chunk);
    out.resize(out.size() - run(out.data() + before));
}

Unpacker zlib_unpacker() {
    auto stream = std::shared_ptr<z_stream>(new z_stream{}, [](z_stream* own) {
        inflateEnd(own);
        delete own;
    });
    const bool ready = inflateInit2(stream.get(), any_head) == Z_OK;
    return [stream, ready](std::string_view& in, std::string& out) {
        if (!ready) return Step::damaged;
        stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        stream->avail_in = static_cast<uInt>(in.size());
        int status = Z_OK;
        append(out, [&](char* to) {
            stream->next_out = reinterpret_cast<Bytef*>(to);
            stream->avail_out = static_cast<uInt>(chunk);
            status = inflate(stream.get(), Z_NO_FLUSH);
            return stream->avail_out;
        });
        in.remove_prefix(in.size() - stream->avail_in);
        if (status == Z_STREAM_END) return Step::end;
        return status == Z_OK ? Step::more : Step::damaged;
    };
}

Unpacker bzip2_unpacker() {
    auto stream = std::shared_ptr<bz_stream>(new bz_stream{}, [](bz_stream* own) {
        BZ2_bzDecompressEnd(own);
        delete own;
    });
    const bool ready = BZ2_bzDecompressInit(stream.get(), 0, 0) == BZ_OK;
    return [stream, ready](std::string_view& in, std::string& out) {
        if (!ready) return Step::damaged;
        stream->next_in = const_cast<char*>(in.data());
        stream->avail_in = static_cast<unsigned>(in.size());
        int status = BZ_OK;
        append(out, [&](char* to) {
            stream->next_out = to;
            stream->avail_out = static_cast<unsigned>(chunk);
            status = BZ2_bzDecompress(stream.get());
            return stream->avail_out;
        });
        in.remove_prefix(in.size() - stream->avail_in);
        if (status == BZ_STREAM_END) return Step::end;
        return status == BZ_OK ? Step::more : Step::damaged;
    };
}

Unpacker lzma_unpacker() {
    auto stream =
        std::shared_ptr<lzma_stream>(new lzma_stream(LZMA_STREAM_INIT), [](lzma_stream* own) {
            lzma_end(own);
            delete own;
        });
    const bool ready = lzma_auto_decoder(stream.get(), max_memory, 0) == LZMA_OK;
    return [stream, ready](std::string_view& in, std::string& out) {
        if (!ready) return Step::damaged;
        stream->next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        stream->avail_in = in.size();
        lzma_ret status = LZMA_OK;
        append(out, [&](char* to) {
            stream->next_out = reinterpret_cast<std::uint8_t*>(to);
            stream->avail_out = chunk;
            status = lzma_code(stream.get(), LZMA_RUN);
            return stream->avail_out;
        });
        in.remove_prefix(in.size() - stream->avail_in);
        if (status == LZMA_STREAM_END) return Step::end;
        return status == LZMA_OK ? Step::more : Step::damaged;
    };
}

Unpacker brotli_unpacker() {
    const auto state = std::shared_ptr<BrotliDecoderState>(
        BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), [](BrotliDecoderState* own) {
            if (own != nullptr) BrotliDecoderDestroyInstance(own);
        });
    return [state](std::string_view& in, std::string& out) {
        if (state == nullptr) return Step::damaged;
        const auto* next = reinterpret_cast<const std::uint8_t*>(in.data());
        std::size_t left = in.size();
        BrotliDecoderResult status{};
        append(out, [&](char* to) {
            std::size_t room = chunk;
            auto* at = reinterpret_cast<std::uint8_t*>(to);
            status = BrotliDecoderDecompressStream(state.get(), &left, &next, &room, &at, nullptr);
            return room;
        });
        in.remove_prefix(in.size() - left);
        if (status == BROTLI_DECODER_RESULT_SUCCESS) return Step::end;
        return status == BROTLI_DECODER_RESULT_ERROR ? Step::damaged : Step::more;
    };
}

Unpacker zstd_unpacker() {
    const std::shared_ptr<ZSTD_DCtx> state(ZSTD_createDCtx(), ZSTD_freeDCtx);
    const bool ready =
        state != nullptr && ZSTD_isError(ZSTD_DCtx_setParameter(state.get(), ZSTD_d_windowLogMax,
                                                                max_zstd_window)) == 0;
    return [state, ready](std::string_view& in, std::string& out) {
        if (!ready) return Step::damaged;
        ZSTD_inBuffer from{in.data(), in.size(), 0};
        std::size_t status = 0;
        append(out, [&](char* to) {
            ZSTD_outBuffer into{to, chunk, 0};
            status = ZSTD_decompressStream(state.get(), &into, &from);
            return chunk - into.pos;
        });
        in.remove_prefix(from.pos);
        if (ZSTD_isError(status) != 0) return Step::damaged;
        return status == 0 ? Step::end : Step::more;
    };
}

struct Compression {
    std::string_view content_type;
    std::string_view others[2];  ///< other names of kombu's
    Unpacker (*make)();
};
constexpr Compression known[]{
    {"application/x-gzip", {"gzip", "zlib"}, zlib_unpacker},
    {"application/x-bz2", {"bzip2", "bzip"}, bzip2_unpacker},
    {"application/x-lzma", {"lzma", "xz"}, lzma_unpacker},
    {"application/x-brotli", {"brotli", "brotli"}, brotli_unpacker},
    {"application/zstd", {"zstd", "zstandard"}, zstd_unpacker},
};

const Compression* find(const std::string& how) {
    for (const Compression& each : known)
        if (how == each.content_type || how == each.others[0] || how == each.others[1])
            return &each;
    return nullptr;
}

Error wrong(const std::string& how, const std::string& what) {
    return Error{Errc::bad_input,
                 "the message is compressed (" + printable(how, 100) + "), and " + what};
}

}  // namespace

Result<std::string> unpacked(std::string_view packed, const std::string& how, std::size_t most) {
    const Compression* const compression = find(how);
    if (compression == nullptr)
        return wrong(how,
                     "which is not supported: set kombu_compression in [oslo_messaging_rabbit] of "
                     "nova.conf to gzip or bz2, or leave it out");
    const Unpacker unpack = compression->make();
    std::string whole;
    for (;;) {
        const std::size_t before = whole.size() + packed.size();
        const std::size_t had = packed.size();
        const Step step = unpack(packed, whole);
        if (whole.size() > most)
            return wrong(how, "has more than " + std::to_string(most) + " bytes when unpacked");
        if (step == Step::damaged) return wrong(how, "can't be unpacked: it is damaged");
        if (step == Step::end) {
            if (packed.empty()) return whole;
            return wrong(how, "can't be unpacked: something follows its end");
        }
        if (packed.size() == had && whole.size() + packed.size() == before)
            return wrong(how, "can't be unpacked: its end is missing");
    }
}

}  // namespace reaper::amqp
