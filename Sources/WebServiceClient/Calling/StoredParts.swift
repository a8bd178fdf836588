import Foundation

/// The error of a request or a call that can't be stored, or of data that can't be read as one.
public struct StoredDataError: DescribedError, Sendable, Hashable {
    /// The fault, with the member of the data, and the fix.
    public let message: String
    /// The parts that were left out but are needed; empty for other faults.
    public let missing: [StoredOmission]

    init(_ message: String, missing: [StoredOmission] = []) {
        self.message = VisibleText.of(message)
        self.missing = missing
    }

    /// The error of parts that are needed and that the data doesn't have.
    init(missing: [StoredOmission]) {
        self.init(
            "The data was stored without \(missing.map(\.description).joined(separator: ", ")): supply it, or ignore it where the request is "
                + "right without it.",
            missing: missing)
    }

    /// The message.
    public var description: String { message }
}

/// A part that stored data leaves out: a secret, or a value that can't be encoded.
public struct StoredOmission: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of parts.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        /// The URL, which has a secret.
        case url
        /// A header field that may be a credential.
        case header
        /// The body, which has a secret.
        case body
        /// The value of a labeled argument, which is a secret.
        case argument
        /// The cache identifier, which has a secret.
        case cacheIdentifier
        /// An attribute that isn't Codable, or that has a secret.
        case attribute
        /// A setting that can't be encoded, such as a closure or an error handler.
        case setting
    }

    /// The kind of part.
    public let part: Part
    /// The name of the header, the argument, the attribute's type or the setting; empty for the other parts.
    public let name: String

    /// Creates an omission, to compare with or to ignore.
    public init(_ part: Part, _ name: String = "") {
        self.part = part
        self.name = name
    }

    /// The part with its name.
    public var description: String {
        switch part {
        case .url: "the URL"
        case .header: "the header \(name)"
        case .body: "the body"
        case .argument: "the argument \"\(name)\""
        case .cacheIdentifier: "the cache identifier"
        case .attribute: "the attribute \(name)"
        case .setting: "the setting \(name)"
        }
    }

    /// Whether the data can be used without the part. A URL or a body can't be left out, and an argument is a part of the URL or a header.
    var canBeIgnored: Bool {
        switch part {
        case .url, .body, .argument: false
        case .header, .cacheIdentifier, .attribute, .setting: true
        }
    }
}

extension StoredOmission: Codable {
    /// Reads an omission.
    public init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["part", "name"])
        let part = try members.value("part", as: String.self)
        guard let known = Part(rawValue: part) else { throw members.fault("part", "\"\(part)\" isn't a known part") }
        self.init(known, try members.optional("name") ?? "")
    }

    /// Writes the omission.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(part.rawValue, forKey: WireKey("part"))
        if !name.isEmpty { try container.encode(name, forKey: WireKey("name")) }
    }
}

/// The members of an object of stored data. An unknown member is an error: it may change the meaning of the request.
struct StoredMembers {
    let container: KeyedDecodingContainer<WireKey>

    /// - Parameter version: The version that the object must name; `nil` for an object within another.
    init(_ decoder: any Decoder, names: Set<String>, version: Int? = nil) throws {
        container = try decoder.container(keyedBy: WireKey.self)
        var names = names
        if let version {
            let found = try value("version", as: Int.self)
            guard found == version else {
                throw fault("version", "the version \(found) isn't known; this library reads version \(version)")
            }
            names.insert("version")
        }
        if let other = container.allKeys.first(where: { !names.contains($0.stringValue) }) {
            throw fault(other.stringValue, "the member isn't known")
        }
    }

    func value<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        try container.decode(type, forKey: WireKey(name))
    }

    /// The value of a member; `nil` if it is absent or null.
    func optional<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        try container.decodeIfPresent(type, forKey: WireKey(name))
    }

    /// The elements of an array; none if it is absent.
    func list<Value: Decodable>(_ name: String, of type: Value.Type = Value.self) throws -> [Value] {
        try optional(name, as: [Value].self) ?? []
    }

    func fault(_ name: String, _ problem: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: container.codingPath + [WireKey(name)], debugDescription: problem))
    }

    /// Reads a method.
    func method() throws -> ServiceRequest.Method {
        let method = ServiceRequest.Method(rawValue: try value("method"))
        guard method.isValid else { throw fault("method", "\"\(method)\" isn't an HTTP method") }
        return method
    }

    /// Reads an absolute http or https URL.
    func url(_ name: String) throws -> URL? {
        guard let text: String = try optional(name) else { return nil }
        guard let url = URL(string: text), let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https" else {
            throw fault(name, "the text isn't an absolute http or https URL")
        }
        return url
    }

    /// Reads the deadlines.
    func timeouts() throws -> ServiceTimeouts? {
        try optional("timeouts", as: StoredTimeouts.self)?.timeouts
    }

    /// Reads a duration.
    func duration(_ name: String) throws -> Duration? {
        guard let text: String = try optional(name) else { return nil }
        guard let duration = StoredDuration.duration(of: text) else {
            throw fault(name, "\"\(text)\" isn't a number of seconds, such as \"0.25\"")
        }
        return duration
    }
}

