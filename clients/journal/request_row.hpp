// The columns of `request` that Store::row_of reads, and two more that Store::summary_of reads.
#pragma once

#define REQUEST_ROW                                                                \
    "SELECT seq, id, request, received_at, outcome, outcome_reason, finished_at, " \
    "safeguard, freed_room, freed_room_reason, untaken, freed_room_at, takers"

#define REQUEST_DELETIONS                                                          \
    ", (SELECT count(DISTINCT server) FROM step WHERE step.request = request.seq " \
    "AND step.step IN ('delete-sent', 'force-delete-sent')), "                     \
    "(SELECT count(*) FROM chosen WHERE chosen.request = request.seq)"
