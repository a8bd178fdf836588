import Foundation

/// The head of a response as its bytes came, with those of the informational responses before it.
///
/// The loop's thread only collects lines; reading them is the caller's work, on the caller's thread.
struct CurlHead: Sendable {
    /// Status line and fields of the final response.
    let bytes: [UInt8]
    /// The same of each informational response.
    let informational: [[UInt8]]
    /// Whether a proxy answered that way instead of opening a tunnel.
    var isOfTunnel = false

    /// The final response's status and fields.
    func parsed() -> (status: Int, version: String?, headers: HTTPFields) {
        Self.parse(bytes)
    }

    /// The informational responses.
    func parsedInformational() -> [InformationalResponse] {
        informational.map { bytes in
            let (status, _, headers) = Self.parse(bytes)
            return InformationalResponse(status: status, headers: headers)
        }
    }

    /// Fields that stand in lines, without a status line before them.
    static func fields(_ bytes: ArraySlice<UInt8>) -> HTTPFields {
        var fields: [HTTPFields.Field] = []
        fields.reserveCapacity(12)
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = (start..<bytes.count).first { bytes[$0] == 10 } ?? bytes.count
                add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), to: &fields)
                start = end + 1
            }
        }
        return HTTPFields(fields)
    }

    private static func add(_ line: UnsafeRawBufferPointer, to fields: inout [HTTPFields.Field]) {
        guard let first = line.first else { return }
        if first == 32 || first == 9 {
            // A folded line goes on with the value before it (RFC 9112 §5.2).
            guard let last = fields.indices.last else { return }
            let rest = text(trimmed(line))
            if !rest.isEmpty { fields[last].value += fields[last].value.isEmpty ? rest : " " + rest }
            return
        }
        guard let colon = line.firstIndex(of: 58), colon > 0 else { return }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
        fields.append(HTTPFields.Field(name: HTTPFields.Name(text(name)), value: text(trimmed(value))))
    }

    /// The status that a status line tells, `HTTP/1.1 200 OK` or `HTTP/2 200`; 0 when it tells none.
    static func status(ofLine line: some Collection<UInt8>) -> Int {
        guard let space = line.firstIndex(of: 32) else { return 0 }
        var status = 0
        for byte in line[space...].dropFirst().prefix(3) {
            guard byte >= 48, byte <= 57 else { return 0 }
            status = status * 10 + Int(byte - 48)
        }
        return status
    }

    private static func parse(_ bytes: [UInt8]) -> (Int, String?, HTTPFields) {
        let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
        let line = bytes[..<end]
        let version = line.firstIndex(of: 32).map { String(decoding: line[..<$0], as: UTF8.self) }
        return (status(ofLine: line), version, fields(bytes[end...]))
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var range = 0..<bytes.count
        while let first = range.first, bytes[first] == 32 || bytes[first] == 9 { range = (first + 1)..<range.upperBound }
        while let last = range.last, bytes[last] == 32 || bytes[last] == 9 || bytes[last] == 13 { range = range.lowerBound..<last }
        return UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    /// UTF-8 where it is valid, else Latin-1, in which every byte is a character.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}
