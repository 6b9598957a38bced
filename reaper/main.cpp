// The program: everything is in reaper/cli, so that tests link the same code.
#include "reaper/cli/cli.hpp"

int main(int argc, char** argv) {
    return reaper::cli::run(argc, argv);
}
