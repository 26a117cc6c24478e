# What `cmake --install` ships, and what `cpack` packs: the program, one static library of every folder, the public headers,
# a package config and a pkg-config file, completions, the manual page, and the explorer where ./explorer has built it.
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

install(TARGETS tilewright_program RUNTIME)
# Completions and the manual page come from the program's own table of flags. zsh looks for those of a distribution's packages elsewhere.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share\")
  set(zsh site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
    set(zsh vendor-completions)
  endif()
  foreach(page IN ITEMS bash:bash-completion/completions/tilewright zsh:zsh/\${zsh}/_tilewright man:man/man1/tilewright.1)
    string(REPLACE \":\" \";\" page \${page})
    list(GET page 0 word)
    list(GET page 1 path)
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${share}/\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:tilewright_program>\" help \${word} OUTPUT_FILE \"\${share}/\${path}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${share}/\${path}\")
  endforeach()")
install(FILES ${CMAKE_SOURCE_DIR}/build/explorer/index.html DESTINATION ${CMAKE_INSTALL_DATADIR}/tilewright RENAME explorer.html OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilewright RENAME copyright)
install(FILES ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilewright)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
install(TARGETS tilewright EXPORT Tilewright ARCHIVE)
install(DIRECTORY include/tilewright TYPE INCLUDE)
install(EXPORT Tilewright NAMESPACE Tilewright:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\nfind_dependency(ZLIB)\ninclude(\"\${CMAKE_CURRENT_LIST_DIR}/Tilewright.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is told from where the file lies, so that the tree can be moved.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
file(WRITE ${CMAKE_BINARY_DIR}/tilewright.pc "prefix=\${pcfiledir}/${up}
Name: tilewright
Description: fit a transformer's shape to the GPU it runs on
Version: ${PROJECT_VERSION}
Requires: fmt zlib
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -ltilewright
")
install(FILES ${CMAKE_BINARY_DIR}/tilewright.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# cpack --config BUILD/CPackConfig.cmake
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilewright)
set(CPACK_PACKAGE_CONTACT "the authors of Tilewright <tilewright@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fit a transformer's shape to the GPU it runs on")
set(CPACK_PACKAGE_DESCRIPTION "Predicts how long a transformer takes on a GPU, says which of its sizes waste the chip, and finds shapes of equal size that run faster there. The program, the library and its headers.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libfmt-dev, zlib1g-dev")  # to build against the library
set(CPACK_STRIP_FILES tilewright)
include(CPack)
