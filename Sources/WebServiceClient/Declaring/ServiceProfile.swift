public import Foundation

/// An endpoint table from a file or the network, as a property list, JSON or a dictionary.
///
///     {
///       "BaseURL": "https://api.example.com",
///       "Resources": [
///         { "Name": "user(id:)", "URITemplate": "/users/{id}" },
///         { "Name": "create",    "URITemplate": "/users", "Method": "POST" }
///       ]
///     }
///
/// `BaseURL` is empty by default, `Method` is GET. The origin of `BaseURL` (scheme, host and port) must be that of the class's service
/// root, or one of ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``: a profile defines paths and methods, not the
/// receiver of the credentials. If neither client nor class has a root, later profiles must keep the first profile's origin.
/// `"AllowsBody": true` is ``EndpointDescriptor/allowingBody()``. `"Attributes"` are texts as in ``ClientDescription``, such as
/// `["RateLimit(30 per 60 s, burst 1)", "EndpointCaching.lifetime(60 s)", "CallPriority.low"]`; those of the class's endpoint take
/// precedence. A `Name` is a key in the notation of `#function`, or a bare name, which applies to every method with that name. A profile is
/// free of faults once created, so it can be set on a live client at any time. The capabilities that the class's own endpoint requires of
/// the transport, such as pinning, stay required, and its trust policy and attributes stay in effect. `Version` and `Expires` are for
/// ``RemoteProfile``.
public struct ServiceProfile: Sendable {
    /// The service root; if empty, the client's applies.
    public let baseURL: String
    /// The endpoints.
    public let endpoints: EndpointTable
    /// The number of the profile's version, from the key `Version`: 0 or more; `nil` if the profile has none.
    public let version: Int?
    /// The date from which on a ``RemoteProfile`` refuses the profile, from the key `Expires`; `nil` if it doesn't expire.
    public let expires: Date?
    /// The ignored contents of the profile, such as misspelled keys, each with its place.
    public let notes: [String]
    /// The security schemes that the document of ``init(openAPI:from:documents:variables:)`` describes, in its order. Their names are the
    /// keys of ``WebServiceClient/WebServiceClient/Configuration/credentials``.
    public let securitySchemes: [SecurityScheme]

    /// Parses a profile from a property list (XML or binary) or JSON.
    ///
    /// - Throws: ``ServiceProfileError`` with every fault, its resource and position.
    public init(data: Data) throws {
        try self.init(ServiceProfileReader(data))
    }

    /// Creates a profile from a dictionary with the keys and values of a property list.
    ///
    ///     let profile = try ServiceProfile(dictionary: [
    ///         "BaseURL": "https://api.example.com",
    ///         "Resources": [["Name": "user(id:)", "URITemplate": "/users/{id}"]],
    ///     ])
    ///
    /// - Throws: ``ServiceProfileError`` with every fault, its resource and position.
    public init(dictionary: [String: Any]) throws {
        try self.init(ServiceProfileReader(SettingsFileValue(dictionary)))
    }

    private init(_ reader: ServiceProfileReader) throws {
        guard reader.faults.isEmpty else { throw ServiceProfileError(faults: reader.faults) }
        baseURL = reader.baseURL
        endpoints = EndpointTable(entries: reader.entries)
        version = reader.version
        expires = reader.expires
        notes = reader.notes
        securitySchemes = []
    }

    /// Creates a profile of endpoints that were checked.
    init(baseURL: String, entries: [EndpointTable.Entry], notes: [String], securitySchemes: [SecurityScheme]) {
        self.baseURL = baseURL
        endpoints = EndpointTable(entries: entries)
        version = nil
        expires = nil
        self.notes = notes
        self.securitySchemes = securitySchemes
    }

    /// Reads a profile from a file.
    ///
    /// - Throws: ``ServiceProfileError``, or Foundation's error if the file can't be read.
    public init(contentsOf url: URL) throws {
        try self.init(data: Data(contentsOf: url))
    }

    /// Returns every fault of a profile's bytes, each with its resource and position; empty if the profile is valid.
    public static func verify(_ data: Data) -> [String] {
        ServiceProfileReader(data).faults
    }
}

