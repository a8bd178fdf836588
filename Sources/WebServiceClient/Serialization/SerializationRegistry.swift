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
