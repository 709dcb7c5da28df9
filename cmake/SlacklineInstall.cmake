# slackline_install(LIBRARIES ... [DEPENDENCIES "find_dependency(...)" ...])
# Installs the public headers and what stands behind them, so that another project can say
#   find_package(slackline)   and   target_link_libraries(mine PRIVATE slackline::slackline)
# LIBRARIES are the names given to slackline_library(); all of their link dependencies of ours must
# be among them (CMake says so if one is missing), and a third party's needs a line of DEPENDENCIES.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(slackline_install)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;DEPENDENCIES" ${ARGN})
  set(component COMPONENT slackline_development)
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/slackline")

  # The name that users link. (The target `slackline` is the program.)
  add_library(slackline_api INTERFACE)
  add_library(slackline::slackline ALIAS slackline_api)
  set_target_properties(slackline_api PROPERTIES EXPORT_NAME slackline)
  set(targets slackline_api)
  foreach(library IN LISTS ARG_LIBRARIES)
    target_link_libraries(slackline_api INTERFACE slackline_${library})
    set_target_properties(slackline_${library} PROPERTIES EXPORT_NAME ${library})
    target_compile_features(slackline_${library} INTERFACE cxx_std_17)
    list(APPEND targets slackline_${library})
  endforeach()

  install(TARGETS ${targets} EXPORT slacklineTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${component})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/slackline"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${component} FILES_MATCHING PATTERN "*.h")
  install(EXPORT slacklineTargets NAMESPACE slackline:: DESTINATION "${package_folder}"
          ${component})

  string(JOIN "\n" SLACKLINE_FIND_DEPENDENCIES ${ARG_DEPENDENCIES})
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/slacklineConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/slacklineConfig.cmake" INSTALL_DESTINATION "${package_folder}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/slacklineConfig.cmake"
                "${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake"
          DESTINATION "${package_folder}" ${component})
endfunction()
