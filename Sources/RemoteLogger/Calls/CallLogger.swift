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
/// It tells client, endpoint, route template, method, URL, status, duration and the sizes of the bodies. Secrets in the URL and the
/// fields are masked; bodies are never logged.
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
    /// Whether the header fields of request and response are logged, secrets masked. Default not.
    public var logsHeaders: Bool

    /// A call logger on a logger.
    public init(_ logger: RemoteLogger, level: LogLevel = .info, logsHeaders: Bool = false) {
        self.logger = logger
        self.level = level
        self.logsHeaders = logsHeaders
    }

    /// Passes the request on, and logs what came of it.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let attribute = context.attributes[LoggingAttribute.self] ?? LoggingAttribute(level)
        guard let level = attribute.level, !context.isDryRun, request.identity != OwnWork.identity, context.identity != OwnWork.identity
        else {
            return try await next(request, context)
        }
        let report = CallReport(logger: logger, level: level, logsHeaders: logsHeaders, request: request, context: context)
        do {
            return report.watch(try await next(request, context))
        } catch {
            report.end(with: error)
            throw error
        }
    }
}
