import Foundation

/// The error of a failed call. Calls throw this type only, and `CancellationError` if the calling task is cancelled.
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
/// Descriptions and dumps never contain secrets: fields, URLs, messages and the response's body are masked by the rules that logs use. Only
/// the length of a request's body is shown.
public struct ServiceError: DescribedError, Sendable {
    /// Which call failed.
    public var call: CallIdentity
    /// The stage at which the call failed.
    public var stage: Stage
    /// The kind of failure.
    public var kind: Kind
    /// What happened and how to fix it, as a sentence.
    public var message: String {
        didSet { message = VisibleText.of(message, keepsLineEnds: true) }
    }
    /// The request, if one was made.
    public var request: RequestSummary?
    /// The response, if one arrived.
    public var response: ResponseSummary?
    /// The decoded error body, if the error handler returned one.
    public var errorBody: (any Sendable)?
    /// The underlying error. An error that an interceptor or a provider throws becomes the cause, even if it is the `ServiceError` of
    /// another call: the outer error always belongs to this call.
    public var cause: (any Error)?
    /// The secrets in the request.
    private(set) var secrets: RequestSecrets?
    /// Decodes the response's body.
    var bodyReader: ErrorBodyReader?

    /// Creates an error of a call.
    public init(
        call: CallIdentity, stage: Stage, kind: Kind, message: String, request: RequestSummary? = nil, response: ResponseSummary? = nil,
        errorBody: (any Sendable)? = nil, cause: (any Error)? = nil
    ) {
        self.call = call
        self.stage = stage
        self.kind = kind
        secrets = request?.secrets ?? response?.secrets
        let shown = VisibleText.of(message, keepsLineEnds: true)
        // Messages about a table quote header and argument names from the program's source, which aren't secret.
        self.message = kind == .table || kind == .unknownEndpoint ? shown : Self.masked(shown, secrets)
        self.request = request
        self.response = response
        self.errorBody = errorBody
        self.cause = cause
    }

    /// The status code of the response, if one arrived.
    public var status: Int? { response?.status }

    /// How long the server asked to wait before the call is repeated; `nil` if it didn't. A call that isn't repeated because the wait is
    /// too long fails with it, so that the program can schedule another.
    public var retryAfter: Duration? { response?.retryAfter }
}

extension ServiceError {
    /// The stages of a call.
    public enum Stage: String, Sendable, CaseIterable {
        /// Checks the client's table and finds the endpoint in it.
        case declaration
        /// Binds the arguments: path, query, headers, body.
        case binding
        /// Runs the chain: preparers, redirects, retry, authentication.
        case chain
        /// Exchanges request and response with the server.
        case transport
        /// Reads the response's body.
        case body
        /// Checks the status and asks the error handler.
        case status
        /// Decodes the value.
        case decoding
    }

