import CSystemLibraries
import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct FileTokenStoreTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "sessions/token.json") }
    private var path: String { file.path(percentEncoded: false) }

    private func mode(_ path: String) -> UInt32? {
        var status = csl_file_status()
        return csl_status_at_path(path, true, &status) == 0 ? status.mode & 0o777 : nil
    }

    @Test func `a token comes back as it was, and the file is private`() async throws {
        let store = FileTokenStore(file)
        #expect(try await store.load() == nil)
        let token = BearerToken(
            "ä\"", lifetime: .milliseconds(3_600_500), issuedAt: Date(timeIntervalSince1970: 1_800_000_000.5), refreshToken: "r",
            scopes: ["a", "b"])
        try await store.save(token)
        #expect(try await store.load() == token)
        #expect(mode(path) == 0o600)
        #expect(mode(file.deletingLastPathComponent().path(percentEncoded: false)) == 0o700)
        try await store.save(BearerToken("second"))
        #expect(try await store.load()?.value == "second")
        try await store.save(nil)
        try await store.save(nil)
        #expect(try await store.load() == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path(percentEncoded: false))
        #expect(names.isEmpty, "no temporary file is left: \(names)")
    }

    @Test func `a file that others can read isn't read, and the error names the fix`() async throws {
        let store = FileTokenStore(file)
        try await store.save(BearerToken("s3cret"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let error = await #expect(throws: TokenStoreError.self) { try await store.load() }
        #expect(error?.message.contains("chmod 600") == true)
        try await store.save(BearerToken("new"))
        #expect(mode(path) == 0o600)
    }

    @Test(arguments: ["", "{", "[]", #"{"access_token": 1}"#, #"{"access_token": "s3cret""#, "\u{0}\u{1}"])
    func `a damaged file is an error that doesn't show it`(content: String) async throws {
        let store = FileTokenStore(file)
        try await store.save(BearerToken("a"))
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(content.utf8))
        try handle.close()
        let error = await #expect(throws: TokenStoreError.self) { try await store.load() }
        #expect(error?.message.contains("token.json") == true && error?.message.contains("s3cret") == false)
    }

    @Test(arguments: [
        #"{"access_token":"a","expires_in":-1}"#, #"{"access_token":"a","expires_in":1e300,"issued_at":-1e300}"#,
        #"{"access_token":"a","expires_in":0.0000001,"issued_at":1e300,"unknown":[]}"#,
    ]) func `odd numbers in a file don't trap`(content: String) async throws {
        let store = MemoryTokenStore(try JSONDecoder().decode(BearerToken.self, from: Data(content.utf8)))
        let clock = HandClock()
        let provider = clock.provide { BearerTokenProvider(CountingSource { _, _ in BearerToken("new") }, store: store) }
        #expect(["a", "new"].contains(try await provider.token().value))
    }

    @Test(
        arguments: [
            (#"{"access_token":"a","token_type":"Bearer","expires_in":3600}"#, 3_600.0),
            (#"{"access_token":"a","expires_in":"3599"}"#, 3_599), (#"{"access_token":"a","expires_in":"soon"}"#, nil),
            (#"{"access_token":"a","expires_in":null}"#, nil), (#"{"access_token":"a"}"#, nil),
        ] as [(String, Double?)]) func `a server's answer is a token that was issued now`(answer: String, seconds: Double?) throws
    {
        let token = try JSONDecoder().decode(BearerToken.self, from: Data(answer.utf8))
        #expect(token.value == "a" && token.lifetime == seconds.map { .seconds(Int64($0)) })
        #expect(try JSONDecoder().decode(BearerToken.self, from: JSONEncoder().encode(token)).lifetime == token.lifetime)
        #expect(abs(token.issuedAt.timeIntervalSinceNow) < 3_600)
    }

    @Test func `a folder in place of the file, and a file in place of the folder, are errors`() async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        await #expect(throws: TokenStoreError.self) { try await FileTokenStore(file).load() }
        await #expect(throws: TokenStoreError.self) { try await FileTokenStore(file).save(BearerToken("a")) }
        let plain = folder.url.appending(path: "plain")
        try Data().write(to: plain)
        let inFile = FileTokenStore(plain.appending(path: "token.json"))
        await #expect(throws: TokenStoreError.self) { try await inFile.save(BearerToken("a")) }
        await #expect(throws: TokenStoreError.self) { try await inFile.exclusively {} }
    }

    @Test func `two stores on a file take turns, and a cancelled one stops waiting`() async throws {
        let (first, second) = (FileTokenStore(file), FileTokenStore(file))
        let door = Door()
        let held = Task { try await first.exclusively { await door.pass() } }
        await door.wait(for: 1)
        let waiting = Task { try await second.exclusively { 1 } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let patient = Task { try await second.exclusively { 2 } }
        door.open()
        try await held.value
        #expect(try await watched { try await patient.value } == 2)
    }

    /// A server whose refresh tokens are valid once: a second use ends the session.
    private final class RotatingSource: TokenSource {
        let state = Locked((current: "r0", number: 0, reuses: 0))
        let timeLimit = Duration.seconds(600)

        func token(replacing old: BearerToken?) async throws -> BearerToken {
            await Task.yield()
            return try state.withLock { state in
                guard old?.refreshToken == state.current else {
                    state.reuses += 1
                    throw OAuthError(.invalidGrant, status: 400)
                }
                state.number += 1
                state.current = "r\(state.number)"
                return BearerToken("t\(state.number)", lifetime: .seconds(600), issuedAt: Date(), refreshToken: state.current)
            }
        }
    }

    @Test func `providers that share a file refresh one rotating token once`() async throws {
        let server = RotatingSource()
        try await FileTokenStore(file).save(BearerToken("t0", lifetime: .seconds(1), issuedAt: .distantPast, refreshToken: "r0"))
        // Each uses a separate store, as different processes do.
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask { try await BearerTokenProvider(server, store: FileTokenStore(file)).token().value }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(tokens) == ["t1"])
        #expect(server.state.withLock { $0.reuses } == 0)
        #expect(try await FileTokenStore(file).load()?.refreshToken == "r1")
    }

    @Test(.enabled("needs python3") { (try? await ChildProcess.run(["python3", "--version"]))?.status == 0 })
    func `another process holds the lock until it ends, even when it is killed`() async throws {
        let store = FileTokenStore(file)
        try await store.exclusively {}
        let program = """
            import fcntl, os, signal, sys
            file = open(sys.argv[1], "r+")
            fcntl.flock(file, fcntl.LOCK_EX)
            open(sys.argv[1] + ".held", "w").close()
            sys.stdin.readline()
            os.kill(os.getpid(), signal.SIGKILL)
            """
        let input = Pipe()
        let process = try RunningProcess(["python3", "-c", program, path + ".lock"], input: input.fileHandleForReading)
        while !FileManager.default.fileExists(atPath: path + ".lock.held") { try await Task.sleep(for: .milliseconds(5)) }
        let isIn = Locked(false)
        let waiting = Task { try await store.exclusively { isIn.withLock { $0 = true } } }
        for _ in 0..<20 { await Task.yield() }
        #expect(!isIn.withLock { $0 })
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        try input.fileHandleForWriting.close()
        try await watched { try await waiting.value }
        #expect(isIn.withLock { $0 })
        _ = try? await process.end()
    }
}
