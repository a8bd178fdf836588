public import Foundation

/// Which serializer reads which media type. The `Content-Type` of a response chooses among them.
///
/// The lookup goes from the exact to the general: `application/problem+json`, then by its suffix (RFC 6838 §4.2.8) `application/json`,
/// then `application/*`, then `*/*`.
public struct SerializationRegistry: Sendable {
    private var delegates: [String: any SerializationDelegate] = [:]

    /// Whether the response's `Content-Type` chooses. When it doesn't, the client's own serializer reads everything.
    public var choosesByContentType = true

    /// Registrations that can't work, each as a sentence that says why. A registry with faults refuses to decode.
    public private(set) var faults: [String] = []

    /// A registry without any entry.
    public init() {}

    /// JSON, plain text for `text/*`, forms, property lists, and raw bytes.
    public static let standard: SerializationRegistry = {
        var registry = SerializationRegistry()
        let json = JSONSerializer()
        for type in ["application/json", "text/json", "application/x-json"] { registry.register(json, for: type) }
        registry.register(PlainTextSerializer(), for: "text/*")
        registry.register(FormSerializer(), for: "application/x-www-form-urlencoded")
        let propertyList = PropertyListSerializer()
        for type in ["application/x-plist", "application/plist", "application/x-apple-plist", "application/x-bplist"] {
            registry.register(propertyList, for: type)
        }
        registry.register(RawDataSerializer(), for: "application/octet-stream")
        return registry
    }()

    /// The choice by `Content-Type` switched off: the client's own serializer reads everything.
    public static let off: SerializationRegistry = {
        var registry = SerializationRegistry()
        registry.choosesByContentType = false
        return registry
    }()

    /// Sets the serializer of a media type, `type/subtype`, `type/*` or `*/*`, in place of one that was there.
    ///
    /// Parameters of the type are of no account. A text that is no media type becomes one of the ``faults``.
    public mutating func register(_ delegate: any SerializationDelegate, for mediaType: String) {
        guard let type = MediaType(mediaType), type.type != "*" || type.subtype == "*" else {
            faults.append("“\(SerializationError.excerpt(mediaType))” is no media type: write type/subtype, type/* or */*.")
            return
        }
        delegates[type.essence] = delegate
    }

    /// The registry with a serializer more.
    public func registering(_ delegate: any SerializationDelegate, for mediaType: String) -> SerializationRegistry {
        var copy = self
        copy.register(delegate, for: mediaType)
        return copy
    }

    /// This registry laid over the standard one, where a client's own serializer stands for its format.
    ///
    /// Entries of this registry win; then comes the client's serializer, for its media type and for all types that the standard
    /// registry reads with one of its kind; then the standard registry.
    package func completed(by serializer: any SerializationDelegate) -> SerializationRegistry {
        var whole = SerializationRegistry.standard
        for (type, delegate) in whole.delegates where Swift.type(of: delegate) == Swift.type(of: serializer) {
            whole.delegates[type] = serializer
        }
        if let own = MediaType(serializer.contentType), own.type != "*" { whole.delegates[own.essence] = serializer }
        whole.delegates.merge(delegates) { _, mine in mine }
        whole.choosesByContentType = choosesByContentType
        whole.faults = faults
        return whole
    }

    /// Takes away the entry of a media type.
    ///
    /// - Returns: the serializer that was there.
    @discardableResult
    public mutating func remove(_ mediaType: String) -> (any SerializationDelegate)? {
        guard let type = MediaType(mediaType) else { return nil }
        return delegates.removeValue(forKey: type.essence)
    }

    /// The media types that have a serializer, sorted.
    public var mediaTypes: [String] { delegates.keys.sorted() }

    /// The serializer for a media type: by its essence, its suffix, then by wildcards; `nil` when there is none.
    public func delegate(for type: MediaType) -> (any SerializationDelegate)? {
        if let exact = delegates[type.essence] { return exact }
        if let suffix = type.suffix, let family = delegates["application/" + suffix] { return family }
        return delegates[type.type + "/*"] ?? delegates["*/*"]
    }

    /// The serializer for a `Content-Type` as it was sent. Common spellings are found without being parsed.
    func delegate(forHeader header: String) -> (any SerializationDelegate)? {
        if let exact = delegates[header] { return exact }
        return MediaType(header).flatMap { delegate(for: $0) }
    }
}

