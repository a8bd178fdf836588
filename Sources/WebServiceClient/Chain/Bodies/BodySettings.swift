import Foundation

/// The stage that gives bodies their form on the wire: compression, digest, expectation. It runs once per hop, above the cache and the
/// authentication, so that signatures cover the bytes that are sent. Even without a body, it asks for the digests that the endpoint
/// verifies (`Want-Content-Digest`, and `Accept-Encoding: identity`), and compares what the call downloads with the expected digest.
struct BodySettings: Interceptor {
    let clock: CallClock
    /// Whether the transport waits for 100 Continue. Checked here too, because a single call's own expectation isn't verified with the
    /// table.
    let canExpect: Bool

    /// Whether one of a call's attributes is about bodies. Compares only types, for speed.
    static func concern(_ attributes: EndpointAttributes) -> Bool {
        for attribute in attributes.all {
            let kind = ObjectIdentifier(type(of: attribute))
            if kind == ObjectIdentifier(BodyCompression.self) || kind == ObjectIdentifier(ContinueExpectation.self)
                || kind == ObjectIdentifier(SentDigest.self) || kind == ObjectIdentifier(DigestVerification.self)
                || kind == ObjectIdentifier(ExpectedDigest.self)
            {
                return true
            }
        }
        return false
    }

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard Self.concern(context.attributes) else { return try await next(request, context) }
        return try await applied(request, context, next)
    }

    private func applied(_ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor) async throws -> TransportResponse {
        let expected = context.attributes[ExpectedDigest.self]
        if let fault = expected?.fault { throw InvalidRequest(message: "\(fault.problem.capitalizedFirst): \(fault.fix).") }
        let (prepared, waits) = try await prepared(request, context)
        let response = waits ? try await withoutRefusal(prepared, context, next) : try await next(prepared, context)
        guard let digest = expected?.digest, (200..<300).contains(response.status), request.method != .head else { return response }
        return try Self.compared(response, with: digest)
    }

    // MARK: Requests

    /// Returns the request as it is sent, and whether it has an expectation of this stage.
    private func prepared(_ request: ServiceRequest, _ context: CallContext) async throws -> (request: ServiceRequest, waits: Bool) {
        let attributes = context.attributes
        var request = request
        if let verification = attributes[DigestVerification.self], verification.requirement != .off {
            if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
            if let wanted = verification.wantedText, !request.headers.contains(Self.wantField) {
                request.headers[Self.wantField] = wanted
            }
        }
        guard request.body != nil else { return (request, false) }
        if let compression = attributes[BodyCompression.self] { try Self.compress(&request, compression) }
        if let setting = attributes[SentDigest.self], !setting.algorithms.isEmpty, !request.headers.contains(setting.field.name),
            let body = request.body
        {
            let digests = try await digests(of: body, setting.algorithms, request, context)
            request.headers[setting.field.name] = ContentDigest.fieldValue(of: digests)
        }
        guard let body = request.body, let expectation = attributes[ContinueExpectation.self], expectation.applies(to: body),
            !request.headers.contains(.expect)
        else { return (request, false) }
        guard canExpect else {
            throw TransportError(
                .unsupported,
                "This transport doesn't wait for 100 Continue: leave out ContinueExpectation, or use a transport that does, such as "
                    + "CurlTransport.")
        }
        request.headers[.expect] = "100-continue"
        return (request, true)
    }

    private static let wantField: HTTPFields.Name = "Want-Content-Digest"

    private static func compress(_ request: inout ServiceRequest, _ setting: BodyCompression) throws {
        guard let coding = setting.coding, let body = request.body, !request.headers.contains(.contentEncoding) else { return }
        if let length = body.length, length <= Int64(max(0, setting.above)) { return }
        let coded = try body.coded(in: coding)
        if let before = body.data?.count, let after = coded.data?.count, after >= before { return }
        request.body = coded
        request.headers[.contentEncoding] = coding.name
        // A length set by the program is that of the uncompressed body.
        request.headers[.contentLength] = nil
    }

    /// Reads the body for its digests. A stream may wait for anything, so it is read in a task that ends with the call.
    private func digests(
        of body: RequestBody, _ algorithms: [ContentDigest.Algorithm], _ request: ServiceRequest, _ context: CallContext
    ) async throws -> [ContentDigest] {
        guard body.isReplayable else {
            throw RequestBodyError(
                message: "The body can be read only once, so its digest can't be sent ahead of it: make the body from Data, a file or a "
                    + "replayable stream, or remove .sendingDigest(…).")
        }
        let digests: [ContentDigest]
        if let data = body.data {
            var hash = BodyHash(algorithms)
            hash.update(data)
            digests = hash.digests()
        } else {
            let deadline = request.end.map { end in
                ChildWork.Deadline(instant: end, clock: clock) { ChildWork.timedOut(request) }
            }
            digests = try await ChildWork.run(unless: context.record.cancellation, until: deadline) {
                var hash = BodyHash(algorithms)
                for try await piece in body.chunks() {
                    try Task.checkCancellation()
                    hash.update(piece)
                }
                return hash.digests()
            }
        }
        return algorithms.compactMap { algorithm in digests.first { $0.algorithm == algorithm } }
    }

    // MARK: Responses

    /// Sends a request, and once more without its expectation if that alone was refused (RFC 9110 §10.1.1).
    private func withoutRefusal(
        _ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor
    ) async throws -> TransportResponse {
        let canRepeat = request.body?.isReplayable ?? true
        do {
            let response = try await next(request, context)
            guard response.status == 417, canRepeat else { return response }
            response.body.cancel()
        } catch let error as TransportError where error.underlying is ExpectationFailed && canRepeat {
            // libcurl discards the body of such a response.
        }
        try context.record.cancellation.check()
        context.diagnostics.report(
            .init(
                .notice,
                "The server refused Expect: 100-continue with 417, so the request was repeated without it: remove "
                    + ".expectingContinue(…) to save a request.", call: context.identity))
        var request = request
        request.headers[.expect] = nil
        return try await next(request, context)
    }

    private static func compared(_ response: TransportResponse, with digest: ContentDigest) throws -> TransportResponse {
        guard response.status != 206 else {
            response.body.cancel()
            throw DigestError(
                kind: .incomparable, algorithm: digest.algorithm, field: nil,
                message: "The response is a part of the content (206), which can't be compared with the expected digest: leave out Range.")
        }
        var response = response
        response.body = try DigestCheck([(digest, nil)]).checking(response.body)
        return response
    }
}
