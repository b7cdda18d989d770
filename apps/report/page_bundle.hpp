// SPDX-License-Identifier: Apache-2.0
// The JavaScript of all pages, as web/ was bundled at build time. Empty: there was no npm.
#pragma once

#include <string_view>

namespace orrery {

std::string_view page_bundle();

}  // namespace orrery
