#pragma once
// wellbeing/record_routes.h - routes that list, create, read, replace and delete notes, summaries
// and routines.
//
//     POST /api/notes {"date": "1910-02-06", "content": "..."}    201, with its Location
//     GET /api/summaries?date=1910-02-06
//
// A note has an id; there is one summary and one routine per day, and the day is the key. Creating
// an existing record again with the same content returns 200 and changes nothing; with other
// content, 409. `createdAt` is stored as given; if it is missing, the time of the request is
// stored, or that of the replaced record. If a note has no `date`, it belongs to the day of its
// `createdAt`.

#include "belay/route.h"

namespace belay::wellbeing {

std::vector<ModuleRoute> record_routes();

}  // namespace belay::wellbeing
