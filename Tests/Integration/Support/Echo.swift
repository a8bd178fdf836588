import Foundation
import WebServiceClient

/// The request as httpbin received it.
struct Echo: Decodable, Sendable {
    var method: String
    var url: String
    var args: [String: String]
    var data: String
    var files: [String: String]
    var form: [String: String]
    var headers: [String: String]
}

/// Returns whether two texts have the same bytes: `==` would also accept another normal form.
func isExactly(_ text: String?, _ other: String) -> Bool {
    text.map { $0.utf8.elementsEqual(other.utf8) } ?? false
}

/// Returns the service error of a call.
func serviceError(of call: () async throws -> Void) async throws -> ServiceError {
    do {
        try await call()
    } catch let error as ServiceError {
        return error
    }
    throw NoError()
}

/// The error of a call that succeeded but should have failed.
struct NoError: Error {}
