# slackline_check_headers(): the target slackline_headers compiles every header of the tree alone, so that each includes what it needs.
# Host headers as C++20; those that device code sees (include/, kernels/math/) also as C++17.
# Not part of `all`: the test `headers_compile_alone` builds it.
function(slackline_check_headers)
  set(sources_17 "")
  set(sources_20 "")
  foreach(folder include core kernels scheduler server worker tools tests)
    # Globbed, unlike sources: the check is about every header there is.
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
         "${PROJECT_SOURCE_DIR}/${folder}/*.h")
    list(FILTER headers EXCLUDE REGEX "^kernels/cuda/|^tests/consumer/")
    foreach(header IN LISTS headers)
      string(REPLACE "/" "_" name "${header}")
      string(REGEX REPLACE "^include/" "" include_path "${header}")
      foreach(standard 17 20)
        if(standard EQUAL 17 AND NOT header MATCHES "^include/|^kernels/math/")
          continue()
        endif()
        set(source "${PROJECT_BINARY_DIR}/headers/${standard}/${name}.cc")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${include_path}\"\n")
        list(APPEND sources_${standard} "${source}")
      endforeach()
    endforeach()
  endforeach()
  add_custom_target(slackline_headers)
  foreach(standard 17 20)
    set(target slackline_headers_${standard})
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources_${standard}})
    set_target_properties(${target} PROPERTIES
      CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_include_directories(${target} PRIVATE
      "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
    target_compile_options(${target} PRIVATE -Wall -Wextra -O0)
    target_link_libraries(${target} PRIVATE cppzmq Boost::program_options Eigen3::Eigen)
    add_dependencies(slackline_headers ${target})
  endforeach()
  target_link_libraries(slackline_headers_20 PRIVATE GTest::gmock)
endfunction()
