/// The compression of requests' bodies (RFC 9110 §8.4).
///
///     "ingest(batch:)": .post("/batches").compressed(.gzip)
///
/// A body is compressed before it is signed and before its digest is made, and is sent with `Content-Encoding`. Exempt are bodies of up to
/// ``above`` bytes, bodies in memory that compression doesn't make smaller, and requests that already have a `Content-Encoding`. Bodies in
/// memory keep a known length; files and streams are compressed while they are sent, and their length becomes unknown. A stream is
/// compressed in blocks of 64 kB: a server sees its bytes only when a block is complete.
///
/// There is no negotiation before a request (RFC 9110 §12.5.3): set it only for services that document the coding. Others answer 415, or
/// read the bytes as they are.
public struct BodyCompression: EndpointAttribute, PortableAttribute, Hashable, CustomStringConvertible {
    /// The coding; `nil` for none.
    public var coding: ContentCoding?
    /// The maximum size in bytes of a body that isn't compressed, because compression would save nothing. Default 1,024.
    public var above: Int

    /// Creates a setting.
    public init(_ coding: ContentCoding?, above: Int = 1_024) {
        self.coding = coding
        self.above = above
    }

    /// Bodies are sent uncompressed, regardless of the settings of class and client.
    public static let off = Self(nil)

    /// The coding and the bound.
    public var description: String { coding.map { "compressed by \($0.name) above \(above) bytes" } ?? "not compressed" }

    package static let firstWords = ["compressed", "not"]

    package init?(described text: String) {
        if text == Self.off.description {
            self = .off
            return
        }
        guard let (name, size) = text.inside("compressed by ", " bytes")?.divided(by: " above "), let coding = ContentCoding(name: name),
            let above = Int(size)
        else { return nil }
        self.init(coding, above: above)
    }

    /// The faults with their fixes.
    var faults: [(problem: String, fix: String)] {
        var faults: [(problem: String, fix: String)] = []
        if above < 0 { faults.append(("bodies are compressed above \(above) bytes", "give .compressed(_:above:) 0 or more")) }
        if let coding, !coding.canEncode {
            faults.append(("this system can't compress bodies in the coding \(coding.name)", coding.encoderFix))
        }
        return faults
    }
}

extension BodyCompression: Codable {
    private enum CodingKeys: String, CodingKey {
        case coding, above
    }

    /// Reads a setting.
    ///
    /// - Throws: `DecodingError`, also if this version of the library doesn't know the coding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decodeIfPresent(String.self, forKey: .coding)
        let coding = name.flatMap { ContentCoding(name: $0) }
        guard name == nil || coding != nil else {
            throw DecodingError.dataCorruptedError(forKey: .coding, in: container, debugDescription: "The coding isn't known.")
        }
        self.init(coding, above: try container.decode(Int.self, forKey: .above))
    }

    /// Writes the setting, with the registered name of the coding.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(coding?.name, forKey: .coding)
        try container.encode(above, forKey: .above)
    }
}

/// Lets a server refuse a request before its body is sent: `Expect: 100-continue` (RFC 9110 §10.1.1).
///
///     "upload(_:)": .put("/backups/today").expectingContinue()
///
/// The transport sends the head, and waits for the server's consent, for a second at most, because many servers never give it. If a final
/// response arrives before it, such as 401 or 413, that response is delivered and the body isn't sent. A 417 means that the server, or a
/// proxy, doesn't support expectations: the request is repeated without one if its body can be sent again.
///
/// It costs a round trip, so use it for large bodies that may be refused. It needs a transport with ``TransportCapabilities/expectations``;
/// otherwise the client fails before its first call.
public struct ContinueExpectation: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The largest number of bytes that is sent without waiting; `nil` if none waits. Bodies of unknown length always wait. Default one
    /// megabyte.
    public var above: Int64?

    /// Creates a setting.
    public init(above: Int64? = 1 << 20) {
        self.above = above
    }

    /// Bodies are sent at once, regardless of the settings of class and client.
    public static let off = Self(above: nil)

    /// The bound.
    public var description: String { above.map { "expects 100 Continue above \($0) bytes" } ?? "expects no 100 Continue" }

    package static let firstWords = ["expects"]

    package init?(described text: String) {
        if text == Self.off.description {
            self = .off
        } else if let bytes = text.inside("expects 100 Continue above ", " bytes").flatMap({ Int64($0) }) {
            self.init(above: bytes)
        } else {
            return nil
        }
    }

    /// Whether a body waits.
    func applies(to body: RequestBody) -> Bool {
        guard let above else { return false }
        return body.length.map { $0 > above } ?? true
    }
}

