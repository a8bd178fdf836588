import Foundation
import OData
import WebServiceClient

/// The memory of reads by one batch, whose answer arrives in pieces: it doesn't depend on the number of reads.
enum BatchMemory {
    private static let counts = [1_000, 10_000, 100_000]

    /// Prints the peak of the resident memory above its size before the batch, for each format and number of reads.
    static func measure() async throws {
        print("| reads | answer in MB | peak memory above the start in kB |\n|--:|--:|--:|")
        for format in [BatchSettings.Format.multipart, .json] {
            for count in counts {
                // Memory that is allocated once isn't counted.
                _ = try await bytes(ofReading: 100, format)
                let before = restartPeak()
                let bytes = try await bytes(ofReading: count, format)
                let growth = peak - before
                print("| \(count), \(format.rawValue) | \(String(format: "%.1f", Double(bytes) / 1e6)) | \(growth) |")
            }
        }
    }

    private struct WrongCount: Error {
        let found: Int
        let expected: Int
    }

    /// Reads entities by one batch, and returns the number of bytes of the answer.
    private static func bytes(ofReading count: Int, _ format: BatchSettings.Format) async throws -> Int {
        let parts = AnswerParts(count: count, isJSON: format == .json)
        let client = ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = PiecewiseTransport(parts: parts) }
        client.batching = BatchSettings(format: format)
        let products = client.responses(to: 0..<count) { try await client.fetch(FetchRequest<Product>().key($0)) }
        var number = 0
        for try await product in products {
            _ = try product.value
            number += 1
        }
        guard number == count else { throw WrongCount(found: number, expected: count) }
        return await parts.bytes
    }

    /// The peak of the resident memory in kB; 0 on systems without `/proc`.
    private static var peak: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Lets the peak begin with the current resident memory, and returns that.
    private static func restartPeak() -> Int {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return peak
    }
}

/// The answer to a batch of reads, which is made while it is read.
private actor AnswerParts {
    private let count: Int
    private let isJSON: Bool
    private var made = 0
    private var isOver = false
    private(set) var bytes = 0

    private static let partsPerPiece = 200

    init(count: Int, isJSON: Bool) {
        self.count = count
        self.isJSON = isJSON
    }

    /// Returns the next piece; `nil` at the end.
    func next() -> Data? {
        guard !isOver else { return nil }
        var piece = Data()
        if isJSON, made == 0 { piece.append(contentsOf: #"{"responses":["#.utf8) }
        let end = min(count, made + Self.partsPerPiece)
        for number in made..<end {
            piece.append(contentsOf: head(number).utf8)
            piece.append(StubBody.entity)
            piece.append(contentsOf: (isJSON ? "}" : "\r\n").utf8)
        }
        made = end
        if made == count {
            isOver = true
            piece.append(contentsOf: (isJSON ? "]}" : "--b--\r\n").utf8)
        }
        bytes += piece.count
        return piece
    }

    private func head(_ number: Int) -> String {
        if isJSON {
            let separator = number == 0 ? "" : ","
            return separator + #"{"id":"\#(number + 1)","status":200,"headers":{"content-type":"application/json"},"body":"#
        }
        return "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(number + 1)\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    }

    nonisolated var type: String { isJSON ? "application/json" : "multipart/mixed; boundary=b" }
}

/// A transport that reads the body of a batch, and answers piece by piece.
private struct PiecewiseTransport: Transport {
    let parts: AnswerParts
    let capabilities: TransportCapabilities = []

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        if let body = request.body {
            for try await _ in body.chunks() {}
        }
        return TransportResponse(
            status: 200, headers: ["Content-Type": parts.type], url: request.url,
            body: ResponseBody(expectedLength: nil, next: { await parts.next() }, cancel: {}))
    }
}
