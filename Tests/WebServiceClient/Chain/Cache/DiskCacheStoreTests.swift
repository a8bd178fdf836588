import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.serialized) struct DiskCacheStoreTests {
    private let folder = TemporaryFolder()
    private var directory: URL { folder.url.appending(path: "cache") }

    private func store(limit: Int = 10_000_000, failing: (@Sendable (DiskCacheStore.Operation) -> Int32?)? = nil) -> DiskCacheStore {
        DiskCacheStore(directory: directory, limit: limit, failing: failing)
    }

    private var files: [String] {
        let names = FileManager.default.enumerator(atPath: directory.path(percentEncoded: false))?.allObjects as? [String] ?? []
        return names.filter { $0.contains("/") }.map { directory.path(percentEncoded: false) + "/" + $0 }
    }

    @Test func `another process finds what one has stored, in private files`() async throws {
        let first = store()
        let body = CacheStoreTests.body(3, 100_000)
        CacheStoreTests.put(first, CacheStoreTests.head("http://a/"), body)
        await first.written()
        #expect(try await CacheStoreTests.get(store(), CacheKey(url: "http://a/")) == body)
        for path in [directory.path(percentEncoded: false)] + files {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(try #require(mode) & 0o077 == 0, "\(path)")
        }
    }

    @Test func `a folder that others may read isn't used, and that is told once`() async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let store = store()
        for _ in 0..<3 { CacheStoreTests.put(store, CacheStoreTests.head("http://a/"), Data("x".utf8)) }
        #expect(try await CacheStoreTests.get(store, CacheKey(url: "http://a/")) == nil)
        #expect(store.takeProblem()?.contains("only its user") == true)
        #expect(store.takeProblem() == nil)
    }

    @Test func `no flipped bit and no cut file gives a wrong byte`() async throws {
        var generator = SeededGenerator(seed: 11)
        let body = CacheStoreTests.body(5, 150_000)
        for round in 0..<60 {
            let store = store()
            let key = CacheKey(url: "http://a/\(round)")
            CacheStoreTests.put(store, CacheStoreTests.head(key.url), round.isMultiple(of: 2) ? body : body.prefix(500))
            await store.written()
            let path = try #require(files.first)
            var bytes = try Data(contentsOf: URL(filePath: path))
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            if round % 3 == 0 { bytes = bytes.prefix(index) } else { bytes[index] ^= UInt8(1 << Int.random(in: 0..<8, using: &generator)) }
            try bytes.write(to: URL(filePath: path))
            do {
                let read = try await CacheStoreTests.get(store, key)
                #expect(read == nil)
            } catch {
                #expect(error is TransportError)
            }
            await store.written()
            #expect(files.isEmpty, "a damaged file is removed")
        }
    }

    @Test(arguments: DiskCacheStore.Operation.allCases, [ENOSPC, EROFS, EACCES, EIO])
    func `when a call of the system fails, calls go on and it is told once`(operation: DiskCacheStore.Operation, error: Int32) async throws
    {
        let isFailing = Locked(true)
        let store = store { [isFailing] now in now == operation && isFailing.withLock { $0 } ? error : nil }
        let told = Locked<[String]>([])
        let setup = CachingTests.Setup(cache: ResponseCache(store: store), CachingTests.counting()) {
            $0.diagnostics = Diagnostics { event in
                if event.level == .warning { told.withLock { $0.append(event.message) } }
            }
        }
        for number in 1...4 {
            #expect(try await setup.get("/\(number)").value == "\(number)")
            await store.written()
            setup.cache.invalidate(["https://shop.test/\(number)"])
        }
        _ = try await setup.get("/5")
        #expect(told.withLock { $0.count } == (operation == .list ? 0 : 1))
        isFailing.withLock { $0 = false }
        _ = try await setup.get("/6")
        #expect(try await setup.get("/6").source == .cache)
        await store.written()
        #expect(operation == .remove || !files.contains { $0.contains("new-") })
    }

    @Test func `two stores on one folder never mix bodies, and keep the bound`() async throws {
        let stores = [store(limit: 600_000), store(limit: 600_000)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(index))
                    for _ in 0..<400 {
                        let number = UInt64.random(in: 0..<20, using: &generator)
                        let url = "http://a/\(number)"
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0: store.removeAll(ofURL: url)
                        case 1...4:
                            // The body's length and content depend on its URL and its tag.
                            let seed = number << 8 | UInt64.random(in: 0..<4, using: &generator)
                            CacheStoreTests.put(
                                store, CacheStoreTests.head(url, tag: "\(seed)"), CacheStoreTests.body(seed, 1_000 + Int(seed) * 20),
                                pieces: 3)
                        default:
                            for entry in await store.entries(for: CacheKey(url: url), until: { _ in false }) {
                                let seed = try #require(entry.head.tags.first.flatMap { UInt64($0) })
                                let body = try await entry.body().collect(upTo: 10_000_000)
                                #expect(body == CacheStoreTests.body(seed, 1_000 + Int(seed) * 20) && seed >> 8 == number)
                                store.update(entry.head.updated(by: ["X": "1"], requested: Date(), received: Date(), instant: nil))
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores { await store.written() }
        let total = try files.reduce(0) { $0 + (try FileManager.default.attributesOfItem(atPath: $1)[.size] as? Int ?? 0) }
        #expect(total <= 1_200_000)
    }

    #if compiler(>=6.3) && (os(Linux) || os(macOS))
    @Test func `a killed process leaves no wrong body`() async throws {
        let root = directory.path(percentEncoded: false)
        for round in 1...6 {
            await ExitTesting.alone {
                await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, round = round as Int] in
                    ExitTesting.endLater()
                    await KilledCache.run(root, round)
                }
            }
            let store = store(limit: 3_000_000)
            var found = 0
            for head in await store.heads() {
                let seed = try #require(head.tags.first.flatMap { UInt64($0) })
                let body = try #require(try await CacheStoreTests.get(store, head.key))
                #expect(body == CacheStoreTests.body(seed, KilledCache.length(seed)))
                found += 1
            }
            #expect(found > 0)
        }
    }
    #endif
}

/// The child process.
enum KilledCache {
    static func length(_ seed: UInt64) -> Int { Int(seed % 7) * 20_000 + 100 }

    /// Stores, updates and removes responses until it kills itself at a random moment.
    static func run(_ root: String, _ round: Int) async {
        let store = DiskCacheStore(directory: URL(filePath: root), limit: 3_000_000)
        var generator = SeededGenerator(seed: UInt64(round))
        let delay = UInt32.random(in: 50_000...250_000)
        let hasStored = Locked(false)
        Thread.detachNewThread {
            while !hasStored.withLock({ $0 }) { usleep(1_000) }
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
        while true {
            let seed = UInt64.random(in: 0..<200, using: &generator)
            let head = CacheStoreTests.head("http://a/\(seed % 50)", tag: "\(seed)")
            CacheStoreTests.put(store, head, CacheStoreTests.body(seed, length(seed)), pieces: 4)
            if seed % 5 == 0 { store.update(head.updated(by: ["X": "1"], requested: Date(), received: Date(), instant: nil)) }
            if seed % 11 == 0 { store.removeAll(ofURL: head.key.url) }
            await store.written()
            hasStored.withLock { $0 = true }
        }
    }
}
