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
                let end = position(of: 10, in: bytes, from: start) ?? bytes.count
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
        guard let colon = position(of: 58, in: line, from: 0), colon > 0 else { return }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
        fields.append(HTTPFields.Field(name: .common(name) ?? HTTPFields.Name(text(name)), value: text(trimmed(value))))
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

    private static func position(of byte: Int32, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        return memchr(base + start, byte, bytes.count - start).map { UnsafeRawPointer($0) - base }
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (start, end) = (0, bytes.count)
        while start < end, bytes[start] == 32 || bytes[start] == 9 { start += 1 }
        while start < end, bytes[end - 1] == 32 || bytes[end - 1] == 9 || bytes[end - 1] == 13 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// UTF-8 where it is valid, else Latin-1, in which every byte is a character.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        // ASCII, as nearly all is, needs no second look.
        if all < 0x80 { return String(decoding: bytes, as: UTF8.self) }
        return String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}
