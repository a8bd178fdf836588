public import Foundation
public import WebServiceClient

/// An answer of a ``StubTransport`` to a request.
public struct StubAnswer: Sendable {
    let respond: @Sendable (RecordedRequest, any Clock<Duration>) async throws -> TransportResponse

    /// Makes an answer from a closure.
    public init(_ respond: @escaping @Sendable (RecordedRequest) async throws -> TransportResponse) {
        self.init { request, _ in try await respond(request) }
    }

    private init(respond: @escaping @Sendable (RecordedRequest, any Clock<Duration>) async throws -> TransportResponse) {
        self.respond = respond
    }

    // MARK: Responses

    /// Returns an answer with bytes of a media type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200, headers: HTTPFields = [:]
    ) -> StubAnswer {
        var fields = headers
        if !fields.contains(.contentType) { fields[.contentType] = type }
        return StubAnswer { [fields] request, _ in
            TransportResponse(status: status, headers: fields, url: request.request.url, body: ResponseBody(data), httpVersion: "HTTP/1.1")
        }
    }

    /// Returns an answer with JSON text, sent unchanged.
    public static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> StubAnswer {
        .data(Data(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// Returns an answer with a value encoded as JSON.
    ///
    /// - Throws: The errors of `JSONEncoder`.
    public static func encoded(_ value: some Encodable, status: Int = 200, headers: HTTPFields = [:]) throws -> StubAnswer {
        .data(try JSONEncoder().encode(value), type: "application/json", status: status, headers: headers)
    }

    /// Returns an answer with plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> StubAnswer {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// Returns an answer without a body and with only these fields.
    public static func status(_ status: Int, headers: HTTPFields = [:]) -> StubAnswer {
        StubAnswer { request, _ in TransportResponse(status: status, headers: headers, url: request.request.url, httpVersion: "HTTP/1.1") }
    }

    /// Returns an answer whose body of unknown length is read piece by piece. With an error, the body fails at its end.
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

    /// Returns a redirect to an absolute or relative location.
    public static func redirect(to location: String, status: Int = 302) -> StubAnswer {
        .status(status, headers: ["Location": location])
    }

    // MARK: Failures

    /// Returns an answer that throws an error instead of a response, such as a `TransportError`.
    public static func failure(_ error: any Error) -> StubAnswer {
        StubAnswer { _, _ in throw error }
    }

    /// An answer that never comes: it waits until the calling task is cancelled.
    public static var never: StubAnswer {
        StubAnswer { _, _ in
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    // MARK: Combinations

    /// Returns an answer that gives one answer per request, in order; the last one repeats.
    public static func inTurn(_ answers: StubAnswer...) -> StubAnswer {
        let turns = Turns(answers)
        return StubAnswer { request, clock in
            guard let answer = turns.next() else { throw TestingFailure("The list of answers for “\(request.key)” is empty") }
            return try await answer.respond(request, clock)
        }
    }

    /// Returns an answer that a closure chooses for each request.
    public static func answering(_ choose: @escaping @Sendable (RecordedRequest) async throws -> StubAnswer) -> StubAnswer {
        StubAnswer { request, clock in try await choose(request).respond(request, clock) }
    }

    /// Returns this answer with a delay on the transport's clock.
    public func delayed(by delay: Duration) -> StubAnswer {
        StubAnswer { request, clock in
            if delay > .zero { try await clock.sleep(for: delay.bounded) }
            return try await respond(request, clock)
        }
    }
}
