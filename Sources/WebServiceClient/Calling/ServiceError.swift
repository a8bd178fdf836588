import Foundation

/// Why a call failed. The one error type that calls throw, beside `CancellationError` when the calling task was cancelled.
///
///     ServiceError
///      ├─ call       which client, endpoint and route
///      ├─ stage      where in the path of a call: .declaration … .decoding
///      ├─ kind       what sort of failure: .table, .argument, .transport, .status …
///      ├─ message    a sentence that names the offender and the fix
///      ├─ request    method, URL, fields with secrets masked          (nil before there was one)
///      ├─ response   status, fields, body up to 64 KiB                (nil before there was one)
///      ├─ errorBody  what the error handler decoded from the body     (nil if it didn't)
///      └─ cause      the error underneath: TableFaults, ArgumentError, TransportError, DecodingError, a handler's own …
///
/// Descriptions and dumps never hold a secret: it is masked in fields, URLs, messages and the response's body, by the same rules as in logs.
/// Request bodies are told by their length.
public struct ServiceError: DescribedError, Sendable {
    /// Which call failed.
    public var call: CallIdentity
    /// Where in the path of a call.
    public var stage: Stage
    /// What sort of failure.
    public var kind: Kind
    /// What happened and what to do, as a sentence.
    public var message: String {
        didSet { message = VisibleText.of(message, keepsLineEnds: true) }
    }
    /// The request, if there was one.
    public var request: RequestSummary?
    /// The response, if there was one.
    public var response: ResponseSummary?
    /// The error body, decoded, if the error handler gave one.
    public var errorBody: (any Sendable)?
    /// The error underneath. What an interceptor or a provider has thrown is the cause, another call's `ServiceError` too: the outer one is
    /// always this call's.
    public var cause: (any Error)?
    /// What is secret in the request.
    private(set) var secrets: RequestSecrets?

    /// An error of a call.
    public init(
        call: CallIdentity, stage: Stage, kind: Kind, message: String, request: RequestSummary? = nil, response: ResponseSummary? = nil,
        errorBody: (any Sendable)? = nil, cause: (any Error)? = nil
    ) {
        self.call = call
        self.stage = stage
        self.kind = kind
        secrets = request?.secrets ?? response?.secrets
        let shown = VisibleText.of(message, keepsLineEnds: true)
        // What is said of a table names headers and arguments, as the program has them in its code.
        self.message = kind == .table || kind == .unknownEndpoint ? shown : Self.masked(shown, secrets)
        self.request = request
        self.response = response
        self.errorBody = errorBody
        self.cause = cause
    }

    /// The status code of the response, if there was one.
    public var status: Int? { response?.status }
}

extension ServiceError {
    /// Where in the path of a call something went wrong.
    public enum Stage: String, Sendable, CaseIterable {
        /// Checking the client's table and finding the endpoint in it.
        case declaration
        /// Binding the arguments: path, query, headers, body.
        case binding
        /// The chain: preparers, redirects, retry, authentication.
        case chain
        /// The exchange with the server.
        case transport
        /// Reading the response's body.
        case body
        /// The check of the status and the error handler.
        case status
        /// Decoding the value.
        case decoding
    }