/// The faults of a profile.
public struct ServiceProfileError: DescribedError, Sendable, Hashable {
    /// Each fault, with its resource and position.
    public let faults: [String]

    /// The faults, one per line.
    public var description: String {
        "The service profile can't be used:\n" + faults.map { "  - \($0)" }.joined(separator: "\n")
    }
}

extension ServiceProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The service root, endpoints and notes, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ServiceProfile") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``: a dump doesn't show secrets either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "baseURL": SecretMask.text(ofURL: baseURL), "version": version.map { "\($0)" } ?? "nil", "endpoints": endpoints,
                "notes": notes.map { SecretMask.text($0) },
            ])
    }
}

/// Reads a profile and collects every fault.
struct ServiceProfileReader {
    private(set) var baseURL = ""
    private(set) var version: Int?
    private(set) var expires: Date?
    private(set) var entries: [EndpointTable.Entry] = []
    private(set) var faults: [String] = []
    private(set) var notes: [String] = []

    private static let keys = ["BaseURL", "Expires", "Resources", "Version"]

    init(_ data: Data) {
        do {
            read(try SettingsFileValue(data))
        } catch {
            faults.append("the data is neither a property list nor JSON: \(Self.reason(of: error))")
        }
    }

    init(_ value: SettingsFileValue) {
        read(value)
    }

    private mutating func read(_ value: SettingsFileValue) {
        guard case .record(let root) = value else {
            faults.append("the data has no dictionary at its root")
            return
        }
        for key in root.keys.sorted() where !Self.keys.contains(key) {
            notes.append("the key \"\(key)\" is unknown; the known keys are \(Self.keys.joined(separator: ", "))")
        }
        readBaseURL(root["BaseURL"])
        readVersion(root["Version"])
        readExpiry(root["Expires"])
        guard let resources = root["Resources"] else {
            faults.append("\"Resources\" is missing: an array of dictionaries with Name, URITemplate and Method")
            return
        }
        guard case .list(let list) = resources else {
            faults.append("\"Resources\" isn't an array")
            return
        }
        if list.isEmpty { faults.append("\"Resources\" is empty") }
        var seen: [String: Int] = [:]
        for (position, item) in list.enumerated() { readResource(item, position, &seen) }
    }

    /// The parser's error, with the line if it is known.
    private static func reason(of error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, let underlying = context.underlyingError,
            !(underlying is JSONSyntaxError)
        else { return DecodingErrorText.text(of: error) }
        let cause = underlying as NSError
        return cause.userInfo[NSDebugDescriptionErrorKey] as? String ?? cause.localizedDescription
    }

    private mutating func readBaseURL(_ value: SettingsFileValue?) {
        guard let value else { return }
        guard let text = value.text else {
            faults.append("\"BaseURL\" isn't a string")
            return
        }
        faults += ServiceRoot.faults(in: text).map(\.description)
        baseURL = text
    }

    private mutating func readVersion(_ value: SettingsFileValue?) {
        guard let value else { return }
        guard case .number(let number) = value, let version = Int(exactly: number), version >= 0 else {
            faults.append("\"Version\" isn't a whole number from 0 on")
            return
        }
        self.version = version
    }

    private mutating func readExpiry(_ value: SettingsFileValue?) {
        switch value {
        case nil: break
        case .date(let date)?: expires = date
        case .text(let text)?:
            // A date alone would expire at another moment in each time zone.
            expires = text.contains("T") ? ISO8601.date(from: text) : nil
            if expires == nil { faults.append("\"Expires\" isn't a date with a time zone, such as 2030-01-31T12:00:00Z") }
        default: faults.append("\"Expires\" isn't a date")
        }
    }

