public import Foundation

/// Maps media types to the serializers that read them, chosen by a response's `Content-Type`.
///
/// The lookup goes from specific to general: `application/problem+json`, then `application/json` by its suffix (RFC 6838 §4.2.8), then
/// `application/*`, then `*/*`.
public struct SerializationRegistry: Sendable {
    private var delegates: [String: any SerializationDelegate] = [:]

    /// Whether the response's `Content-Type` chooses the serializer. If false, the client's own serializer reads everything.
    public var choosesByContentType = true

    /// The invalid registrations, each as a sentence with the reason. A registry with faults refuses to decode.
    public private(set) var faults: [String] = []

    /// Creates an empty registry.
    public init() {}

    /// A registry with JSON, XML, plain text for `text/*`, forms, property lists, and raw bytes.
    public static let standard: SerializationRegistry = {
        var registry = SerializationRegistry()
        let json = JSONSerializer()
        for type in ["application/json", "text/json", "application/x-json"] { registry.register(json, for: type) }
        let xml = XMLSerializer()
        for type in ["application/xml", "text/xml"] { registry.register(xml, for: type) }
        registry.register(PlainTextSerializer(), for: "text/*")
        registry.register(FormSerializer(), for: "application/x-www-form-urlencoded")
        let propertyList = PropertyListSerializer()
        for type in ["application/x-plist", "application/plist", "application/x-apple-plist", "application/x-bplist"] {
            registry.register(propertyList, for: type)
        }
        registry.register(RawDataSerializer(), for: "application/octet-stream")
        return registry
    }()

    /// A registry that ignores the `Content-Type`: the client's own serializer reads everything.
    public static let off: SerializationRegistry = {
        var registry = SerializationRegistry()
        registry.choosesByContentType = false
        return registry
    }()

    /// Sets the serializer of a media type, `type/subtype`, `type/*` or `*/*`, replacing an existing one.
    ///
    /// Parameters of the media type are ignored. An invalid media type becomes one of the ``faults``.
    public mutating func register(_ delegate: any SerializationDelegate, for mediaType: String) {
        guard let type = MediaType(mediaType), type.type != "*" || type.subtype == "*" else {
            faults.append("“\(SerializationError.excerpt(mediaType))” isn't a media type: write type/subtype, type/* or */*.")
            return
        }
        delegates[type.essence] = delegate
    }

    /// Returns a copy of the registry with an additional serializer.
    public func registering(_ delegate: any SerializationDelegate, for mediaType: String) -> SerializationRegistry {
        var copy = self
        copy.register(delegate, for: mediaType)
        return copy
    }

    /// Returns this registry merged with the serializers of endpoint, class and client, the innermost first, and the standard registry.
    ///
    /// The order of precedence is: the entries of this registry; the serializers, each for its media type and for all types that the
    /// standard registry reads with a serializer of the same type; the standard registry.
    package func completed(by serializers: [any SerializationDelegate]) -> SerializationRegistry {
        let standard = SerializationRegistry.standard
        var whole = standard
        for serializer in serializers.reversed() {
            for (type, delegate) in standard.delegates where Swift.type(of: delegate) == Swift.type(of: serializer) {
                whole.delegates[type] = serializer
            }
            if let own = MediaType(serializer.contentType), own.type != "*" { whole.delegates[own.essence] = serializer }
        }
        whole.delegates.merge(delegates) { _, mine in mine }
        whole.choosesByContentType = choosesByContentType
        whole.faults = faults
        return whole
    }

    /// Removes the serializer of a media type.
    ///
    /// - Returns: The removed serializer.
    @discardableResult
    public mutating func remove(_ mediaType: String) -> (any SerializationDelegate)? {
        guard let type = MediaType(mediaType) else { return nil }
        return delegates.removeValue(forKey: type.essence)
    }

    /// The media types that have a serializer, sorted.
    public var mediaTypes: [String] { delegates.keys.sorted() }

    /// Returns the serializer for a media type by its essence, its suffix, then by wildcards; `nil` if there is none.
    public func delegate(for type: MediaType) -> (any SerializationDelegate)? {
        if let exact = delegates[type.essence] { return exact }
        if let suffix = type.suffix, let family = delegates["application/" + suffix] { return family }
        return delegates[type.type + "/*"] ?? delegates["*/*"]
    }

