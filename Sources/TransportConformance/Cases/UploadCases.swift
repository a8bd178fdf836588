import Foundation
import WebServiceClient
import WebServiceTesting

/// Successful request bodies.
enum UploadCases {
    static let all = [
        ConformanceCase("uploads/memory", "Bytes in memory arrive with their length.", run: memory),
        ConformanceCase("uploads/file", "A file arrives with its length.", run: file),
        ConformanceCase("uploads/segments", "Several segments arrive in their order.", run: segments),
        ConformanceCase("uploads/stream", "A stream of unknown length arrives.", run: stream),
        ConformanceCase("uploads/sized-stream", "A stream of known length arrives with that length, not in chunks.", run: sizedStream),
        ConformanceCase("uploads/empty", "Empty bodies arrive, from each source.", run: empty),
        ConformanceCase("uploads/large", "Five megabytes arrive, from each source.", run: large),
        ConformanceCase("uploads/tiny-pieces", "A stream of a thousand pieces, some of them empty, arrives complete.", run: tinyPieces),
        ConformanceCase(
            "uploads/while-made", "A stream's first piece is sent before its second is made.", needing: .streamingUploads, run: whileMade),
        ConformanceCase("uploads/progress", "Progress rises to the total, from each source.", run: progress),
        ConformanceCase("uploads/progress-empty", "Progress of an empty body is reported as well: 0 of 0.", run: emptyProgress),
        ConformanceCase("uploads/opened-once", "A stream is opened once for each request.", run: openedOnce),
    ]

