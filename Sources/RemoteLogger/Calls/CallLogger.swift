import Foundation
public import WebServiceClient

/// An interceptor that logs the calls of a client.
///
///     let github = GitHub(serviceRoot: "https://api.github.com") {
///         $0.interceptors = [CallLogger(logger)]
///     }
///
/// A call makes one record, after its response's body was read or the call has failed:
///
///     info GitHub.issues(owner:name:) GET 200 in 84.2 ms http.request.method=GET url.template=/repos/%%owner%%/%%name%%/issues …
///
/// The record has client, endpoint, route template, method, URL, status, duration, the sizes of the bodies, and the work of the chain:
/// resends, waits with their reasons, and the trace of the calling task. The logger's ``RemoteLogger/metadataProvider`` is also evaluated
/// in the calling task. Header fields and bodies are logged only on request (``logsHeaders``, ``bodyLimit``). Secrets in URL, fields and
/// bodies are masked.
///
/// | outcome | level |
/// |---|---|
/// | a status below 400 | the endpoint's ``LoggingAttribute``, or ``level`` without one |
/// | a status from 400 to 499 | `warning` |
/// | a status from 500, or no response | `error` |
/// | cancelled | `debug` |
///
/// A ``LogShipper``'s own requests are never logged on any path, and neither are dry runs, which send nothing.
public struct CallLogger: Interceptor {
    /// The logger that receives the records.
    public let logger: RemoteLogger
    /// The level of successful calls, unless the endpoint specifies another.
    public var level: LogLevel
    /// A Boolean value that indicates whether the header fields of request and response are logged, with secrets masked. The default is
    /// `false`. Values are cut at 1 KiB with an ellipsis. All names and values of a request or a response are limited to 16 KiB: `…` gives
    /// the number of omitted fields.
    public var logsHeaders: Bool
    /// The maximum number of logged bytes of each body, request and response, unless the endpoint specifies another number
    /// (``LoggingAttribute/bodyLimit``). The default is 0: no bodies. The maximum is 64 KiB.
    ///
    /// The texts are `http.request.body.content` and `http.response.body.content`, with an ellipsis where they are cut. Secrets that a
    /// ``LogRedaction`` or the names of JSON members and form items reveal are masked. Bodies that aren't UTF-8 text, request bodies that
    /// are compressed, a file or a stream, and unread parts of the response are omitted.
    ///
    /// - Important: Masks don't recognize private data in general. Log only bodies whose content you know.
    public var bodyLimit: Int

    /// Creates an interceptor that logs to a logger.
    public init(_ logger: RemoteLogger, level: LogLevel = .info, logsHeaders: Bool = false, bodyLimit: Int = 0) {
        self.logger = logger
        self.level = level
        self.logsHeaders = logsHeaders
        self.bodyLimit = bodyLimit
    }

    /// Passes the request on and logs its outcome.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let attribute = context.attributes[LoggingAttribute.self] ?? LoggingAttribute(level)
        guard let level = attribute.level, !context.isDryRun, request.identity != OwnWork.identity, context.identity != OwnWork.identity
        else {
            return try await next(request, context)
        }
        let report = CallReport(
            logger: logger, level: level, logsHeaders: logsHeaders, bodyLimit: attribute.bodyLimit ?? bodyLimit, request: request,
            context: context)
        do {
            return report.watch(try await next(request, context))
        } catch {
            report.end(with: error)
            throw error
        }
    }
}

/// The level at which ``CallLogger`` logs calls of an endpoint, if at all.
///
///     "order(id:)": .get("/orders/%%0%%").logging(.debug)
///     "login(user:)": .post("/login").logging(.off)
///     "search(text:)": .get("/search?q=%%0%%").logging(.debug.withBodies(upTo: 2_000))
public struct LoggingAttribute: EndpointAttribute, PortableAttribute, Hashable {
    /// The level of successful calls; `nil` if calls aren't logged.
    public let level: LogLevel?
    /// The maximum number of logged bytes of each body; 0 for none, `nil` for ``CallLogger/bodyLimit``.
    public var bodyLimit: Int?

    /// Creates an attribute with the level of successful calls; with `nil` no call is logged, not even a failure.
    public init(_ level: LogLevel?) {
        self.level = level
    }

    /// Returns a copy that logs the beginnings of the bodies, masked: see ``CallLogger/bodyLimit``. With 0 bodies aren't logged, regardless
    /// of the logger.
    public func withBodies(upTo limit: Int) -> Self {
        var copy = self
        copy.bodyLimit = limit
        return copy
    }

    /// Calls aren't logged.
    public static let off = Self(nil)
    /// Calls are logged at ``LogLevel/trace``.
    public static let trace = Self(.trace)
    /// Calls are logged at ``LogLevel/debug``.
    public static let debug = Self(.debug)
    /// Calls are logged at ``LogLevel/info``.
    public static let info = Self(.info)
    /// Calls are logged at ``LogLevel/notice``.
    public static let notice = Self(.notice)
    /// Calls are logged at ``LogLevel/warning``.
    public static let warning = Self(.warning)
}

extension LoggingAttribute: Codable {
    private enum CodingKeys: String, CodingKey {
        case level, bodyLimit
    }

    /// Reads an attribute.
    ///
    /// - Throws: `DecodingError`, also if no level has the name.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decodeIfPresent(String.self, forKey: .level)
        let level = name.flatMap { LogLevel(name: $0) }
        guard name == nil || level != nil else {
            throw DecodingError.dataCorruptedError(forKey: .level, in: container, debugDescription: "No level has this name.")
        }
        self.init(level)
        bodyLimit = try container.decodeIfPresent(Int.self, forKey: .bodyLimit)
    }

    /// Writes the attribute, with the name of the level.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(level?.description, forKey: .level)
        try container.encodeIfPresent(bodyLimit, forKey: .bodyLimit)
    }
}

// Descriptions contain the attribute in Swift's form: `LoggingAttribute(level: Optional(debug), bodyLimit: nil)`.
extension LoggingAttribute {
    package init?(described text: String) {
        guard let members = DescribedMembers(text, of: "LoggingAttribute"), let level = members["level"], let limit = members["bodyLimit"]
        else { return nil }
        self.init(level.wrapped.flatMap { LogLevel(name: $0.caseName) })
        bodyLimit = limit.wrapped.flatMap { Int($0) }
    }

    /// A profile can't hide calls from the log, by their absence or a level below the usual one, and can't have bodies logged.
    package var leastTrustedSource: AttributeSource {
        guard let level, level >= .info, bodyLimit == nil else { return .exportedTable }
        return .profile
    }
}

extension EndpointDescriptor {
    /// Logs calls of the endpoint at a level, or not at all: `.logging(.debug)`, `.logging(.off)`. Requires a ``CallLogger`` among the
    /// client's interceptors.
    public func logging(_ attribute: LoggingAttribute) -> EndpointDescriptor {
        self.attribute(attribute)
    }
}
