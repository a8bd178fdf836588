import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

/// What every store does.
@Suite struct CacheStoreTests {
    enum Kind: CaseIterable, Sendable {
        case memory
        case disk

        func store(_ folder: TemporaryFolder, limit: Int) -> any CacheStore {
            switch self {
            case .memory: MemoryCacheStore(limit: limit)
            case .disk: DiskCacheStore(directory: folder.url.appending(path: "cache"), limit: limit)
            }
        }
    }

    static func head(_ url: String, partition: String = "", tag: String = "", selection: [SelectingField] = []) -> CacheHead {
        CacheHead(
            key: CacheKey(partition: partition, url: url), status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"\(tag)\""],
            requested: Date(), received: Date(), tags: [tag], selection: selection)
    }

    /// The bytes of a body that tells its URL and length.
    static func body(_ seed: UInt64, _ count: Int) -> Data { SeededGenerator.bytes(count, seed: seed) }

    static func put(_ store: any CacheStore, _ head: CacheHead, _ body: Data, pieces: Int = 1) {
        guard let writer = store.writer(for: head) else { return }
        let size = max(1, body.count / pieces)
        var rest = body
        while !rest.isEmpty {
            writer.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        writer.finish()
    }

    static func get(_ store: any CacheStore, _ key: CacheKey) async throws -> Data? {
        guard let entry = await store.entries(for: key, until: { _ in true }).first else { return nil }
        return try await entry.body().collect(upTo: 100_000_000)
    }

    @Test(arguments: Kind.allCases, [0, 1, 10_000, 65_536, 65_537, 200_000, 1_000_000])
    func `a body comes back as it was, whole and in ranges`(kind: Kind, count: Int) async throws {
        let folder = TemporaryFolder()
        let store = kind.store(folder, limit: 64_000_000)
        let head = Self.head("http://a/\(count)")
        let body = Self.body(7, count)
        Self.put(store, head, body, pieces: 7)
        #expect(try await Self.get(store, head.key) == body)
        let entry = try #require(await store.entries(for: head.key) { _ in true }.first)
        #expect(entry.head.bodyLength == Int64(count))
        for range in [0..<count, count / 3..<count / 2, count..<count, max(0, count - 5)..<count, 0..<min(count, 65_536)] {
            let part = try await entry.body(Int64(range.lowerBound)..<Int64(range.upperBound)).collect(upTo: count + 1)
            #expect(part == body[body.startIndex + range.lowerBound..<body.startIndex + range.upperBound])
        }
        // Removal doesn't tear what is being read.
        store.remove(head)
        #expect(try await Self.get(store, head.key) == nil)
        #expect(try await entry.body().collect(upTo: count + 1) == body)
    }

    @Test(arguments: Kind.allCases) func `variants, updates and removal`(kind: Kind) async throws {
        let store = kind.store(TemporaryFolder(), limit: 10_000_000)
        let (german, english) = (SelectingField(name: "l", value: "de"), SelectingField(name: "l", value: "en"))
        Self.put(store, Self.head("http://a/", tag: "1", selection: [german]), Data("de".utf8))
        Self.put(store, Self.head("http://a/", tag: "2", selection: [english]), Data("en".utf8))
        Self.put(store, Self.head("http://a/", partition: "p", tag: "3"), Data("p".utf8))
        let found = await store.entries(for: CacheKey(url: "http://a/")) { $0.selection == [german] }
        #expect(found.last?.head.tags == ["1"])
        // The same selection replaces.
        Self.put(store, Self.head("http://a/", tag: "4", selection: [german]), Data("DE".utf8))
        let heads = await store.heads()
        #expect(Set(heads.flatMap(\.tags)) == ["2", "3", "4"])
        var updated = try #require(heads.first { $0.tags == ["4"] })
        updated = updated.updated(by: ["X-New": "1"], requested: Date(), received: Date(), instant: nil)
        store.update(updated)
        let again = try #require(await store.entries(for: updated.key) { $0.selection == [german] }.last)
        #expect(again.head.headers["X-New"] == "1" && again.head.headers["ETag"] == "\"4\"")
        #expect(try await again.body().collect(upTo: 10) == Data("DE".utf8))
        // An update of what is gone does nothing.
        store.update(Self.head("http://gone/"))
        #expect(await store.removeAll { $0.tags == ["2"] } == 1)
        store.removeAll(ofURL: "http://a/")
        #expect(await store.entries(for: CacheKey(partition: "p", url: "http://a/")) { _ in true }.isEmpty)
        #expect(await store.heads().isEmpty)
    }

    @Test(arguments: Kind.allCases) func `the bound holds, and the least recently used go first`(kind: Kind) async throws {
        let store = kind.store(TemporaryFolder(), limit: 200_000)
        for number in 0..<60 {
            Self.put(store, Self.head("http://a/\(number)"), Self.body(1, 5_000))
            // Keeps the first one in use.
            #expect(try await Self.get(store, CacheKey(url: "http://a/0")) != nil, "\(number)")
            #expect(store.byteCount <= 200_000)
        }
        let heads = await store.heads()
        #expect((10..<60).contains(heads.count))
        #expect(heads.contains { $0.key.url == "http://a/59" } && !heads.contains { $0.key.url == "http://a/1" })
        // One that would displace too many others isn't stored.
        Self.put(store, Self.head("http://a/large"), Self.body(1, 60_000))
        #expect(try await Self.get(store, CacheKey(url: "http://a/large")) == nil)
    }

    @Test(arguments: Kind.allCases) func `discarded and released writers leave nothing`(kind: Kind) async throws {
        let folder = TemporaryFolder()
        let store = kind.store(folder, limit: 10_000_000)
        for isReleased in [true, false] {
            let writer = store.writer(for: Self.head("http://a/"))
            writer?.append(Self.body(1, 200_000))
            if !isReleased {
                writer?.discard()
                writer?.append(Data("x".utf8))
                writer?.finish()
            }
        }
        #expect(await store.heads().isEmpty)
        let files = FileManager.default.enumerator(atPath: folder.url.path(percentEncoded: false))?.allObjects as? [String] ?? []
        #expect(!files.contains { $0.contains("new-") }, "\(files)")
    }
}
