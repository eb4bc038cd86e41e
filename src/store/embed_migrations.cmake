# belay_embed_migrations(KIND): writes KIND/migrations.cc in the build folder from the numbered
# scripts in KIND/migrations/.
function(belay_embed_migrations kind)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${kind}/migrations/*.sql)
  list(SORT scripts)
  set(entries "")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    file(READ ${script} sql)
    string(APPEND entries
           "    store::Migration{\"${name}\", R\"migration(${sql})migration\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${kind}/migrations.cc @ONLY CONTENT
"// Made from src/store/@kind@/migrations/*.sql: edit those.
#include \"store/@kind@/migrations.h\"

#include <array>

namespace belay::@kind@ {

std::span<const store::Migration> migrations() {
  static constexpr std::array all{
@entries@  };
  return all;
}

}  // namespace belay::@kind@
")
endfunction()
