// SPDX-License-Identifier: Apache-2.0
#include "partitions/agree_failure.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace orrery {

Failure agree_failure(Failure const& mine, MPI_Comm comm) {
    int index = 0, count = 1;
    MPI_Comm_rank(comm, &index);
    MPI_Comm_size(comm, &count);
    using Words = std::array<std::int64_t, 4>;
    Words const my_words = {static_cast<std::int64_t>(mine.kind), mine.when.ps(), mine.lp.value(),
                            static_cast<std::int64_t>(mine.message.size())};
    std::vector<Words> words(static_cast<std::size_t>(count));
    MPI_Allgather(my_words.data(), 4, MPI_INT64_T, words.data(), 4, MPI_INT64_T, comm);

    Failure first;
    int origin = 0;
    for (int process = 0; process < count; ++process) {
        auto const& [kind, when, lp, size] = words[static_cast<std::size_t>(process)];
        Failure const other{
            static_cast<Failure::Kind>(kind), Time::from_ps(when), LpId(static_cast<std::uint32_t>(lp)), {}};
        if (earlier(other, first)) {
            first = other;
            origin = process;
        }
    }
    first.message = mine.message;
    first.message.resize(static_cast<std::size_t>(words[static_cast<std::size_t>(origin)][3]));
    MPI_Bcast(first.message.data(), static_cast<int>(first.message.size()), MPI_CHAR, origin, comm);
    return first;
}

}  // namespace orrery
