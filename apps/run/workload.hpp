// SPDX-License-Identifier: Apache-2.0
// What the simulated ranks do: the seam between a run and its kinds of workload.
#pragma once

#include "apps/run/packet_totals.hpp"
#include "core/digest.hpp"
#include "core/lp.hpp"
#include "io/scenario/load.hpp"
#include "io/timeline/manifest.hpp"
#include "io/timeline/table.hpp"
#include "netmodels/exchange/domain_lp.hpp"
#include "netmodels/exchange/exchange_site.hpp"
#include "partitions/partition.hpp"
#include "workloads/devices/device.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

class Job;

// What one process counted.
struct RunShare {
    Digest digest;
    TransferCounters transfers;
    std::optional<PacketTotals> packets;  // when that is the network's model
    std::int64_t solver_bytes = 0;        // of the flow model, for its transfers
    std::int64_t unfinished_ranks = 0;
    Time last_finish;
    std::vector<std::int64_t> bundle_bytes, bundle_payload;  // by BundleId of the whole fabric
    // Largest load over mean load: sums in parts per million over samples, so that processes can add.
    struct Imbalance {
        std::int64_t ranks_ppm = 0, experts_ppm = 0, samples = 0;
    };
    Imbalance imbalance;
};

// One process's part of a workload: the LPs of its ranks, and what they make its domains do.
class WorkloadRun {
  public:
    virtual ~WorkloadRun() = default;
    // The LP of a rank of this process; called once for each, in ascending order.
    virtual LogicalProcess& add_rank(std::uint32_t rank) = 0;
    // Gives a domain of this process its protocols.
    virtual void add_protocols(DomainLp& domain) = 0;
    // The carrier of a site of this process; asked only where Workload::make_sites() made some.
    virtual ExchangeSite& add_site(SiteId site) = 0;
    // Emits the rows that sum over the run.
    virtual void emit_totals() = 0;
    // Ranks and whatever else only the workload knows.
    virtual void add_to(RunShare& share) const = 0;
    // For the report of a run that could not finish, in sentences: what is under way and does not come to an end, and
    // what at most so many unfinished ranks wait for.
    virtual std::vector<std::string> stuck_transfers() const = 0;
    virtual std::vector<std::string> waiting_ranks(std::size_t most) const = 0;
};

class Workload {
  public:
    struct Delay {
        Time time;
        std::string reason;  // "launch of dispatch"
    };
    struct Estimate {
        std::int64_t flows = 0, events = 0, operation_rows = 0, memory_bytes = 0;
        std::int64_t flows_at_once = 0, flow_bytes = 0;  // transfers on their way together; each in the solver's memory
        std::int64_t flow_links = 0, flow_link_bytes = 0;  // the same for links
        std::int64_t solver_bytes() const { return flows_at_once * flow_bytes + flow_links * flow_link_bytes; }
    };

    virtual ~Workload() = default;
    // Ranks are numbered from 0, as are their LPs.
    virtual std::uint32_t ranks() const = 0;
    virtual RankId place(std::uint32_t rank) const = 0;
    // Finds the ways of its traffic. Throws InputError when two ranks have none. What follows may be asked after it.
    virtual void lay_out() = 0;
    // That carry its traffic, ascending.
    virtual std::vector<DomainId> domains() const = 0;
    // Null when its sharing cannot be delayed.
    virtual std::unique_ptr<SiteMap> make_sites() const { return nullptr; }
    // The least time between a cause on one LP and its effect on another; chooses how they are split, where that is a
    // choice. Throws InputError when nothing is left.
    virtual Delay least_delay(Job const& job) = 0;
    // How much later than a row's time it may be written, beside what the network model adds.
    virtual Time row_delay() const { return {}; }

    // The transfers of a whole run. `job` has everything but its graph.
    virtual std::int64_t expected_flows() const = 0;
    virtual Estimate estimate(Job const& job) const = 0;
    // Rows of operations in all.
    virtual std::int64_t operations() const = 0;
    // Weights of ranks are set to what they handle; those of what carries traffic grow by it, and edges join them.
    virtual void add_to_graph(Job const& job, LpGraph& graph) const = 0;

    struct Wiring {
        Job const* job = nullptr;
        std::function<bool(LpId)> mine;
        TimelineSink* sink = nullptr;
    };
    virtual std::unique_ptr<WorkloadRun> make_run(Wiring wiring) const = 0;

    // For people and files.
    virtual std::string title() const = 0;        // "deepseek-r1"
    virtual std::string description() const = 0;  // of `orrery check`, in lines
    virtual std::string end_rows_text(Detail detail) const = 0;
    virtual std::vector<ManifestEntry> manifest() const { return {}; }
    // What a kind of operation is bound by, when it is no transfer; `mean` is what it took.
    virtual std::optional<OpPrice> price(OpKind kind) const = 0;
    virtual std::string formula(OpKind communication) const = 0;
    // Settings of the workload that turned out to have no effect, and what to know beside that.
    virtual std::vector<std::string> ignored() const { return {}; }
    virtual std::vector<std::string> warnings() const { return {}; }
};

}  // namespace orrery