extension SerializationRegistry {
    /// The value of a response's body.
    ///
    /// What is wanted decides first: `Data` gets the bytes and `String` the text, unless the serializer finds them inside its payloads
    /// (``SerializationDelegate/readsInsidePayload(_:contentType:)``); then a serializer that is forced; then the one that the `Content-Type` chooses; without a `Content-Type`, or one that can be read, the fallback.
    ///
    /// - Parameters:
    ///   - type: what is wanted, also an optional.
    ///   - body: the bytes, not empty.
    ///   - contentType: the response's `Content-Type` as it was sent.
    ///   - path: the wire names that lead to the root inside the payload.
    ///   - forced: the endpoint's own serializer, which reads whatever comes.
    ///   - fallback: the client's serializer.
    ///   - url: where the body came from.
    /// - Throws: the decoder's own error; ``SerializationError`` when the body is of another format than is needed, when the root is
    ///   missing, and when the charset is unknown or wrong.
    public func decode<Value: Decodable>(
        _ type: Value.Type, body: Data, contentType: String?, path: [String] = [], forced: (any SerializationDelegate)? = nil,
        fallback: any SerializationDelegate, url: URL? = nil
    ) throws -> Value {
        if path.isEmpty {
            let isData = Value.self == Data.self || Value.self == Data?.self
            if isData || Value.self == String.self || Value.self == String?.self,
                !(forced ?? chosen(contentType) ?? fallback).readsInsidePayload(Value.self, contentType: contentType)
            {
                return try isData ? Self.whole(body) : Self.whole(PlainTextSerializer.text(of: body, contentType: contentType))
            }
        }
        if let fault = faults.first { throw SerializationError(.registration, fault) }
        let payload = Payload(body: body, contentType: contentType, path: path, url: url)
        if let forced { return try payload.decode(type, with: forced) }
        guard choosesByContentType, let contentType, !contentType.isEmpty else { return try payload.decode(type, with: fallback) }
        if let delegate = delegate(forHeader: contentType) {
            return try payload.decode(type, with: delegate, fallback: fallback)
        }
        guard let media = MediaType(contentType), media.essence != MediaType(fallback.contentType)?.essence else {
            return try payload.decode(type, with: fallback)
        }
        throw payload.mismatch(expected: fallback, cause: nil)
    }

    /// The serializer that a `Content-Type` chooses.
    private func chosen(_ contentType: String?) -> (any SerializationDelegate)? {
        choosesByContentType ? contentType.flatMap { delegate(forHeader: $0) } : nil
    }

    /// The body as the type that it is known to be, or that type's optional: nothing else comes here, so that the cast doesn't fail. By itself:
    /// room for a value that may be none is asked of the runtime at the beginning of a function, also where it isn't needed.
    @inline(never)
    private static func whole<Value>(_ body: some Sendable) throws -> Value {
        guard let value = body as? Value else { throw SerializationError(.structure, "A \(Value.self) isn't the whole of a body.") }
        return value
    }
}

/// A body on its way to a value.
private struct Payload {
    let body: Data
    let contentType: String?
    let path: [String]
    let url: URL?

    /// Decodes; a failure on a page of HTML, or on a body of another type than the serializer's, is told as what it is.
    func decode<Value: Decodable>(_ type: Value.Type, with delegate: any SerializationDelegate) throws -> Value {
        do {
            return try delegate.decode(type, from: body, at: path, contentType: contentType, url: url)
        } catch {
            guard !(delegate is PlainTextSerializer), !Self.readsMarkup(delegate),
                MarkupPage(body) != nil || Self.isOfBeginning(error) && isOfOtherType(than: delegate)
            else { throw error }
            throw mismatch(expected: delegate, cause: error)
        }
    }

    /// Whether the body isn't in the format at all, so far as the error tells.
    private static func isOfBeginning(_ error: any Error) -> Bool {
        if case .dataCorrupted(let context) = error as? DecodingError { return context.codingPath.isEmpty }
        return (error as? SerializationError)?.kind == .charset
    }

    /// Whether the `Content-Type` names another format than the serializer's. Plain text and octets may be anything.
    private func isOfOtherType(than delegate: any SerializationDelegate) -> Bool {
        guard let media = contentType.flatMap({ MediaType($0) }), let own = MediaType(delegate.contentType) else { return false }
        return media.essence != own.essence && media.subtype != own.subtype && media.suffix != own.subtype
            && media.essence != "text/plain" && media.essence != "application/octet-stream"
    }

