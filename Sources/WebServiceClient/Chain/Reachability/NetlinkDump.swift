import Foundation

/// The links, addresses and routes of a machine at one moment.
struct NetworkTable: Hashable {
    var links: [NetlinkMessage.Link] = []
    var addresses: [NetlinkMessage.Address] = []
    var routes: [NetlinkMessage.Route] = []

    /// The status that follows from the table.
    func status(at date: Date) -> NetworkStatus {
        let usable = Set(links.filter(\.isUsable).map(\.index))
        guard !usable.isEmpty else { return NetworkStatus(.noLink, date: date) }
        let found = addresses.filter { $0.isUsable && usable.contains($0.link) }
        guard !found.isEmpty else { return NetworkStatus(.noAddress, date: date) }
        // Bridges and the like are up and have addresses without leading anywhere, so a default route decides.
        func leadsOut(_ isVersion6: Bool) -> Bool {
            guard found.contains(where: { $0.isVersion6 == isVersion6 }) else { return false }
            return routes.contains { route in
                guard route.isVersion6 == isVersion6, route.isDefault else { return false }
                return route.links.isEmpty || route.links.contains(where: usable.contains)
            }
        }
        let (fourth, sixth) = (leadsOut(false), leadsOut(true))
        return NetworkStatus(fourth || sixth ? .defaultRoute : .noRoute, hasIPv4: fourth, hasIPv6: sixth, date: date)
    }
}

/// Reads the whole state from a netlink socket, and again after each change. The value has no side effects: its owner performs the steps.
///
/// Changes aren't applied to the old state, because the kernel doesn't report all of them: the IPv4 routes of an interface that goes down
/// disappear silently. They only cause another dump. The socket is subscribed to changes before the first dump, so none is missed.
struct NetlinkDump {
    /// The next step of the owner.
    enum Step: Hashable {
        /// Requests all objects of a kind, with a number.
        case request(NetlinkMessage.Kind, number: UInt32)
        /// Waits a moment, and then calls ``begin()``, because changes often come in groups.
        case restart
        /// The state is complete.
        case report(NetworkTable)
        /// The kernel refuses to answer.
        case refused(Int32)
    }

    /// The order of the requests.
    private static let kinds: [NetlinkMessage.Kind] = [.link, .address, .route]
    /// The number of consecutive dumps that changes may spoil. The result of the next one is used in any case: on a machine that changes
    /// all the time, a slightly wrong state is better than none.
    static let patience = 5
    /// Linux's EBUSY: the socket hasn't delivered an earlier dump completely.
    private static let isBusy: Int32 = 16

    private var number: UInt32
    private var kind: NetlinkMessage.Kind?
    private var table = NetworkTable()
    private var isSpoilt = false
    private var spoilt = 0
    /// Whether a requested restart hasn't begun yet.
    private var isRestarting = false

    /// - Parameter number: The first request's number minus one.
    init(number: UInt32 = .random(in: 1...1_000_000)) {
        self.number = number
    }

    /// Begins a dump.
    mutating func begin() -> Step {
        isRestarting = false
        isSpoilt = false
        table = NetworkTable()
        return request(.link)
    }

    private mutating func request(_ kind: NetlinkMessage.Kind) -> Step {
        self.kind = kind
        number &+= 1
        return .request(kind, number: number)
    }

    /// Ends the dump, because its request wasn't sent. The next change begins another one.
    mutating func fails() { kind = nil }

    /// Handles bytes that the socket received.
    mutating func receive(_ bytes: [UInt8]) -> [Step] {
        let (messages, isComplete) = NetlinkMessage.all(in: bytes)
        var steps: [Step] = []
        for message in messages { steps += receive(message) }
        if !isComplete { steps += loses() }
        return steps
    }

    /// Handles a loss of messages.
    mutating func loses() -> [Step] {
        // The end of the dump may be among them.
        kind = nil
        return restart()
    }

    private mutating func receive(_ message: NetlinkMessage) -> [Step] {
        if case .overrun = message.content { return loses() }
        guard let kind, message.number == number else { return changed(by: message) }
        if case .error(let error) = message.content {
            if error == Self.isBusy { return loses() }
            self.kind = nil
            return error == 0 ? [] : [.refused(error)]
        }
        guard message.isPart else { return changed(by: message) }
        if message.isInterrupted { isSpoilt = true }
        switch message.content {
        case .link(let link): table.links.append(link)
        case .address(let address): table.addresses.append(address)
        case .route(let route):
            // A machine may have thousands of routes, and only default routes matter.
            if route.isDefault { table.routes.append(route) }
        case .done: return finished(kind)
        case .error, .overrun, .other: break
        }
        return []
    }

    private mutating func finished(_ kind: NetlinkMessage.Kind) -> [Step] {
        if let index = Self.kinds.firstIndex(of: kind), index + 1 < Self.kinds.count { return [request(Self.kinds[index + 1])] }
        self.kind = nil
        guard isSpoilt else {
            spoilt = 0
            return [.report(table)]
        }
        spoilt += 1
        guard spoilt > Self.patience else { return restart() }
        spoilt = 0
        return [.report(table)] + restart()
    }

    /// Handles a change. The result of a dump in progress may or may not include it.
    private mutating func changed(by message: NetlinkMessage) -> [Step] {
        switch message.content {
        case .done, .error, .overrun: return []
        case .link, .address, .route, .other:
            guard kind == nil else {
                isSpoilt = true
                return []
            }
            return restart()
        }
    }

    private mutating func restart() -> [Step] {
        guard !isRestarting else { return [] }
        isRestarting = true
        return [.restart]
    }
}

@_spi(Fuzzing) extension NetworkStatus {
    /// The status that follows from the kernel's messages; `nil` if the last message is incomplete.
    public init?(netlink bytes: [UInt8]) {
        let (messages, isComplete) = NetlinkMessage.all(in: bytes)
        guard isComplete else { return nil }
        var table = NetworkTable()
        for message in messages {
            switch message.content {
            case .link(let link): table.links.append(link)
            case .address(let address): table.addresses.append(address)
            case .route(let route): table.routes.append(route)
            case .done, .error, .overrun, .other: break
            }
        }
        self = table.status(at: Date())
    }
}
