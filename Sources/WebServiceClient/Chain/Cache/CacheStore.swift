public import Foundation

/// The storage of a ``ResponseCache``: ``MemoryCacheStore``, ``DiskCacheStore``, or a custom type.
///
/// A store may forget any response at any time, and never fails a call: it reports problems through ``takeProblem()``. Its functions may be
/// called concurrently.
public protocol CacheStore: Sendable {
    /// Returns the responses of a key, up to the first one that a closure accepts. Counts as their use.
    func entries(for key: CacheKey, until isFound: @Sendable (CacheHead) -> Bool) async -> [CacheEntry]

    /// Begins to store a response. It becomes visible when its writer has finished, and replaces the response that
    /// ``CacheHead/selectsTheSame(as:)`` as this one. `nil` if the store can't take it.
    func writer(for head: CacheHead) -> (any CacheWriter)?

    /// Replaces the head of the response with the same key and ``CacheHead/id``, if it is still there.
    func update(_ head: CacheHead)

    /// Removes a response by its key and ``CacheHead/id``.
    func remove(_ head: CacheHead)

    /// Removes all responses of a URL, in every partition.
    func removeAll(ofURL url: String)

    /// Removes the responses that a closure accepts, and returns how many these were.
    func removeAll(where isRemoved: @escaping @Sendable (CacheHead) -> Bool) async -> Int

    /// The heads of all responses, in any order.
    func heads() async -> [CacheHead]

    /// The number of bytes in use, as far as the store knows.
    var byteCount: Int { get }

    /// A problem that has come up since the last call, such as a full disk, as a sentence; each is returned once.
    func takeProblem() -> String?
}

extension CacheStore {
    /// No problem.
    public func takeProblem() -> String? { nil }
}

/// Receives the body of a response that is stored. The functions return at once, and aren't called concurrently. Releasing the writer
/// before its end discards the response.
public protocol CacheWriter: Sendable {
    /// Adds the next bytes.
    func append(_ bytes: Data)

    /// Ends the body, which is complete, and makes the response visible.
    func finish()

    /// Discards the response. It has no effect after the end.
    func discard()
}

/// Keeps responses in memory, up to a number of bytes. The least recently used ones go first.
public final class MemoryCacheStore: CacheStore {
    private struct Slot {
        var head: CacheHead
        let body: Data
        let size: Int
        var lastUse: UInt64
    }

    private struct State {
        var slots: [CacheKey: [Slot]] = [:]
        /// The partitions that have responses of a URL, if one isn't the empty one.
        var partitions: [String: Set<String>] = [:]
        var bytes = 0
        var uses: UInt64 = 0
    }

    /// The greatest number of bytes.
    public let limit: Int
    private let state = Locked(State())
    /// A larger response isn't kept: it would displace too many others.
    private let largest: Int

    /// Creates a store.
    ///
    /// - Parameter limit: The greatest number of bytes of all responses together, with their heads. A single response may have a quarter of
    ///   it. Default 32 MiB.
    public init(limit: Int = 32 * 1024 * 1024) {
        self.limit = max(0, limit)
        largest = max(0, limit) / 4
    }

    /// The number of bytes in use.
    public var byteCount: Int { state.withLock { $0.bytes } }

    /// Returns the responses of a key.
    public func entries(for key: CacheKey, until isFound: @Sendable (CacheHead) -> Bool) async -> [CacheEntry] {
        state.withLock { state in
            guard let slots = state.slots[key] else { return [] }
            var entries: [CacheEntry] = []
            state.uses += 1
            for (index, slot) in slots.enumerated() {
                let body = slot.body
                entries.append(CacheEntry(slot.head) { Self.body(body, $0) })
                if isFound(slot.head) {
                    state.slots[key]?[index].lastUse = state.uses
                    break
                }
            }
            return entries
        }
    }

