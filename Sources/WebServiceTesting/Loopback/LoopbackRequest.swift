public import Foundation
import WebServiceClient

/// A request as a ``LoopbackServer`` received it.
public struct LoopbackRequest: Sendable {
    /// The method, as sent.
    public let method: String
    /// The request target exactly as in the request line: path and query, still encoded.
    public let targetBytes: [UInt8]
    /// The fields of the head, in order.
    public let fields: LoopbackFields
    /// The body, decoded from its chunks, up to the server's ``LoopbackServer/Options/bodyLimit``.
    public internal(set) var body: Data
    /// The length of the body in bytes, including the bytes beyond the limit of ``body``.
    public internal(set) var bodyLength: Int
    /// The fields that came after a chunked body.
    public internal(set) var trailers: LoopbackFields
    /// The number of the connection, counted from one in the order of acceptance.
    public let connection: Int
    /// The number of the request on its connection, counted from one. Above one, the connection was kept alive.
    public let numberOnConnection: Int
    /// The time at which the head was complete.
    public let arrival: ContinuousClock.Instant
    /// The decoded values of the route's `:name` and `*name` segments.
    public internal(set) var parameters: [String: String]

    /// A Boolean value that indicates whether ``body`` is only a part of the body that was sent.
    public var isBodyCut: Bool { body.count < bodyLength }
    /// The request target as text; bytes that aren't UTF-8 show as U+FFFD.
    public var target: String { String(decoding: targetBytes, as: UTF8.self) }
    /// The path of the target, still encoded.
    public var path: String { String(decoding: RequestTarget(targetBytes).path, as: UTF8.self) }
    /// The query of the target without its question mark, still encoded; `nil` if there is none.
    public var query: String? { RequestTarget(targetBytes).query.map { String(decoding: $0, as: UTF8.self) } }
    /// The segments of the path, each percent-decoded after the split: `%2F` stays within its segment.
    public var pathSegments: [String] { RequestTarget(targetBytes).segments }
    /// The pairs of the query, percent-decoded; `+` stays a plus.
    public var queryItems: [URLQueryItem] { RequestTarget.pairs(of: RequestTarget(targetBytes).query ?? [], plusIsBlank: false) }
    /// The pairs of a body sent as `application/x-www-form-urlencoded`, decoded; `+` is a blank.
    public var formItems: [URLQueryItem] { RequestTarget.pairs(of: body[...], plusIsBlank: true) }
    /// The body as text; bytes that aren't UTF-8 show as U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: The errors of `JSONDecoder`.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// Returns the first value of a query item, percent-decoded.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The user and password of `Authorization: Basic`, if present.
    public var basicCredentials: (user: String, password: String)? {
        guard let value = fields["Authorization"], value.lowercased().hasPrefix("basic "),
            let bytes = Data(base64Encoded: String(value.dropFirst(6)))
        else { return nil }
        let halves = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        return (String(decoding: halves[0], as: UTF8.self), String(decoding: halves[1], as: UTF8.self))
    }

    /// Whether the client keeps the connection open after the response (RFC 9112, section 9.3).
    let keepsConnection: Bool
    /// Whether the client uses HTTP/1.0, which has no chunks.
    let isHTTP10: Bool
}

extension LoopbackRequest: CustomStringConvertible {
    /// The method, target and body length. Field values are omitted, since they may contain secrets.
    public var description: String {
        "\(method) \(target) (\(bodyLength) bytes, connection \(connection))"
    }
}

/// The request line and the fields of a request (RFC 9112, sections 2 to 6).
struct RequestHead {
    /// The length of the body.
    enum BodyLength: Equatable {
        case bytes(Int)
        case chunks
    }

    let method: String
    let target: [UInt8]
    let isHTTP10: Bool
    let fields: LoopbackFields
    let bodyLength: BodyLength

    /// - Throws: ``MalformedRequest``.
    init(requestLine: [UInt8], fields: LoopbackFields) throws {
        let space = UInt8(ascii: " ")
        guard let first = requestLine.firstIndex(of: space), let last = requestLine.lastIndex(of: space), first < last else {
            throw MalformedRequest(reason: "The request line “\(String(decoding: requestLine, as: UTF8.self))” doesn't have three parts")
        }
        let version = String(decoding: requestLine[(last + 1)...], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw MalformedRequest(reason: "The version “\(version)” is neither HTTP/1.1 nor HTTP/1.0", status: 505)
        }
        method = String(decoding: requestLine[..<first], as: UTF8.self)
        target = Array(requestLine[(first + 1)..<last])
        isHTTP10 = version == "HTTP/1.0"
        self.fields = fields
        bodyLength = try Self.bodyLength(of: fields)
    }

    var expectsContinue: Bool { !isHTTP10 && fields.list("Expect", contains: "100-continue") }

    var keepsConnection: Bool {
        isHTTP10 ? fields.list("Connection", contains: "keep-alive") : !fields.list("Connection", contains: "close")
    }

    private static func bodyLength(of fields: LoopbackFields) throws -> BodyLength {
        let lengths = fields.values(of: "Content-Length")
        if fields["Transfer-Encoding"] != nil {
            guard fields.list("Transfer-Encoding", contains: "chunked") else {
                throw MalformedRequest(reason: "The transfer encoding isn't chunked", status: 501)
            }
            guard lengths.isEmpty else { throw MalformedRequest(reason: "Both Content-Length and Transfer-Encoding are present") }
            return .chunks
        }
        guard let text = lengths.first else { return .bytes(0) }
        guard Set(lengths).count == 1, text.allSatisfy({ $0.isASCII && $0.isNumber }), let length = Int(text) else {
            throw MalformedRequest(reason: "The Content-Length “\(lengths.joined(separator: ", "))” isn't a length")
        }
        return .bytes(length)
    }
}

/// Runs an asynchronous handler for a connection's thread, which waits for it.
struct HandlerCall {
    let socket: LoopbackSocket

    /// Returns the handler's response.
    ///
    /// - Throws: The handler's error, or ``ConnectionEnd`` if the client disconnects or the server stops first. The task is then cancelled
    ///   and not awaited.
    func answer(to request: LoopbackRequest, by handler: @escaping LoopbackRoutes.AsyncHandler) throws -> LoopbackResponse {
        let outcome = Locked<Result<LoopbackResponse, any Error>?>(nil)
        let finished = DispatchSemaphore(value: 0)
        let task = Task.detached {
            let result: Result<LoopbackResponse, any Error>
            do { result = .success(try await handler(request)) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            finished.signal()
        }
        // The semaphore can't be polled together with the socket, so the thread checks the socket periodically.
        while finished.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            do {
                try socket.pause(until: .now)
            } catch {
                task.cancel()
                throw error
            }
        }
        return try outcome.withLock { $0 }?.get() ?? .status(500)
    }
}