    /// The kinds of failure, an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The client's table, its configuration (service root, headers, trust, missing transport capabilities) or the call's own
        /// description has faults; the cause is ``TableFaults``.
        public static let table = Self(rawValue: "table")
        /// The table has no entry with this name.
        public static let unknownEndpoint = Self(rawValue: "unknownEndpoint")
        /// An argument can't go where the table puts it; the cause is ``ArgumentError``.
        public static let argument = Self(rawValue: "argument")
        /// The request's body can't be encoded from its argument, or can't be read while it is sent. The cause is the encoder's own error,
        /// ``RequestBodyError``, or the error that the body's own stream threw.
        public static let encoding = Self(rawValue: "encoding")
        /// The request is invalid: its URL, its method, a header or the body's length.
        public static let request = Self(rawValue: "request")
        /// The response's body doesn't have the stated or expected digest, or can't be compared with it; the cause is ``DigestError``.
        public static let digest = Self(rawValue: "digest")
        /// An interceptor ended the call; the cause is its error, which may be the ``ServiceError`` of a call that it made.
        public static let interceptor = Self(rawValue: "interceptor")
        /// A redirect can't or must not be followed; the cause is ``RedirectError``.
        public static let redirect = Self(rawValue: "redirect")
        /// The provider could not make credentials or the server failed to prove its identity. The cause is the provider's error, which may
        /// be the ``ServiceError`` of a call that it made, such as a token request.
        public static let authentication = Self(rawValue: "authentication")
        /// The exchange failed below HTTP; the cause is ``TransportError``, or ``StreamError`` for a stream that can't be connected again.
        /// For an open WebSocket it is ``WebSocketError``.
        public static let transport = Self(rawValue: "transport")
        /// A deadline passed; the cause is ``TransportError``, or ``WebSocketError`` for a peer that doesn't answer.
        public static let timeout = Self(rawValue: "timeout")
        /// The body, or an element of a stream of values, is larger than the limit; the cause is ``ResponseBodyTooLarge`` or
        /// ``StreamError``.
        public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
        /// The call wasn't sent, because calls to its origin keep failing; the cause is ``CircuitOpen``.
        public static let circuitOpen = Self(rawValue: "circuitOpen")
        /// The status doesn't count as success.
        public static let status = Self(rawValue: "status")
        /// The error handler refused the response; the cause is the error that it returned.
        public static let refused = Self(rawValue: "refused")
        /// A value is needed but the body is empty.
        public static let emptyBody = Self(rawValue: "emptyBody")
        /// The body has another format than the one needed, such as HTML where JSON is expected.
        public static let format = Self(rawValue: "format")
        /// The body doesn't fit the type; the cause is the decoder's own error.
        public static let decoding = Self(rawValue: "decoding")
        /// The client's queue is full, or the call waited in it for too long; the cause is ``QueueError``.
        public static let queue = Self(rawValue: "queue")
        /// A rate limit would delay the call for too long; the cause is ``RateLimitError``.
        public static let rateLimit = Self(rawValue: "rateLimit")
        /// There is no next page where one is expected, or it can't be fetched; the cause is ``PagingError``.
        public static let paging = Self(rawValue: "paging")
        /// The call was cancelled by its handle, its client or another call; the cause is ``CallCancelled``. If the calling task is
        /// cancelled, the call throws `CancellationError` instead.
        public static let cancelled = Self(rawValue: "cancelled")
    }
}

extension ServiceError: CustomDebugStringConvertible, CustomReflectable {
    /// A report of several lines: call, message, request, response and the beginning of its body.
    public var description: String {
        var lines = [headline]
        if let request {
            lines.append("  request: \(request.line)")
            if let key = request.idempotencyKey { lines.append("  idempotency key: \(key)") }
        }
        if let response {
            lines.append("  response: \(response)")
            let text = response.bodyText(upTo: 500)
            if !text.isEmpty { lines.append("  body: \(text)") }
        }
        if let cause {
            let text = kind == .table ? Self.text(of: cause) : Self.masked(Self.text(of: cause), secrets)
            if !message.contains(text) { lines.append("  cause: \(text)") }
        }
        // Peers sent parts of this text: hide control characters except line ends.
        return VisibleText.of(lines.joined(separator: "\n"), keepsLineEnds: true)
    }

    /// Hides the secrets of a request, if the error doesn't know any yet.
    mutating func hide(_ secrets: RequestSecrets?) {
        guard let secrets, self.secrets == nil else { return }
        self.secrets = secrets
        message = secrets.masked(message)
    }

    /// Masks the secrets in a text.
    static func masked(_ text: String, _ secrets: RequestSecrets?) -> String {
        SecretMask.text(text, of: secrets)
    }

    /// The first line of the report: call and message.
    var headline: String { "\(call): \(message) [\(kind), stage \(stage.rawValue)]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part. The error body is shown by its type's name, because it may contain secrets.
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

    /// The cause as text. System errors use their localized text, without their type's name.
    package static func text(of cause: any Error) -> String {
        DecodingErrorText.text(of: cause)
    }
}

/// Turns any error into a ``ServiceError``. It alone maps errors to kinds.
struct ErrorWrapper {
    let call: CallIdentity
    let request: ServiceRequest?
    var response: ResponseSummary?
    /// The secrets of the request. They are available before the request is created.
    var secrets: RequestSecrets?
    /// Whether the authentication provider threw the error.
    var isByProvider = false