    private static func body(_ data: Data, _ range: Range<Int64>) -> ResponseBody {
        let count = Int64(data.count)
        let range = range.clamped(to: 0..<count)
        if range.count == data.count { return ResponseBody(data) }
        return ResponseBody(data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)])
    }

    /// Begins to store a response.
    public func writer(for head: CacheHead) -> (any CacheWriter)? {
        guard head.bodyLength < largest else { return nil }
        return Writer(store: self, head: head)
    }

    private final class Writer: CacheWriter {
        private let store: MemoryCacheStore
        private let head: CacheHead
        /// The body so far; `nil` after the end.
        private let body = Locked<Data?>(Data())

        init(store: MemoryCacheStore, head: CacheHead) {
            self.store = store
            self.head = head
        }

        func append(_ bytes: Data) {
            body.withLock { body in
                guard let count = body?.count else { return }
                // A body that is too large is forgotten at once.
                if count + bytes.count >= store.largest {
                    body = nil
                } else if count == 0 {
                    body = bytes
                } else {
                    body?.append(bytes)
                }
            }
        }

        func finish() {
            let whole = body.withLock { body in
                defer { body = nil }
                return body
            }
            if let whole { store.insert(head, whole) }
        }

        func discard() {
            body.withLock { $0 = nil }
        }
    }

    private func insert(_ head: CacheHead, _ body: Data) {
        var head = head
        head.bodyLength = Int64(body.count)
        // Retaining a slice would retain the whole buffer that it comes from.
        let size = body.count + Self.size(of: head)
        guard size <= largest else { return }
        let slot = Slot(head: head, body: Data(body), size: size, lastUse: 0)
        state.withLock { state in
            state.uses += 1
            var slots = state.slots[head.key] ?? []
            slots.removeAll { old in
                guard old.head.selectsTheSame(as: head) else { return false }
                state.bytes -= old.size
                return true
            }
            var new = slot
            new.lastUse = state.uses
            // The newest first: it is preferred where several fit.
            slots.insert(new, at: 0)
            state.slots[head.key] = slots
            state.bytes += size
            if !head.key.partition.isEmpty { state.partitions[head.key.url, default: []].insert(head.key.partition) }
            Self.evict(&state, limit)
        }
    }

    /// Removes the least recently used responses, if there are too many bytes: down to nine tenths, so that it happens rarely.
    private static func evict(_ state: inout State, _ limit: Int) {
        guard state.bytes > limit else { return }
        let oldest = state.slots.flatMap { key, slots in slots.map { (key: key, id: $0.head.id, size: $0.size, lastUse: $0.lastUse) } }
            .sorted { $0.lastUse < $1.lastUse }
        for victim in oldest {
            guard state.bytes > limit - limit / 10 else { return }
            remove(&state, victim.key) { $0.id == victim.id }
        }
    }

    private static func remove(_ state: inout State, _ key: CacheKey, where isRemoved: (CacheHead) -> Bool) {
        guard var slots = state.slots[key] else { return }
        var freed = 0
        slots.removeAll { slot in
            guard isRemoved(slot.head) else { return false }
            freed += slot.size
            return true
        }
        state.bytes -= freed
        state.slots[key] = slots.isEmpty ? nil : slots
        if slots.isEmpty, !key.partition.isEmpty {
            state.partitions[key.url]?.remove(key.partition)
            if state.partitions[key.url]?.isEmpty == true { state.partitions[key.url] = nil }
        }
    }

    private static func size(of head: CacheHead) -> Int {
        500 + head.key.url.utf8.count * 2 + head.headers.reduce(0) { $0 + $1.name.rawName.utf8.count * 2 + $1.value.utf8.count + 64 }
    }

    /// Replaces a head.
    public func update(_ head: CacheHead) {
        state.withLock { state in
            guard let index = state.slots[head.key]?.firstIndex(where: { $0.head.id == head.id }) else { return }
            var head = head
            head.bodyLength = state.slots[head.key]?[index].head.bodyLength ?? head.bodyLength
            state.slots[head.key]?[index].head = head
        }
    }

    /// Removes a response.
    public func remove(_ head: CacheHead) {
        state.withLock { state in Self.remove(&state, head.key) { $0.id == head.id } }
    }

    /// Removes all responses of a URL.
    public func removeAll(ofURL url: String) {
        state.withLock { state in
            for partition in (state.partitions[url] ?? []).union([""]) {
                Self.remove(&state, CacheKey(partition: partition, url: url)) { _ in true }
            }
        }
    }

    /// Removes responses.
    public func removeAll(where isRemoved: @escaping @Sendable (CacheHead) -> Bool) async -> Int {
        // The closure is the program's: it must not run under the lock.
        let doomed = await heads().filter(isRemoved)
        for head in doomed { remove(head) }
        return doomed.count
    }

    /// The heads of all responses.
    public func heads() async -> [CacheHead] {
        state.withLock { $0.slots.values.flatMap { $0.map(\.head) } }
    }
}
