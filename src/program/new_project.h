#pragma once
// program/new_project.h - `belay new`: writes the project of docs/first-project.md, with another
// name, into a new folder.
//
// The files are those of examples/first_project/, in which the name is "helpdesk".

#include <string>
#include <string_view>
#include <vector>

#include "belay/module.h"

namespace belay::program {

struct ProjectFile {
  std::string path;  // in the folder of the project
  std::string text;
};

// Returns the files of examples/first_project/, in the order of their names.
std::vector<ProjectFile> template_files();

// Returns the files of a project of this name. Fails with `invalid` for a name that CMake or the
// project cannot use.
Result<std::vector<ProjectFile>> project_files(std::string_view name);

// Creates the folder NAME in `parent` with the files. Fails with `conflict` if it exists; then, and
// after any other error, nothing has been written.
Result<Done> write_project(const std::string& parent, std::string_view name,
                           const std::vector<ProjectFile>& files);

// The module with the command `new`.
Module project_module();

}  // namespace belay::program
