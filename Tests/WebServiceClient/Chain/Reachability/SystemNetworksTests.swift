#if os(Linux)
import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The kernel's own reports, in network namespaces that the tests change with `ip`.
///
/// They run in separate processes: a thread that a namespace's thread creates stays in that namespace, threads of the task pool
/// included, and every test that such a thread runs finds no network.
@Suite(.serialized) struct SystemNetworksTests {
    /// A new network namespace with the pair of interfaces `net0` and `net1`, and a monitor in it. The namespace belongs to a thread.
    private final class Namespace: Sendable {
        let latest = Locked<NetworkStatus?>(nil)
        let reports = Locked(0)

        /// Whether a namespace can be made here.
        static var isPossible: Bool {
            get async {
                let words = ["unshare", "--net", "ip", "link", "add", "net0", "type", "veth", "peer", "name", "net1"]
                return (try? await RunningProcess(words).end()) == 0
            }
        }

        /// Performs work in a new namespace, on a separate thread.
        static func run(buffer: Int32 = 0, _ body: @escaping @Sendable (Namespace) throws -> Void) async throws {
            try await onOwnThread {
                try #require(isolate())
                try #require(try ip(["link", "add", "net0", "type", "veth", "peer", "name", "net1"]))
                let namespace = Namespace()
                let stop = NetlinkMonitor.start(buffer: buffer) { status in
                    namespace.latest.withLock { $0 = status }
                    namespace.reports.withLock { $0 += 1 }
                }
                defer { stop() }
                try body(namespace)
            }
        }

        /// Gives the thread a network namespace. Swift's module of the C library doesn't have the function.
        private static func isolate() -> Bool {
            guard let address = dlsym(nil, "unshare") else { return false }
            let newNetwork: Int32 = 0x4000_0000
            return unsafeBitCast(address, to: (@convention(c) (Int32) -> Int32).self)(newNetwork) == 0
        }

        /// Runs `ip` in the namespace of this thread.
        @discardableResult
        static func ip(_ arguments: [String]) throws -> Bool {
            guard let process = try? RunningProcess(["ip"] + arguments) else { return false }
            let done = DispatchSemaphore(value: 0)
            let status = Locked<Int32>(-1)
            Task {
                let result = (try? await process.end()) ?? -1
                status.withLock { $0 = result }
                done.signal()
            }
            done.wait()
            return status.withLock { $0 } == 0
        }

        /// Makes changes, and waits for the status that follows from them.
        func after(_ changes: String..., is evidence: NetworkStatus.Evidence, v4: Bool = false, v6: Bool = false) throws {
            for change in changes { try Self.ip(change.split(separator: " ").map(String.init)) }
            let end = MonotonicInstant.now.advanced(by: .seconds(60))
            while MonotonicInstant.now < end {
                let status = latest.withLock { $0 }
                if let status, status.evidence == evidence, status.hasIPv4 == v4, status.hasIPv6 == v6 { return }
                usleep(2_000)
            }
            Issue.record("after \(changes): \(latest.withLock { $0 }.map { "\($0)" } ?? "no report"), not \(evidence) \(v4) \(v6)")
        }
    }

    @Test(.enabled("network namespaces can't be made here, which takes root and `ip`") { await Namespace.isPossible })
    func `each change of links, addresses and routes is seen`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                try await Namespace.run { net in
                    try net.after("link set lo up", is: .noLink)
                    try net.after("link set net0 up", is: .noLink)
                    // Without duplicate address detection: that of link-local addresses takes seconds.
                    try net.after("link set net1 up", is: .noAddress)
                    try net.after("addr add 192.0.2.5/24 dev net0", is: .noRoute)
                    try net.after("route add 198.51.100.0/24 via 192.0.2.1", is: .noRoute)
                    try net.after("route add default via 192.0.2.1", is: .defaultRoute, v4: true)
                    try net.after(
                        "-6 addr add 2001:db8::5/64 dev net0 nodad", "-6 route add default via 2001:db8::1", is: .defaultRoute, v4: true,
                        v6: true)
                    try net.after("route del default", is: .defaultRoute, v6: true)
                    try net.after("-6 route del default", is: .noRoute)
                    try net.after("route add blackhole default", is: .noRoute)
                    try net.after("route del blackhole default", "route add default via 192.0.2.1", is: .defaultRoute, v4: true)
                    // The kernel doesn't report the routes that disappear with a link.
                    try net.after("link set net0 down", is: .noLink)
                    try net.after("link set net0 up", "route add default via 192.0.2.1", is: .defaultRoute, v4: true)
                    try net.after("link set net1 down", is: .noLink)
                    try net.after("link set net1 up", is: .defaultRoute, v4: true)
                    try net.after("addr flush dev net0", is: .noAddress)
                    try net.after("link del net0", is: .noLink)
                }
            }
        }
    }

    @Test(.enabled("network namespaces can't be made here, which takes root and `ip`") { await Namespace.isPossible })
    func `an address counts once no other machine has it`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                try await Namespace.run { net in
                    try net.after("link set net0 up", "link set net1 up", is: .noAddress)
                    try net.after("-6 route add default via fe80::1 dev net0", is: .noAddress)
                    // It is tentative for a second.
                    try net.after("-6 addr add 2001:db8::5/64 dev net0", is: .defaultRoute, v6: true)
                }
            }
        }
    }

    @Test(.enabled("network namespaces can't be made here, which takes root and `ip`") { await Namespace.isPossible })
    func `lost messages cause another dump`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                try await Namespace.run(buffer: 1) { net in
                    // The smallest buffer of the kernel takes about two of its messages.
                    try net.after("link set lo up", "link set net0 up", "link set net1 up", is: .noAddress)
                    for number in 0..<40 { try Namespace.ip(["addr", "add", "10.0.\(number).5/24", "dev", "net0"]) }
                    try net.after("route add default via 10.0.0.1", is: .defaultRoute, v4: true)
                }
            }
        }
    }

    @Test func `this machine's networks are read while something observes them`() async throws {
        let reachability = Reachability(source: .system)
        let status = try await watched { () -> NetworkStatus? in
            for await status in reachability.changes { return status }
            return nil
        }
        #expect(status != nil)
        try await until { reachability.status.evidence == .nothing }
    }
}
#endif
