// SPDX-License-Identifier: Apache-2.0
// Walks a YAML tree against the descriptors and fills the draft.
#pragma once

#include "io/scenario/document.hpp"
#include "io/scenario/draft.hpp"
#include "io/scenario/schema.hpp"

#include <string>

namespace orrery::loader {

class Reader {
  public:
    // `source` is the file, or the --set argument the document was part of.
    Reader(Document const& document, std::string source, Positions positions, Draft& draft)
        : document_(document), source_(std::move(source)), positions_(positions), draft_(draft) {}

    // The map `node` into the message at `path` ("" for the whole scenario).
    void read_group(Node const& node, Message& message, std::string const& path);
    // Any node into a field of the message; `path` is the field's.
    void read_field(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path);

  private:
    void read_list(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path);
    void read_scalar(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path);
    void refuse(Mark mark, std::string const& path, std::string const& what);
    Place place(Mark mark) const { return {source_, positions_ == Positions::shown ? mark : Mark{}}; }

    Document const& document_;
    std::string source_;
    Positions positions_;
    Draft& draft_;
};

// Forgets what was read at and below the path (a later --set replaces it).
void forget_below(Draft& draft, std::string const& path);

}  // namespace orrery::loader
