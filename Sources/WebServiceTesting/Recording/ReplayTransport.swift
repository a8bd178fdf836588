public import Foundation
public import WebServiceClient

/// A transport that answers with the files of a ``RecordingTransport``, without a network.
///
/// An exchange answers requests with the same key, method, path and query, on any origin. Several matching exchanges answer in the order of
/// recording; the last one repeats.
public struct ReplayTransport: Transport {
    private let answers: [String: Turns<RecordedExchange>]

    /// Reads all `.json` files of a folder, in the order of their names.
    ///
    /// - Throws: ``TestingFailure`` that names a file without a valid exchange, or the file system's error.
    public init(folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        var exchanges: [RecordedExchange] = []
        for file in files.filter({ $0.pathExtension == "json" }).sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
            do {
                exchanges.append(try JSONDecoder().decode(RecordedExchange.self, from: Data(contentsOf: file)))
            } catch {
                throw TestingFailure("\(file.lastPathComponent) isn't a recorded exchange: \(error)")
            }
        }
        self.init(exchanges)
    }

    /// Makes a transport that answers with these exchanges.
    public init(_ exchanges: [RecordedExchange]) {
        answers = Dictionary(grouping: exchanges, by: \.signature).mapValues { Turns($0) }
    }

    /// All capabilities, because those of the recorded transport aren't recorded.
    public var capabilities: TransportCapabilities { TransportCapabilities(rawValue: .max) }

    /// Answers a request from the files.
    ///
    /// - Throws: ``TestingFailure`` if no exchange matches; it names the nearest one.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let recorded = RecordedRequest(request, body: nil)
        let signature = RecordedExchange.signature(
            key: recorded.key, method: request.method.rawValue, url: SecretMask.text(of: request))
        guard let exchange = answers[signature]?.next() else {
            let nearest = NearestName.of(signature, among: answers.keys.sorted()).map { "; the nearest is “\($0)”" } ?? ""
            throw TestingFailure("No recorded exchange fits “\(signature)”; there are \(answers.count) kinds\(nearest)")
        }
        let fields = exchange.responseFields.map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: $0.value) }
        guard let body = exchange.responseBody.map(\.data) ?? Data() else {
            throw TestingFailure("The recorded body of “\(signature)” isn't Base64")
        }
        return TransportResponse(
            status: exchange.status, headers: HTTPFields(fields), url: request.url, body: ResponseBody(body), httpVersion: "HTTP/1.1")
    }
}
