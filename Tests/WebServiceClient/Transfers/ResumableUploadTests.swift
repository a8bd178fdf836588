import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ResumableUploadTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "video.bin") }
    private var kept: URL { folder.url.appending(path: "session.json") }

    private func client(_ server: LoopbackServer, retry: RetryPolicy = Archive.eager) -> Archive {
        Archive(serviceRoot: server.url.absoluteString) {
            $0.retry = retry
            // On a busy machine the task that reads the file may wait for minutes.
            $0.timeouts.firstByte = .seconds(600)
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret")
        }
    }

    private func reason(_ body: () async throws -> Void) async -> TransferError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? TransferError)?.reason
        }
    }

    @discardableResult private func write(_ count: Int, seed: UInt64 = 1) throws -> Data {
        let data = SeededGenerator.bytes(count, seed: seed)
        try data.write(to: file)
        return data
    }

    @Test func `tus in one request`() async throws {
        let data = try write(3 << 20)
        let uploads = UploadServer(.tus)
        let server = try uploads.start()
        let seen = Locked<[TransferProgress]>([])
        let response = try await client(server).transfers.upload(
            file, by: .tus(metadata: ["filename": "Ä b", "empty": ""]), progress: { state in seen.withLock { $0.append(state) } },
            { try await $0.create() })
        #expect(uploads.state.withLock { $0.data } == data && response.status == 204 && response.url.path() == "/upload/1")
        let requests = uploads.state.withLock { $0.requests }
        #expect(requests.map(\.method) == ["POST", "PATCH"])
        #expect(requests.allSatisfy { $0.fields["Tus-Resumable"] == "1.0.0" && $0.fields["Authorization"] != nil })
        #expect(requests[0].fields["Upload-Metadata"] == "empty,filename w4QgYg==" && requests[0].fields["Upload-Length"] == "3145728")
        #expect(requests[1].fields["Content-Type"] == "application/offset+octet-stream")
        let progress = seen.withLock { $0 }
        #expect(progress.last == TransferProgress(completed: 3 << 20, total: 3 << 20))
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test(arguments: [UploadServer.Kind.tus, .google, .oneDrive]) func `interrupted uploads go on`(kind: UploadServer.Kind) async throws {
        var random = SeededGenerator(seed: 5)
        for round in 0..<Sweep.rounds(ofAll: 12) {
            let data = try write(Int.random(in: 1...3_000_000, using: &random), seed: UInt64(round + 1))
            let cuts = (0..<60).map { _ in Double.random(in: 0...1, using: &random) }
            let uploads = UploadServer(kind)
            uploads.state.withLock { state in
                state.losesEnd = kind != .oneDrive && round.isMultiple(of: 2)
                state.cut = { piece, count in piece > 25 ? nil : max(1, Int(Double(count) * cuts[piece])) }
            }
            let server = try uploads.start()
            let rules: UploadProtocol =
                switch kind {
                case .tus: .tus(pieces: round.isMultiple(of: 2) ? nil : 300_000)
                case .google: .google(pieces: 262_144)
                case .oneDrive: .oneDrive(pieces: 327_680)
                }
            if kind == .tus {
                try await client(server).transfers.upload(file, by: rules) { try await $0.create() }
            } else {
                let stored = try await client(server).transfers.upload(file, by: rules) { try await $0.begin(name: "v") }
                #expect(stored.value == Archive.Stored(id: "f", size: data.count))
            }
            let (received, sessions) = uploads.state.withLock { ($0.data, $0.sessions) }
            #expect(received == data && sessions == 1)
        }
    }

    @Test func `pieces of Google and OneDrive`() async throws {
        try write(700_000)
        for (kind, rules, size) in [
            (UploadServer.Kind.google, UploadProtocol.google(pieces: 262_144), 262_144), (.oneDrive, .oneDrive(pieces: 327_680), 327_680),
        ] {
            let uploads = UploadServer(kind)
            let server = try uploads.start()
            try await client(server).http.post("/sessions").body(["name": "v"]).upload(file, by: rules)
            let (pieces, requests) = uploads.state.withLock { ($0.pieces, $0.requests) }
            #expect(pieces.dropLast().allSatisfy { $0.count == size } && pieces.last?.upperBound == 700_000)
            #expect(requests[1].fields["Content-Range"] == "bytes 0-\(size - 1)/700000")
            // OneDrive answers 401 to pieces with credentials.
            #expect(requests.dropFirst().allSatisfy { ($0.fields["Authorization"] != nil) == (kind == .google) })
        }
    }

    @Test(arguments: [UploadServer.Kind.tus, .google, .oneDrive]) func `another start of the program continues`(
        kind: UploadServer.Kind
    ) async throws {
        let data = try write(900_000)
        let uploads = UploadServer(kind)
        uploads.state.withLock { $0.cut = { piece, count in piece < 4 ? 100_000 : nil } }
        let server = try uploads.start()
        let rules: UploadProtocol = kind == .tus ? .tus : kind == .google ? .google(pieces: 262_144) : .oneDrive(pieces: 327_680)
        for number in 1..<4 {
            let error = await serviceError {
                try await client(server, retry: .never).http.post("/sessions").upload(file, by: rules, options: .init(sessionFile: kept))
            }
            #expect(error?.kind == .transport, "\(String(describing: error))")
            #expect(uploads.state.withLock { $0.data.count } == 100_000 * number)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: kept.path(percentEncoded: false))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let session = try #require(UploadSession.stored(in: kept))
        #expect(!"\(session) \(String(reflecting: session))".contains("/upload/"))
        #expect(try JSONDecoder().decode(UploadSession.self, from: JSONEncoder().encode(session)) == session)
        if kind != .google { #expect(session.expires != nil) }
        // By the session itself, without its file.
        let ends = Locked(0)
        let options = UploadOptions(session: session, sessionChanged: { if $0 == nil { ends.withLock { $0 += 1 } } })
        try await client(server, retry: .never).http.post("/sessions").upload(file, by: rules, options: options)
        #expect(uploads.state.withLock { $0.data } == data && uploads.state.withLock { $0.sessions } == 1 && ends.withLock { $0 } == 1)
    }

    @Test func `a changed file`() async throws {
        try write(100_000)
        let uploads = UploadServer(.tus)
        uploads.state.withLock { $0.cut = { piece, _ in piece == 1 ? 1_000 : nil } }
        let server = try uploads.start()
        var options = UploadOptions(sessionFile: kept)
        _ = await serviceError { try await client(server, retry: .never).http.post("/uploads").upload(file, by: .tus, options: options) }
        let changed = try write(120_000, seed: 2)
        let failure = await reason { try await client(server).http.post("/uploads").upload(file, by: .tus, options: options) }
        #expect(failure == .sourceChanged)
        options.changedFile = .startOver
        try await client(server).http.post("/uploads").upload(file, by: .tus, options: options)
        #expect(uploads.state.withLock { $0.data } == changed && uploads.state.withLock { $0.sessions } == 2)
        #expect(!FileManager.default.fileExists(atPath: kept.path(percentEncoded: false)))
        // While it is being uploaded.
        uploads.state.withLock { state in
            state.pieces = []
            state.cut = { [file] piece, _ in
                if piece == 2 { try? Data("other".utf8).write(to: file) }
                return nil
            }
        }
        let during = await reason { try await client(server).http.post("/uploads").upload(file, by: .tus(pieces: 10_000)) }
        #expect(during == .sourceChanged)
    }

    @Test func `sessions that have ended`() async throws {
        let data = try write(10_000)
        let uploads = UploadServer(.tus)
        uploads.state.withLock { state in
            state.cut = { piece, _ in piece == 1 ? 5_000 : nil }
            state.answer = { request, _ in request == 3 ? .status(410) : nil }
        }
        let server = try uploads.start()
        try await client(server).http.post("/uploads").upload(file, by: .tus(pieces: 6_000))
        #expect(uploads.state.withLock { $0.data } == data && uploads.state.withLock { $0.sessions } == 2)
        // Again and again.
        uploads.state.withLock { $0.answer = { _, request in request.method == "POST" ? nil : .status(404) } }
        let failure = await reason { try await client(server).http.post("/uploads").upload(file, by: .tus) }
        #expect(failure == .invalidAnswer && uploads.state.withLock { $0.sessions } == 6)
        // All was sent, and the answer lost: a second upload could be a duplicate.
        let drive = UploadServer(.oneDrive)
        drive.state.withLock { state in
            state.losesEnd = true
            state.answer = { _, request in request.method == "GET" ? .status(404) : nil }
        }
        let other = try drive.start()
        let lost = await reason { try await client(other).http.post("/sessions").upload(file, by: .oneDrive) }
        #expect(lost == .unknownOutcome)
    }

    @Test func `answers of tus servers`() async throws {
        let data = try write(10_000)
        // A conflict, a lock, a wrong checksum and an overloaded server: ask, and go on.
        for status in [409, 423, 460, 503, 429] {
            let uploads = UploadServer(.tus)
            uploads.state.withLock { $0.answer = { request, _ in request == 2 ? .status(status) : nil } }
            let server = try uploads.start()
            try await client(server).http.post("/uploads").upload(file, by: .tus(checksum: .sha1))
            let (received, requests) = uploads.state.withLock { ($0.data, $0.requests) }
            #expect(received == data && requests.map(\.method) == ["POST", "PATCH", "HEAD", "PATCH"])
            #expect(requests[1].fields["Upload-Checksum"]?.hasPrefix("sha1 ") == true)
        }
        let wrong: [LoopbackResponse] = [
            LoopbackResponse(status: 412, fields: ["Tus-Version": "0.2.2"]), LoopbackResponse(status: 204),
            LoopbackResponse(status: 204, fields: ["Upload-Offset": "10001"]),
            LoopbackResponse(status: 204, fields: ["Upload-Offset": "-1"]),
            LoopbackResponse(status: 204, fields: ["Upload-Offset": "10000", "Tus-Resumable": "2.0.0"]),
        ]
        for answer in wrong {
            let uploads = UploadServer(.tus)
            uploads.state.withLock { $0.answer = { _, request in request.method == "PATCH" ? answer : nil } }
            let server = try uploads.start()
            let failure = await reason { try await client(server).http.post("/uploads").upload(file, by: .tus) }
            #expect(failure == .invalidAnswer)
        }
        // A server that never takes anything.
        let stuck = UploadServer(.tus)
        stuck.state.withLock { $0.answer = { _, request in request.method == "PATCH" ? .status(409) : nil } }
        let server = try stuck.start()
        let failure = await reason { try await client(server).http.post("/uploads").upload(file, by: .tus) }
        #expect(failure == .interrupted)
        let refused = UploadServer(.tus)
        refused.state.withLock { $0.answer = { _, request in request.method == "PATCH" ? .status(413) : nil } }
        let full = try refused.start()
        let error = await serviceError { try await client(full).http.post("/uploads").upload(file, by: .tus) }
        #expect(error?.status == 413)
    }

    @Test func `small and empty files`() async throws {
        for (count, methods) in [(100, ["POST"]), (0, ["POST"]), (70_000, ["POST", "PATCH"])] {
            let data = try write(count)
            let uploads = UploadServer(.tus)
            let server = try uploads.start()
            try await client(server).http.post("/uploads").upload(file, by: .tus(checksum: .sha256, sendsSmallFilesAtOnce: true))
            #expect(uploads.state.withLock { $0.data } == data && uploads.state.withLock { $0.requests.map(\.method) } == methods)
        }
        try write(0)
        let uploads = UploadServer(.google)
        let server = try uploads.start()
        let response = try await client(server).transfers.upload(file, by: .google) { try await $0.begin(name: "v") }
        #expect(response.value.size == 0)
    }

    @Test func `uploads that can't begin`() async throws {
        try write(10)
        let uploads = UploadServer(.tus)
        let server = try uploads.start()
        let client = client(server)
        for rules in [
            UploadProtocol.tus(pieces: 0), .tus(metadata: ["a b": ""]), .tus(metadata: ["": "x"]), .google(pieces: 1_000),
            .google(pieces: 0),
            .oneDrive(pieces: 262_144), .oneDrive(pieces: 327_680 * 192),
        ] {
            #expect(await reason { try await client.http.post("/uploads").upload(file, by: rules) } == .unusable)
        }
        let missing = folder.url.appending(path: "none")
        await #expect(throws: RequestBodyError.self) { try await client.http.post("/uploads").upload(missing, by: .tus) }
        #expect(server.requests.isEmpty)
        // A server that creates nothing, or leads elsewhere.
        let other = try LoopbackServer { routes in
            routes.on("POST", "/none") { _ in .status(201) }
            routes.on("POST", "/bad") { _ in LoopbackResponse(status: 201, fields: ["Location": "ftp://a.test/x"]) }
        }
        for path in ["/none", "/bad"] {
            #expect(await reason { try await self.client(other).http.post(path).upload(file, by: .tus) } == .invalidAnswer)
        }
    }

    @Test func `pieces are never compressed`() async throws {
        let data = Data(repeating: 0x61, count: 100_000)
        try data.write(to: file)
        let uploads = UploadServer(.tus)
        let server = try uploads.start()
        // The creation has no body, so its declaration can't be compressed: the caller's own setting is.
        let response: ServiceResponse<NoContent> = try await client(server).with(BodyCompression(.gzip)) {
            try await $0.http.post("/uploads").upload(file, by: .tus(pieces: 30_000))
        }
        #expect(response.status == 204 && uploads.state.withLock { $0.data } == data)
        #expect(uploads.state.withLock { $0.requests }.allSatisfy { $0.fields["Content-Encoding"] == nil })
    }

    @Test func `a folder in the place of the session's file is kept`() async throws {
        try write(1_000)
        let uploads = UploadServer(.google)
        let server = try uploads.start()
        let kept = folder.url.appending(path: "sessions")
        try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: kept.appending(path: "other"))
        _ = try? await client(server).http.post("/sessions").upload(file, by: .google, options: UploadOptions(sessionFile: kept))
        #expect(FileManager.default.fileExists(atPath: kept.appending(path: "other").path(percentEncoded: false)))
    }

    @Test func `credentials stay with the service`() async throws {
        let data = try write(1_000)
        let uploads = UploadServer(.tus)
        let foreign = try uploads.start()
        uploads.state.withLock { ($0.exists, $0.sessions, $0.total) = (true, 1, 1_000) }
        let server = try LoopbackServer { routes in
            routes.on("POST", "/uploads") { _ in
                LoopbackResponse(status: 201, fields: ["Location": foreign.url.absoluteString + "/upload/1"])
            }
        }
        try await client(server).http.post("/uploads").upload(file, by: .tus)
        #expect(uploads.state.withLock { $0.data } == data)
        #expect(foreign.requests.allSatisfy { $0.fields["Authorization"] == nil } && server.requests[0].fields["Authorization"] != nil)
    }
}
