import Foundation
import WebServiceClient
import WebServiceTesting

/// Streams 200 MB each way, and reports the growth of the process, which must be small.
struct StreamProbe {
    /// The URL of a ``StreamServer``.
    let server: URL
    /// The bytes by which the process may grow while it reads slowly, a quarter of the limit while it sends; `nil` with a sanitizer, whose
    /// memory would be measured.
    let bound: Int?

    private static let length = StreamServer.length

    /// The source of a stream, which makes its bytes on demand.
    private actor Source {
        private var made = 0

        func next() -> Data? {
            guard made < StreamProbe.length else { return nil }
            let count = min(64 * 1024, StreamProbe.length - made)
            made += count
            return Data(count: count)
        }
    }

    /// Fails if bytes are lost or wrong, or the process grows by more than its bound.
    func run() async throws {
        let transport = try CurlTransport()
        // Memory that is allocated once isn't counted for the streams.
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

    /// The reader takes at most 64 kB per millisecond, a tenth of what the server could send, so all buffers fill up.
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