extension KeyedEncodingContainer<WireKey> {
    mutating func encode(_ url: URL?, _ name: String) throws {
        try encodeIfPresent(url?.absoluteString, forKey: WireKey(name))
    }

    mutating func encode(_ duration: Duration?, _ name: String) throws {
        guard let duration else { return }
        try encode(try StoredDuration.text(of: duration), forKey: WireKey(name))
    }

    mutating func encode(nonempty list: [some Encodable], _ name: String) throws {
        if !list.isEmpty { try encode(list, forKey: WireKey(name)) }
    }
}

/// Durations as exact decimal numbers of seconds: `"0.25"`.
enum StoredDuration {
    static func text(of duration: Duration) throws -> String {
        let (seconds, attoseconds) = duration.clampedComponents
        guard Duration(secondsComponent: seconds, attosecondsComponent: attoseconds) == duration else {
            throw StoredDataError("A duration is too long to be stored: use at most 2^63 - 1 seconds.")
        }
        var fraction = String(attoseconds.magnitude)
        fraction = String(repeating: "0", count: 18 - fraction.utf8.count) + fraction
        while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
        return (duration < .zero ? "-" : "") + String(seconds.magnitude) + (fraction.isEmpty ? "" : "." + fraction)
    }

    static func duration(of text: String) -> Duration? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let parts = text.utf8.dropFirst(isNegative ? 1 : 0).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }), let whole = parts.first,
            let seconds = Int64((isNegative ? "-" : "") + String(decoding: whole, as: UTF8.self))
        else { return nil }
        guard parts.count == 2 else { return Duration(secondsComponent: seconds, attosecondsComponent: 0) }
        guard parts[1].count <= 18 else { return nil }
        let digits = String(decoding: parts[1], as: UTF8.self) + String(repeating: "0", count: 18 - parts[1].count)
        guard let attoseconds = Int64((isNegative ? "-" : "") + digits) else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}

/// ``ServiceTimeouts`` as an object. If a member is missing, the time is unlimited.
struct StoredTimeouts: Codable {
    var timeouts: ServiceTimeouts

    init(_ timeouts: ServiceTimeouts) { self.timeouts = timeouts }

    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["firstByte", "idle", "total", "connect"])
        timeouts = ServiceTimeouts(
            firstByte: try members.duration("firstByte"), idle: try members.duration("idle"), total: try members.duration("total"),
            connect: try members.duration("connect"))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(timeouts.firstByte, "firstByte")
        try container.encode(timeouts.idle, "idle")
        try container.encode(timeouts.total, "total")
        try container.encode(timeouts.connect, "connect")
    }
}

/// Bytes as text if they are UTF-8, else in base64.
struct StoredBytes: Codable, Hashable, Sendable {
    var data: Data

    init(_ data: Data) { self.data = data }

    init(_ members: StoredMembers) throws {
        switch (try members.optional("text", as: String.self), try members.optional("base64", as: String.self)) {
        case (let text?, nil): data = Data(text.utf8)
        case (nil, let text?):
            guard let data = Data(base64Encoded: text) else { throw members.fault("base64", "the text isn't base64") }
            self.data = data
        default: throw members.fault("text", "either \"text\" or \"base64\" is needed")
        }
    }

    init(from decoder: any Decoder) throws {
        try self.init(try StoredMembers(decoder, names: ["text", "base64"]))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        let text = String(decoding: data, as: UTF8.self)
        if text.utf8.elementsEqual(data) {
            try container.encode(text, forKey: WireKey("text"))
        } else {
            try container.encode(data.base64EncodedString(), forKey: WireKey("base64"))
        }
    }
}

