import Foundation
import WebServiceClient
import WebServiceTesting

/// Streams 200 MB each way, and prints how much the process grew: what is held on the way must be little.
struct StreamProbe {
    private static let length = 200 * 1024 * 1024

    private final class Received: @unchecked Sendable {
        // @unchecked: one lock around all of it.
        private let lock = NSLock()
        private var count = 0

        func add(_ bytes: Int) {
            lock.lock()
            count += bytes
            lock.unlock()
        }

        var total: Int {
            lock.lock()
            defer { lock.unlock() }
            return count
        }
    }

    func run() async throws {
        let transport = try CurlTransport()
        let server = try LoopbackServer(options: .init(bodyLimit: 0, recordingLimit: 0)) { routes in
            routes.get("/down") { _ in .generated(count: Self.length) }
            routes.on("POST", "/up") { request in .text("\(request.bodyLength)") }
        }
        let before = Self.resident()
        let down = try await transport.send(ServiceRequest(url: try server.url("/down")))
        var (count, most, number) = (0, 0, 0)
        for try await piece in down.body {
            count += piece.count
            number += 1
            if number % 64 == 0 {
                try await Task.sleep(for: .milliseconds(2))
                most = max(most, Self.resident() - before)
            }
        }
        print("down: \(count) bytes in \(number) pieces, the process grew by at most \(most / 1024) kB, server and client together")

        let file = FileManager.default.temporaryDirectory.appending(path: "probe-\(ProcessInfo.processInfo.processIdentifier)")
        _ = FileManager.default.createFile(atPath: file.path(percentEncoded: false), contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(Self.length))
        try handle.close()
        let body = try RequestBody(file: file)
        try await up("from a file", body, transport, server)
        let made = Received()
        let stream = RequestBody {
            AsyncThrowingStream {
                guard made.total < Self.length else { return nil }
                made.add(1 << 20)
                return Data(count: 1 << 20)
            }
        }
        try await up("from a stream", stream, transport, server)
    }

    private func up(_ name: String, _ body: RequestBody, _ transport: CurlTransport, _ server: LoopbackServer) async throws {
        let before = Self.resident()
        let response = try await transport.send(ServiceRequest(method: .post, url: try server.url("/up"), body: body))
        let text = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
        print("up \(name): status \(response.status), \(text) bytes seen, the process grew by \((Self.resident() - before) / 1024) kB")
    }

    /// The resident memory in bytes; 0 where the system doesn't tell.
    private static func resident() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
