import Foundation

/// The cookies of a jar, indexed by domain: a value without a lock and without a file.
///
/// The cookies of each domain are kept in the order in which they are sent, so that they needn't be sorted for each call.
struct CookieStore: Sendable {
    /// The maximum number of cookies of a domain (RFC 6265bis §6.1 asks for 50 at least).
    static let domainLimit = 180
    /// The maximum number of cookies of all domains.
    static let limit = 3000
    /// The maximum number of cookies and bytes of a `Cookie` field. Servers refuse longer ones, so a server that sets too many cookies
    /// could make itself unreachable. curl has the same limits.
    static let sentLimit = (cookies: 150, bytes: 8190)

    /// A cookie with what each request needs of it, prepared.
    struct Entry: Sendable {
        let cookie: Cookie
        /// The order of creation. Dates may be equal, or go backwards.
        let serial: UInt64
        /// The order of the last use, for eviction.
        var access: UInt64
        /// Name and value as sent.
        let pair: [UInt8]
        let path: [UInt8]
        private let end: TimeInterval

        init(_ cookie: Cookie, serial: UInt64, access: UInt64) {
            self.cookie = cookie
            self.serial = serial
            self.access = access
            pair = (cookie.nameBytes.isEmpty ? [] : cookie.nameBytes + [UInt8(ascii: "=")]) + cookie.valueBytes
            path = Array(cookie.path.utf8)
            end = cookie.expires?.timeIntervalSinceReferenceDate ?? .infinity
        }

        func isExpired(at now: TimeInterval) -> Bool { end <= now }

        /// Whether the cookie is sent (RFC 6265bis §5.8.3) with a request whose host has, or is, its domain.
        ///
        /// - Parameter isHost: Whether the host is the domain.
        func matches(_ place: CookiePlace, isHost: Bool, at now: TimeInterval) -> Bool {
            (isHost || !cookie.isHostOnly) && (place.isSecure || !cookie.isSecure) && end > now && place.isBelow(path: path)
        }
    }

    private var domains: [String: [Entry]] = [:]
    private(set) var count = 0
    private var serial: UInt64 = 0
    private var access: UInt64 = 0
    /// The keys of the cookies that the file doesn't have in their current state; `nil` without a file.
    private(set) var changes: Set<Cookie.Key>?
    /// Whether the file keeps session cookies too.
    private let keepsSessionCookies: Bool

    init(tracksChanges: Bool = false, keepsSessionCookies: Bool = false) {
        changes = tracksChanges ? [] : nil
        self.keepsSessionCookies = keepsSessionCookies
    }

    // MARK: Reading