/// A body in memory or in files.
struct StoredBody: Codable, Hashable, Sendable {
    enum Part: Codable, Hashable, Sendable {
        case data(StoredBytes)
        case file(path: String, length: Int64)

        init(from decoder: any Decoder) throws {
            let members = try StoredMembers(decoder, names: ["text", "base64", "file", "length"])
            guard let path: String = try members.optional("file") else {
                self = .data(try StoredBytes(members))
                return
            }
            guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
                throw members.fault("file", "the text isn't an absolute path")
            }
            self = .file(path: path, length: try members.value("length"))
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .data(let bytes):
                try bytes.encode(to: encoder)
            case .file(let path, let length):
                var container = encoder.container(keyedBy: WireKey.self)
                try container.encode(path, forKey: WireKey("file"))
                try container.encode(length, forKey: WireKey("length"))
            }
        }
    }

    var parts: [Part]
    var contentType: String?
    var contentTypeIsBinding: Bool

    /// - Throws: ``StoredDataError`` for a stream.
    init(_ body: RequestBody) throws {
        guard case .segments(let segments) = body.source else {
            throw StoredDataError(
                "A body that is a stream can't be stored: read it with collect(upTo:), or write it to a file and use RequestBody(file:).")
        }
        parts = segments.map { segment in
            switch segment {
            case .data(let data): .data(StoredBytes(data))
            case .file(let url, let length): .file(path: url.path(percentEncoded: false), length: length)
            }
        }
        contentType = body.contentType
        contentTypeIsBinding = body.contentTypeIsBinding
    }

    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["parts", "contentType", "contentTypeIsBinding"])
        parts = try members.value("parts")
        contentType = try members.optional("contentType")
        contentTypeIsBinding = try members.optional("contentTypeIsBinding") ?? false
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(parts, forKey: WireKey("parts"))
        try container.encodeIfPresent(contentType, forKey: WireKey("contentType"))
        if contentTypeIsBinding { try container.encode(true, forKey: WireKey("contentTypeIsBinding")) }
    }

    /// The body.
    ///
    /// - Throws: ``StoredDataError`` if a file is missing or has another length than when it was stored.
    func body() throws -> RequestBody {
        let segments = try parts.map { part -> RequestBody.Segment in
            switch part {
            case .data(let bytes):
                return .data(bytes.data)
            case .file(let path, let length):
                let file = URL(filePath: path)
                let found: Int64
                do {
                    found = try RequestBody.length(of: file)
                } catch {
                    throw StoredDataError(ServiceError.text(of: error))
                }
                guard found == length else {
                    throw StoredDataError(
                        "The file \(file.lastPathComponent) of the body has \(found) bytes and had \(length) when it was stored: make a new "
                            + "request, or supply the body.")
                }
                return .file(file, length: length)
            }
        }
        var body = RequestBody(segments: segments, contentType: contentType)
        body.contentTypeIsBinding = contentTypeIsBinding
        return body
    }

    /// Whether the bytes in memory have a secret. Files aren't searched: only their paths are stored.
    func hasSecrets(_ secrets: RequestSecrets?) -> Bool {
        var whole = Data()
        for case .data(let bytes) in parts { whole.append(bytes.data) }
        let text = String(decoding: whole, as: UTF8.self)
        return SecretMask.text(ofBody: text, contentType: contentType, of: secrets) != text
    }
}

/// A header field. Values that aren't UTF-8 keep their bytes.
struct StoredField: Codable, Hashable, Sendable {
    let field: HTTPFields.Field

    init(_ field: HTTPFields.Field) { self.field = field }

    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["name", "text", "base64"])
        let name = HTTPFields.Name(try members.value("name"))
        let bytes = try StoredBytes(members).data
        field = bytes.withUnsafeBytes { HTTPFields.Field(name: name, bytes: $0) }
        // A field from bytes, as from a response, has blanks in place of some control characters.
        let hasControls = bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        guard field.isValid, !hasControls else {
            throw members.fault("name", "the header \(name) has a bad name, or a value with control characters")
        }
    }

    func encode(to encoder: any Encoder) throws {
        try StoredBytes(Data(field.bytes)).encode(to: encoder)
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(field.name.rawName, forKey: WireKey("name"))
    }

    /// Whether the value may be a secret.
    func isSecret(_ rules: HeaderRules, _ secrets: RequestSecrets?) -> Bool {
        !field.value.isEmpty && SecretMask.text(of: field, rules: rules, secrets: secrets) != field.value
    }
}
