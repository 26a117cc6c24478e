# tilewright_folder(NAME [USES folders…] [PRIVATE targets…]): the sources of src/NAME as a static library tilewright_NAME,
# its objects collected for libtilewright.a, and its *_test.cpp files as one test program NAME_test.

set_property(GLOBAL PROPERTY TILEWRIGHT_OBJECTS "")
set(TILEWRIGHT_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND TILEWRIGHT_WARNINGS -Wno-restrict)  # false alarms on std::string's operator+ (GCC bug 105651)
endif()

if(CMAKE_UNITY_BUILD)
  list(APPEND TILEWRIGHT_WARNINGS -Wno-shadow)  # of names in a neighbour's unnamed namespace; the other presets keep it
endif()

if(TILEWRIGHT_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  find_path(RAPIDCHECK_INCLUDE rapidcheck.h REQUIRED)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  include(GoogleTest)
endif()

function(tilewright_folder name)
  cmake_parse_arguments(ARG "" "" "USES;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  if(TILEWRIGHT_LEFT_OUT)
    list(FILTER sources EXCLUDE REGEX "${TILEWRIGHT_LEFT_OUT}")
  endif()
  set(uses ${ARG_USES})
  list(TRANSFORM uses PREPEND tilewright_)

  if(sources)
    add_library(tilewright_${name}_objects OBJECT ${sources})
    target_compile_options(tilewright_${name}_objects PRIVATE ${TILEWRIGHT_WARNINGS})
    target_include_directories(tilewright_${name}_objects PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tilewright_${name}_objects PRIVATE ${uses} ${ARG_PRIVATE})
    add_library(tilewright_${name} STATIC $<TARGET_OBJECTS:tilewright_${name}_objects>)
    target_include_directories(tilewright_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tilewright_${name} PUBLIC ${uses} PRIVATE ${ARG_PRIVATE})
    set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_OBJECTS tilewright_${name}_objects)
  else()
    add_library(tilewright_${name} INTERFACE)
    target_include_directories(tilewright_${name} INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tilewright_${name} INTERFACE ${uses})
  endif()

  if(TILEWRIGHT_TESTS AND tests)
    tilewright_test(${name}_test SOURCES ${tests} USES tilewright_${name})
  endif()
endfunction()

# tilewright_test(NAME SOURCES … USES …): a GoogleTest program, each of its cases a test of its own.
function(tilewright_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # What is tested is optimized; the tests are not, which halves the time that they take to compile.
  target_compile_options(${name} PRIVATE ${TILEWRIGHT_WARNINGS} -O0)
  target_include_directories(${name} SYSTEM PRIVATE ${RAPIDCHECK_INCLUDE})
  target_link_libraries(${name} PRIVATE ${ARG_USES} GTest::gtest_main ${RAPIDCHECK_LIBRARY})
  target_compile_definitions(${name} PRIVATE TILEWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Laws are tried on the same random cases every time; CONTRIBUTING.md says how to try others.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ENVIRONMENT "RC_PARAMS=seed=1")
endfunction()

# tilewright_generate(FOLDER SCRIPT files…): a source of src/FOLDER that cmake/SCRIPT.cmake writes of these files; a file more or less
# writes it anew.
function(tilewright_generate folder script)
  set(output ${CMAKE_BINARY_DIR}/generated/${script}.cpp)
  set(listing ${CMAKE_BINARY_DIR}/generated/${script}.list)
  list(JOIN ARGN "\n" names)
  file(CONFIGURE OUTPUT ${listing} CONTENT "${names}" @ONLY)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D LIST=${listing} -D OUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/${script}.cmake
    DEPENDS ${ARGN} ${listing} ${CMAKE_SOURCE_DIR}/cmake/${script}.cmake
    COMMENT "Embedding data (${script})")
  target_sources(tilewright_${folder}_objects PRIVATE ${output})
endfunction()

# tilewright_embed(): the data that the program carries: as text (src/read/embedded.h), and runtimes as lines (src/ops/runtime_lines.h).
function(tilewright_embed)
  set(data ${CMAKE_SOURCE_DIR}/data)
  file(GLOB texts CONFIGURE_DEPENDS ${data}/models/*.toml ${data}/devices/*.toml ${data}/clusters/*.toml ${data}/profiles/*.toml
       ${data}/profiles/*.json ${data}/engines/*.toml ${data}/kernels/*.toml ${data}/kernels/*.trees ${data}/experiments/*.toml ${CMAKE_SOURCE_DIR}/docs/rules/*.md ${CMAKE_SOURCE_DIR}/python/tilewright_host.py)
  file(GLOB runtimes CONFIGURE_DEPENDS ${data}/runtimes/*.toml)
  tilewright_generate(read embed ${texts})
  tilewright_generate(ops runtimes ${runtimes})
endfunction()
