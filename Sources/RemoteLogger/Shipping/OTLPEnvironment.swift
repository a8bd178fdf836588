public import Foundation
public import HTTPTransport

/// The configuration of an OTLP receiver from environment variables of OpenTelemetry's specification ("OpenTelemetry Protocol Exporter").
///
///     let shipper = try LogShipper(otlp: OTLPEnvironment())
///
/// Each variable is read as `OTEL_EXPORTER_OTLP_LOGS_…` first, then as `OTEL_EXPORTER_OTLP_…`: `ENDPOINT`, `HEADERS`, `TIMEOUT`
/// (milliseconds), `COMPRESSION` (`gzip` or `none`), `PROTOCOL`, `CERTIFICATE`, `CLIENT_CERTIFICATE` and `CLIENT_KEY` (PEM files).
/// `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` describe the resource; `OTEL_BLRP_SCHEDULE_DELAY` (milliseconds) and
/// `OTEL_BLRP_MAX_EXPORT_BATCH_SIZE` the batches. An empty variable counts as unset.
///
/// Bodies are always JSON: `http/protobuf` is treated as `http/json`, because receivers that accept the one also accept the other; `grpc`
/// is an error.
public struct OTLPEnvironment: Sendable {
    /// The URL for logs: the value of the variable for logs unchanged, or that of the variable for all signals with `v1/logs` appended.
    /// Default `http://localhost:4318/v1/logs`.
    public let endpoint: URL
    /// The header fields.
    public let headers: HTTPFields
    /// The timeout of a request; `nil` if unset.
    public let timeout: Duration?
    /// Whether bodies are compressed; `nil` if unset.
    public let compresses: Bool?
    /// The trusted authorities and the client identity; `nil` if unset.
    public let trust: TrustPolicy?
    /// The resource's attributes.
    public let resource: LogMetadata
    /// The maximum time that a record waits for other records of its batch; `nil` if unset.
    public let interval: Duration?
    /// The maximum number of records in a request; `nil` if unset.
    public let batchRecords: Int?

