// SPDX-License-Identifier: Apache-2.0
// GoogleTest under mpirun: one report, from process 0, that holds the failures of all; one exit code.
#include "tests/mpi/mpi_gtest_main.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace orrery::test {
namespace {

World* the_world = nullptr;

// Forwards to the usual printer on process 0; elsewhere collects failures and ships them when a test ends.
class GatheringPrinter final : public testing::EmptyTestEventListener {
  public:
    explicit GatheringPrinter(std::unique_ptr<testing::TestEventListener> printer) : printer_(std::move(printer)) {}

    void OnTestProgramStart(testing::UnitTest const& unit) override {
        if (world().root()) printer_->OnTestProgramStart(unit);
    }
    void OnTestStart(testing::TestInfo const& info) override {
        world().barrier();
        failures_.clear();
        if (world().root()) printer_->OnTestStart(info);
    }
    void OnTestPartResult(testing::TestPartResult const& result) override {
        if (world().root()) return printer_->OnTestPartResult(result);
        if (!result.failed()) return;
        failures_ += "[process " + std::to_string(world().index()) + "] " +
                     (result.file_name() ? result.file_name() : "?") + ":" + std::to_string(result.line_number()) +
                     "\n" + result.message() + "\n";
    }
    void OnTestEnd(testing::TestInfo const& info) override {
        std::string elsewhere;
        for (auto const& text : world().gather(failures_)) elsewhere += text;
        if (!world().root()) return;
        if (!elsewhere.empty()) ADD_FAILURE() << elsewhere;
        printer_->OnTestEnd(info);
    }
    void OnTestIterationEnd(testing::UnitTest const& unit, int iteration) override {
        if (world().root()) printer_->OnTestIterationEnd(unit, iteration);
    }

  private:
    std::unique_ptr<testing::TestEventListener> printer_;
    std::string failures_;
};

}  // namespace

World& world() {
    return *the_world;
}

}  // namespace orrery::test

int main(int argc, char** argv) {
    orrery::World world(argc, argv);
    orrery::test::the_world = &world;
    testing::InitGoogleTest(&argc, argv);
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    std::unique_ptr<testing::TestEventListener> printer(listeners.Release(listeners.default_result_printer()));
    listeners.Append(new orrery::test::GatheringPrinter(std::move(printer)));        // owned by GoogleTest
    if (!world.root()) delete listeners.Release(listeners.default_xml_generator());  // one XML file, from process 0
    int const mine = RUN_ALL_TESTS();
    return static_cast<int>(world.max(std::int64_t{mine}));
}
