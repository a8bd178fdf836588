public import Foundation
public import WebServiceClient

/// What a ``StubTransport`` answers to a request.
public struct StubAnswer: Sendable {
    let respond: @Sendable (RecordedRequest, any Clock<Duration>) async throws -> TransportResponse

    /// An answer that a closure makes.
    public init(_ respond: @escaping @Sendable (RecordedRequest) async throws -> TransportResponse) {
        self.init { request, _ in try await respond(request) }
    }

    private init(respond: @escaping @Sendable (RecordedRequest, any Clock<Duration>) async throws -> TransportResponse) {
        self.respond = respond
    }

    // MARK: Responses

    /// Bytes of a media type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200, headers: HTTPFields = [:]
    ) -> StubAnswer {
        var fields = headers
        if !fields.contains(.contentType) { fields[.contentType] = type }
        return StubAnswer { [fields] request, _ in
            TransportResponse(status: status, headers: fields, url: request.request.url, body: ResponseBody(data), httpVersion: "HTTP/1.1")
        }
    }

    /// JSON text, as it is written.
    public static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> StubAnswer {
        .data(Data(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// A value as JSON.
    ///
    /// - Throws: what `JSONEncoder` throws.
    public static func encoded(_ value: some Encodable, status: Int = 200, headers: HTTPFields = [:]) throws -> StubAnswer {
        .data(try JSONEncoder().encode(value), type: "application/json", status: status, headers: headers)
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> StubAnswer {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// No body, and no fields but these.
    public static func status(_ status: Int, headers: HTTPFields = [:]) -> StubAnswer {
        StubAnswer { request, _ in TransportResponse(status: status, headers: headers, url: request.request.url, httpVersion: "HTTP/1.1") }
    }

    /// A body that is pulled piece by piece, its length unknown; with an error, it breaks at its end.
    public static func pieces(
        _ pieces: [Data], failing error: (any Error)? = nil, status: Int = 200, headers: HTTPFields = [:]
    ) -> StubAnswer {
        StubAnswer { request, _ in
            let left = Locked(pieces[...])
            let body = ResponseBody(
                expectedLength: nil,
                next: {
                    if let piece = left.withLock({ $0.popFirst() }) { return piece }
                    if let error { throw error }
                    return nil
                },
                cancel: { left.withLock { $0 = [] } })
            return TransportResponse(status: status, headers: headers, url: request.request.url, body: body, httpVersion: "HTTP/1.1")
        }
    }

    /// A redirect to an absolute or relative location.
    public static func redirect(to location: String, status: Int = 302) -> StubAnswer {
        .status(status, headers: ["Location": location])
    }

    // MARK: Failures

    /// An error in place of a response, such as a `TransportError`.
    public static func failure(_ error: any Error) -> StubAnswer {
        StubAnswer { _, _ in throw error }
    }

    /// No answer until the calling task is cancelled.
    public static var never: StubAnswer {
        StubAnswer { _, _ in
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    // MARK: Combinations

    /// One answer after the other, a request each; the last one stays.
    public static func inTurn(_ answers: StubAnswer...) -> StubAnswer {
        let turns = Turns(answers)
        return StubAnswer { request, clock in
            guard let answer = turns.next() else { throw TestingFailure("The list of answers for “\(request.key)” is empty") }
            return try await answer.respond(request, clock)
        }
    }

    /// The answer that a closure chooses.
    public static func answering(_ choose: @escaping @Sendable (RecordedRequest) async throws -> StubAnswer) -> StubAnswer {
        StubAnswer { request, clock in try await choose(request).respond(request, clock) }
    }

    /// This answer after a wait on the transport's clock.
    public func delayed(by delay: Duration) -> StubAnswer {
        StubAnswer { request, clock in
            try await clock.sleep(for: delay)
            return try await respond(request, clock)
        }
    }
}
