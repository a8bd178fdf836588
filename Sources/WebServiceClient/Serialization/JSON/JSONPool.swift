/// The memory for reading texts, used again and again.
///
/// What has once been made for as many calls as there were at the same time stays for good. So decoders and containers can hold
/// plain pointers, which counts no references, and one that outlives its call finds memory that says so.
enum JSONPool {
    // Sendable as raw addresses; each is used by the one who took it.
    private struct Entry: @unchecked Sendable { let storage: UnsafeMutablePointer<JSONStorage> }

    private static let idle = Locked<[Entry]>([])

    /// Memory for one text, until it is given back.
    static func take(_ reader: JSONReader) -> JSONDocument {
        let entry = idle.withLock { $0.popLast() } ?? make()
        entry.storage.pointee.begin(reader)
        return JSONDocument(entry.storage)
    }

    static func giveBack(_ document: JSONDocument) {
        document.storage.pointee.end()
        if document.storage.pointee.generation.isOld { return }
        idle.withLock { $0.append(Entry(storage: document.storage)) }
    }

    private static func make() -> Entry {
        let storage = UnsafeMutablePointer<JSONStorage>.allocate(capacity: 1)
        storage.initialize(to: JSONStorage())
        return Entry(storage: storage)
    }
}
