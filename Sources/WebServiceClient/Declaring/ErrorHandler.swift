public import Foundation

/// Decides what a finished exchange means, in place of the status check. It can be set on a client, a class or an endpoint.
///
///     struct GitHubErrorHandler: ErrorHandler {
///         func verdict(on outcome: CallOutcome) -> ErrorVerdict {
///             guard case .response(let response) = outcome.result, !outcome.isSuccess else { return .default }
///             guard let body = try? response.decode(GitHubError.self) else { return .default }
///             return .fail(body)
///         }
///     }
public protocol ErrorHandler: Sendable {
    /// Returns the verdict on the outcome of a call. It is also called for successes, and for exchanges without a response.
    func verdict(on outcome: CallOutcome) async -> ErrorVerdict
}

/// The decision of an ``ErrorHandler``.
public enum ErrorVerdict: Sendable {
    /// Success, regardless of the status; an exchange that failed counts as a response without a body.
    case accept
    /// Failure: the call throws a ``ServiceError`` with this error as its cause.
    case fail(any Error)
    /// The status decides.
    case `default`
}

/// The outcome of a call, for an ``ErrorHandler``.
public struct CallOutcome: Sendable {
    /// The result of an exchange.
    public enum Result: Sendable {
        /// A response, whose body is read up to the body limit.
        case response(HandledResponse)
        /// The error that prevented a response.
        case failure(any Error)
    }

    /// The identity of the call.
    public let call: CallIdentity
    /// The result of the exchange.
    public let result: Result
    /// Whether the status counts as success by the settings of method, class and client.
    public let isSuccess: Bool
    private let sent: ServiceRequest

    init(call: CallIdentity, request: ServiceRequest, result: Result, isSuccess: Bool) {
        self.call = call
        sent = request
        self.result = result
        self.isSuccess = isSuccess
    }

    /// The request, without secrets. It is masked on each access, because most handlers need it only for failures.
    public var request: RequestSummary { RequestSummary(sent) }
}

/// A response with its body, for an ``ErrorHandler``.
public struct HandledResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The URL of the response.
    public let url: URL
    /// The body. For a streamed call it is present only for failures, limited to the first 64 KiB.
    public let body: Data
    let decoder: BodyDecoder

    /// Decodes the body with the parser for its `Content-Type`.
    ///
    /// - Throws: The parser's error.
    public func decode<Value: Decodable>(_ type: Value.Type, at path: String = "") throws -> Value {
        var decoder = decoder
        // The text or bytes of a failure are the whole body, even for serializers that find such values inside their payloads.
        if path.isEmpty, type == String.self || type == Data.self { decoder.parsing = .off }
        return try decoder.value(type, from: body, contentType: headers[.contentType], at: EndpointSettings.components(of: path), url: url)
    }
}

/// An ``ErrorHandler`` that decodes the body of every failure as one type; the value becomes ``ServiceError/errorBody``.
///
///     EndpointDefaults(errorHandler: .decoding(GitHubError.self))
///
/// If decoding fails, the status check decides.
public struct ErrorBodyHandler<Body: Decodable & Sendable>: ErrorHandler {
    private let root: String

    /// Creates a handler for bodies of a type.
    ///
    /// - Parameter root: The wire names that lead to the value inside the payload, separated by dots.
    public init(_ type: Body.Type = Body.self, at root: String = "") {
        self.root = root
    }

    /// Returns a failure with the decoded body if the body can be decoded.
    public func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result, !outcome.isSuccess, !response.body.isEmpty,
            let body = try? response.decode(Body.self, at: root)
        else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: body))
    }
}

extension ErrorHandler {
    /// Returns a handler that decodes the body of every failure as one type; see ``ErrorBodyHandler``.
    public static func decoding<Body: Decodable & Sendable>(_ type: Body.Type, at root: String = "") -> Self
    where Self == ErrorBodyHandler<Body> {
        ErrorBodyHandler(type, at: root)
    }
}

/// A failure with a decoded body. Error handlers may fail with it; the body becomes ``ServiceError/errorBody``.
public struct DecodedErrorBody<Body: Sendable>: DescribedError {
    /// The status code.
    public let status: Int
    /// The body.
    public let body: Body

    /// Creates an error with a body.
    public init(status: Int, body: Body) {
        self.status = status
        self.body = body
    }

