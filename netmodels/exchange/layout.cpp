// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/layout.hpp"

#include <algorithm>

namespace orrery {

GroupLayout::GroupLayout(Fabric const& fabric, RankId first, std::uint32_t members) {
    std::map<DomainId, std::vector<std::uint32_t>> counts;
    auto const rank = [first](std::uint32_t member) { return RankId{first.value() + member}; };
    for (std::uint32_t source = 0; source < members; ++source)
        for (std::uint32_t target = 0; target < members; ++target) {
            if (source == target) continue;
            auto& count = counts[fabric.route(rank(source), rank(target)).domain];
            count.resize(members, 0);
            ++count[target];
        }
    for (auto& [domain, count] : counts) {
        Part part{domain, std::move(count), 0, counts.size() == 1};
        for (auto& senders : part.senders_to)
            if (senders > 0) {
                ++senders;  // the member itself
                ++part.participants;
            }
        parts_.push_back(std::move(part));
    }
}

GroupLayout::Part const* GroupLayout::part(DomainId domain) const {
    auto const it = std::find_if(parts_.begin(), parts_.end(), [&](Part const& p) { return p.domain == domain; });
    return it == parts_.end() ? nullptr : &*it;
}

std::vector<DomainId> GroupLayout::domains_of(std::uint32_t member) const {
    std::vector<DomainId> domains;
    for (auto const& part : parts_)
        if (part.senders_to[member] > 0) domains.push_back(part.domain);
    return domains;
}

}  // namespace orrery
