import Foundation
import WebServiceTesting

@testable import WebServiceClient

/// The servers of resumable uploads, with one upload at a time. They can stop reading a piece, and answer in other ways than they should.
final class UploadServer: Sendable {
    struct State: Sendable {
        var data = Data()
        var total: Int?
        var exists = false
        var sessions = 0
        var pieces: [Range<Int>] = []
        /// The bytes of a piece after which the connection is cut, by the number of the piece; `nil` for none.
        var cut: @Sendable (_ piece: Int, _ count: Int) -> Int? = { _, _ in nil }
        /// Replaces the answer to a request of a session; `nil` for the usual one.
        var answer: @Sendable (_ request: Int, LoopbackRequest) -> LoopbackResponse? = { _, _ in nil }
        /// Whether the answer to the last piece is lost, once.
        var losesEnd = false
        var requests: [LoopbackRequest] = []
        var faults: [String] = []
    }

    enum Kind: Sendable {
        case tus
        case google
        case oneDrive
    }

    let kind: Kind
    let state = Locked(State())

    init(_ kind: Kind) {
        self.kind = kind
    }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.on("POST", "/uploads") { self.create($0) }
            routes.on("POST", "/sessions") { self.create($0) }
            for method in ["HEAD", "PATCH", "PUT", "GET"] {
                routes.on(method, "/upload/:number", reading: .headOnly) { self.respond($0) }
            }
        }
    }

    func create(_ request: LoopbackRequest) -> LoopbackResponse {
        let number = state.withLock { state in
            (state.data, state.exists) = (Data(), true)
            state.sessions += 1
            state.requests.append(request)
            state.total = (request.fields["Upload-Length"] ?? request.fields["X-Upload-Content-Length"]).flatMap { Int($0) }
            return state.sessions
        }
        switch kind {
        case .tus:
            var response = LoopbackResponse(status: 201, fields: ["Location": "/upload/\(number)", "Tus-Resumable": "1.0.0"])
            if request.fields["Content-Type"] == "application/offset+octet-stream" {
                state.withLock { $0.data = request.body }
                response = response.with("Upload-Offset", "\(request.body.count)")
            }
            return response.with("Upload-Expires", "Wed, 25 Jun 2031 16:00:00 GMT")
        case .google: return LoopbackResponse(status: 200, fields: ["Location": "/upload/\(number)?upload_id=secret"])
        case .oneDrive:
            let host = request.fields["Host"] ?? ""
            return .json(#"{"uploadUrl":"http://\#(host)/upload/\#(number)","expirationDateTime":"2031-01-29T09:21:55Z"}"#)
        }
    }

    func respond(_ request: LoopbackRequest) -> LoopbackResponse {
        let (count, now) = state.withLock { state in
            state.requests.append(request)
            return (state.requests.count, state)
        }
        if let answer = now.answer(count, request) { return answer }
        guard now.exists, request.path == "/upload/\(now.sessions)" else { return .status(404) }
        switch request.method {
        case "HEAD", "GET": return position()
        case "PATCH": return take(request, from: Int(request.fields["Upload-Offset"] ?? "") ?? -1, length: length(request))
        default:
            let text = request.fields["Content-Range"] ?? ""
            if text.hasPrefix("bytes */") {
                state.withLock { $0.total = Int(text.dropFirst(8)) }
                return position()
            }
            guard let range = ContentRange(text), let bytes = range.bytes else { return .status(400) }
            state.withLock { $0.total = range.total.map { Int($0) } }
            guard Int(bytes.upperBound - bytes.lowerBound) + 1 == length(request) else { return .status(400) }
            return take(request, from: Int(bytes.lowerBound), length: length(request))
        }
    }

    private func length(_ request: LoopbackRequest) -> Int { Int(request.fields["Content-Length"] ?? "") ?? 0 }

    private func take(_ request: LoopbackRequest, from start: Int, length: Int) -> LoopbackResponse {
        .script { wire in
            let (piece, now) = self.state.withLock { state in
                state.pieces.append(start..<start + length)
                return (state.pieces.count, state)
            }
            guard start == now.data.count else {
                try wire.write("HTTP/1.1 \(self.kind == .tus ? 409 : 416) Conflict\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            }
            let most = now.cut(piece, length) ?? length
            var received = Data()
            while received.count < min(most, length), let more = try wire.read() { received.append(more) }
            received = received.prefix(most)
            self.state.withLock { $0.data.append(received) }
            guard received.count == length else { return }
            let isLost = self.state.withLock { state in
                defer { if state.data.count == state.total { state.losesEnd = false } }
                return state.losesEnd && state.data.count == state.total
            }
            if !isLost { try wire.write(self.text(self.position())) }
        }
    }

    /// The answer that tells the position.
    private func position() -> LoopbackResponse {
        let (have, total) = state.withLock { ($0.data.count, $0.total) }
        switch kind {
        case .tus:
            return LoopbackResponse(
                status: 204, fields: ["Tus-Resumable": "1.0.0", "Upload-Offset": "\(have)", "Upload-Length": "\(total ?? 0)"])
        case .google where have == total: return .json(#"{"id":"f","size":\#(have)}"#)
        case .google: return LoopbackResponse(status: 308, fields: have == 0 ? [:] : ["Range": "bytes=0-\(have - 1)"])
        case .oneDrive where have == total: return .json(#"{"id":"f","size":\#(have)}"#, status: 201)
        case .oneDrive:
            // The ranges come in any order.
            let last = (total ?? 1) - 1
            let ranges = have < last ? #""\#(last)-","\#(have)-\#(last - 1)""# : #""\#(have)-""#
            return .json(#"{"nextExpectedRanges":[\#(ranges)]}"#, status: 202)
        }
    }

    private func text(_ response: LoopbackResponse) -> String {
        guard case .data(let body) = response.body else { return head(response, 0) }
        return head(response, body.count) + String(decoding: body, as: UTF8.self)
    }

    private func head(_ response: LoopbackResponse, _ length: Int) -> String {
        var head = "HTTP/1.1 \(response.status) X\r\nConnection: close\r\n"
        if response.status != 204 { head += "Content-Length: \(length)\r\n" }
        for field in response.fields { head += "\(field.name): \(field.value)\r\n" }
        return head + "\r\n"
    }
}
