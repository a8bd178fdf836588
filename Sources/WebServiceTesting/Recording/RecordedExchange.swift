public import Foundation
public import WebServiceClient

/// A request and its outcome, as a ``Cassette`` stores it.
public struct RecordedExchange: Sendable, Hashable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// An error below HTTP that ended the exchange.
    public struct Failure: Sendable, Hashable {
        /// The kind of the failure.
        public var code: TransportError.Code
        /// The error's message, with secrets masked.
        public var message: String
        /// Whether the request was sent over a connection that may have been stale: see `TransportError/isConnectionStale`.
        public var isConnectionStale = false
        /// Whether the server states that it hasn't processed the request: see `TransportError/isUnprocessed`.
        public var isUnprocessed = false

        /// Makes a failure.
        public init(code: TransportError.Code, message: String) {
            self.code = code
            self.message = message
        }

        /// The failure as the error that a transport throws.
        public var error: TransportError {
            var error = TransportError(code, message)
            error.isConnectionStale = isConnectionStale
            error.isUnprocessed = isUnprocessed
            return error
        }
    }

    /// The key of the endpoint. It is empty if the recording has none, as in the file of a browser.
    public var key: String
    /// The method.
    public var method: String
    /// The absolute URL, with user info and secret query items masked.
    public var url: String
    /// The fields of the request, with secrets masked.
    public var requestFields: [Field]
    /// The body of the request, with secrets masked; empty if there is none.
    public var requestBody: Data
    /// Whether the body of the request isn't recorded and isn't compared. Secrets can't be found in a compressed body.
    public var isRequestBodyOmitted = false

    /// The status; 0 if ``failure`` came instead of a response.
    public var status: Int
    /// The fields of the response, with secrets masked.
    public var responseFields: [Field]
    /// The body of the response, with secrets masked; `nil` if the file doesn't contain it, as in some files of browsers.
    public var responseBody: Data?
    /// The lengths of the pieces in which ``responseBody`` arrived; empty if it arrived as a whole.
    public var pieces: [Int] = []
    /// Whether the reader stopped before the end of the body, so that the rest isn't known.
    public var isCut = false
    /// The error that ended the exchange; `nil` if there was none. If there is a status, the body failed after ``responseBody``.
    public var failure: Failure?
    /// The protocol's version, such as `HTTP/1.1`; `nil` if unknown.
    public var httpVersion: String?

    /// The time at which the request was sent.
    public var startedAt: Date
    /// The time until the head of the response; `nil` if unknown.
    public var timeToHead: Duration?
    /// The time until the end of the body; `nil` if unknown.
    public var timeToEnd: Duration?

    /// Makes an exchange.
    public init(
        key: String = "", method: String = "GET", url: String, requestFields: [Field] = [], requestBody: Data = Data(), status: Int,
        responseFields: [Field] = [], responseBody: Data? = Data(), startedAt: Date = Date()
    ) {
        self.key = key
        self.method = method
        self.url = url
        self.requestFields = requestFields
        self.requestBody = requestBody
        self.status = status
        self.responseFields = responseFields
        self.responseBody = responseBody
        self.startedAt = startedAt
    }

    /// The first value of a field of the request, compared case-insensitively.
    func requestField(_ name: String) -> String? { Self.value(of: name, in: requestFields) }

    /// The first value of a field of the response, compared case-insensitively.
    func responseField(_ name: String) -> String? { Self.value(of: name, in: responseFields) }

    private static func value(of name: String, in fields: [Field]) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The method, URL and key, for messages.
    package var summary: String { "\(method) \(url)" + (key.isEmpty ? "" : " of “\(key)”") }
}

/// Masks recordings by the package's rules and those of the client.
struct RecordingMask: Sendable {
    let rules: HeaderRules
    let secrets: RequestSecrets?

    init(rules: HeaderRules, request: ServiceRequest) {
        secrets = request.secrets
        let own = secrets?.rules ?? .standard
        self.rules = HeaderRules(harmless: rules.harmless.union(own.harmless), secret: rules.secret.union(own.secret))
    }

    /// Returns the recording of a request, without an outcome.
    func exchange(_ recorded: RecordedRequest, startedAt date: Date) -> RecordedExchange {
        let fields = recorded.examinedFields
        var exchange = RecordedExchange(
            key: SecretMask.text(recorded.request.identity?.key ?? "", of: secrets), method: recorded.request.method.rawValue,
            url: SecretMask.text(of: recorded.request), requestFields: masked(fields), status: 0, startedAt: date)
        if ContentCoding.isPresent(in: fields), recorded.body?.isEmpty == false {
            exchange.isRequestBodyOmitted = true
        } else {
            exchange.requestBody = BodyMask.masked(recorded.body ?? Data(), type: fields[.contentType], secrets: secrets)
        }
        return exchange
    }

    /// Returns the fields with secrets masked. Fields that aren't known to be harmless are masked as a whole.
    func masked(_ fields: HTTPFields) -> [RecordedExchange.Field] {
        fields.map { field in
            RecordedExchange.Field(
                name: field.name.rawName, value: SecretMask.text(of: field, rules: rules, secrets: secrets))
        }
    }

    /// Adds the body of a response and the lengths of its pieces.
    func add(_ body: Data, pieces: [Int], to exchange: inout RecordedExchange) {
        let masked = BodyMask.masked(body, type: exchange.responseField("Content-Type"), secrets: secrets)
        exchange.responseBody = masked
        // The mask changes the length, so the lengths of the pieces no longer apply.
        exchange.pieces = pieces.count > 1 && masked == body ? pieces : []
    }

    /// Returns a transport's error with its message masked.
    func failure(_ error: TransportError) -> RecordedExchange.Failure {
        var failure = RecordedExchange.Failure(code: error.code, message: SecretMask.text(error.message, of: secrets))
        failure.isConnectionStale = error.isConnectionStale
        failure.isUnprocessed = error.isUnprocessed
        return failure
    }
}
