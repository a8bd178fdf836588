import Foundation
import WebServiceClient

// What every call of a client has in common when its answer is there.
extension ODataClient {
    /// Sends a call and gives the value; an error that the service put into a success is the error's body.
    func response<Value: Decodable & Sendable>(_ call: ServiceCall, _ operation: ODataOperation) async throws -> ServiceResponse<Value> {
        do {
            let response: ServiceResponse<Value> = try await call.response()
            try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
            try check(trailersOf: response, operation)
            return response
        } catch let error as ServiceError where error.stage == .decoding {
            // What can't be read may be of a version that nobody asked for.
            if let response = error.response { try check(versionOf: response.headers, operation, response: response) }
            throw Self.withErrorBody(error)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// A service may say behind an answer that it is to be thrown away (Protocol 4.01, section 8.3.2).
    private func check<Value>(trailersOf response: ServiceResponse<Value>, _ operation: ODataOperation) throws {
        guard let text = response.report?.trailers["OData-Error"] else { return }
        let body = ODataErrorBody(Data(text.utf8))
        var error = self.error(
            operation, .body, .refused, "The service said behind its answer that it failed: \(body?.description ?? "no reason").",
            cause: body, response: ResponseSummary(of: response))
        error.errorBody = body
        throw error
    }

    /// An error whose cause is what the service says, with that as its body.
    static func withErrorBody(_ error: any Error) -> any Error {
        guard var error = error as? ServiceError, error.errorBody == nil, let body = error.cause as? ODataErrorBody else { return error }
        error.errorBody = body
        return error
    }

    /// Sends a call for a page, to be read as it arrives.
    func pageSource(_ call: ServiceCall, _ operation: ODataOperation) async throws -> PageSource {
        let (response, errors) = try await call.openStream()
        do {
            try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
        } catch {
            response.value.cancel()
            throw error
        }
        return PageSource(
            response: response, errors: errors, types: types, userInfo: userInfo,
            checkEnd: { try self.check(trailersOf: response, operation) })
    }

    /// What a call gives; `nil` where the service says that there is none.
    func ifPresent<Value>(_ fetch: () async throws -> Value) async throws -> Value? {
        do {
            return try await fetch()
        } catch let error as ServiceError {
            if error.kind == .emptyBody, error.status == 204 { return nil }
            guard error.stage == .status, error.status == 404, let response = error.response else { throw error }
            let type = response.headers[.contentType].flatMap { MediaType($0) }
            if type?.essence == "text/html" { throw error }
            return nil
        }
    }
}

extension ResponseSummary {
    /// What an error tells of a response whose body was read, or left, already.
    ///
    /// - Parameter body: all of it; `nil` when it isn't at hand.
    init<Value>(of response: ServiceResponse<Value>, body: Data? = nil) {
        self.init(status: response.status, headers: response.headers, url: response.url, body: body ?? Data(), isCut: body == nil)
    }
}
