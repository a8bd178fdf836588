import Foundation
public import WebServiceClient

/// How the result of a job is asked for, and where it is in the response.
struct JobForm: Sendable {
    var place = ResultPlace.payload
    /// The request's own `Accept` field; `nil` if that of the place applies.
    var accept: String?
}

/// A response whose body isn't decoded yet.
struct UndecodedAnswer: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: Data
    /// The base of relative links.
    var url: URL
    var duration: Duration
    var httpVersion: String?
    /// The report of the exchange, whose trailers may revoke the response.
    var report: ExchangeReport?

    /// - Parameter base: The base of relative links.
    init(_ response: ServiceResponse<Data>, at base: URL) {
        (status, headers, body) = (response.status, response.headers, response.value)
        (url, duration, httpVersion, report) = (base, response.duration, response.httpVersion, response.report)
    }

    /// Whether the body is empty, or the status excludes one.
    var isEmpty: Bool { body.isEmpty || status == 204 || status == 205 }

    /// The response as errors show it.
    var summary: ResponseSummary { ResponseSummary(status: status, headers: headers, url: url, body: body) }
}

extension ODataClient {
    /// Returns the result of a request in its monitor's response: the response itself with the status in `AsyncResult`, or a response
    /// inside of the body.
    ///
    /// - Throws: `ServiceError` if the monitor reports that the request failed, or if its response can't be read.
    func result(in monitored: MonitorAnswer, _ operation: ODataOperation) throws -> UndecodedAnswer {
        let response = monitored.response
        var answer = UndecodedAnswer(response, at: monitored.monitor.base)
        let body = monitored.mayTellFailure || monitored.report?.isFailed == true ? ODataErrorBody(response.value) : nil
        if body != nil || monitored.report?.isFailed == true {
            let status = VisibleText.of(SecretMask.text(String((monitored.report?.status ?? "").prefix(100))))
            var failure = error(
                operation, .status, .refused, body?.description ?? "The service reports that the request failed: \(status).",
                cause: body, response: ResponseSummary(of: response, body: response.value))
            failure.errorBody = body
            throw failure
        }
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        if type?.essence == "application/http" {
            do throws(EmbeddedResponse.Fault) {
                let inner = try EmbeddedResponse(response.value)
                (answer.status, answer.headers, answer.body) = (inner.status, inner.headers, inner.body)
            } catch {
                let cause = ODataJobError.malformedResult(error.description)
                throw self.error(
                    operation, .decoding, .job, cause.description, cause: cause,
                    response: ResponseSummary(of: response, body: response.value))
            }
        } else if let text = response.headers["AsyncResult"] {
            guard let status = Int(text.trimmingCharacters(in: .whitespaces)), (100...999).contains(status) else {
                let cause = ODataJobError.malformedResult("AsyncResult isn't a status: '\(VisibleText.of(String(text.prefix(40))))'.")
                throw self.error(
                    operation, .decoding, .job, cause.description, cause: cause,
                    response: ResponseSummary(of: response, body: response.value))
            }
            answer.status = status
        } else if response.status == 202 {
            answer.status = 200
        }
        return answer
    }

    /// Decodes a response as if it had come at once.
    func decoded<Value: Decodable & Sendable>(
        _ answer: UndecodedAnswer, _ operation: ODataOperation, for purpose: CallPurpose, _ form: JobForm
    ) throws -> ServiceResponse<Value> {
        func summary() -> ResponseSummary { answer.summary }
        guard (200..<300).contains(answer.status) else { throw failure(answer, operation) }
        try check(
            answer.status, for: purpose, operation, response: summary(), url: answer.url.absoluteString,
            location: answer.headers[.location])
        try check(versionOf: answer.headers, operation, response: summary())
        try check(trailersIn: answer.report, operation, response: summary())
        do {
            return ServiceResponse(
                value: try value(Value.self, in: answer, at: form.place), status: answer.status, headers: answer.headers,
                url: answer.url, duration: answer.duration, httpVersion: answer.httpVersion, report: answer.report)
        } catch {
            let cause = error
            let text = "The result can't be read as \(Value.self): \(ServiceError.text(of: cause))"
            let isOfOtherFormat = (cause as? SerializationError)?.kind == .format
            let kind: ServiceError.Kind = answer.isEmpty ? .emptyBody : isOfOtherFormat ? .format : .decoding
            throw Self.withErrorBody(self.error(operation, .decoding, kind, text, cause: cause, response: summary()))
        }
    }

    /// Returns the error of a request that the service carried out without success.
    func failure(_ answer: UndecodedAnswer, _ operation: ODataOperation) -> ServiceError {
        let body = ODataErrorBody(answer.body)
        let text = body?.description ?? "The service carried out the request, which failed with status \(answer.status)."
        var failure = error(operation, .status, body == nil ? .status : .refused, text, cause: body, response: answer.summary)
        failure.errorBody = body
        return failure
    }

    private func value<Value: Decodable>(_ type: Value.Type, in answer: UndecodedAnswer, at place: ResultPlace) throws -> Value {
        if let nothing = NoContent() as? Value {
            _ = try Confirmation(answer.body, contentType: answer.headers[.contentType])
            return nothing
        }
        var serializer = ODataSerializer(format: PayloadFormat(version: printer.version), types: types, userInfo: userInfo)
        serializer.plainValues = place == .payload ? .inside : .whole
        let contentType = answer.headers[.contentType]
        guard answer.isEmpty else {
            return try SerializationRegistry.standard.decode(
                type, body: answer.body, contentType: contentType, forced: serializer, fallback: serializer, url: answer.url)
        }
        if let optional = type as? any ExpressibleByNilLiteral.Type, let none = optional.init(nilLiteral: ()) as? Value { return none }
        if !serializer.readsInsidePayload(type, contentType: contentType) {
            if let bytes = Data() as? Value { return bytes }
            if let text = "" as? Value { return text }
        }
        throw SerializationError(
            .structure,
            "The response has status \(answer.status) and no body; use \(type)? if that is valid, or NoContent for a request without a "
                + "result.")
    }
}

extension ServiceError.Kind {
    /// An asynchronous request has no result; the cause is ``ODataJobError``.
    public static let job = Self(rawValue: "job")
}
