public import Foundation

/// The state of the system's networks at one moment, with the evidence for it.
///
/// No status proves that a service can or can't be reached: a link may lead nowhere, and a proxy or a VPN may work without a route. Use it
/// to explain failures, and to know when to try again; never to refuse a call.
public struct NetworkStatus: Sendable, Hashable {
    /// Whether the networks lead anywhere.
    public enum Availability: String, Sendable, Hashable, CaseIterable {
        /// There is a default route.
        case online
        /// There is no default route.
        case offline
        /// Nothing is known. It counts as online.
        case unknown
    }

    /// The evidence that a status is based on.
    public enum Evidence: String, Sendable, Hashable, CaseIterable {
        /// Nothing is known: the first report hasn't arrived, or a sandbox forbids asking.
        case nothing
        /// No network interface but the loopback is up and has a carrier.
        case noLink
        /// An interface is up, but none has an address that is valid beyond its link.
        case noAddress
        /// There is an address, but no default route of its family.
        case noRoute
        /// There is a default route, and an address of its family.
        case defaultRoute
    }

    /// The evidence.
    public var evidence: Evidence
    /// The date of the report; if several consecutive reports have the same evidence, the date of the first.
    public var date: Date
    /// Whether IPv4 has an address and a default route.
    public var hasIPv4: Bool
    /// Whether IPv6 has an address and a default route.
    public var hasIPv6: Bool
    /// Whether the connection is considered expensive, such as a cellular one; `nil` if the system doesn't say. Linux doesn't.
    public var isExpensive: Bool?
    /// Whether the user has chosen to use less data; `nil` if the system doesn't say. Linux doesn't.
    public var isConstrained: Bool?

    /// Creates a status, for a ``ReachabilitySource``.
    public init(
        _ evidence: Evidence, hasIPv4: Bool = false, hasIPv6: Bool = false, isExpensive: Bool? = nil, isConstrained: Bool? = nil,
        date: Date = Date()
    ) {
        self.evidence = evidence
        self.date = date
        self.hasIPv4 = hasIPv4
        self.hasIPv6 = hasIPv6
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// Whether the networks lead anywhere, by the evidence.
    public var availability: Availability {
        switch evidence {
        case .nothing: .unknown
        case .noLink, .noAddress, .noRoute: .offline
        case .defaultRoute: .online
        }
    }

    /// Whether both are the same except for their dates.
    func isSame(as other: NetworkStatus) -> Bool {
        var other = other
        other.date = date
        return self == other
    }
}

extension NetworkStatus: CustomStringConvertible {
    /// The availability and the evidence, such as `offline: no default route`.
    public var description: String {
        let reason =
            switch evidence {
            case .nothing: "the system doesn't say"
            case .noLink: "no link is up"
            case .noAddress: "no address"
            case .noRoute: "no default route"
            case .defaultRoute: "a default route" + families
            }
        let traits = [isExpensive == true ? "expensive" : nil, isConstrained == true ? "constrained" : nil].compactMap(\.self)
        return ([availability.rawValue + ": " + reason] + traits).joined(separator: ", ")
    }

    private var families: String {
        switch (hasIPv4, hasIPv6) {
        case (true, true): " for IPv4 and IPv6"
        case (true, false): " for IPv4"
        case (false, true): " for IPv6"
        case (false, false): ""
        }
    }
}

/// The statuses of the network, as an asynchronous sequence: the current one, then one after each change. A slow reader misses statuses in
/// between, but always gets the latest. A change that lasts less than half a second may be left out.
///
///     for await status in Reachability.system.changes { print(status) }
public struct NetworkChanges: AsyncSequence, Sendable {
    /// A status.
    public typealias Element = NetworkStatus

    let reachability: Reachability

    /// Returns an iterator. The system is observed as long as the iterator exists.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observation = reachability.observe { continuation.yield() }
        return Iterator(reachability: reachability, observation: observation, signals: stream.makeAsyncIterator())
    }

    /// An iterator over the statuses.
    public struct Iterator: AsyncIteratorProtocol {
        let reachability: Reachability
        let observation: Reachability.Observation
        var signals: AsyncStream<Void>.AsyncIterator
        var last: NetworkStatus?

        /// The next status; `nil` if the task is cancelled.
        public mutating func next() async -> NetworkStatus? {
            while await signals.next() != nil {
                // Signals carry no status, so an older status never follows a newer one.
                guard let status = reachability.published, last.map({ !$0.isSame(as: status) }) ?? true else { continue }
                last = status
                return status
            }
            return nil
        }
    }
}

/// The latest outcomes of calls to an origin. A response is the strongest evidence that the origin can be reached.
public struct OriginContact: Sendable, Hashable {
    /// The date of the last response, whatever its status; `nil` if there was none.
    public internal(set) var responded: Date?
    /// The date of the last call that failed without a response; `nil` if none failed.
    public internal(set) var failed: Date?
    /// The kind of that failure.
    public internal(set) var failure: TransportError.Code?
    /// The instant of ``responded``, which doesn't depend on the system's date.
    var instant: MonotonicInstant?
}