    /// Reads the variables.
    ///
    /// - Throws: ``LogShipperError`` with the name of an invalid variable; errors of the named files.
    public init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        func variable(_ name: String) -> (name: String, value: String)? {
            for name in ["OTEL_EXPORTER_OTLP_LOGS_" + name, "OTEL_EXPORTER_OTLP_" + name] {
                if let value = environment[name]?.trimmingCharacters(in: .whitespaces), !value.isEmpty { return (name, value) }
            }
            return nil
        }
        if let (name, value) = variable("PROTOCOL"), !["http/json", "http/protobuf"].contains(value) {
            throw LogShipperError(message: "\(name) must be http/json or http/protobuf: log records are sent as http/json only.")
        }
        endpoint = try Self.endpoint(variable("ENDPOINT"))
        headers = try variable("HEADERS").map { try Self.headers($0.name, $0.value) } ?? [:]
        timeout = try variable("TIMEOUT").map { try Self.milliseconds($0.name, $0.value) }
        compresses = try variable("COMPRESSION").map { name, value in
            guard ["gzip", "none"].contains(value) else {
                throw LogShipperError(message: "\(name) must be gzip or none.")
            }
            return value == "gzip"
        }
        trust = try Self.trust(
            authorities: Self.path(variable("CERTIFICATE")), certificate: Self.path(variable("CLIENT_CERTIFICATE")),
            key: Self.path(variable("CLIENT_KEY")))
        resource = try Self.resource(environment)
        interval = try environment["OTEL_BLRP_SCHEDULE_DELAY"].flatMap { $0.isEmpty ? nil : $0 }
            .map { try Self.milliseconds("OTEL_BLRP_SCHEDULE_DELAY", $0) }
        batchRecords = try environment["OTEL_BLRP_MAX_EXPORT_BATCH_SIZE"].flatMap { $0.isEmpty ? nil : $0 }.map { text in
            guard let count = Int(text), count > 0 else {
                throw LogShipperError(message: "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE must be a number above 0.")
            }
            return count
        }
    }

    private static func endpoint(_ variable: (name: String, value: String)?) throws -> URL {
        let (name, value) = variable ?? ("", "http://localhost:4318")
        guard let url = URL(string: value), url.host() != nil else {
            throw LogShipperError(message: "\(name) isn't a URL: give one such as http://localhost:4318.")
        }
        if name == "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT" { return url.path().isEmpty ? url.appending(path: "/") : url }
        return OTLPFormat.logsURL(ofCollector: url)
    }

    /// `name=value,name=value`, percent-encoded (W3C Baggage).
    private static func pairs(_ name: String, _ text: String) throws -> [(String, String)] {
        let pairs = text.unicodeScalars.split(separator: ",").map { String($0).trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        return try pairs.enumerated().map { index, pair in
            guard let equals = pair.unicodeScalars.firstIndex(of: "="), equals > pair.startIndex,
                let key = String(pair[..<equals]).trimmingCharacters(in: .whitespaces).removingPercentEncoding,
                let value = String(pair.unicodeScalars[equals...].dropFirst()).trimmingCharacters(in: .whitespaces).removingPercentEncoding
            else {
                throw LogShipperError(
                    message: "\(name) must be pairs of name=value, percent-encoded, separated by commas: number \(index + 1) isn't one.")
            }
            return (key, value)
        }
    }

    private static func headers(_ name: String, _ text: String) throws -> HTTPFields {
        var headers: HTTPFields = [:]
        for (index, (field, value)) in try pairs(name, text).enumerated() {
            let fieldName = HTTPFields.Name(field)
            // A pair may be a credential without a name, so the error contains only its index.
            guard fieldName.isValid else {
                throw LogShipperError(message: "\(name): the name of pair number \(index + 1) isn't a token, such as X-Team.")
            }
            guard LogShipperError.isOfOneLine(value) else {
                throw LogShipperError(message: "\(name): the value of pair number \(index + 1) contains a line break or NUL: remove it.")
            }
            headers[fieldName] = value
        }
        return headers
    }

    private static func milliseconds(_ name: String, _ text: String) throws -> Duration {
        guard let number = Int64(text), number > 0 else {
            throw LogShipperError(message: "\(name) must be a number of milliseconds above 0.")
        }
        return .milliseconds(number)
    }

    /// Returns the path of a file. Some users put the file's content into the variable; errors must not show it.
    private static func path(_ variable: (name: String, value: String)?) throws -> String? {
        guard let (name, value) = variable else { return nil }
        guard !value.contains("-----BEGIN") && !value.contains(where: \.isNewline) else {
            throw LogShipperError(message: "\(name) must be the path of a PEM file, not the text of one.")
        }
        return value
    }

    private static func trust(authorities: String?, certificate: String?, key: String?) throws -> TrustPolicy? {
        guard authorities != nil || certificate != nil || key != nil else { return nil }
        var trust = TrustPolicy()
        if let authorities { trust.authorities = .only(try Certificate.certificates(inFile: URL(filePath: authorities))) }
        switch (certificate, key) {
        case (nil, nil): break
        case (let certificate?, let key?):
            trust.identity = try .pem(chainFile: URL(filePath: certificate), keyFile: URL(filePath: key))
        default:
            throw LogShipperError(message: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and _CLIENT_KEY belong together: set both or none.")
        }
        return trust
    }

    private static func resource(_ environment: [String: String]) throws -> LogMetadata {
        var resource = LogMetadata()
        for (key, value) in try pairs("OTEL_RESOURCE_ATTRIBUTES", environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "") {
            resource[key] = .string(value)
        }
        if let name = environment["OTEL_SERVICE_NAME"], !name.isEmpty { resource["service.name"] = .string(name) }
        return resource
    }
}

extension LogShipper {
    /// Creates a shipper to the OTLP receiver that the environment describes.
    ///
    /// - Parameters:
    ///   - resource: Attributes of the resource; those of the environment take precedence.
    ///   - configure: Changes the settings after the environment is applied.
    /// - Throws: ``LogShipperError`` if the endpoint or a header field can't be used.
    public convenience init(
        otlp environment: OTLPEnvironment, resource: LogMetadata = LogMetadata(), transport: any Transport = DefaultTransport.shared,
        configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        let format = OTLPFormat(resource: resource.merging(environment.resource))
        try self.init(to: environment.endpoint, format: format, transport: transport) { settings in
            settings.headers.replace(with: environment.headers)
            if let timeout = environment.timeout { settings.timeout = timeout }
            if let compresses = environment.compresses { settings.compression = compresses ? .gzip(level: 1) : .none }
            if let trust = environment.trust { settings.trust = trust }
            if let interval = environment.interval { settings.batch.interval = interval }
            if let records = environment.batchRecords { settings.batch.records = records }
            configure(&settings)
        }
    }
}

extension OTLPEnvironment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings, with secrets in endpoint, headers and resource masked.
    public var description: String {
        "OTLP to \(SecretMask.text(of: endpoint))"
            + (headers.isEmpty ? "" : " with the headers \(headers.map(\.name.rawName).joined(separator: ", "))")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The individual settings, with secrets masked even in a dump.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "endpoint": SecretMask.text(of: endpoint), "headers": headers, "timeout": Self.text(timeout),
            "compresses": Self.text(compresses),
            "trust": Self.text(trust), "resource": String(describing: LogRedaction.standard.masked(resource)),
            "interval": Self.text(interval), "batchRecords": Self.text(batchRecords),
        ]
        return Mirror(self, children: children)
    }

    private static func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }
}
