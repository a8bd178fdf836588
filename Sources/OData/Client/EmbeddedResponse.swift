public import Foundation
import WebServiceClient

/// A response inside of a body of the type `application/http` (RFC 9112, section 10.2), as services of 4.0 send the result of a request
/// that they carried out asynchronously (Protocol 4.0, section 9.1.3).
///
/// Lines may end with LF alone. Without `Content-Length`, the body extends to the end.
struct EmbeddedResponse: Sendable {
    let status: Int
    let headers: HTTPFields
    let body: Data

    /// Why a body isn't a response.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum number of bytes of the status line and the fields.
    private static let headLimit = 256 * 1024

    /// Reads a response.
    init(_ data: Data) throws(Fault) {
        var rest = data[...]
        // Blank lines may precede the status line.
        while let first = rest.first, first == 0x0D || first == 0x0A { rest.removeFirst() }
        let line = rest.prefix { $0 != 0x0A }
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count > 1, words[0].hasPrefix("HTTP/"), words[1].utf8.count == 3, let status = Int(words[1]),
            (100...999).contains(status)
        else { throw Fault(description: "The result has no status line of HTTP, but begins with '\(Self.shown(line))'.") }
        self.status = status
        rest = rest.dropFirst(line.count + 1)
        guard let (fields, start) = Self.head(of: rest) else {
            throw Fault(description: "The fields of the response inside of the body have no end within \(Self.headLimit / 1_024) KiB.")
        }
        headers = HTTPFields(HTTPFields.Lines(fields))
        let content = rest[start...]
        if let coding = headers[.transferEncoding], coding.lowercased() != "identity" {
            throw Fault(
                description: "The response inside of the body has the transfer coding '\(coding.prefix(40))', which isn't read there.")
        }
        guard let text = headers[.contentLength] else {
            body = Data(content)
            return
        }
        guard let length = Int(text), length >= 0 else {
            throw Fault(description: "The response inside of the body has no valid Content-Length: '\(text.prefix(40))'.")
        }
        guard content.count >= length else {
            throw Fault(
                description: "The response inside of the body was cut: \(content.count) of \(length) bytes of its content are there.")
        }
        body = Data(content.prefix(length))
    }

    /// Returns the bytes of the fields, and where the content begins; `nil` if no blank line ends the fields. A head without any content
    /// may omit the blank line.
    private static func head(of data: Data) -> (fields: [UInt8], start: Data.Index)? {
        var start = data.startIndex
        while start < data.endIndex, start - data.startIndex <= headLimit {
            let end = data[start...].firstIndex(of: 0x0A) ?? data.endIndex
            let line = data[start..<end]
            let next = end < data.endIndex ? end + 1 : end
            if line.isEmpty || line.elementsEqual([0x0D]) { return ([UInt8](data[data.startIndex..<start]), next) }
            start = next
        }
        guard start >= data.endIndex, data.count <= headLimit else { return nil }
        return ([UInt8](data), data.endIndex)
    }

    private static func shown(_ line: Data) -> String {
        VisibleText.of(SecretMask.text(String(decoding: line.prefix(60), as: UTF8.self)))
    }
}

@_spi(Fuzzing) extension ODataJobTicket {
    /// Returns the response inside of a body; for the fuzzer.
    public static func embeddedResponse(in data: Data) -> (status: Int, body: Data)? {
        (try? EmbeddedResponse(data)).map { ($0.status, $0.body) }
    }
}
