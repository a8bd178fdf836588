import Foundation
public import WebServiceClient

/// Logs the calls of a client: the log stage of the chain.
///
///     let github = GitHub(serviceRoot: "https://api.github.com") {
///         $0.interceptors = [CallLogger(logger)]
///     }
///
/// A call makes one record, when its response's body has been read, or the call has failed:
///
///     info GitHub.issues(owner:name:) GET 200 in 84.2 ms http.request.method=GET url.template=/repos/%%owner%%/%%name%%/issues …
///
/// It tells client, endpoint, route template, method, URL, status, duration and the sizes of the bodies. Header fields and bodies are
/// logged on demand only (``logsHeaders``, ``bodyLimit``). Secrets in URL, fields and bodies are masked.
///
/// | outcome | level |
/// |---|---|
/// | a status below 400 | the endpoint's ``LoggingAttribute``, or else ``level`` |
/// | a status from 400 to 499 | `warning` |
/// | a status from 500, or no response | `error` |
/// | cancelled | `debug` |
///
/// Requests by which a ``LogShipper`` ships are never logged, whatever way they take, nor are dry runs, which send nothing.
public struct CallLogger: Interceptor {
    /// Where the records go.
    public let logger: RemoteLogger
    /// The level of calls that succeed, where the endpoint doesn't say another one.
    public var level: LogLevel
    /// Whether the header fields of request and response are logged, secrets masked. Default not. A value has at most 1 KiB, with an ellipsis where it
    /// is cut, and all names and values of a request or a response 16 KiB: of what doesn't fit `…` tells how many fields were left out.
    public var logsHeaders: Bool
    /// The most bytes of a body that are logged, of the request's and of the response's each, where the endpoint doesn't say another
    /// number (``LoggingAttribute/bodyLimit``). Default 0: no bodies. More than 64 KiB counts as that.
    ///
    /// The text goes into `http.request.body.content` and `http.response.body.content`, with the secrets masked that a ``LogRedaction``
    /// and the names of JSON members and form items tell, and an ellipsis where it is cut. Left out are bodies that aren't text in UTF-8,
    /// the request's if it is compressed, a file or a stream, and what of the response nobody reads.
    ///
    /// - Important: No mask knows what is private in a text. Log bodies where you know what is in them.
    public var bodyLimit: Int

    static let largestBodyLimit = 64 << 10

    /// A call logger on a logger.
    public init(_ logger: RemoteLogger, level: LogLevel = .info, logsHeaders: Bool = false, bodyLimit: Int = 0) {
        self.logger = logger
        self.level = level
        self.logsHeaders = logsHeaders
        self.bodyLimit = bodyLimit
    }

    /// Passes the request on, and logs what came of it.
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

/// Whether, and at which level, calls of an endpoint are logged: read by ``CallLogger``.
///
///     "order(id:)": .get("/orders/%%0%%").logging(.debug)
///     "login(user:)": .post("/login").logging(.off)
///     "search(text:)": .get("/search?q=%%0%%").logging(.debug.withBodies(upTo: 2_000))
public struct LoggingAttribute: EndpointAttribute, Hashable {
    /// The level of calls that succeed; `nil` when calls aren't logged at all.
    public let level: LogLevel?
    /// The most bytes of each body that are logged; 0 for none, `nil` for what ``CallLogger/bodyLimit`` says.
    public var bodyLimit: Int?

    /// Calls that succeed are logged at a level, with `nil` none is, not even one that fails.
    public init(_ level: LogLevel?) {
        self.level = level
    }

    /// The same with the beginnings of the bodies, masked: see ``CallLogger/bodyLimit``. With 0 bodies aren't logged, whatever the logger
    /// does.
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

extension EndpointDescriptor {
    /// Logs calls of the endpoint at a level, or not at all: `.logging(.debug)`, `.logging(.off)`. A ``CallLogger`` among the client's
    /// interceptors reads it.
    public func logging(_ attribute: LoggingAttribute) -> EndpointDescriptor {
        self.attribute(attribute)
    }
}
