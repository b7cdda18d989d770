// SPDX-License-Identifier: Apache-2.0
// A grid whose points are joined along lines: coordinates, walks and cuts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery {

// Points of a grid as numbers, the first coordinate running fastest.
class Grid {
  public:
    explicit Grid(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {
        for (auto const size : sizes_) points_ *= size;
    }
    std::uint64_t points() const { return points_; }
    std::uint32_t dimensions() const { return static_cast<std::uint32_t>(sizes_.size()); }
    std::uint32_t size(std::uint32_t dimension) const { return sizes_[dimension]; }
    std::uint32_t stride(std::uint32_t dimension) const {
        std::uint32_t stride = 1;
        for (std::uint32_t d = 0; d < dimension; ++d) stride *= sizes_[d];
        return stride;
    }
    std::uint32_t place(std::uint32_t point, std::uint32_t dimension) const {
        return point / stride(dimension) % sizes_[dimension];
    }
    // Calls visit(a, b) for all points that differ in one coordinate, a below b.
    template <class Visit>
    void for_each_pair(Visit const& visit) const {
        for (std::uint32_t a = 0; a < points_; ++a)
            for (std::uint32_t d = 0; d < dimensions(); ++d)
                for (auto up = place(a, d) + 1; up < sizes_[d]; ++up) visit(a, a + (up - place(a, d)) * stride(d));
    }
    // Calls visit(point) for each point on the way from one to another, a coordinate at a time, the last included.
    template <class Visit>
    void walk(std::uint32_t from, std::uint32_t to, Visit const& visit) const {
        for (std::uint32_t d = 0; d < dimensions(); ++d) {
            if (place(from, d) == place(to, d)) continue;
            from += (place(to, d) - place(from, d)) * stride(d);
            visit(from);
        }
    }
    // Lines with more than one point: the most steps of a walk.
    std::int64_t longest() const {
        return std::count_if(sizes_.begin(), sizes_.end(), [](auto size) { return size > 1; });
    }
    // Links of one direction that the cheapest cut across the middle of a dimension takes.
    std::int64_t cut() const {
        std::int64_t least = 0;
        for (auto const size : sizes_) {
            std::int64_t const half = size / 2;
            auto const links = half * (size - half) * static_cast<std::int64_t>(points_ / size);
            if (size > 1 && (least == 0 || links < least)) least = links;
        }
        return least;
    }

  private:
    std::vector<std::uint32_t> sizes_;
    std::uint64_t points_ = 1;
};

}  // namespace orrery