    /// Decodes with the serializer that the header chose. Text and bytes have no structure: where one is needed, a body that is said
    /// to be plain text is read as what the client expects, since many servers label JSON so; any other is a mismatch.
    func decode<Value: Decodable>(
        _ type: Value.Type, with delegate: any SerializationDelegate, fallback: any SerializationDelegate
    ) throws -> Value {
        // By their types: a cast asks the runtime.
        let kind = Swift.type(of: delegate)
        guard kind == PlainTextSerializer.self || kind == RawDataSerializer.self else { return try decode(type, with: delegate) }
        do {
            return try delegate.decode(type, from: body, at: path, contentType: contentType, url: url)
        } catch {
            let kind = (error as? SerializationError)?.kind
            let essence = contentType.flatMap { MediaType($0)?.essence }
            let isMarkup = MarkupPage(body) != nil || essence == "text/html"
            guard isMarkup || kind == .structure || kind == .root else { throw error }
            guard !isMarkup, essence == "text/plain", Swift.type(of: fallback) != Swift.type(of: delegate) else {
                throw mismatch(expected: fallback, cause: error)
            }
            do {
                return try decode(type, with: fallback)
            } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
                throw mismatch(expected: fallback, cause: DecodingError.dataCorrupted(context))
            }
        }
    }

    func mismatch(expected: any SerializationDelegate, cause: (any Error)?) -> SerializationError {
        let came = contentType.map { "of the type “\(SerializationError.excerpt($0))”" } ?? "without a Content-Type"
        let content =
            switch MarkupPage(body) {
            case let page? where page.title != nil: "a page titled “\(page.title ?? "")”"
            case .some: "a page of markup that begins with \(SerializationError.excerpt(body))"
            case nil: "it begins with \(SerializationError.excerpt(body))"
            }
        return SerializationError(
            .format,
            "The body came \(came) (\(content)), and \(expected.contentType) is expected: check the URL and the credentials, register a "
                + "serializer for the type, or force one at the endpoint.",
            cause: cause)
    }

    /// Whether the serializer's own format begins with a tag.
    private static func readsMarkup(_ delegate: any SerializationDelegate) -> Bool {
        guard let type = MediaType(delegate.contentType) else { return false }
        return type.subtype.hasSuffix("xml") || type.subtype.hasSuffix("plist") || type.subtype == "html"
    }
}

/// Turns values into bodies and bodies into values, for one family of formats.
///
/// A conforming type
/// * is stateless or guards its state: it is used by many calls at once;
/// * throws its encoder's or decoder's own error, which reaches the caller as the cause of a ``ServiceError``;
/// * reads a root inside the payload by wire names, without decoding the payload twice.
public protocol SerializationDelegate: Sendable {
    /// The media type of what ``encode(_:)`` makes, with its charset where that matters, such as `application/json`.
    var contentType: String { get }

    /// The bytes of a value.
    func encode(_ value: any Encodable) throws -> Data

    /// A value from bytes.
    ///
    /// - Parameters:
    ///   - type: what to make.
    ///   - data: the body; never empty.
    ///   - path: the wire names that lead to the root inside the payload; empty for the payload itself.
    ///   - contentType: the response's `Content-Type`, if it has one: its charset counts.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value

    /// The same for a body that came from a URL, which formats need whose links are relative to it. By default the URL plays no part.
    ///
    /// - Parameter url: where the response came from, after redirects; `nil` where that isn't known.
    func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value

    /// Whether `Data` and `String` (and their optionals) are values inside the payload and not the whole body. By default they aren't.
    ///
    /// - Parameters:
    ///   - type: `Data`, `String` or an optional of these.
    ///   - contentType: the response's `Content-Type`, if it has one.
    func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool
}

extension SerializationDelegate {
    /// A value from bytes, wherever they came from.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value {
        try decode(type, from: data, at: path, contentType: contentType)
    }

    /// `Data` and `String` are the whole body.
    public func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool { false }
}

/// A page of HTML or XML where something else was expected: sign-in pages, proxies' and servers' error pages.
struct MarkupPage {
    /// The text of the `<title>`, on one line, if there is one among the first 4 KiB.
    let title: String?

    /// `nil` when the body doesn't begin with a tag.
    init?(_ body: Data) {
        let head = body.prefix(4096)
        let start = head.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        guard start == UInt8(ascii: "<") else { return nil }
        title = Self.title(in: String(decoding: head, as: UTF8.self))
    }

    private static func title(in text: String) -> String? {
        guard let tag = text.range(of: "<title", options: .caseInsensitive),
            let open = text[tag.upperBound...].firstIndex(of: ">")
        else { return nil }
        let content = text[text.index(after: open)...].prefix { $0 != "<" }
        let words = content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty ? nil : SerializationError.excerpt(words)
    }
}
