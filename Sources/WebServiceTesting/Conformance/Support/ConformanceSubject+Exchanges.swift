import Foundation
import WebServiceClient

/// What cases do with their transport again and again.
extension ConformanceSubject {
    /// Sends a request and reads the whole body.
    func exchange(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
        let response = try await transport.send(request)
        return (response, try await response.body.collect(upTo: .max))
    }

    /// Sends a request, and demands the status and the body's text.
    @discardableResult
    func expect(_ status: Int, _ text: String, for request: ServiceRequest, _ what: String = "The response") async throws
        -> TransportResponse
    {
        let (response, body) = try await exchange(request)
        try demand(response.status, is: status, "\(what), status")
        try demand(body, is: Data(text.utf8), "\(what), body")
        return response
    }

    /// Sends a request and reads the whole body, of which one must fail by a ``TransportError`` of one of these codes.
    @discardableResult
    func expect(_ codes: TransportError.Code..., for request: ServiceRequest, _ what: String = "The exchange") async throws
        -> TransportError
    {
        let names = codes.map(\.rawValue).joined(separator: " or ")
        do {
            let (response, body) = try await exchange(request)
            throw TestingFailure("\(what): expected the error \(names), found status \(response.status) and \(body.count) bytes")
        } catch let error as TransportError {
            try demand(codes.contains(error.code), "\(what): expected the error \(names), found \(error)")
            return error
        } catch let failure as TestingFailure {
            throw failure
        } catch {
            throw TestingFailure("\(what): expected a TransportError \(names), found \(type(of: error)): \(error)")
        }
    }

    /// Sends a request that may be answered rightly, or end by a ``TransportError`` of one of these codes, and nothing else.
    func expect(
        _ text: String, or codes: [TransportError.Code], for request: ServiceRequest, _ what: String = "The exchange"
    ) async throws {
        do {
            let (_, body) = try await exchange(request)
            try demand(body, is: Data(text.utf8), "\(what), body")
        } catch let error as TransportError {
            try demand(codes.contains(error.code), "\(what): expected the right body or one of \(codes), found \(error)")
        }
    }
}

/// How a call ended, where only the kind of its end matters.
enum ConformanceEnding: Sendable, Equatable {
    case answered
    case cancelled
    case failed(String)

    /// Waits for a body's end.
    static func of(_ body: () async throws -> Void) async -> ConformanceEnding {
        do {
            try await body()
            return .answered
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed("\(error)")
        }
    }
}

/// Bytes in which no two places look alike, the same on each run.
enum ConformanceBytes {
    static func make(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var bytes = [UInt8](repeating: 0, count: count)
        for index in bytes.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            bytes[index] = UInt8(truncatingIfNeeded: state)
        }
        return Data(bytes)
    }
}
