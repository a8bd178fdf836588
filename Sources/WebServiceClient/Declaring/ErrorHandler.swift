public import Foundation

/// Decides what a finished exchange means, before the status check and instead of it. Set on a client, a class or an endpoint.
///
///     struct GitHubErrorHandler: ErrorHandler {
///         func verdict(on outcome: CallOutcome) -> ErrorVerdict {
///             guard case .response(let response) = outcome.result, !outcome.isSuccess else { return .default }
///             guard let body = try? response.decode(GitHubError.self) else { return .default }
///             return .fail(body)
///         }
///     }
public protocol ErrorHandler: Sendable {
    /// The verdict on what came back: also asked about successes, and about exchanges that brought no response.
    func verdict(on outcome: CallOutcome) async -> ErrorVerdict
}

/// What an ``ErrorHandler`` decides.
public enum ErrorVerdict: Sendable {
    /// It is a success, whatever the status; after an exchange without a response it is one without a body.
    case accept
    /// It is a failure: the call throws a ``ServiceError`` whose cause is this error.
    case fail(any Error)
    /// The status decides.
    case `default`
}

/// What came back from a call, for an ``ErrorHandler``.
public struct CallOutcome: Sendable {
    /// What came back.
    public enum Result: Sendable {
        /// A response, read up to the client's bound.
        case response(HandledResponse)
        /// The error that kept a response from coming.
        case failure(any Error)
    }

    /// Which call it was.
    public let call: CallIdentity
    /// The request, without secrets.
    public let request: RequestSummary
    /// What came back.
    public let result: Result
    /// Whether the status counts as success by the rules of method, class and client.
    public let isSuccess: Bool
}

/// A response with its body, for an ``ErrorHandler``.
public struct HandledResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields.
    public let headers: HTTPFields
    /// The URL that answered.
    public let url: URL
    /// The body. Of a streamed call it is there for failures only, and then its first 64 KiB.
    public let body: Data
    let decoder: BodyDecoder

    /// The body as a value, by the parser that its `Content-Type` asks for.
    ///
    /// - Throws: what the parser throws.
    public func decode<Value: Decodable>(_ type: Value.Type, at path: String = "") throws -> Value {
        var decoder = decoder
        // The text of a failure, or its bytes, is the whole of it, whatever the serializer finds inside its payloads.
        if path.isEmpty, type == String.self || type == Data.self { decoder.parsing = .off }
        return try decoder.value(type, from: body, contentType: headers[.contentType], at: EndpointSettings.components(of: path), url: url)
    }
}

/// An ``ErrorHandler`` that reads the body of every failure as a value of one type, which becomes ``ServiceError/errorBody``.
///
///     EndpointDefaults(errorHandler: .decoding(GitHubError.self))
///
/// A body that isn't of that type is left to the status check.
public struct ErrorBodyHandler<Body: Decodable & Sendable>: ErrorHandler {
    private let root: String

    /// A handler for bodies of that type.
    ///
    /// - Parameter root: the wire names that lead to the value inside the payload, separated by dots.
    public init(_ type: Body.Type = Body.self, at root: String = "") {
        self.root = root
    }

    /// Fails with the decoded body where there is one.
    public func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result, !outcome.isSuccess, !response.body.isEmpty,
            let body = try? response.decode(Body.self, at: root)
        else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: body))
    }
}

extension ErrorHandler {
    /// A handler that reads the body of every failure as a value of one type: see ``ErrorBodyHandler``.
    public static func decoding<Body: Decodable & Sendable>(_ type: Body.Type, at root: String = "") -> Self
    where Self == ErrorBodyHandler<Body> {
        ErrorBodyHandler(type, at: root)
    }
}

/// A failure whose body was read as a value. Error handlers may fail with it; the value becomes ``ServiceError/errorBody``.
public struct DecodedErrorBody<Body: Sendable>: DescribedError {
    /// The status code.
    public let status: Int
    /// The body.
    public let body: Body

    /// An error with that body.
    public init(status: Int, body: Body) {
        self.status = status
        self.body = body
    }

    /// The status and what the server says: the body's text where it describes itself, else the text of a property such as `message`.
    public var description: String {
        VisibleText.of("status \(status): \(ErrorBodyText.of(body) ?? "\(Body.self)")")
    }
}

/// Finds what a decoded error body says for people.
enum ErrorBodyText {
    /// Names of properties that hold it, the likeliest first, in lower case and without `_`: RFC 9457's `detail` and `title`, RFC 6749's
    /// `error_description`, and what services call it beside these.
    private static let names = [
        "message", "errormessage", "msg", "errormsg", "detail", "errordescription", "description", "reason", "title", "error", "text",
        "errors", "details", "messages",
    ]

    /// The body's own description, or the first text that stands under one of these names; `nil` where there is none.
    static func of(_ body: Any) -> String? {
        if let body = body as? any LocalizedError, let text = body.errorDescription, !text.isEmpty { return text }
        if let body = body as? any CustomStringConvertible, !isPlain(body) { return ValueText.text(of: body) }
        return text(in: body, depth: 0)
    }

    /// What describes itself without being made for it: dictionaries and arrays list all that they hold.
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
        // An enum's case, or a property of a name of its own that holds a structure.
        for member in plain where !(member.value is String) {
            if let text = text(in: member.value, depth: depth + 1) { return text }
        }
        return nil
    }

    /// The text that a value is, or that is in it.
    private static func found(in value: Any, depth: Int) -> String? {
        if let text = value as? String { return text.isEmpty ? nil : text }
        let mirror = Mirror(reflecting: value)
        // A case such as `.string("…")`, as types for any JSON have it.
        if mirror.displayStyle == .enum, let text = mirror.children.first?.value as? String, !text.isEmpty { return text }
        return text(in: value, depth: depth)
    }
}

/// Lets the dispatcher take the body out of any ``DecodedErrorBody``.
protocol ErrorBodyCarrier {
    var anyBody: any Sendable { get }
    /// Whether the error's description has what the server says.
    var tellsMessage: Bool { get }
}

extension DecodedErrorBody: ErrorBodyCarrier {
    var anyBody: any Sendable { body }
    var tellsMessage: Bool { ErrorBodyText.of(body) != nil }
}

extension HandledResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status, URL and fields, secrets masked.
    public var description: String { ResponseSummary(status: status, headers: headers, url: url, body: body).description }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Status, URL, fields and the beginning of the body, secrets masked: not even a dump shows them.
    public var customMirror: Mirror {
        let summary = ResponseSummary(status: status, headers: headers, url: url, body: body)
        return Mirror(
            self, children: ["status": status, "url": summary.url, "headers": summary.headers, "body": summary.bodyText(upTo: 500)])
    }
}
