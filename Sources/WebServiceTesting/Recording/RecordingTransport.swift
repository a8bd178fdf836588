public import Foundation
public import WebServiceClient

/// A transport that wraps another one and writes each exchange to a file in a folder, for ``ReplayTransport``.
///
/// Credentials aren't written to the files: the values of secret fields, query items, JSON members and form items are masked, by their
/// names. Review the files before you share them; ``init(around:folder:redact:)`` takes a closure that redacts your own data. Bodies are
/// read completely before they are passed on, up to 64 MiB.
public struct RecordingTransport: Transport {
    private let inner: any Transport
    private let folder: URL
    private let redact: @Sendable (inout RecordedExchange) -> Void
    private let count = Locked(0)

    /// Makes a transport that records to a folder, which is created if necessary.
    ///
    /// - Throws: The file system's error.
    public init(
        around inner: any Transport, folder: URL, redact: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }
    ) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.inner = inner
        self.folder = folder
        self.redact = redact
    }

    /// The capabilities of the wrapped transport.
    public var capabilities: TransportCapabilities { inner.capabilities }

    /// Sends the request with the wrapped transport and records the exchange.
    ///
    /// - Throws: The errors of the wrapped transport, which aren't recorded, and the file system's errors.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        var request = request
        let limit = 64 << 20
        // A stream may be readable only once, so the wrapped transport gets the bytes read here.
        var sent: Data?
        if let body = request.body {
            let bytes = try await body.collect(upTo: limit)
            var copy = RequestBody(bytes, contentType: body.contentType)
            copy.contentTypeIsBinding = body.contentTypeIsBinding
            request.body = copy
            sent = bytes
        }
        let number = count.withLock { count in
            count += 1
            return count
        }
        var response = try await inner.send(request)
        let received = try await response.body.collect(upTo: limit)
        response.body = ResponseBody(received)

        let recorded = RecordedRequest(request, body: sent)
        var exchange = RecordedExchange(recorded, status: response.status, headers: response.headers, body: received)
        redact(&exchange)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(exchange).write(to: folder.appendingPathComponent(Self.fileName(number, recorded.key)))
        return response
    }

    /// Returns a name that sorts by time and contains the endpoint, such as `0007-user.json`.
    private static func fileName(_ number: Int, _ key: String) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let word = key.prefix { $0 != "(" }.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        return "\(padded)-\(String(word.prefix(60))).json"
    }
}