    private mutating func readResource(_ item: SettingsFileValue, _ position: Int, _ seen: inout [String: Int]) {
        guard case .record(let resource) = item else {
            faults.append("resource \(position) isn't a dictionary")
            return
        }
        let place = resource["Name"]?.text.map { "resource \(position) \"\($0)\"" } ?? "resource \(position)"
        let known = ["Name", "URITemplate", "Method", "AllowsBody", "Attributes"]
        for key in resource.keys.sorted() where !known.contains(key) {
            let nearest = NearestName.of(key, among: known)
            notes.append("\(place): the key \"\(key)\" is unknown" + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        let name = text("Name", of: resource, place)
        let template = text("URITemplate", of: resource, place)
        let method = resource["Method"] == nil ? "GET" : text("Method", of: resource, place)
        guard let name, let template, let method else { return }
        if let earlier = seen.updateValue(position, forKey: name) {
            faults.append("\(place): the name is already used by resource \(earlier)")
        }
        var descriptor = EndpointDescriptor.endpoint(ServiceRequest.Method(rawValue: method), uriTemplate: template)
        switch resource["AllowsBody"] {
        case nil, .flag(false)?: break
        case .flag(true)?: descriptor = descriptor.allowingBody()
        default: faults.append("\(place): \"AllowsBody\" is neither true nor false")
        }
        descriptor = attributes(resource["Attributes"], of: descriptor, place)
        check(descriptor, name: name, template: template, place)
        entries.append(EndpointTable.Entry(key: name, descriptor: descriptor, isBareName: !name.contains("(")))
    }

    /// Adds attributes by the texts that descriptions have for them.
    private mutating func attributes(
        _ value: SettingsFileValue?, of descriptor: EndpointDescriptor, _ place: String
    ) -> EndpointDescriptor {
        guard let value else { return descriptor }
        guard case .list(let list) = value else {
            faults.append("\(place): \"Attributes\" isn't an array of texts")
            return descriptor
        }
        var descriptor = descriptor
        for item in list {
            guard let text = item.text, let attribute = AttributeCatalog.attribute(text, from: .profile) else {
                let shown = item.text.map { "\"\(SerializationError.excerpt($0))\"" } ?? "a value that isn't a text"
                let isKnown = item.text.map { AttributeCatalog.attribute($0, from: .program) != nil } ?? false
                let fix =
                    isKnown
                    ? "it may permit more than the program does, so set it for the client, or in its class"
                    : "write it as describe(as: .json) does, such as \"RateLimit(30 per 60 s, burst 1)\""
                faults.append("\(place): \(shown) isn't an attribute that a profile can set: \(fix)")
                continue
            }
            descriptor = descriptor.with { $0.settings.attributes.set(attribute) }
        }
        return descriptor
    }

    private mutating func text(_ key: String, of resource: [String: SettingsFileValue], _ place: String) -> String? {
        guard let value = resource[key] else {
            faults.append("\(place): \"\(key)\" is missing")
            return nil
        }
        guard let text = value.text, !text.isEmpty else {
            faults.append("\(place): \"\(key)\" isn't a string, or is empty")
            return nil
        }
        return text
    }

    private mutating func check(_ descriptor: EndpointDescriptor, name: String, template: String, _ place: String) {
        var key: MethodName
        do {
            key = try MethodName(name)
        } catch {
            faults.append("\(place): the name \(error.problem)")
            return
        }
        guard key.isProperty else {
            let root = ServiceRoot.hasPlaceholders(baseURL) ? baseURL : nil
            var (_, found) = EndpointCompiler.compile(descriptor, for: key, root: root)
            if let fault = ReservedKeys.fault(of: key) { found.append(fault) }
            faults += found.map { "\(place): \($0.problem); \($0.fix)" }
            return
        }
        // A bare name gets the labels of the calling method, which aren't known yet; any method that fits the template serves for the
        // check.
        key = MethodName(baseName: key.baseName, labels: Self.labels(fitting: template))
        let (_, found) = EndpointCompiler.compile(descriptor, for: key, root: nil)
        faults += found.filter { $0.kind != .unusedArgument }.map { "\(place): \($0.problem); \($0.fix)" }
    }

    /// Returns argument labels that cover each position and each name of a URI template.
    private static func labels(fitting template: String) -> [String] {
        let variables = (try? URITemplate(template))?.variables ?? []
        let positions = Set(variables.compactMap { Int($0) })
        var names = variables.filter { Int($0) == nil }[...]
        var labels: [String] = []
        // No method fits a position in the thousands.
        while !names.isEmpty || positions.contains(where: { (labels.count..<1_000).contains($0) }) {
            labels.append(positions.contains(labels.count) ? "_" : names.popFirst() ?? "_")
        }
        return labels
    }
}
