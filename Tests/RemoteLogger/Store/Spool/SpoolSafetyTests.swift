import Foundation
import Testing
import WebServiceClient

@testable import RemoteLogger

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Directories prepared by other users: the spool follows nothing in them, deletes only its own files, and never blocks forever.
@Suite(.timeLimit(.minutes(2))) struct SpoolSafetyTests {
    /// A separate folder for a test.
    private final class Place {
        let path = URL.temporaryDirectory.appending(path: "spool-safety-\(UUID().uuidString)").path(percentEncoded: false)
        var root: String { path + "/spool" }
        var outside: String { path + "/outside" }
        let events = Locked<[String]>([])

        init() throws {
            try make("spool/0")
            try make("outside")
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func make(_ folder: String) throws {
            try FileManager.default.createDirectory(
                atPath: path + "/" + folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        func spool(_ root: String? = nil) -> Spool {
            var settings = SpoolSettings()
            settings.retryInterval = .seconds(3_600)
            settings.diagnostics = Diagnostics { [events] event in events.withLock { $0.append(event.message) } }
            return Spool(directory: URL(filePath: root ?? self.root), settings: settings)
        }

        func says(_ texts: String...) -> Bool { events.withLock { $0.contains { event in texts.allSatisfy(event.contains) } } }
        func isThere(_ path: String) -> Bool {
            // Doesn't follow links.
            (try? FileManager.default.attributesOfItem(atPath: path)) != nil
        }
    }

    /// The things that may replace a file.
    enum Thing: String, CaseIterable {
        case pipe = "a FIFO", link = "a symbolic link", dangling = "a symbolic link to nothing", folder = "a directory", socket = "a socket"

        func put(at path: String, leadingTo target: String) throws {
            switch self {
            case .pipe: try #require(mkfifo(path, 0o600) == 0)
            case .link, .dangling: try #require(symlink(target + (self == .dangling ? "/none" : ""), path) == 0)
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .socket:
                #if canImport(Glibc)
                let kind = Int32(SOCK_STREAM.rawValue)
                #else
                let kind = SOCK_STREAM
                #endif
                let descriptor = makeSocket(kind)
                defer { close(descriptor) }
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                // Socket paths are limited in length, so the socket is created under a short name and renamed.
                let short = "/tmp/s\(UInt32.random(in: 0 ... .max))"
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
                let result = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                try #require(result == 0)
                try #require(rename(short, path) == 0)
            }
        }

        var word: String { self == .dangling ? Thing.link.rawValue : rawValue }
    }

    private static let segment = "0000000000000001-0000000000000001.segment"

    private func append(_ spool: Spool) async throws -> Bool {
        let store = try #require(spool.store(for: "test", minimumLevel: .trace))
        _ = store.append(.sample(1), now: 0)
        return await spool.sync()
    }

    // MARK: Files

    @Test func `paths have single slashes although the URL of a directory ends with one`() throws {
        let place = try Place()
        let spool = place.spool(place.root + "//")
        #expect(spool.statistics.directory == place.root + "/0")
    }

    @Test(arguments: Thing.allCases) func `what is named as a segment and is none is told and left alone`(thing: Thing) async throws {
        let place = try Place()
        let victim = place.outside + "/victim"
        try Data("precious".utf8).write(to: URL(filePath: victim))
        try thing.put(at: place.root + "/0/" + Self.segment, leadingTo: thing == .link ? victim : place.outside)
        do {
            let spool = place.spool()
            #expect(spool.statistics.directory == place.root + "/0" && spool.statistics.mode == .disk)
            #expect(place.says(Self.segment, thing.word))
            #expect(try await append(spool))
        }
        #expect(place.isThere(place.root + "/0/" + Self.segment))
        #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
    }

    @Test(arguments: Thing.allCases, ["lock", "next.temporary", "test.cursor"])
    func `a slot whose own files are something else isn't used`(thing: Thing, name: String) async throws {
        let place = try Place()
        let path = place.root + "/0/" + name
        try thing.put(at: path, leadingTo: place.outside)
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/1" && spool.statistics.mode == .disk)
        #expect(place.says(name, thing.word))
        #expect(try await append(spool))
        #expect(place.isThere(path), "it is still there")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.outside).isEmpty)
    }

    @Test(arguments: Thing.allCases, ["notes", "x.segment", "README.txt"])
    func `other files don't matter`(thing: Thing, name: String) async throws {
        let place = try Place()
        try thing.put(at: place.root + "/0/" + name, leadingTo: place.outside)
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/0" && place.isThere(place.root + "/0/" + name))
        #expect(try await append(spool))
    }

    // MARK: Directories

    @Test func `a slot that is a link isn't followed, by the process itself or as a leftover`() async throws {
        for slot in ["0", "1", "7"] {
            let place = try Place()
            try FileManager.default.removeItem(atPath: place.root + "/0")
            try #require(symlink(place.outside, place.root + "/" + slot) == 0)
            // The files that a spool would delete or read.
            for name in ["next.temporary", Self.segment, "test.cursor"] { try Data().write(to: URL(filePath: place.outside + "/" + name)) }
            let spool = place.spool()
            #expect(spool.statistics.directory == place.root + (slot == "0" ? "/1" : "/0"))
            #expect(spool.statistics.leftovers.isEmpty)
            #expect(place.says("\(place.root)/\(slot)", "a symbolic link"))
            #expect(try await append(spool))
            #expect(
                try Set(FileManager.default.contentsOfDirectory(atPath: place.outside)) == ["next.temporary", Self.segment, "test.cursor"])
        }
    }

    @Test(arguments: [Thing.pipe, .socket, .dangling, .link]) func `a slot that is no directory is passed over`(thing: Thing) async throws {
        let place = try Place()
        try FileManager.default.removeItem(atPath: place.root + "/0")
        try thing.put(at: place.root + "/0", leadingTo: place.outside)
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/1" && place.isThere(place.root + "/0"))
        #expect(place.says("\(place.root)/0"))
        #expect(try await append(spool))
    }

    @Test(arguments: ["", "/"]) func `a spool's directory that is a link isn't used`(end: String) async throws {
        let place = try Place()
        try #require(symlink(place.outside, place.path + "/link") == 0)
        let spool = place.spool(place.path + "/link" + end)
        #expect(spool.statistics.mode == .memory && spool.statistics.directory == nil)
        #expect(place.says(place.path + "/link", "a symbolic link", "give the spool another directory"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.outside).isEmpty)
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o720, 0o775, 0o766, 0o2775]) func `a directory to which others may write isn't used`(mode: Int)
        throws
    {
        let place = try Place()
        try #require(chmod(place.root, mode_t(mode)) == 0)
        let spool = place.spool()
        #expect(spool.statistics.mode == .memory)
        #expect(place.says(place.root, "mode \(String(mode, radix: 8))", "owner \(geteuid())", "chmod go-w"))
        // After the repair it is used.
        try #require(chmod(place.root, 0o755) == 0)
        #expect(place.spool().statistics.directory == place.root + "/0")
    }

    @Test(arguments: [0o700, 0o755, 0o750, 0o711, 0o1777, 0o1770, 0o2755])
    func `one to which they may not, or in which they can't touch it, is`(
        mode: Int
    ) throws {
        let place = try Place()
        try #require(chmod(place.root, mode_t(mode)) == 0)
        #expect(place.spool().statistics.directory == place.root + "/0")
    }

    @Test(arguments: [0o777, 0o722, 0o770]) func `a slot to which others may write isn't used, and its records aren't shipped`(mode: Int)
        async throws
    {
        let place = try Place()
        for slot in ["0", "3"] {
            try place.make("spool/" + slot)
            try #require(chmod(place.root + "/" + slot, mode_t(mode)) == 0)
            try Data("x".utf8).write(to: URL(filePath: place.root + "/\(slot)/" + Self.segment))
        }
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/1" && spool.statistics.leftovers.isEmpty)
        #expect(place.says("\(place.root)/0", "chmod go-w") && place.says("\(place.root)/3", "chmod go-w"))
        #expect(place.isThere(place.root + "/3/" + Self.segment))
    }

    @Test func `a segment to which others may write is left alone`() throws {
        let place = try Place()
        let path = place.root + "/0/" + Self.segment
        try Data("x".utf8).write(to: URL(filePath: path))
        try #require(chmod(path, 0o666) == 0)
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/0" && place.says(Self.segment, "mode 666") && place.isThere(path))
    }

    @Test(.enabled("only root may give files away") { geteuid() == 0 }) func `what belongs to others isn't used`() async throws {
        let place = try Place()
        // As root in a container: only the owner of the volume is accepted, too.
        try #require(chown(place.root, 12_345, 12_345) == 0)
        try place.make("spool/1")
        try #require(chown(place.root + "/0", 23_456, 0) == 0)
        try #require(chown(place.root + "/1", 12_345, 0) == 0)
        let spool = place.spool()
        #expect(spool.statistics.directory == place.root + "/1" && spool.statistics.mode == .disk)
        #expect(place.says("\(place.root)/0", "owner 23456", "user 0", "chown"))
        #expect(try await append(spool))
    }

    // MARK: Rules

    @Test func `who is trusted`() {
        func isTrusted(_ owner: UInt32, _ mode: UInt32, user: UInt32, in folder: UInt32? = nil, _ kind: SpoolFileStatus.Kind = .folder)
            -> Bool
        {
            let accepted = folder.flatMap {
                SpoolDirectory.acceptedOwner(SpoolFileStatus(kind: .folder, owner: $0, mode: 0o755), user: user)
            }
            return SpoolFileStatus(kind: kind, owner: owner, mode: mode).objection(at: "/p", wanted: kind, user: user, accepted: accepted)
                == nil
        }
        // An ordinary user trusts itself and root.
        #expect(isTrusted(1_000, 0o700, user: 1_000) && isTrusted(0, 0o755, user: 1_000))
        #expect(!isTrusted(1_001, 0o700, user: 1_000) && !isTrusted(1_001, 0o700, user: 1_000, in: 1_001))
        #expect(!isTrusted(65_534, 0o755, user: 1_000, in: 65_534))
        // Root trusts itself and the owner of the spool's directory.
        #expect(isTrusted(0, 0o700, user: 0) && isTrusted(1_000, 0o755, user: 0, in: 1_000) && !isTrusted(1_000, 0o755, user: 0))
        #expect(!isTrusted(1_001, 0o755, user: 0, in: 1_000))
        // Modes are checked for all users.
        #expect(!isTrusted(0, 0o777, user: 0) && !isTrusted(1_000, 0o775, user: 1_000) && isTrusted(0, 0o1777, user: 1_000))
        #expect(!isTrusted(1_000, 0o1666, user: 1_000, .file) && !isTrusted(1_000, 0o620, user: 1_000, .file))
        #expect(isTrusted(1_000, 0o644, user: 1_000, .file) && isTrusted(1_000, 0o400, user: 1_000, .file))
    }

    @Test(arguments: Thing.allCases) func `dead letters wait for nobody`(thing: Thing) async throws {
        let place = try Place()
        let path = place.outside + "/refused.ndjson"
        let victim = place.path + "/victim"
        try Data("precious".utf8).write(to: URL(filePath: victim))
        try thing.put(at: path, leadingTo: thing == .link ? victim : place.root)
        let letters = DeadLetters(file: URL(filePath: path))
        await letters.write([.sample()], .rejected, "no", receiver: "r")
        #expect(letters.written == 0 && letters.lost == 1 && place.isThere(path))
        #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
    }

    @Test(arguments: [Thing.pipe, .socket, .folder], [SpoolFileSystem.Access.read, .update, .create])
    func `only regular files are opened`(thing: Thing, access: SpoolFileSystem.Access) throws {
        let place = try Place()
        let path = place.outside + "/thing"
        try thing.put(at: path, leadingTo: place.root)
        #expect(throws: SpoolFault.self) { try SpoolFileSystem.system.open(path, access) }
        #expect(throws: SpoolFault.self) { try SpoolFileSystem.system.lock(path) }
        #expect(try SpoolFileSystem.system.status(path)?.kind.rawValue == thing.rawValue)
    }
}

private func makeSocket(_ kind: Int32) -> Int32 { socket(AF_UNIX, kind, 0) }
