#pragma once
// program/record_routes.h - notes, summaries and routines over HTTP: listed, made, read, replaced
// and erased.
//
//     POST /api/notes {"date": "1910-02-06", "content": "..."}    201, with its Location
//     GET /api/summaries?date=1910-02-06
//
// A note has an id; of summaries and routines there is one a day, and the day is its key. Making
// what is there already, with the same content, answers 200 and changes nothing; with another, 409.
// `createdAt` is stored as given; without it, the time of the request is stored, or that of the
// replaced record. A note without `date` belongs to the day of its `createdAt`.

#include "server/routes.h"

namespace belay::program {

std::vector<server::Route> record_routes(server::ApiContext& world);

}  // namespace belay::program
