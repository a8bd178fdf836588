import Foundation

/// Changes the request of one call of a series, such as the request for one page, and receives its response.
///
/// It reaches the call as an attribute, ``OfferedTurn``, so that the call of a declared method, of a stored one and of one without a table
/// are all the same, with the settings of their endpoint.
protocol CallTurn: Sendable {
    /// Returns the request to send.
    ///
    /// - Throws: A ``PagingError``, for instance.
    func changed(
        _ bound: Dispatcher.BoundRequest, _ attributes: EndpointAttributes, allowedOrigins: Set<Origin>
    ) throws -> Dispatcher.BoundRequest

    /// Receives the body of a response that was judged a success and decoded.
    func note(_ body: Data, by reader: ResponseReader)
}

/// A turn for the calls of a closure, which may make several: the first takes it.
final class OfferedTurn: EndpointAttribute {
    private let turn: any CallTurn
    private let isTaken = Locked(false)

    init(_ turn: any CallTurn) {
        self.turn = turn
    }

    /// Returns the turn; `nil` if it is taken.
    func take() -> (any CallTurn)? {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken ? nil : turn
        }
    }
}

/// A result that sends its requests later: one for each page.
protocol SeriesResult {
    /// Returns the result of a call.
    static func series(of call: SeriesCall) -> Self
}

/// A call that is sent several times.
struct SeriesCall: Sendable {
    /// The client, which is retained as long as requests follow.
    let client: WebServiceClient
    let arguments: [(any Sendable)?]
    /// Begins one of the calls, with the client's settings at that time.
    let dispatcher: @Sendable () throws -> Dispatcher

    /// Sends the call once.
    func value<Value: Decodable>() async throws -> Value {
        try await dispatcher().value(arguments)
    }

    /// The result of the call; `nil` if results of the type aren't a series.
    func result<Value>() -> Value? {
        (Value.self as? any SeriesResult.Type)?.series(of: self) as? Value
    }
}