/// The digests that are sent with requests' bodies (RFC 9530).
///
///     "store(document:)": .put("/documents/1").sendingDigest()
///
/// The digests cover the bytes that are sent, after compression. Files and replayable streams are read once more for them. The digest of a
/// stream that can be read only once isn't known before it is sent, so such a call fails. A field that the request already has isn't
/// changed.
public struct SentDigest: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The field. For a whole representation, both fields have the same value.
    public var field: ContentDigest.Field
    /// The algorithms, in the order of the field's members. Empty for no field, regardless of the settings of class and client.
    public var algorithms: [ContentDigest.Algorithm]

    /// Creates a setting.
    public init(_ algorithms: [ContentDigest.Algorithm] = [.sha256], in field: ContentDigest.Field = .content) {
        self.algorithms = algorithms
        self.field = field
    }

    /// The field and the algorithms.
    public var description: String {
        algorithms.isEmpty ? "sends no digest" : "sends \(field.rawValue): \(algorithms.map(\.rawValue).joined(separator: ", "))"
    }

    package static let firstWords = ["sends"]

    package init?(described text: String) {
        if text == Self([]).description {
            self.init([])
            return
        }
        guard let (name, list) = text.inside("sends ", "")?.divided(by: ": "), let field = ContentDigest.Field(rawValue: String(name))
        else {
            return nil
        }
        self.init(list.listed().compactMap { ContentDigest.Algorithm(rawValue: String($0)) }, in: field)
    }
}

/// The check of responses' bodies against the digests that their fields state (RFC 9530).
///
///     "document(id:)": .get("/documents/%%id%%").verifyingDigests(.required)
///
/// Each `sha-256` and `sha-512` in `Content-Digest`, `Repr-Digest` and their trailer fields is compared while the body is read, also for
/// failures. A mismatch is an error at the body's end: values that were decoded from a stream before it aren't verified. Other algorithms
/// are ignored: they are unknown, or offer no security. A field that isn't a dictionary of byte sequences is ignored and reported.
///
/// The request asks for an uncoded response (`Accept-Encoding: identity`), because a digest covers the coded bytes, which the transport
/// decodes. A body that is coded nevertheless can't be verified. `Repr-Digest` is ignored for parts (206) and without content.
///
/// A digest detects damage, and changes by parties that can't change the fields. It doesn't replace TLS or a signature.
public struct DigestVerification: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// What happens if there is no digest to compare.
    public enum Requirement: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing is checked, regardless of the settings of class and client.
        case off
        /// The body is delivered unverified.
        case ifPresent
        /// It is an error, before the body is read, if the response is a success; failures are delivered unverified.
        case required
    }

    /// What happens if there is no digest to compare.
    public var requirement: Requirement
    /// The algorithms to ask for with `Want-Content-Digest` (RFC 9530 §4), the preferred one first. Empty for no field. Only active
    /// algorithms are verified; `md5` is a fault of the table.
    public var wanted: [ContentDigest.Algorithm]

    /// Creates a setting.
    public init(_ requirement: Requirement = .ifPresent, wanting wanted: [ContentDigest.Algorithm] = []) {
        self.requirement = requirement
        self.wanted = wanted
    }

    /// The requirement and the wanted algorithms.
    public var description: String {
        let text = requirement == .off ? "verifies no digests" : "verifies digests\(requirement == .required ? ", which are required" : "")"
        return wanted.isEmpty ? text : text + ", asking for \(wanted.map(\.rawValue).joined(separator: ", "))"
    }

    package static let firstWords = ["verifies"]

    package init?(described text: String) {
        let (rule, list) = text.divided(by: ", asking for ") ?? (text[...], "")
        guard let requirement = Requirement.allCases.first(where: { Self($0).description == rule }) else { return nil }
        self.init(requirement, wanting: list.listed().compactMap { ContentDigest.Algorithm(rawValue: String($0)) })
    }

    /// A profile can't loosen the check.
    package var leastTrustedSource: AttributeSource { requirement == .required ? .profile : .exportedTable }

    /// The value of `Want-Content-Digest`; `nil` for no field.
    var wantedText: String? {
        guard requirement != .off, !wanted.isEmpty else { return nil }
        // Preferences are 10 for the most, down to 1 for the least; 0 means "not acceptable".
        return wanted.enumerated().map { "\($1)=\(max(1, 10 - $0))" }.joined(separator: ", ")
    }
}