    /// What sort of failure it is, an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// A kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The client's table, its configuration (service root, headers, trust, what the transport can do) or the call's own description has
        /// faults; the cause is ``TableFaults``.
        public static let table = Self(rawValue: "table")
        /// The table has no entry of that name.
        public static let unknownEndpoint = Self(rawValue: "unknownEndpoint")
        /// An argument can't go where the table puts it; the cause is ``ArgumentError``.
        public static let argument = Self(rawValue: "argument")
        /// The request's body can't be made from its argument, or not be read while it is sent; the cause is the encoder's own error,
        /// ``RequestBodyError``, or what the body's own stream has thrown.
        public static let encoding = Self(rawValue: "encoding")
        /// The request can't be sent as it stands: its URL, its method, a header or the body's length is invalid.
        public static let request = Self(rawValue: "request")
        /// An interceptor ended the call; the cause is its error, which may be the ``ServiceError`` of a call that it made.
        public static let interceptor = Self(rawValue: "interceptor")
        /// Redirects that can't or may not be followed; the cause is ``RedirectError``.
        public static let redirect = Self(rawValue: "redirect")
        /// Credentials could not be made or the server failed to prove itself; the cause is the provider's error, which may be the
        /// ``ServiceError`` of a call that it made, for a token for example.
        public static let authentication = Self(rawValue: "authentication")
        /// The exchange failed below HTTP; the cause is ``TransportError``.
        public static let transport = Self(rawValue: "transport")
        /// A deadline passed; the cause is ``TransportError``.
        public static let timeout = Self(rawValue: "timeout")
        /// The body is larger than the bound; the cause is ``ResponseBodyTooLarge``.
        public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
        /// The status isn't one that counts as success.
        public static let status = Self(rawValue: "status")
        /// The error handler refused the response; the cause is the error it gave.
        public static let refused = Self(rawValue: "refused")
        /// A value is needed and the body is empty.
        public static let emptyBody = Self(rawValue: "emptyBody")
        /// The body isn't of the format that is needed, such as HTML where JSON is expected.
        public static let format = Self(rawValue: "format")
        /// The body doesn't fit the type; the cause is the decoder's own error.
        public static let decoding = Self(rawValue: "decoding")
    }
}

extension ServiceError: CustomDebugStringConvertible, CustomReflectable {
    /// A report of some lines: call, what happened, request, response and the beginning of its body.
    public var description: String {
        var lines = [headline]
        if let request { lines.append("  request: \(request.line)") }
        if let response {
            lines.append("  response: \(response)")
            let text = response.bodyText(upTo: 500)
            if !text.isEmpty { lines.append("  body: \(text)") }
        }
        if let cause {
            let text = kind == .table ? Self.text(of: cause) : Self.masked(Self.text(of: cause), secrets)
            if !message.contains(text) { lines.append("  cause: \(text)") }
        }
        // What is told was sent by others: it may have control characters in it, but for the lines' own ends.
        return VisibleText.of(lines.joined(separator: "\n"), keepsLineEnds: true)
    }

    /// Hides what is secret in the request, where there may be none yet.
    mutating func hide(_ secrets: RequestSecrets?) {
        guard let secrets, self.secrets == nil else { return }
        self.secrets = secrets
        message = secrets.masked(message)
    }

    /// A text without secrets.
    static func masked(_ text: String, _ secrets: RequestSecrets?) -> String {
        SecretMask.text(text, of: secrets)
    }

    /// The call and what happened: the report's first line.
    var headline: String { "\(call): \(message) [\(kind), stage \(stage.rawValue)]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part. Of the error body the type is named: what it holds is for it to show.
    public var customMirror: Mirror {
        let cause = cause.map { Self.masked(Self.text(of: $0), secrets) } ?? "nil"
        return Mirror(
            self,
            children: [
                "call": call, "stage": stage, "kind": kind, "message": message, "request": request?.line ?? "nil",
                "response": response.map { "\($0) \($0.bodyText(upTo: 500))" } ?? "nil", "errorBody": MaskedMirror.typeName(of: errorBody),
                "cause": cause,
            ])
    }

    /// What a cause says of itself. Errors of the system are told in their own words, without their type's name.
    package static func text(of cause: any Error) -> String {
        DecodingErrorText.text(of: cause)
    }
}

/// Makes a ``ServiceError`` of whatever went wrong: the one place that knows which error means which kind.
struct ErrorWrapper {
    let call: CallIdentity
    let request: ServiceRequest?
    var response: ResponseSummary?
    /// What is secret in the request, also where there is none yet.
    var secrets: RequestSecrets?
    /// Whether it was the authentication provider that has thrown.
    var isByProvider = false