    /// The server's message and the status. The message is the body's description if it has one, else the text of a property such as
    /// `message`, else the name of the body's type.
    public var description: String {
        VisibleText.of("\(ErrorBodyText.of(body) ?? "\(Body.self)") (status \(status))")
    }
}

/// Finds the human-readable message in a decoded error body.
enum ErrorBodyText {
    /// The names of message properties, the most likely first, in lower case and without `_`: RFC 9457's `detail` and `title`, RFC 6749's
    /// `error_description`, and other common names.
    private static let names = [
        "message", "errormessage", "msg", "errormsg", "detail", "errordescription", "description", "reason", "title", "error", "text",
        "errors", "details", "messages",
    ]

    /// Returns the body's own description, or the first text under one of these names; `nil` if there is none.
    static func of(_ body: Any) -> String? {
        if let body = body as? any LocalizedError, let text = body.errorDescription, !text.isEmpty { return text }
        if let body = body as? any CustomStringConvertible, !isPlain(body) {
            let text = ValueText.text(of: body)
            // Some services send an error whose message is empty.
            return text.isEmpty ? nil : text
        }
        return text(in: body, depth: 0)
    }

    /// Whether the value's description isn't meant for people: dictionaries and arrays list all their contents.
    private static func isPlain(_ value: Any) -> Bool {
        [.dictionary, .collection, .set].contains(Mirror(reflecting: value).displayStyle)
    }

    private static func text(in value: Any, depth: Int) -> String? {
        // Deep enough for {"error": {"errors": [{"message": …}]}}.
        guard depth < 6 else { return nil }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional, .collection:
            return mirror.children.lazy.prefix(8).compactMap { found(in: $0.value, depth: depth + 1) }.first
        case .dictionary:
            let pairs = mirror.children.compactMap { child -> (String, Any)? in
                let pair = Array(Mirror(reflecting: child.value).children)
                return pair.count == 2 ? (pair[0].value as? String).map { ($0, pair[1].value) } : nil
            }
            return text(among: pairs.sorted { $0.0 < $1.0 }, depth)
        default:
            var members = mirror.children.compactMap { child in child.label.map { ($0, child.value) } }
            var parent = mirror.superclassMirror
            while let mirror = parent {
                members += mirror.children.compactMap { child in child.label.map { ($0, child.value) } }
                parent = mirror.superclassMirror
            }
            return text(among: members, depth)
        }
    }

    private static func text(among members: [(name: String, value: Any)], _ depth: Int) -> String? {
        let plain = members.map { (name: $0.name.lowercased().filter { $0 != "_" && $0 != "-" }, value: $0.value) }
        for name in names {
            for member in plain where member.name == name {
                if let text = found(in: member.value, depth: depth + 1) { return text }
            }
        }
        // An enum's case, or a property with another name that contains a structure.
        for member in plain where !(member.value is String) {
            if let text = text(in: member.value, depth: depth + 1) { return text }
        }
        return nil
    }

    /// Returns the value's text, or a text inside it.
    private static func found(in value: Any, depth: Int) -> String? {
        if let text = value as? String { return text.isEmpty ? nil : text }
        let mirror = Mirror(reflecting: value)
        // A case such as `.string("…")`, as in types for arbitrary JSON.
        if mirror.displayStyle == .enum, let text = mirror.children.first?.value as? String, !text.isEmpty { return text }
        return text(in: value, depth: depth)
    }
}

/// Gives the dispatcher access to the body of any ``DecodedErrorBody``.
protocol ErrorBodyCarrier {
    var anyBody: any Sendable { get }
    /// Whether the error's description includes the server's message.
    var tellsMessage: Bool { get }
}

extension DecodedErrorBody: ErrorBodyCarrier {
    var anyBody: any Sendable { body }
    var tellsMessage: Bool { ErrorBodyText.of(body) != nil }
}

extension HandledResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status, URL and fields, with secrets masked.
    public var description: String { ResponseSummary(status: status, headers: headers, url: url, body: body).description }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The status, URL, fields and beginning of the body, with secrets masked: a dump doesn't show them either.
    public var customMirror: Mirror {
        let summary = ResponseSummary(status: status, headers: headers, url: url, body: body)
        return Mirror(
            self, children: ["status": status, "url": summary.url, "headers": summary.headers, "body": summary.bodyText(upTo: 500)])
    }
}
