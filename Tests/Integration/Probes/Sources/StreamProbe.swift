import Foundation
import WebServiceClient
import WebServiceTesting

/// Streams 200 MB each way, and tells by how much the process grew meanwhile: what is held on the way must be little.
struct StreamProbe {
    /// That of a ``StreamServer``.
    let server: URL
    /// By how much the process may grow while it reads slowly, in bytes, a quarter of what it may while it sends; without a bound where a
    /// sanitizer's own memory would be measured.
    let bound: Int?

    private static let length = StreamServer.length

    /// A stream's source: makes its bytes when it is asked for them.
    private actor Source {
        private var made = 0

        func next() -> Data? {
            guard made < StreamProbe.length else { return nil }
            let count = min(64 * 1024, StreamProbe.length - made)
            made += count
            return Data(count: count)
        }
    }

    /// Ends badly where bytes are lost or wrong, or the process grew by more than its bound.
    func run() async throws {
        let transport = try CurlTransport()
        // What is made once is none of the streams'.
        _ = try await transport.send(
            ServiceRequest(method: .post, url: server.appending(path: "up"), body: RequestBody(Data(count: 1 << 20)))
        ).body
            .collect(upTo: 100)
        var isGood = try await down(transport)

        let file = FileManager.default.temporaryDirectory.appending(path: "probe-\(ProcessInfo.processInfo.processIdentifier)")
        _ = FileManager.default.createFile(atPath: file.path(percentEncoded: false), contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(Self.length))
        try handle.close()
        isGood = try await up("from a file", try RequestBody(file: file), transport) && isGood
        let source = Source()
        isGood = try await up("from a stream", RequestBody { AsyncThrowingStream { await source.next() } }, transport) && isGood
        guard isGood else { exit(1) }
    }

    /// The reader takes 64 kB a millisecond at most, a tenth of what the server could send: all that may wait on the way does.
    private func down(_ transport: CurlTransport) async throws -> Bool {
        let growth = Growth()
        let started = ContinuousClock.now
        let response = try await transport.send(ServiceRequest(url: server.appending(path: "down")))
        var (count, wrong, taken) = (0, 0, 0)
        for try await piece in response.body {
            let start = count
            piece.withUnsafeBytes { bytes in
                for (place, byte) in bytes.enumerated() where byte != LoopbackResponse.Body.generatedByte(at: start + place) { wrong += 1 }
            }
            count += piece.count
            taken += piece.count
            growth.look()
            while taken >= 64 * 1024 {
                taken -= 64 * 1024
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        print("down: \(count) bytes, \(wrong) of them wrong, in \(ContinuousClock.now - started); \(growth)")
        return count == Self.length && wrong == 0 && growth.isBounded(by: bound)
    }

    private func up(_ name: String, _ body: RequestBody, _ transport: CurlTransport) async throws -> Bool {
        let growth = Growth()
        var request = ServiceRequest(method: .post, url: server.appending(path: "up"), body: body)
        request.uploadProgress = { _ in growth.look() }
        let response = try await transport.send(request)
        let text = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
        print("up \(name): status \(response.status), \(text) bytes seen; \(growth)")
        return response.status == 200 && text == "\(Self.length)" && growth.isBounded(by: bound.map { $0 * 4 })
    }
}
