# Writes migrations.cc from the numbered scripts in migrations/.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/migrations/*.sql)
list(SORT scripts)
set(entries "")
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  file(READ ${script} sql)
  string(APPEND entries "    Migration{\"${name}\", R\"migration(${sql})migration\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/migrations.cc @ONLY CONTENT
"// Made from src/store/sqlite/migrations/*.sql: edit those.
#include \"store/sqlite/migrations.h\"

#include <array>

namespace belay::sqlite {

std::span<const Migration> migrations() {
  static constexpr std::array all{
@entries@  };
  return all;
}

}  // namespace belay::sqlite
")