    /// Returns the serializer for a raw `Content-Type`. Common spellings need no parsing.
    func delegate(forHeader header: String) -> (any SerializationDelegate)? {
        if let exact = delegates[header] { return exact }
        return MediaType(header).flatMap { delegate(for: $0) }
    }
}

extension SerializationRegistry {
    /// Decodes the value of a response's body.
    ///
    /// The requested type comes first: `Data` gets the bytes and `String` the text, unless the serializer finds them inside its payloads
    /// (``SerializationDelegate/readsInsidePayload(_:contentType:)``). Then comes the forced serializer, then the one for the
    /// `Content-Type`. Without a `Content-Type` with a serializer, the fallback reads the body.
    ///
    /// - Parameters:
    ///   - type: The requested type, which may be an optional.
    ///   - body: The bytes, not empty.
    ///   - contentType: The response's raw `Content-Type`.
    ///   - path: The wire names that lead to the root inside the payload.
    ///   - forced: The endpoint's own serializer, which reads every body.
    ///   - fallback: The client's serializer.
    ///   - url: The URL of the response.
    /// - Throws: The decoder's error; ``SerializationError`` if the body has another format than expected, if the root is missing, or if
    ///   the charset is unknown or wrong.
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
        let payload = ReceivedBody(body: body, contentType: contentType, path: path, url: url)
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

    /// Casts the body to `Value`, which the caller has checked is the body's type or its optional, so the cast doesn't fail. This is a
    /// separate function because a function asks the runtime for the size of a generic value on entry, even on paths that don't need it.
    @inline(never)
    private static func whole<Value>(_ body: some Sendable) throws -> Value {
        guard let value = body as? Value else {
            throw SerializationError(.structure, "A \(Value.self) can't represent a whole body: use Data or String.")
        }
        return value
    }
}

/// A body and the information needed to decode it.
private struct ReceivedBody {
    let body: Data
    let contentType: String?
    let path: [String]
    let url: URL?

    /// Decodes the body; if that fails for an HTML page, or for another media type than the serializer's, throws an error that reports
    /// the mismatch.
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

    /// Whether the error indicates that the body has another format from its beginning.
    private static func isOfBeginning(_ error: any Error) -> Bool {
        if case .dataCorrupted(let context) = error as? DecodingError { return context.codingPath.isEmpty }
        return (error as? SerializationError)?.kind == .charset
    }

    /// Whether the `Content-Type` names another format than the serializer's. Plain text and octets may contain any format, but a body that
    /// begins with neither an object nor an array is probably a message of a proxy.
    private func isOfOtherType(than delegate: any SerializationDelegate) -> Bool {
        guard let media = contentType.flatMap({ MediaType($0) }), let own = MediaType(delegate.contentType) else { return false }
        guard media.essence != "text/plain", media.essence != "application/octet-stream" else {
            return body.first { $0 > 0x20 }.map { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") } ?? false
        }
        return media.essence != own.essence && media.subtype != own.subtype && media.suffix != own.subtype
    }

    /// Decodes with the serializer that the header chose. Text and bytes have no structure. If the type needs one, a body labeled as
    /// plain text is read in the client's format, since many servers label JSON that way; any other is a mismatch.
    func decode<Value: Decodable>(
        _ type: Value.Type, with delegate: any SerializationDelegate, fallback: any SerializationDelegate
    ) throws -> Value {
        // Compares types directly, since a cast calls the runtime.
        let kind = Swift.type(of: delegate)
        guard kind == PlainTextSerializer.self || kind == RawDataSerializer.self else {
            do {
                return try decode(type, with: delegate)
            } catch  where kind == XMLSerializer.self && Swift.type(of: fallback) != kind && isNoXML(error) {
                throw mismatch(expected: fallback, cause: error)
            }
        }
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

    /// Whether a body that is labeled as XML isn't, or is a page. The client then expects its own format.
    private func isNoXML(_ error: any Error) -> Bool {
        if case .dataCorrupted(let context) = error as? DecodingError, context.underlyingError is XMLSyntaxError { return true }
        return contentType.flatMap { MediaType($0)?.essence } == "application/xhtml+xml"
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

/// A page of HTML or XML received instead of the expected format: a sign-in page, or an error page of a proxy or server.
struct MarkupPage {
    /// The text of the `<title>`, on one line, if the first 4 KiB contain one.
    let title: String?

    /// Returns `nil` if the body doesn't begin with a tag.
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
