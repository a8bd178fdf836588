import CSystemLibraries
import Dispatch
import Foundation
import HTTPTransport

#if canImport(Network)
import Network
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension ReachabilitySource {
    /// The system's reports.
    static let system = ReachabilitySource { report in
        #if canImport(Network)
        PathMonitor.start(report)
        #else
        NetlinkMonitor.start(report)
        #endif
    }
}

#if canImport(Network)
/// The system's path monitor. It can't be started again after its end, so each run makes a new one. Its first report is asynchronous.
private enum PathMonitor {
    static func start(_ report: @escaping @Sendable (NetworkStatus) -> Void) -> @Sendable () -> Void {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in report(status(of: path)) }
        monitor.start(queue: DispatchQueue(label: "Reachability", qos: .utility))
        return { monitor.cancel() }
    }

    private static func status(of path: NWPath) -> NetworkStatus {
        let evidence: NetworkStatus.Evidence =
            switch path.status {
            case .satisfied: .defaultRoute
            case .unsatisfied: path.availableInterfaces.isEmpty ? .noLink : .noRoute
            // A connection may bring up a VPN or a modem.
            case .requiresConnection: .nothing
            @unknown default: .nothing
            }
        return NetworkStatus(
            evidence, hasIPv4: path.supportsIPv4, hasIPv6: path.supportsIPv6, isExpensive: path.isExpensive,
            isConstrained: path.isConstrained)
    }
}
#endif

/// Reads the state of links, addresses and routes over netlink, on one dispatch queue. Where that is forbidden, it reports that nothing is
/// known.
final class NetlinkMonitor: Sendable {
    private struct State {
        var dump = NetlinkDump()
        /// The instant when the last dump began.
        var begun: MonotonicInstant?
        var source: (any DispatchSourceRead)?
        var isOver = false
    }

    /// The time for which further changes are collected after a change.
    private static let gathering = Duration.milliseconds(100)
    /// The shortest time between the beginnings of two dumps.
    private static let interval = Duration.milliseconds(250)
    /// The size of the buffer: the kernel's messages have at most 32 KiB.
    private static let bufferSize = 64 * 1024

    private let socket: Int32
    private let queue = DispatchQueue(label: "Reachability", qos: .utility)
    private let report: @Sendable (NetworkStatus) -> Void
    private let state = Locked(State())

    /// Starts a monitor.
    ///
    /// - Parameter buffer: The size of the socket's receive buffer; 0 for the system's.
    static func start(buffer: Int32 = 0, _ report: @escaping @Sendable (NetworkStatus) -> Void) -> @Sendable () -> Void {
        let socket = csl_netlink_open(buffer)
        guard socket >= 0 else {
            report(NetworkStatus(.nothing))
            return {}
        }
        let monitor = NetlinkMonitor(socket, report)
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: monitor.queue)
        source.setEventHandler { monitor.read() }
        // A closed descriptor may be reused, so it is closed only when no handler can run any more.
        source.setCancelHandler { close(socket) }
        monitor.state.withLock { $0.source = source }
        source.activate()
        monitor.queue.async { monitor.begin() }
        return { monitor.end() }
    }

    /// Ends the monitor. Until then, the source's handlers retain it.
    private func end() {
        let source = state.withLock { state in
            state.isOver = true
            defer { state.source = nil }
            return state.source
        }
        source?.cancel()
    }

    private init(_ socket: Int32, _ report: @escaping @Sendable (NetworkStatus) -> Void) {
        self.socket = socket
        self.report = report
    }

    private func begin() {
        let step = state.withLock { state -> NetlinkDump.Step? in
            guard !state.isOver else { return nil }
            state.begun = .now
            return state.dump.begin()
        }
        if let step { perform([step]) }
    }

    /// Reads until the socket is empty.
    private func read() {
        var bytes = [UInt8](repeating: 0, count: Self.bufferSize)
        while !state.withLock({ $0.isOver }) {
            let count = bytes.withUnsafeMutableBytes { csl_netlink_receive(socket, $0.baseAddress, Int64($0.count)) }
            guard count != 0 else { return }
            let steps = state.withLock { state in
                count > 0 ? state.dump.receive(Array(bytes.prefix(Int(count)))) : state.dump.loses()
            }
            perform(steps)
            // Errors other than a loss may be permanent.
            if count < 0, count != -Int64(ENOBUFS), count != -Int64(EMSGSIZE) { return }
        }
    }

    private func perform(_ steps: [NetlinkDump.Step]) {
        for step in steps {
            switch step {
            case .request(let kind, let number):
                guard csl_netlink_dump(socket, kind.request, number) != 0 else { continue }
                state.withLock { $0.dump.fails() }
                report(NetworkStatus(.nothing))
            case .restart:
                let passed = state.withLock { $0.begun }.map { MonotonicInstant.now - $0 } ?? Self.interval
                let wait = max(Self.gathering, Self.interval - passed)
                queue.asyncAfter(deadline: .now() + wait / .seconds(1)) { [weak self] in self?.begin() }
            case .report(let table):
                report(table.status(at: Date()))
            case .refused:
                report(NetworkStatus(.nothing))
            }
        }
    }
}
