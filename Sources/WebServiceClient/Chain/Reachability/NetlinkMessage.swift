/// A message of the kernel about links, addresses or routes (rtnetlink(7)). Numbers are in the machine's byte order.
///
/// The reader accepts any bytes: a length that doesn't fit ends the list, and an attribute that doesn't fit ends its message's attributes.
struct NetlinkMessage: Hashable {
    /// The content of a message.
    enum Content: Hashable {
        case link(Link)
        case address(Address)
        case route(Route)
        /// The end of a dump.
        case done
        /// An error number of the kernel; 0 for an acknowledgement.
        case error(Int32)
        /// Messages were lost (NLMSG_OVERRUN).
        case overrun
        /// Any other message.
        case other
    }

    /// A network interface.
    struct Link: Hashable {
        let index: Int32
        let flags: UInt32

        /// Whether it is up, has a carrier, and isn't the loopback.
        var isUsable: Bool { flags & (Flags.up | Flags.running | Flags.loopback) == Flags.up | Flags.running }
    }

    /// An address of an interface.
    struct Address: Hashable {
        let isVersion6: Bool
        let scope: UInt8
        let flags: UInt32
        let link: Int32

        /// Whether it is valid beyond its link, and duplicate address detection has passed or is optimistic (RFC 4429).
        var isUsable: Bool {
            guard scope < Flags.linkScope, flags & Flags.duplicate == 0 else { return false }
            return flags & Flags.tentative == 0 || flags & Flags.optimistic != 0
        }
    }

    /// A route.
    struct Route: Hashable {
        let isVersion6: Bool
        /// The number of bits of its destination; 0 for a default route.
        let bits: UInt8
        /// Whether it leads to other machines, and isn't a cached one.
        let isUnicast: Bool
        /// The interfaces that it leads to, without those that are down; empty if the message names none.
        let links: [Int32]
        /// Whether all interfaces that the message names are down, or, if it names none, the route itself is marked as down.
        let isDead: Bool

        var isDefault: Bool { bits == 0 && isUnicast && !isDead }
    }

    let content: Content
    /// The number of the request that it answers. A change has the number of the request that caused it, usually of another process.
    let number: UInt32
    /// Whether it belongs to a multipart message (NLM_F_MULTI).
    let isPart: Bool
    /// Whether the dump that it belongs to was interrupted by a change (NLM_F_DUMP_INTR).
    let isInterrupted: Bool

