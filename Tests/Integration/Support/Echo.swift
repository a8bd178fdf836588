import Foundation
import WebServiceClient

/// What httpbin says it received.
struct Echo: Decodable, Sendable {
    var method: String
    var url: String
    var args: [String: String]
    var data: String
    var files: [String: String]
    var form: [String: String]
    var headers: [String: String]
}

/// Whether two texts are the same bytes: `==` would also be content with another normal form.
func isExactly(_ text: String?, _ other: String) -> Bool {
    text.map { $0.utf8.elementsEqual(other.utf8) } ?? false
}

/// The service error that a call ends with.
func serviceError(of call: () async throws -> Void) async throws -> ServiceError {
    do {
        try await call()
    } catch let error as ServiceError {
        return error
    }
    throw NoError()
}

/// A call succeeded that should have failed.
struct NoError: Error {}
