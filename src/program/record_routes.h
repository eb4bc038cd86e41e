#pragma once
// program/record_routes.h - notes, summaries and routines over HTTP: listed, made, read, replaced
// and erased.
//
//     POST /api/notes {"date": "1910-02-06", "content": "..."}    201, with its Location
//     GET /api/summaries?date=1910-02-06
//
// A note has an id; of summaries and routines there is one a day, and the day is its key. Making
// what is there already, with the same content, answers 200 and changes nothing; with another, 409.
// `createdAt` is kept as it is given; without it, it is the time of the request, or that of the
// record that is replaced. A note without `date` is of the day of its `createdAt`.

#include "server/routes.h"

namespace belay::program {

std::vector<server::Route> record_routes(server::World& world);

}  // namespace belay::program