    private static func expect(
        _ data: Data, from body: RequestBody, _ what: String, _ subject: ConformanceSubject, length: Bool = false,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws {
        try await answering({ .text("\($0.bodyLength)") }) { server in
            var request = try server.request(.put, body: body)
            request.uploadProgress = progress
            try await subject.expect(200, "\(data.count)", for: request, what)
            let received = try server.onlyRequest()
            try demand(received.body, is: data, "\(what), as received")
            if length {
                try demand(received.fields["Content-Length"], is: "\(data.count)", "\(what), Content-Length")
                try demand(received.fields["Transfer-Encoding"], is: nil, "\(what), Transfer-Encoding")
            }
        }
    }

    /// Returns a body of these bytes from each source, with its name.
    private static func sources(_ data: Data, in folder: ConformanceFolder) throws -> [(String, RequestBody)] {
        let half = data.count / 2
        return [
            ("memory", RequestBody(data)), ("a file", try RequestBody(file: try folder.file(data))),
            (
                "segments",
                RequestBody(segments: [
                    .data(Data(data.prefix(half))), .file(try folder.file(Data(data.dropFirst(half))), length: Int64(data.count - half)),
                ])
            ), ("a stream", .pieces(of: data, by: 100_000)), ("a sized stream", .pieces(of: data, by: 100_000, length: Int64(data.count))),
        ]
    }

    @Sendable private static func memory(_ subject: ConformanceSubject) async throws {
        for count in [1, 100, 70_000] {
            let data = ConformanceBytes.make(count)
            try await expect(data, from: RequestBody(data), "\(count) bytes", subject, length: true)
        }
    }

    @Sendable private static func file(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let data = ConformanceBytes.make(300_000)
        try await expect(data, from: try RequestBody(file: try folder.file(data)), "The file", subject, length: true)
    }

    @Sendable private static func segments(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let (first, second) = (ConformanceBytes.make(200_000, seed: 2), ConformanceBytes.make(1, seed: 3))
        let body = RequestBody(segments: [
            .data(Data("head".utf8)), .file(try folder.file(first), length: 200_000), .data(Data()), .data(Data("mid".utf8)),
            .file(try folder.file(second), length: 1), .file(try folder.file(Data()), length: 0),
        ])
        try await expect(Data("head".utf8) + first + Data("mid".utf8) + second, from: body, "The segments", subject, length: true)
    }

    @Sendable private static func stream(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(300_000)
        try await expect(data, from: .pieces(of: data, by: 10_000), "The stream", subject)
    }

    @Sendable private static func sizedStream(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(300_000)
        try await expect(data, from: .pieces(of: data, by: 10_000, length: 300_000), "The stream", subject, length: true)
    }

    @Sendable private static func empty(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        for (name, body) in try sources(Data(), in: folder) { try await expect(Data(), from: body, "Nothing from \(name)", subject) }
        try await answering({ .text("\($0.bodyLength)") }) { server in
            try await subject.expect(200, "0", for: try server.request(.post), "No body at all")
            try demand(try server.onlyRequest().fields["Content-Length"], is: "0", "Content-Length of a POST without a body")
        }
    }

    @Sendable private static func large(_ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let data = ConformanceBytes.make(5 << 20)
        for (name, body) in try sources(data, in: folder) { try await expect(data, from: body, "5 MB from \(name)", subject) }
    }

    @Sendable private static func tinyPieces(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(1_000)
        for length in [nil, 1_000] as [Int64?] {
            let body = RequestBody(length: length) {
                AsyncThrowingStream { continuation in
                    for byte in data {
                        continuation.yield(Data([byte]))
                        continuation.yield(Data())
                    }
                    continuation.finish()
                }
            }
            try await expect(data, from: body, "A thousand pieces", subject)
        }
    }

    @Sendable private static func whileMade(_ subject: ConformanceSubject) async throws {
        let arrived = Locked(false)
        let script = LoopbackResponse.script { wire in
            var received = Data()
            func read(until text: String) throws {
                while received.range(of: Data(text.utf8)) == nil, let bytes = try wire.read() { received.append(bytes) }
            }
            try read(until: "first")
            arrived.withLock { $0 = true }
            try read(until: "second")
            // A chunked body ends with an empty chunk.
            if received.count > 11 { try read(until: "0\r\n\r\n") }
            try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        for length in [nil, 11] as [Int64?] {
            arrived.withLock { $0 = false }
            let count = Locked(0)
            let body = RequestBody(length: length) {
                AsyncThrowingStream {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if number == 1 { return Data("first".utf8) }
                    guard number == 2 else { return nil }
                    while !arrived.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
                    return Data("second".utf8)
                }
            }
            try await answering(reading: .headOnly, { _ in script }) { server in
                try await subject.expect(200, "ok", for: try server.request(.post, body: body))
            }
        }
    }

    @Sendable private static func progress(_ subject: ConformanceSubject) async throws {
        try await rises(to: 2 << 20, subject)
    }

    @Sendable private static func emptyProgress(_ subject: ConformanceSubject) async throws {
        try await rises(to: 0, subject)
    }

    private static func rises(to count: Int, _ subject: ConformanceSubject) async throws {
        let folder = try ConformanceFolder()
        let data = ConformanceBytes.make(count)
        for (name, body) in try sources(data, in: folder) {
            let seen = Locked<[TransferProgress]>([])
            try await expect(data, from: body, "\(count) bytes from \(name)", subject) { progress in
                seen.withLock { $0.append(progress) }
            }
            let progress = seen.withLock { $0 }
            let what = "Progress of \(count) bytes from \(name)"
            try demand(progress.last?.completed, is: Int64(count), "\(what), at its end")
            let isRising = zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed }
            try demand(isRising, "\(what): expected rising numbers, found \(progress.map(\.completed))")
            let totals = Set(progress.compactMap(\.total)).subtracting([Int64(count)])
            try demand(totals.isEmpty, "\(what): expected the total \(count), found \(totals)")
            if body.length != nil { try demand(progress.last?.total, is: Int64(count), "\(what), the total at its end") }
        }
    }

    @Sendable private static func openedOnce(_ subject: ConformanceSubject) async throws {
        let opened = Locked(0)
        let body = RequestBody(isReplayable: true) {
            opened.withLock { $0 += 1 }
            return AsyncThrowingStream {
                $0.yield(Data("x".utf8))
                $0.finish()
            }
        }
        try await answering({ .text($0.text) }) { server in
            for number in 1...2 {
                try await subject.expect(200, "x", for: try server.request(.post, body: body))
                try demand(opened.withLock { $0 }, is: number, "The times that the stream was opened")
            }
        }
    }
}
