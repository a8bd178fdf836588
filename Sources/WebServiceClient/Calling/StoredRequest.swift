public import Foundation

/// A request as data, which a program can write to a file and read back.
///
///     let data = try request.stored().data()
///     …
///     var stored = try StoredRequest(data: data)
///     stored.supply(key, forHeader: "X-API-Key")          // secrets are left out: `stored.omitted` lists them
///     let request = try ServiceRequest(stored)
///
/// The body is in memory or in files. For files, only the paths are stored. Two requests that are stored with their secrets are equal if
/// their stored values are.
///
/// - Important: Read only data that your program wrote. Its URL can be of any server, and a body can name any file.
public struct StoredRequest: Sendable, Hashable {
    /// The version of the format that this library writes and reads.
    public static let version = 1

    /// The method.
    public let method: ServiceRequest.Method
    /// The URL; `nil` if it was left out, because it has a secret.
    public private(set) var url: URL?
    /// The header fields, without those that were left out.
    public private(set) var headers: HTTPFields
    /// The deadlines.
    public let timeouts: ServiceTimeouts
    /// The call that the request belongs to; `nil` for a request made by hand.
    public let identity: CallIdentity?
    /// The parts that were left out and are needed. ``supply(url:)`` and its like provide them, ``ignore(_:)`` does without them.
    public private(set) var omitted: [StoredOmission] = []

    private var storedBody: StoredBody?
    /// The rules for header fields that mask the request's texts.
    private let rules: HeaderRules
    /// The texts that are masked everywhere; only stored with secrets.
    private let secrets: [String]

    /// The body; `nil` if there is none, or it was left out.
    ///
    /// - Throws: ``StoredDataError`` if a file is missing or has another length than when it was stored.
    public func body() throws -> RequestBody? { try storedBody?.body() }

    fileprivate init(_ request: ServiceRequest, includingSecrets: Bool) throws {
        let known = request.secrets
        let rules = known?.rules ?? .standard
        method = request.method
        timeouts = request.timeouts
        identity = request.identity
        self.rules = rules
        secrets = includingSecrets ? known?.exactTexts ?? [] : []
        let text = request.url.absoluteString
        guard request.method.isValid, let absolute = URL(string: text), let origin = request.origin, origin.scheme.hasPrefix("http") else {
            throw StoredDataError(
                "The request can't be stored: \(request.method) \(SecretMask.text(of: request)) isn't a method with an absolute http or https "
                    + "URL.")
        }
        if includingSecrets || SecretMask.text(ofURL: text, of: known) == text {
            url = absolute
        } else {
            omitted.append(StoredOmission(.url))
        }
        headers = HTTPFields()
        for field in request.headers {
            let stored = StoredField(field)
            guard field.isValid else {
                throw StoredDataError("The header \(field.name) has a bad name, or a value with control characters: correct or remove it.")
            }
            if includingSecrets || !stored.isSecret(rules, known) {
                headers = HTTPFields(headers + [field])
            } else {
                omit(StoredOmission(.header, field.name.rawName))
            }
        }
        if let body = request.body {
            let stored = try StoredBody(body)
            if includingSecrets || !stored.hasSecrets(known) {
                storedBody = stored
            } else {
                omit(StoredOmission(.body))
            }
        }
        if request.trust != nil { omit(StoredOmission(.setting, "trust")) }
        if request.uploadProgress != nil { omit(StoredOmission(.setting, "uploadProgress")) }
        if request.downloadProgress != nil { omit(StoredOmission(.setting, "downloadProgress")) }
    }

    private mutating func omit(_ omission: StoredOmission) {
        if !omitted.contains(omission) { omitted.append(omission) }
    }

    // MARK: Parts that were left out

    /// Provides the URL.
    public mutating func supply(url: URL) {
        self.url = url
        omitted.removeAll { $0.part == .url }
    }

    /// Provides the value of a header field.
    public mutating func supply(_ value: String, forHeader name: HTTPFields.Name) {
        headers[name] = value
        omitted.removeAll { $0.part == .header && HTTPFields.Name($0.name) == name }
    }

    /// Provides the body.
    ///
    /// - Throws: ``StoredDataError`` for a stream.
    public mutating func supply(body: RequestBody) throws {
        storedBody = try StoredBody(body)
        omitted.removeAll { $0.part == .body }
    }

    /// Does without a part. URL and body must be supplied, so they remain in ``omitted``.
    public mutating func ignore(_ omission: StoredOmission) {
        if omission.canBeIgnored { omitted.removeAll { $0 == omission } }
    }
}