    /// Returns the error that the call throws. Cancellation of the task and the end of a dry run pass unchanged.
    func wrap(_ error: any Error, stage: ServiceError.Stage) -> any Error {
        switch error {
        case is DryRun.Stop: return error
        case let error as CallCancelled: return cancelled(error, stage: stage)
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

    private func cancelled(_ cause: CallCancelled, stage: ServiceError.Stage) -> ServiceError {
        var result = ServiceError(
            call: call, stage: stage, kind: .cancelled, message: cause.description, request: request.map(RequestSummary.init),
            response: response, cause: cause)
        result.hide(secrets)
        return result
    }

    private func classify(_ error: any Error, stage: ServiceError.Stage) -> (ServiceError.Kind, ServiceError.Stage) {
        switch error {
        case is DigestError: (.digest, .body)
        case let error as TransportError: (error.isTimeout ? .timeout : .transport, stage == .body ? .body : .transport)
        case is RedirectError: (.redirect, .chain)
        case is CircuitOpen: (.circuitOpen, .chain)
        case is ArgumentError: (.argument, stage)
        case is BodyEncodingError: (.encoding, .binding)
        case is InvalidRequest: (.request, stage)
        case is RequestBodyError: (.encoding, .transport)
        case is ResponseBodyTooLarge: (.bodyTooLarge, .body)
        case is AuthenticationError: (.authentication, .chain)
        case is QueueError: (.queue, .chain)
        case is RateLimitError: (.rateLimit, .chain)
        case is PagingError: (.paging, stage)
        default: (stage == .binding ? .request : isByProvider ? .authentication : .interceptor, stage)
        }
    }

    /// The error's text. The error of another call, such as a token request, is given in one line; the cause holds its full report.
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
    /// The same body with its stream's errors wrapped in ``RequestBodyError``. Later stages then don't mistake them for errors of a
    /// transport, an interceptor, or another call that feeds the stream.
    var wrappingErrors: RequestBody {
        guard case .stream(let open) = source else { return self }
        var body = RequestBody(length: length, isReplayable: isReplayable, contentType: contentType) {
            let pieces = PieceReader(open())
            return AsyncThrowingStream { try await RequestBody.wrappingErrors { try await pieces.next() } }
        }
        body.contentTypeIsBinding = contentTypeIsBinding
        return body
    }

    /// Wraps errors of the body's own stream in ``RequestBodyError``.
    private static func wrappingErrors(_ next: () async throws -> Data?) async throws -> Data? {
        do {
            return try await next()
        } catch let error as RequestBodyError {
            throw error
        } catch is CancellationError where Task.isCancelled {
            // The reader was cancelled and expects exactly this error.
            throw CancellationError()
        } catch {
            throw RequestBodyError(
                message: "The stream of the request's body ended with an error: \(ServiceError.text(of: error))", underlying: error)
        }
    }
}

extension ServiceError {
    /// A number for each kind: 1 `table`, 2 `unknownEndpoint`, 3 `argument`, 4 `encoding`, 5 `request`, 6 `interceptor`, 7 `redirect`, 8
    /// `authentication`, 9 `transport`, 10 `timeout`, 11 `bodyTooLarge`, 12 `status`, 13 `refused`, 14 `emptyBody`, 15 `format`, 16
    /// `decoding`, 17 `circuitOpen`, 18 `queue`, 19 `rateLimit`, 20 `cancelled`, 21 `paging`, 22 `digest`; 0 for the kinds that other
    /// modules add.
    public var errorCode: Int {
        let kinds: [Kind] = [
            .table, .unknownEndpoint, .argument, .encoding, .request, .interceptor, .redirect, .authentication, .transport, .timeout,
            .bodyTooLarge, .status, .refused, .emptyBody, .format, .decoding, .circuitOpen, .queue, .rateLimit,
            .cancelled, .paging, .digest,
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

/// An error for an argument that can't be encoded as a body.
public struct BodyEncodingError: DescribedError, Sendable {
    /// The argument.
    public let argument: String
    /// The encoder's own error.
    public let cause: any Error

    /// Argument and cause.
    public var description: String { "The body can't be made from \(argument): \(ServiceError.text(of: cause))" }
}

/// An error for an argument that can't go where the table puts it.
public struct ArgumentError: DescribedError, Sendable {
    /// The argument by its label or its position.
    public let argument: String
    /// The place it can't go into, such as `the path`.
    public let place: String
    /// The fault and its fix. It doesn't include the value, which may be a secret.
    public let reason: String

    /// Argument, place and reason as a sentence.
    public var description: String { "The \(argument) can't go into \(place): \(reason)" }
}