    /// Reads all messages.
    ///
    /// - Returns: The messages, and whether the bytes end with a whole one.
    static func all(in bytes: [UInt8]) -> (messages: [NetlinkMessage], isComplete: Bool) {
        var messages: [NetlinkMessage] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let length = rest.number(at: 0, as: UInt32.self).flatMap({ Int(exactly: $0) }), length >= headerSize, length <= rest.count
            else { return (messages, false) }
            guard let message = NetlinkMessage(rest.prefix(length)) else { return (messages, false) }
            messages.append(message)
            rest = rest.dropFirst(aligned(length))
        }
        return (messages, true)
    }

    private init?(_ bytes: ArraySlice<UInt8>) {
        guard let type = bytes.number(at: 4, as: UInt16.self), let flags = bytes.number(at: 6, as: UInt16.self),
            let number = bytes.number(at: 8, as: UInt32.self)
        else { return nil }
        self.number = number
        isPart = flags & Flags.part != 0
        isInterrupted = flags & Flags.interrupted != 0
        let body = bytes.dropFirst(Self.headerSize)
        let content: Content? =
            switch Kind(rawValue: type) {
            case .link: Self.link(body).map { .link($0) }
            case .address: Self.address(body).map { .address($0) }
            case .route: Self.route(body).map { .route($0) }
            case .done: .done
            case .error: body.number(at: 0, as: Int32.self).map { .error($0 == .min ? 0 : abs($0)) }
            case .overrun: .overrun
            case nil: .other
            }
        guard let content else { return nil }
        self.content = content
    }

    // MARK: Bodies

    private static func link(_ body: ArraySlice<UInt8>) -> Link? {
        guard let index = body.number(at: 4, as: Int32.self), let flags = body.number(at: 8, as: UInt32.self), body.count >= 16 else {
            return nil
        }
        return Link(index: index, flags: flags)
    }

    private static func address(_ body: ArraySlice<UInt8>) -> Address? {
        guard let family = body.number(at: 0, as: UInt8.self), let flags = body.number(at: 2, as: UInt8.self),
            let scope = body.number(at: 3, as: UInt8.self), let link = body.number(at: 4, as: Int32.self)
        else { return nil }
        // The attribute has all flags; the header has the lowest eight.
        var all = UInt32(flags)
        attributes(in: body.dropFirst(8)) { type, value in
            if type == Flags.addressFlags, let flags = value.number(at: 0, as: UInt32.self) { all = flags }
        }
        return Address(isVersion6: family == Flags.version6, scope: scope, flags: all, link: link)
    }

    private static func route(_ body: ArraySlice<UInt8>) -> Route? {
        guard body.count >= 12, let family = body.number(at: 0, as: UInt8.self), let bits = body.number(at: 1, as: UInt8.self),
            let type = body.number(at: 7, as: UInt8.self), let flags = body.number(at: 8, as: UInt32.self)
        else { return nil }
        var links: [Int32] = []
        var named = 0
        func add(_ link: Int32, _ state: UInt32) {
            named += 1
            if state & (Flags.dead | Flags.linkDown) == 0 { links.append(link) }
        }
        attributes(in: body.dropFirst(12)) { kind, value in
            if kind == Flags.routeLink, let link = value.number(at: 0, as: Int32.self) { add(link, flags) }
            guard kind == Flags.routeHops else { return }
            var hops = value
            while let length = hops.number(at: 0, as: UInt16.self).map(Int.init), length >= 8, length <= hops.count,
                let state = hops.number(at: 2, as: UInt8.self), let link = hops.number(at: 4, as: Int32.self)
            {
                add(link, UInt32(state))
                hops = hops.dropFirst(aligned(length))
            }
        }
        return Route(
            isVersion6: family == Flags.version6, bits: bits, isUnicast: type == Flags.unicast && flags & Flags.cached == 0, links: links,
            isDead: named > 0 ? links.isEmpty : flags & (Flags.dead | Flags.linkDown) != 0)
    }

    private static func attributes(in bytes: ArraySlice<UInt8>, _ body: (UInt16, ArraySlice<UInt8>) -> Void) {
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 4, length <= rest.count,
            let type = rest.number(at: 2, as: UInt16.self)
        {
            // The upper two bits are flags for nested values and network byte order.
            body(type & 0x3FFF, rest.prefix(length).dropFirst(4))
            rest = rest.dropFirst(aligned(length))
        }
    }

    // MARK: Numbers of the kernel

    static let headerSize = 16

    /// The types of the messages that are read.
    enum Kind: UInt16 {
        case error = 2
        case done = 3
        case overrun = 4
        /// RTM_NEWLINK.
        case link = 16
        /// RTM_NEWADDR.
        case address = 20
        /// RTM_NEWROUTE.
        case route = 24

        /// The type of the request for all objects of the kind, which follows those for new and deleted ones.
        var request: UInt16 { rawValue + 2 }
    }

    enum Flags {
        static let part: UInt16 = 0x2
        static let interrupted: UInt16 = 0x10
        // Interfaces: IFF_UP, IFF_LOOPBACK, IFF_RUNNING.
        static let up: UInt32 = 0x1
        static let loopback: UInt32 = 0x8
        static let running: UInt32 = 0x40
        // Addresses: IFA_F_OPTIMISTIC, IFA_F_DADFAILED, IFA_F_TENTATIVE, RT_SCOPE_LINK, IFA_FLAGS.
        static let optimistic: UInt32 = 0x4
        static let duplicate: UInt32 = 0x8
        static let tentative: UInt32 = 0x40
        static let linkScope: UInt8 = 253
        static let addressFlags: UInt16 = 8
        // Routes: RTN_UNICAST, RTM_F_CLONED, RTNH_F_DEAD, RTNH_F_LINKDOWN, RTA_OIF, RTA_MULTIPATH.
        static let unicast: UInt8 = 1
        static let cached: UInt32 = 0x200
        static let dead: UInt32 = 0x1
        static let linkDown: UInt32 = 0x10
        static let routeLink: UInt16 = 4
        static let routeHops: UInt16 = 9
        /// AF_INET6 of Linux.
        static let version6: UInt8 = 10
    }

    /// The next multiple of four: where the next message, attribute or hop begins.
    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension ArraySlice<UInt8> {
    /// A number at an offset, in the byte order of the machine; `nil` if there are too few bytes.
    fileprivate func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        let bytes = dropFirst(offset).prefix(MemoryLayout<Number>.size)
        guard bytes.count == MemoryLayout<Number>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
    }
}
