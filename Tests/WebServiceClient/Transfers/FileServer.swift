import Foundation
import HTTPTransport
import WebServiceTesting

@testable import WebServiceClient

/// A server of one file with ranges, for tests of downloads: it cuts responses, and can lie.
final class FileServer: Sendable {
    struct State: Sendable {
        var data: Data
        var tag: String? = "\"1\""
        var hasRanges = true
        /// The number of the body's bytes after which a request's response is cut, by the number of the request; `nil` for none.
        var cut: @Sendable (_ request: Int, _ count: Int) -> Int? = { _, _ in nil }
        /// Replaces the response of a request; `nil` for the usual one.
        var answer: @Sendable (_ request: Int, LoopbackRequest) -> LoopbackResponse? = { _, _ in nil }
        var fields: LoopbackFields = [:]
        var ranges: [String?] = []
        /// The bytes of bodies that were sent.
        var sent = 0
    }

    let state: Locked<State>

    init(_ data: Data) {
        state = Locked(State(data: data))
    }

    /// A server with the file at `/file`.
    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.get("/file") { self.respond($0) }
        }
    }

    /// The ranges that were requested.
    var ranges: [String?] { state.withLock { $0.ranges } }

    func respond(_ request: LoopbackRequest) -> LoopbackResponse {
        let (number, now) = state.withLock { state in
            state.ranges.append(request.fields["Range"])
            return (state.ranges.count, state)
        }
        if let answer = now.answer(number, request) { return answer }
        let isCurrent = request.fields["If-Range"].map { $0 == now.tag } ?? true
        var (status, body, fields) = (200, now.data, now.fields)
        if let tag = now.tag { fields.append(LoopbackField("ETag", tag)) }
        if now.hasRanges, isCurrent, let text = request.fields["Range"], text.hasPrefix("bytes=") {
            let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends[0], first < now.data.count else {
                return LoopbackResponse(status: 416, fields: ["Content-Range": "bytes */\(now.data.count)"])
            }
            let last = min(ends[1] ?? .max, now.data.count - 1)
            (status, body) = (206, now.data[(now.data.startIndex + first)...(now.data.startIndex + last)])
            fields.append(LoopbackField("Content-Range", "bytes \(first)-\(last)/\(now.data.count)"))
        }
        let response = LoopbackResponse(status: status, fields: fields, body: .data(Data(body)))
        guard let cut = now.cut(number, body.count), cut < body.count else {
            state.withLock { $0.sent += body.count }
            return response
        }
        state.withLock { $0.sent += cut }
        let part = Data(body.prefix(cut))
        var lines = "HTTP/1.1 \(status) Cut\r\nContent-Length: \(body.count)\r\n"
        for field in fields { lines += "\(field.name): \(field.value)\r\n" }
        return .raw([UInt8](Data((lines + "\r\n").utf8) + part))
    }
}

/// A client of the file.
final class Archive: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "file()": .get("/file"), "named(name:)": .get("/files/%%name%%"), "create()": .post("/uploads"),
            "begin(name:)": .post("/sessions").query("name", .argument(0)),
        ]
    }

    func file() async throws -> Data { try await call() }
    func named(name: String) async throws { try await call(name) }
    func create() async throws { try await call() }
    func begin(name: String) async throws -> Stored { try await call(name) }

    struct Stored: Codable, Sendable, Equatable {
        var id: String
        var size: Int
    }

    /// A policy that goes on without waiting.
    static let eager = RetryPolicy(attempts: 4, backoff: Backoff(base: .zero, cap: .zero, jitter: .none))
}