/// The known digest of the content that a call downloads.
///
///     try await client.with(.expectedDigest(sha256: published)) { try await $0.download(path: "/tool.tar.gz") }
///
/// The bytes that the call reads, after decoding, are compared while they are read: a mismatch is an error at the end, before a file has
/// its final name. Bodies from the cache are compared too. Only successes are: the body of a failure is another. A part (206) can't be
/// compared, which is an error.
public struct ExpectedDigest: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// The digest; `nil` if its text is invalid, which is an error of the call.
    public let digest: ContentDigest?

    /// Creates an expectation.
    public init(_ digest: ContentDigest) {
        self.digest = digest
    }

    /// Creates an expectation from the text of a digest: see ``ContentDigest/init(_:text:)``.
    public init(_ algorithm: ContentDigest.Algorithm, text: String) {
        digest = ContentDigest(algorithm, text: text)
    }

    /// The digest.
    public var description: String { digest.map { "expects \($0)" } ?? "expects an invalid digest" }

    package static let firstWords = ["expects"]

    package init?(described text: String) {
        guard let (name, digits) = text.inside("expects ", "")?.divided(by: " "),
            let algorithm = ContentDigest.Algorithm(rawValue: String(name)), let bytes = Hexadecimal.bytes(of: digits.utf8)
        else { return nil }
        self.init(ContentDigest(algorithm, bytes))
    }

    /// A profile can't replace the digest that the program expects by that of other content.
    package var leastTrustedSource: AttributeSource { .exportedTable }

    /// The fault of an invalid digest with its fix.
    var fault: (problem: String, fix: String)? {
        guard digest?.isValid != true else { return nil }
        return ("the expected digest is invalid", "give its hexadecimal digits, or base64: 64 digits for SHA-256, 128 for SHA-512")
    }
}

extension EndpointAttribute where Self == ExpectedDigest {
    /// The SHA-256 of the content that a call downloads, in hexadecimal digits or base64.
    public static func expectedDigest(sha256 text: String) -> Self { ExpectedDigest(.sha256, text: text) }

    /// The SHA-512 of the content that a call downloads, in hexadecimal digits or base64.
    public static func expectedDigest(sha512 text: String) -> Self { ExpectedDigest(.sha512, text: text) }
}

extension EndpointAttribute where Self == BodyCompression {
    /// The compression of requests' bodies.
    public static func compressed(_ coding: ContentCoding, above bytes: Int = 1_024) -> Self { BodyCompression(coding, above: bytes) }
}

extension EndpointAttribute where Self == DigestVerification {
    /// The check of responses' bodies against their digests.
    public static func verifyingDigests(_ requirement: DigestVerification.Requirement = .ifPresent) -> Self {
        DigestVerification(requirement)
    }
}
