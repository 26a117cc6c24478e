# What `cmake --install` ships: the program, one static library of every folder, the public headers and a package config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TILEWRIGHT_OBJECTS)
list(REMOVE_ITEM folders tilewright_cli_objects)
foreach(folder IN LISTS folders)
  list(APPEND objects $<TARGET_OBJECTS:${folder}>)
endforeach()
add_library(tilewright STATIC ${objects})
target_link_libraries(tilewright PRIVATE fmt::fmt ZLIB::ZLIB)
target_include_directories(tilewright INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tilewright INTERFACE cxx_std_20)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
install(TARGETS tilewright_program RUNTIME)
# Completions and the manual page come from the program's own table of flags.
foreach(page IN ITEMS "bash share/bash-completion/completions tilewright" "zsh share/zsh/site-functions _tilewright" "man ${CMAKE_INSTALL_MANDIR}/man1 tilewright.1")
  separate_arguments(page)
  list(GET page 0 word)
  list(GET page 1 folder)
  list(GET page 2 name)
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:tilewright_program>\" help ${word} OUTPUT_FILE \"${CMAKE_BINARY_DIR}/${name}.page\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${CMAKE_BINARY_DIR}/${name}.page DESTINATION ${folder} RENAME ${name})
endforeach()

# the explorer, where ./explorer has built it
install(FILES ${CMAKE_SOURCE_DIR}/build/explorer/index.html DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright RENAME explorer.html OPTIONAL)
install(TARGETS tilewright EXPORT Tilewright ARCHIVE)
install(DIRECTORY include/tilewright TYPE INCLUDE)
install(EXPORT Tilewright NAMESPACE Tilewright:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\nfind_dependency(ZLIB)\ninclude(\"\${CMAKE_CURRENT_LIST_DIR}/Tilewright.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${package_dir})
