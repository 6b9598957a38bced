// The program: everything is in reaper/cli, so that tests link the same code.
#include "reaper/cli/cli.hpp"

/// Read by jemalloc when the program starts: few threads, and what is free goes back soon.
extern "C" const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0";

int main(int argc, char** argv) {
    return reaper::cli::run(argc, argv);
}
