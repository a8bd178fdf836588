import Foundation
import WebServiceClient

// Batches that a service carries out asynchronously (Protocol 4.01, sections 11.6 and 11.7.4).
extension ODataClient {
    /// Sends a batch and returns its response. If the batch has the preference `respond-async` and the service accepts it (202), its monitor
    /// is polled until it has the response.
    ///
    /// - Parameter accept: the media type of the response.
    func batchSource(
        _ call: ServiceCall, _ operation: ODataOperation, isRepeatable: Bool, waiting: Bool, accept: String
    ) async throws -> BatchSource {
        do {
            return try await batchSource(call, operation, isRepeatable: isRepeatable)
        } catch let error as ServiceError where waiting {
            guard case .accepted? = error.cause as? ODataStatusError, let summary = error.response, summary.status == 202,
                let location = summary.headers[.location], let url = URL(string: summary.url)
            else { throw error }
            let accepted = ServiceResponse(value: Data(), status: 202, headers: summary.headers, url: url, duration: .zero)
            return try await batchSource(
                at: try monitor(location, from: accepted, base: url, operation), operation, accept: accept)
        }
    }

    /// Polls a monitor until it has the response to a batch.
    private func batchSource(at first: JobMonitor, _ operation: ODataOperation, accept: String) async throws -> BatchSource {
        var monitor = first
        var pause = Duration.seconds(1)
        while true {
            try await self.pause(for: monitor.wait ?? pause)
            if monitor.wait == nil { pause = min(pause * 2, .seconds(30)) }
            let call = monitorCall(monitor, operation, JobForm(accept: accept), for: Data.self)
            let (response, errors) = try await openMonitor(call, operation)
            guard response.status == 202, !BatchSource.isMultipart(response.headers) else {
                do {
                    return try await finished(response, errors, operation)
                } catch {
                    response.value.cancel()
                    throw error
                }
            }
            response.value.cancel()
            let empty = ServiceResponse(
                value: Data(), status: 202, headers: response.headers, url: response.url, duration: response.duration)
            monitor = try self.monitor(after: empty, monitor, operation)
        }
    }

    private func openMonitor(
        _ call: ServiceCall, _ operation: ODataOperation
    ) async throws -> (response: ServiceResponse<ResponseBody>, errors: StreamErrors) {
        do {
            return try await call.openStream(keeping: { BatchSource.isMultipart($0.headers) })
        } catch let error as ServiceError where error.stage == .status && (error.status == 404 || error.status == 410) {
            throw self.error(
                operation, .status, .job, ODataJobError.gone.description, cause: ODataJobError.gone, response: error.response)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Returns the response to a batch in its monitor's response: the response itself, or a response inside of the body.
    private func finished(
        _ response: ServiceResponse<ResponseBody>, _ errors: StreamErrors, _ operation: ODataOperation
    ) async throws -> BatchSource {
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        guard type?.essence == "application/http" else {
            let status = response.headers["AsyncResult"].flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? response.status
            if status >= 300, !BatchSource.isMultipart(response.headers) {
                let body = try await bytes(of: response, errors, operation)
                throw refusal(operation, status: status, response.headers, response.url, body)
            }
            return BatchSource(response: response, errors: errors, checkEnd: { try self.check(trailersOf: response, operation) })
        }
        let data = try await bytes(of: response, errors, operation)
        try check(trailersOf: response, operation)
        let inner: EmbeddedResponse
        do throws(EmbeddedResponse.Fault) {
            inner = try EmbeddedResponse(data)
        } catch {
            let cause = ODataJobError.malformedResult(error.description)
            throw self.error(
                operation, .decoding, .job, cause.description, cause: cause, response: ResponseSummary(of: response, body: data))
        }
        guard inner.status < 300 || BatchSource.isMultipart(inner.headers) else {
            throw refusal(operation, status: inner.status, inner.headers, response.url, inner.body)
        }
        let result = ServiceResponse(
            value: ResponseBody(inner.body), status: inner.status, headers: inner.headers, url: response.url, duration: response.duration)
        return BatchSource(response: result, errors: errors, checkEnd: {})
    }

    /// Returns a body as a whole, up to the limit for bodies.
    private func bytes(
        of response: ServiceResponse<ResponseBody>, _ errors: StreamErrors, _ operation: ODataOperation
    ) async throws -> Data {
        var data = Data()
        do {
            for try await chunk in response.value {
                data.append(chunk)
                guard data.count <= errors.bodyLimit else { break }
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw errors.receiving(error)
        }
        guard data.count <= errors.bodyLimit else {
            throw error(
                operation, .decoding, .format,
                "The answer to the batch, a response inside of the monitor's body, is larger than the limit of \(errors.bodyLimit) bytes: "
                    + "raise the client's bodyLimit.", response: ResponseSummary(of: response))
        }
        return data
    }

    /// Returns the error of a batch that failed as a whole.
    private func refusal(
        _ operation: ODataOperation, status: Int, _ headers: HTTPFields, _ url: URL, _ data: Data
    ) -> ServiceError {
        let body = ODataErrorBody(data)
        let text = body?.description ?? "The service carried out the batch, which failed with status \(status)."
        var failure = error(
            operation, .status, body == nil ? .status : .refused, text, cause: body,
            response: ResponseSummary(status: status, headers: headers, url: url, body: data))
        failure.errorBody = body
        return failure
    }
}

extension HTTPFields {
    /// Whether the preferences ask for an asynchronous answer (Protocol 4.01, section 8.2.8.8).
    var preferAsynchronous: Bool {
        self[values: "Prefer"].contains { value in
            value.split(separator: ",").contains { item in
                item.prefix { $0 != ";" && $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased() == "respond-async"
            }
        }
    }
}
