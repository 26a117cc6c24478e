// The program's only main.
#include "cli/run.h"

int main(int argc, char** argv) { return tilewright::cli::run(argc, argv); }
