// Correlated transfers by EMP: `emp KIND PARTY PORT COUNT` prints nanoseconds of CPU of this party per
// transfer, set-up included. run.py compiles it beside EMP's sources and runs both
// parties over loopback.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "emp-ot/emp-ot.h"
#include <emp-tool/emp-tool.h>

using namespace emp;

namespace {

// Its name was changed.
#if __has_include("emp-ot/ot_extension/softspoken/softspoken_ot.h")
using Soft = SoftSpokenOT<4>;
#else
using Soft = SoftSpoken<4>;
#endif

// Earlier versions are made by a constructor, later ones by functions.
template <typename Io> auto met(int party, int port, int) -> decltype(Io::listen(port, true)) {
    return party == ALICE ? Io::listen(port, true) : Io::connect("127.0.0.1", port, true);
}
template <typename Io> auto met(int party, int port, long) -> std::unique_ptr<Io> {
    return std::make_unique<Io>(party == ALICE ? nullptr : "127.0.0.1", port, true);
}

template <typename Transfers> void measure(Transfers &transfers, NetIO &io, long count) {
    block *out = new block[count];
    std::memset(out, 0, sizeof(block) * count);
    io.sync();
    std::clock_t began = std::clock();
    transfers.rcot(out, count);
    io.flush();
    double seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
    std::printf("%.2f\n", seconds / count * 1e9);
    delete[] out;
}

}  // namespace

int main(int arguments, char **argument) {
    if (arguments < 5) return 2;
    const char *kind = argument[1];
    int party = std::atoi(argument[2]);
    long count = std::atol(argument[4]);
    auto io = met<NetIO>(party, std::atoi(argument[3]), 0);
    if (!std::strcmp(kind, "iknp")) {
        IKNP transfers(party, io.get(), false);
        measure(transfers, *io, count);
    } else if (!std::strcmp(kind, "softspoken")) {
        Soft transfers(party, io.get(), false);
        measure(transfers, *io, count);
    } else if (!std::strcmp(kind, "ferret")) {
        Ferret transfers(party, io.get(), false);
        measure(transfers, *io, count);
    } else {
        return 2;
    }
    return 0;
}