extension StoredRequest: Codable {
    /// Reads a request.
    ///
    /// - Throws: `DecodingError`, also for an unknown version or member.
    public init(from decoder: any Decoder) throws {
        let members = try StoredMembers(
            decoder, names: ["method", "url", "headers", "body", "timeouts", "call", "harmless", "secret", "secrets", "omitted"],
            version: Self.version)
        method = try members.method()
        url = try members.url("url")
        headers = HTTPFields(try members.list("headers", of: StoredField.self).map(\.field))
        storedBody = try members.optional("body")
        timeouts = try members.timeouts() ?? ServiceTimeouts(firstByte: nil, idle: nil)
        identity = try members.optional("call", as: StoredIdentity.self)?.identity
        rules = HeaderRules(
            harmless: Set(try members.list("harmless").map { HTTPFields.Name($0) }),
            secret: Set(try members.list("secret").map { HTTPFields.Name($0) }))
        secrets = try members.list("secrets")
        omitted = try members.list("omitted")
        if url == nil, !omitted.contains(StoredOmission(.url)) { throw members.fault("url", "the URL is missing") }
    }

    /// Writes the request.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(Self.version, forKey: WireKey("version"))
        try container.encode(method.rawValue, forKey: WireKey("method"))
        try container.encode(url, "url")
        try container.encode(nonempty: headers.map(StoredField.init), "headers")
        try container.encodeIfPresent(storedBody, forKey: WireKey("body"))
        try container.encode(StoredTimeouts(timeouts), forKey: WireKey("timeouts"))
        try container.encodeIfPresent(identity.map(StoredIdentity.init), forKey: WireKey("call"))
        try container.encode(nonempty: rules.harmless.map(\.canonicalName).sorted(), "harmless")
        try container.encode(nonempty: rules.secret.map(\.canonicalName).sorted(), "secret")
        try container.encode(nonempty: secrets, "secrets")
        try container.encode(nonempty: omitted, "omitted")
    }

    private struct StoredIdentity: Codable {
        let identity: CallIdentity

        init(_ identity: CallIdentity) { self.identity = identity }

        init(from decoder: any Decoder) throws {
            let members = try StoredMembers(decoder, names: ["client", "key", "route"])
            identity = CallIdentity(
                client: try members.value("client"), key: try members.value("key"), route: try members.value("route"))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: WireKey.self)
            try container.encode(identity.client, forKey: WireKey("client"))
            try container.encode(identity.key, forKey: WireKey("key"))
            try container.encode(identity.route, forKey: WireKey("route"))
        }
    }

    /// Reads a request from JSON.
    ///
    /// - Throws: ``StoredDataError``, which names the faulty member.
    public init(data: Data) throws {
        self = try StoredJSON.value(of: data)
    }

    /// The request as JSON, with sorted members.
    ///
    /// - Throws: ``StoredDataError`` if a deadline is too long.
    public func data() throws -> Data {
        try StoredJSON.data(of: self)
    }
}

extension StoredRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method, URL, fields and what was left out, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "StoredRequest") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``. A dump shows no secrets.
    public var customMirror: Mirror {
        let known = RequestSecrets(rules: rules, exactTexts: secrets)
        return Mirror(
            self,
            children: [
                "method": method, "url": url.map { SecretMask.text(of: $0, of: known) } ?? "nil",
                "headers": RequestSecrets.masked(headers, known).unmaskedDescription, "omitted": omitted.map(\.description),
            ])
    }
}

extension ServiceRequest {
    /// Returns the request as data that can be stored.
    ///
    /// Trust policy, progress closures and the deadline of a running call aren't stored; the first two are listed as omitted.
    ///
    /// - Parameter includingSecrets: Whether secrets are stored, too. By default header fields that aren't known to be harmless are left
    ///   out, and so are a URL and a body with a secret: ``StoredRequest/omitted`` lists them. A mask is never stored.
    /// - Throws: ``StoredDataError`` if the body is a stream, or a header is invalid.
    public func stored(includingSecrets: Bool = false) throws -> StoredRequest {
        try StoredRequest(self, includingSecrets: includingSecrets)
    }

    /// Creates a request from stored data.
    ///
    /// - Throws: ``StoredDataError`` if parts that were left out are still missing, or a file of the body has changed.
    public init(_ stored: StoredRequest) throws {
        guard stored.omitted.isEmpty, let url = stored.url else { throw StoredDataError(missing: stored.omitted) }
        self.init(method: stored.method, url: url, headers: stored.headers, body: try stored.body(), timeouts: stored.timeouts)
        identity = stored.identity
        secrets = stored.requestSecrets
    }
}

extension StoredRequest {
    fileprivate var requestSecrets: RequestSecrets? { RequestSecrets(rules: rules, exactTexts: secrets) }
}

/// JSON of stored values.
enum StoredJSON {
    static func data(of value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch let error as StoredDataError {
            throw error
        } catch {
            throw StoredDataError(DecodingErrorText.text(of: error))
        }
    }

    static func value<Value: Decodable>(of data: Data) throws -> Value {
        do {
            return try JSONReader().decode(Value.self, from: data)
        } catch {
            throw StoredDataError("The stored data can't be read: \(DecodingErrorText.text(of: error))")
        }
    }
}
