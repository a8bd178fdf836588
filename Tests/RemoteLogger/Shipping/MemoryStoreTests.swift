import RemoteLogger
import TestSupport
import Testing

@Suite struct MemoryStoreTests {
    @Test func `hands records out in order, keeps them until they are acknowledged`() async {
        let store = MemoryStore(limits: BufferLimits())
        for number in 1...5 { _ = store.append(.sample(UInt64(number), number % 2 == 0 ? .error : .debug), now: UInt64(number)) }
        let first = await store.read(after: 0, limits: BatchLimits(records: 3))
        #expect(first.map(\.record.sequence) == [1, 2, 3])
        #expect(store.load.records == 5 && store.load.unread == 2)
        #expect(store.load.first == 1 && store.load.firstUnread == 4 && store.load.firstUnreadSince == 4)
        #expect(await store.read(after: 0, limits: BatchLimits(records: 2)).map(\.position) == [1, 2], "a cursor can go back")
        store.acknowledge(through: 2)
        #expect(store.load.records == 3)
        #expect(await store.read(after: 3, limits: BatchLimits()).map(\.position) == [4, 5])
        store.acknowledge(through: 5)
        #expect(store.load.records == 0 && store.load.bytes == 0 && store.load.first == nil)
        #expect(await store.read(after: 5, limits: BatchLimits()).isEmpty)
    }

    @Test func `a batch holds at least one record, and no more bytes than said`() async {
        let store = MemoryStore(limits: BufferLimits())
        for number in 1...4 { _ = store.append(.sample(UInt64(number)), now: 0) }
        let size = LogRecord.sample().footprint
        #expect(await store.read(after: 0, limits: BatchLimits(bytes: 1)).count == 1)
        #expect(await store.read(after: 1, limits: BatchLimits(bytes: size * 2)).count == 2)
        #expect(await store.read(after: 3, limits: BatchLimits(bytes: size * 2)).count == 1)
    }

    @Test func `the lowest level goes first, then the oldest, the newcomer counts as one`() {
        let store = MemoryStore(limits: BufferLimits(records: 4))
        func append(_ level: LogLevel) -> [RecordPosition] { store.append(.sample(0, level), now: 0).losses.map(\.first) }
        #expect(append(.info) == [])  // 1
        #expect(append(.debug) == [])  // 2
        #expect(append(.error) == [])  // 3
        #expect(append(.debug) == [])  // 4
        #expect(append(.trace) == [5], "the newcomer is the lowest")
        #expect(append(.debug) == [2], "the oldest of the lowest level")
        #expect(append(.warning) == [4])
        #expect(append(.warning) == [6])
        #expect(append(.critical) == [1])
        #expect(append(.info) == [10])
        #expect(append(.critical) == [7])
        #expect(append(.critical) == [8])
        #expect(append(.critical) == [3])
        #expect(append(.critical) == [9], "of one level the oldest")
        #expect(append(.error) == [15])
        #expect(store.load.records == 4)
    }

    @Test func `bytes are bounded, and nothing is dropped in vain`() {
        let unit = LogRecord.sample(0, .info, "").footprint
        let store = MemoryStore(limits: BufferLimits(bytes: unit * 10))
        func append(_ level: LogLevel, _ bytes: Int) -> AppendOutcome {
            store.append(.sample(0, level, String(repeating: "x", count: bytes)), now: 0)
        }
        #expect(append(.trace, unit * 10).losses.map(\.reason) == [.oversize])
        #expect(append(.debug, 0).losses.isEmpty)  // 2
        #expect(append(.error, unit * 6).losses.isEmpty)  // 3: eight units now
        #expect(append(.info, unit * 5).losses.map(\.first) == [4], "dropping the debug record would not make room enough")
        #expect(append(.info, unit).losses.isEmpty)  // 5: ten units
        #expect(append(.critical, unit * 2).losses.map(\.first) == [2, 5])
        #expect(store.load.bytes == unit * 10)
    }

    @Test func `records on their way are not dropped, but count`() async {
        let store = MemoryStore(limits: BufferLimits(records: 3))
        for _ in 0..<2 { _ = store.append(.sample(0, .trace), now: 0) }
        #expect(await store.read(after: 0, limits: BatchLimits()).count == 2)
        #expect(store.append(.sample(0, .info), now: 0).losses.isEmpty)
        #expect(store.append(.sample(0, .info), now: 0).losses.map(\.first) == [3])
        #expect(store.append(.sample(0, .debug), now: 0).losses.map(\.first) == [5])
        store.acknowledge(through: 2)
        #expect(store.load.records == 1)
        #expect(store.close() == 1)
    }

    /// Compares the store with a simple model of its rules.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `behaves as its rules say in any order of events`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let unit = LogRecord.sample(0, .info, "").footprint
        let limits = BufferLimits(
            records: Int.random(in: 1...12, using: &generator), bytes: unit * Int.random(in: 1...15, using: &generator))
        let store = MemoryStore(limits: limits)
        var model: [(position: RecordPosition, level: LogLevel, size: Int, isPinned: Bool)] = []
        var position: RecordPosition = 0
        var cursor: RecordPosition = 0
        for _ in 0..<500 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<7:
                let level = LogLevel.allCases.randomElement(using: &generator) ?? .info
                let size = unit + Int.random(in: 0...(2 * unit), using: &generator)
                position += 1
                let outcome = store.append(.sample(0, level, String(repeating: "x", count: size - unit)), now: 0)
                var expected: [RecordPosition] = []
                if size > limits.bytes {
                    expected = [position]
                } else {
                    model.append((position, level, size, false))
                    let above = model.filter { $0.isPinned || $0.level > level }
                    if above.count >= limits.records || above.reduce(size, { $0 + $1.size }) > limits.bytes {
                        expected = [position]
                        model.removeLast()
                    }
                    while model.count > limits.records || model.reduce(0, { $0 + $1.size }) > limits.bytes {
                        let lowest = model.dropLast().filter { !$0.isPinned }.map(\.level).min()
                        guard let victim = model.firstIndex(where: { !$0.isPinned && $0.level == lowest }) else { break }
                        expected.append(model.remove(at: victim).position)
                    }
                }
                #expect(outcome.losses.map(\.first) == expected)
            case 7, 8:
                let count = Int.random(in: 1...4, using: &generator)
                let batch = await store.read(after: cursor, limits: BatchLimits(records: count, bytes: .max))
                let expected = model.filter { !$0.isPinned }.prefix(count).map(\.position)
                #expect(batch.map(\.position) == expected)
                for index in model.indices where expected.contains(model[index].position) { model[index].isPinned = true }
                cursor = max(cursor, batch.last?.position ?? 0)
            default:
                store.acknowledge(through: cursor)
                model.removeAll { $0.isPinned }
            }
            #expect(store.load.records == model.count)
            #expect(store.load.bytes == model.reduce(0) { $0 + $1.size })
            #expect(store.load.first == model.first?.position)
        }
    }
}
