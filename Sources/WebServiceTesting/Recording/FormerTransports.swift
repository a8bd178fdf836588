public import Foundation
public import WebServiceClient

/// The former name of a recording cassette. The file is `recording.har` in the folder.
@available(*, deprecated, message: "Use Cassette(_:mode: .all) and its transport(around:).")
public struct RecordingTransport: Transport {
    private let transport: any Transport

    /// Makes a transport that records to a folder, which is created if necessary.
    ///
    /// - Throws: ``TestingFailure`` if there is a file that can't be read.
    public init(
        around inner: any Transport, folder: URL, redact: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }
    ) throws {
        transport = try Cassette(folder.appending(path: "recording.har"), mode: .all, redact: redact).transport(around: inner)
    }

    /// The capabilities of the wrapped transport.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request with the wrapped transport and records the exchange.
    ///
    /// - Throws: The errors of the wrapped transport, and ``TestingFailure`` if the file can't be written.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse { try await transport.send(request) }
}

/// The former name of a replaying cassette.
@available(*, deprecated, message: "Use Cassette(_:mode: .none) and its transport().")
public struct ReplayTransport: Transport {
    private let transport: any Transport

    /// Reads all `.har` files of a folder, in the order of their names.
    ///
    /// - Throws: ``TestingFailure`` that names a file without recordings, or the file system's error.
    public init(folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let archives = files.filter { $0.pathExtension == "har" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
        self.init(try archives.flatMap { try Cassette.exchanges(of: $0) })
    }

    /// Makes a transport that answers with these exchanges.
    public init(_ exchanges: [RecordedExchange]) {
        transport = Cassette(exchanges, matching: [.key, .path, .query]).transport()
    }

    /// All capabilities, because those of the recorded transport aren't recorded.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Answers a request from the files.
    ///
    /// - Throws: ``TestingFailure`` if no exchange matches; it names the nearest one.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse { try await transport.send(request) }
}
