# The program as one WebAssembly module for the explorer (web/): every folder but what needs files, threads, signals or a
# terminal, for which bindings/wasm stands in. The host's packages are used as headers only; nothing throws.
add_compile_options(-fno-exceptions -ffunction-sections)
add_compile_options("SHELL:-include ${CMAKE_SOURCE_DIR}/bindings/wasm/from_chars.h")
set(TILEWRIGHT_TESTS OFF)
set(TILEWRIGHT_LEFT_OUT
    "/src/(files|fit|experiment|sample)/|/src/read/(gzip|experiment_file|sample_file)\\.cpp|/src/render/(experiment_|profile_files)|/src/cli/(files|fit|interrupt|learn|local|mcp|mcp_child|mcp_tools|measure|measure_host|profile|progress|prove|report|reproduce|samples|search_threads|terminal|write_configs)\\.cpp")

# The host's fmt and toml++ are found behind the target's own headers, in /usr/include.
add_library(fmt::fmt INTERFACE IMPORTED)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
add_library(ZLIB::ZLIB INTERFACE IMPORTED)
add_library(Eigen3::Eigen INTERFACE IMPORTED)
add_library(tilewright_measure INTERFACE)

function(tilewright_module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/wasm/*.cpp)
  add_executable(tilewright_wasm ${sources})
  set_target_properties(tilewright_wasm PROPERTIES OUTPUT_NAME tilewright)
  target_compile_options(tilewright_wasm PRIVATE ${TILEWRIGHT_WARNINGS})
  target_link_libraries(tilewright_wasm PRIVATE tilewright_cli)
  # -O0 keeps the driver from running whatever wasm-opt it meets
  target_link_options(tilewright_wasm PRIVATE -O0 -mexec-model=reactor -Wl,--strip-all -Wl,-z,stack-size=1048576)
endfunction()
