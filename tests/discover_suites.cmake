# Asks the test program of a folder which suites it has and writes an entry of ctest for each: a process for each of the
# thousands of tests would cost more than most of them. tests/CMakeLists.txt runs this after the program was linked.
#   PROGRAM, FOLDER, FILE (to write), BY_LAW (suites with an entry for each TEST or TEST_P), PROPERTIES (of all entries)
cmake_minimum_required(VERSION 3.25)

# Tests that need a GPU have an entry of their own, which is one skipped line where there is none.
set(on_gpu "*.GpusAgreeWithTheReference*:GpusAgreeWithTheReference/*")
# What GoogleTest prints at the end where all tests were skipped and none failed.
set(all_skipped "\\[  PASSED  ] 0 tests[.]\n\\[  SKIPPED ] [0-9]+ tests?, listed below:\n(\\[  SKIPPED ] [^\n]*\n)+$")

# Test names that match a filter of GoogleTest, as a list: `Suite`, or `Suite.Law` where the suite is one of BY_LAW.
function(list_entries filter result)
  execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${filter}
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY TIMEOUT 60)
  string(REGEX REPLACE " *#[^\n]*" "" output "${output}") # values of parameters
  string(REPLACE "\n" ";" lines "${output}")
  set(entries)
  foreach(line ${lines})
    if(line MATCHES "^([A-Za-z0-9_/]+)[.]$")
      set(suite ${CMAKE_MATCH_1})
    elseif(line MATCHES "^  ([A-Za-z0-9_]+)")
      set(entry ${suite})
      if(suite IN_LIST BY_LAW)
        string(APPEND entry .${CMAKE_MATCH_1})
      endif()
      list(APPEND entries ${entry})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES entries)
  set(${result} ${entries} PARENT_SCOPE)
endfunction()

set(script)
function(write_entry name filter)
  string(APPEND script "add_test([[${FOLDER}/${name}]] [[${PROGRAM}]] [[--gtest_filter=${filter}]])\n"
    "set_tests_properties([[${FOLDER}/${name}]] PROPERTIES SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==] ${PROPERTIES})\n")
  set(script "${script}" PARENT_SCOPE)
endfunction()

list_entries("-${on_gpu}" entries)
foreach(entry ${entries})
  if(entry MATCHES "[.]")
    write_entry(${entry} "${entry}:${entry}/*")
  else()
    write_entry(${entry} "${entry}.*-${on_gpu}")
  endif()
endforeach()
list_entries("${on_gpu}" entries)
if(entries)
  write_entry(gpu "${on_gpu}")
endif()
file(WRITE ${FILE} "${script}")