    /// The cookies that haven't ended, in the order of creation.
    func all(at now: Date) -> [Cookie] {
        domains.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.serial < $1.serial }.map(\.cookie)
    }

    /// The cookies for a place, in the order of sending.
    func cookies(for place: CookiePlace, at now: Date) -> [Cookie] {
        positions(for: place, at: now.timeIntervalSinceReferenceDate).map { domains.values[$0.domain][$0.index].cookie }
    }

    private struct Position {
        let domain: Dictionary<String, [Entry]>.Values.Index
        let index: Int
        let pathLength: Int
        let serial: UInt64
    }

    /// The positions of the cookies for a place, in the order of sending: longer paths first, then earlier ones (RFC 6265bis §5.8.3).
    private func positions(for place: CookiePlace, at now: TimeInterval) -> [Position] {
        var positions: [Position] = []
        var contributing = 0
        var isHost = true
        place.forEachDomain { domain in
            defer { isHost = false }
            guard let bucket = domains.index(forKey: domain) else { return }
            let before = positions.count
            positions.reserveCapacity(before + domains.values[bucket].count)
            domains.values[bucket].withUnsafeBufferPointer { entries in
                for index in entries.indices where entries[index].matches(place, isHost: isHost, at: now) {
                    positions.append(
                        Position(domain: bucket, index: index, pathLength: entries[index].path.count, serial: entries[index].serial))
                }
            }
            if positions.count > before { contributing += 1 }
        }
        if contributing > 1 { positions.sort { ($1.pathLength, $0.serial) < ($0.pathLength, $1.serial) } }
        return positions
    }

    /// Appends the cookies for a place to a `Cookie` field (RFC 6265bis §5.8.3) and notes their use.
    ///
    /// - Parameter own: The names of cookies that the field has.
    /// - Returns: The number of cookies that exceed the limits and were left out.
    mutating func append(to field: inout [UInt8], for place: CookiePlace, omitting own: Set<[UInt8]>, at now: Date) -> Int {
        var (sent, omitted) = (0, 0)
        let positions = positions(for: place, at: now.timeIntervalSinceReferenceDate)
        guard !positions.isEmpty else { return 0 }
        field.reserveCapacity(field.count + min(positions.count * 48, Self.sentLimit.bytes))
        for position in positions {
            if !own.isEmpty, own.contains(domains.values[position.domain][position.index].cookie.nameBytes) { continue }
            let pair = domains.values[position.domain][position.index].pair
            guard sent < Self.sentLimit.cookies, field.count + pair.count + 2 <= Self.sentLimit.bytes else {
                omitted += 1
                continue
            }
            if !field.isEmpty {
                field.append(UInt8(ascii: ";"))
                field.append(UInt8(ascii: " "))
            }
            field += pair
            sent += 1
            access += 1
            domains.values[position.domain][position.index].access = access
        }
        return omitted
    }

    // MARK: Changing

    /// Stores the cookie of a server, or removes the one that it ends.
    ///
    /// - Throws: ``CookieRefusal`` if it would replace a `Secure` cookie over an insecure connection (RFC 6265bis §5.7).
    mutating func store(_ cookie: Cookie, from place: CookiePlace, at now: Date) throws(CookieRefusal) {
        if !place.isSecure, !cookie.isSecure, overlaysSecure(cookie, place) { throw .overlay }
        put(cookie, at: now)
    }

    /// Whether a `Secure` cookie of the same name covers the path, with a domain that includes the cookie's or is included in it.
    private func overlaysSecure(_ cookie: Cookie, _ place: CookiePlace) -> Bool {
        let path = Array(cookie.path.utf8)
        func covers(_ entry: Entry) -> Bool {
            let other = entry.cookie
            return other.isSecure && other.nameBytes == cookie.nameBytes && CookiePlace.isBelow(path, entry.path)
        }
        var isFound = false
        place.forEachDomain { domain in
            guard !isFound, CookiePlace.isWithin(cookie.domain, domain: domain) || CookiePlace.isWithin(domain, domain: cookie.domain)
            else {
                return
            }
            isFound = domains[domain]?.contains(where: covers) ?? false
        }
        // A Secure cookie of a subdomain counts, too, even if the new cookie isn't sent there (RFC 6265bis §5.7).
        return isFound || domains.contains { $0.value.contains(where: covers) && CookiePlace.isWithin($0.key, domain: cookie.domain) }
    }

    /// Stores a cookie, which replaces one of the same key, and evicts others if there are too many. A cookie that has ended only removes.
    mutating func put(_ cookie: Cookie, at now: Date) {
        access += 1
        var cookie = cookie
        var known: Entry?
        if let index = domains[cookie.domain]?.firstIndex(where: { $0.cookie.replaces(cookie) }) {
            known = remove(at: index, of: cookie.domain, isChange: false)
        }
        if let known { cookie.created = known.cookie.created }
        let isGone = cookie.isExpired(at: now)
        let wasKept = known.map { isKept($0.cookie) } ?? false
        let isUnchanged = !isGone && known.map { $0.cookie.isSame(as: cookie) } ?? false
        if !isUnchanged, wasKept || (!isGone && isKept(cookie)) { changes?.insert(cookie.key) }
        guard !isGone else { return }
        if known == nil { serial += 1 }
        insert(Entry(cookie, serial: known?.serial ?? serial, access: access))
        if known == nil { evict(for: cookie.domain, at: now) }
    }

    private mutating func insert(_ entry: Entry) {
        let bucket = domains[entry.cookie.domain] ?? []
        let index = bucket.firstIndex { ($0.path.count, entry.serial) < (entry.path.count, $0.serial) } ?? bucket.endIndex
        domains[entry.cookie.domain, default: []].insert(entry, at: index)
        count += 1
    }

    @discardableResult
    private mutating func remove(at index: Int, of domain: String, isChange: Bool = true) -> Entry? {
        guard let entry = domains[domain]?.remove(at: index) else { return nil }
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
        count -= 1
        if isChange, isKept(entry.cookie) { changes?.insert(entry.cookie.key) }
        return entry
    }

    /// Removes a cookie, if it is there with this content.
    mutating func remove(_ cookie: Cookie) -> Bool {
        guard let index = domains[cookie.domain]?.firstIndex(where: { $0.cookie == cookie }) else { return false }
        remove(at: index, of: cookie.domain)
        return true
    }

    /// Removes all cookies.
    mutating func clear() {
        for cookie in domains.values.joined().map(\.cookie) where isKept(cookie) { changes?.insert(cookie.key) }
        domains = [:]
        count = 0
    }

    // MARK: Limits

    /// Evicts cookies while there are too many (RFC 6265bis §5.7): expired ones, then cookies of a full domain without `Secure`, then other
    /// cookies of this domain, then any. Among equals, the least recently used cookie goes first.
    private mutating func evict(for domain: String, at now: Date) {
        if let bucket = domains[domain], bucket.count > Self.domainLimit {
            removeExpired(of: domain, at: now)
            while let bucket = domains[domain], bucket.count > Self.domainLimit {
                let insecure = bucket.indices.filter { !bucket[$0].cookie.isSecure }
                let candidates = insecure.isEmpty ? Array(bucket.indices) : insecure
                guard let oldest = candidates.min(by: { bucket[$0].access < bucket[$1].access }) else { break }
                remove(at: oldest, of: domain)
            }
        }
        while count > Self.limit {
            var ended: Set<String> = []
            var oldest: (domain: String, index: Int, access: UInt64)?
            for (domain, bucket) in domains {
                for index in bucket.indices {
                    if bucket[index].isExpired(at: now.timeIntervalSinceReferenceDate) { ended.insert(domain) }
                    if bucket[index].access < oldest?.access ?? .max { oldest = (domain, index, bucket[index].access) }
                }
            }
            for domain in ended { removeExpired(of: domain, at: now) }
            guard count > Self.limit, ended.isEmpty else { continue }
            guard let oldest else { break }
            remove(at: oldest.index, of: oldest.domain)
        }
    }

    private mutating func removeExpired(of domain: String, at now: Date) {
        guard let bucket = domains[domain] else { return }
        for index in bucket.indices.reversed() where bucket[index].cookie.isExpired(at: now) { remove(at: index, of: domain) }
    }

    // MARK: The file

    /// Whether the file keeps a cookie.
    func isKept(_ cookie: Cookie) -> Bool { keepsSessionCookies || cookie.expires != nil }

    /// Takes over the file's cookies, except where this store has changed them. The store then contains what the file should contain.
    ///
    /// - Parameter theirs: The file's cookies; `nil` if they are those of the last time.
    /// - Returns: The cookies for the file, and the keys of the changes, which no longer count as such.
    mutating func merge(_ theirs: [Cookie]?, at now: Date) -> (kept: [Cookie], written: Set<Cookie.Key>) {
        let own = changes ?? []
        changes = nil
        if let theirs {
            let keys = Set(theirs.map(\.key))
            for cookie in all(at: now) where isKept(cookie) && !own.contains(cookie.key) && !keys.contains(cookie.key) {
                _ = remove(cookie)
            }
            for cookie in theirs where !own.contains(cookie.key) { put(cookie, at: now) }
        }
        changes = []
        return (all(at: now).filter(isKept), own)
    }

    /// Counts these changes as such again, because they couldn't be written.
    mutating func restore(_ keys: Set<Cookie.Key>) {
        changes?.formUnion(keys)
    }
}