    /// The error as the call throws it. Cancellation of the task and a dry run's end pass as they are.
    func wrap(_ error: any Error, stage: ServiceError.Stage) -> any Error {
        switch error {
        case is DryRun.Stop: return error
        case is CancellationError where Task.isCancelled: return error
        default: break
        }
        if Task.isCancelled { return CancellationError() }
        let (kind, precise) = classify(error, stage: stage)
        var result = ServiceError(
            call: call, stage: precise, kind: kind, message: message(of: error, stage: stage), request: request.map(RequestSummary.init),
            response: response, cause: (error as? RequestBodyError)?.underlying ?? error)
        result.hide(secrets)
        return result
    }

    private func classify(_ error: any Error, stage: ServiceError.Stage) -> (ServiceError.Kind, ServiceError.Stage) {
        switch error {
        case let error as TransportError: (error.isTimeout ? .timeout : .transport, stage == .body ? .body : .transport)
        case is RedirectError: (.redirect, .chain)
        case is ArgumentError: (.argument, stage)
        case is BodyEncodingError: (.encoding, .binding)
        case is InvalidRequest: (.request, stage)
        case is RequestBodyError: (.encoding, .transport)
        case is ResponseBodyTooLarge: (.bodyTooLarge, .body)
        case is AuthenticationError: (.authentication, .chain)
        default: (stage == .binding ? .request : isByProvider ? .authentication : .interceptor, stage)
        }
    }

    /// What the error says. Another call's error, such as that of a call for a token, is told in one line: its own report is the cause's.
    private func message(of error: any Error, stage: ServiceError.Stage) -> String {
        guard let inner = error as? ServiceError else { return ServiceError.text(of: error) }
        let place =
            switch stage {
            case .body: "while the body was read"
            case .binding: "while the request was made"
            default: isByProvider ? "by the authentication provider" : "by an interceptor"
            }
        return "Another call, made \(place), failed: \(inner.headline)"
    }
}

extension RequestBody {
    /// The same body, whose stream's errors come as ``RequestBodyError`` with what was thrown underneath, so that nobody on the way takes
    /// them for a transport's, an interceptor's, or those of another call that the stream reads from.
    var tellingFailures: RequestBody {
        guard case .stream(let open) = source else { return self }
        var body = RequestBody(length: length, isReplayable: isReplayable, contentType: contentType) {
            let pieces = PieceReader(open())
            return AsyncThrowingStream { try await RequestBody.telling { try await pieces.next() } }
        }
        body.contentTypeIsBinding = contentTypeIsBinding
        return body
    }

    /// Makes what a body's own stream throws known as the body's.
    private static func telling(_ next: () async throws -> Data?) async throws -> Data? {
        do {
            return try await next()
        } catch let error as RequestBodyError {
            throw error
        } catch is CancellationError where Task.isCancelled {
            // Whoever reads was cancelled, and waits for just that.
            throw CancellationError()
        } catch {
            throw RequestBodyError(
                message: "The stream of the request's body ended with an error: \(ServiceError.text(of: error))", underlying: error)
        }
    }
}

extension ServiceError {
    /// A number for each kind: 1 `table`, 2 `unknownEndpoint`, 3 `argument`, 4 `encoding`, 5 `request`, 6 `interceptor`, 7 `redirect`,
    /// 8 `authentication`, 9 `transport`, 10 `timeout`, 11 `bodyTooLarge`, 12 `status`, 13 `refused`, 14 `emptyBody`, 15 `format`,
    /// 16 `decoding`; 0 for the kinds that other modules add.
    public var errorCode: Int {
        let kinds: [Kind] = [
            .table, .unknownEndpoint, .argument, .encoding, .request, .interceptor, .redirect, .authentication, .transport, .timeout,
            .bodyTooLarge, .status, .refused, .emptyBody, .format, .decoding,
        ]
        return (kinds.firstIndex(of: kind) ?? -1) + 1
    }

    /// The description and the cause.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let cause { info[NSUnderlyingErrorKey] = cause }
        return info
    }
}
