public import Foundation

extension CacheHead {
    /// The head as bytes, for stores that keep them outside the process. They contain the URL and all fields, which may be secret.
    public var encoded: Data {
        var writer = Writer()
        writer.add(Self.version)
        writer.add(key.partition)
        writer.add(key.url)
        writer.add(UInt64(bitPattern: Int64(status)))
        writer.add(id)
        writer.add(requested.timeIntervalSince1970.bitPattern)
        writer.add(received.timeIntervalSince1970.bitPattern)
        writer.add(UInt64(bitPattern: bodyLength))
        writer.add(httpVersion)
        writer.add(identifier)
        writer.add(UInt64(tags.count))
        for tag in tags { writer.add(tag) }
        writer.add(UInt64(part == nil ? 0 : 1))
        if let part {
            writer.add(part.requested)
            writer.add(UInt64(bitPattern: part.first))
            writer.add(UInt64(bitPattern: part.total ?? -1))
        }
        writer.add(UInt64(selection.count))
        for field in selection {
            writer.add(field.name.canonicalName)
            writer.add(field.value)
        }
        writer.add(UInt64(headers.count))
        for field in headers {
            writer.add(field.name.rawName)
            writer.add(bytes: field.bytes)
        }
        return Data(writer.bytes)
    }

    /// Reads the bytes of ``encoded``; `nil` if they aren't a head of this version.
    public init?(encoded: Data) {
        let head: CacheHead? = encoded.withUnsafeBytes { bytes in
            var reader = Reader(bytes: bytes)
            do { return try reader.head() } catch { return nil }
        }
        guard let head else { return nil }
        self = head
    }

    /// The version of the format. Heads of others aren't read.
    private static let version: UInt64 = 1

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func add(_ number: UInt64) {
            var rest = number
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: rest))
        }

        mutating func add(_ text: String) {
            add(UInt64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }

        mutating func add(_ text: String?) {
            add(UInt64(text == nil ? 0 : 1))
            if let text { add(text) }
        }

        mutating func add(bytes added: [UInt8]) {
            add(UInt64(added.count))
            bytes.append(contentsOf: added)
        }
    }

    private struct Malformed: Error {}

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var index = 0

        mutating func number() throws(Malformed) -> UInt64 {
            var number: UInt64 = 0
            var shift: UInt64 = 0
            while index < bytes.count, shift < 64 {
                let byte = bytes[index]
                index += 1
                number |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return number }
                shift += 7
            }
            throw Malformed()
        }

        mutating func signed() throws(Malformed) -> Int64 { Int64(bitPattern: try number()) }

        /// A number of things that take at least one byte each.
        mutating func count() throws(Malformed) -> Int {
            let number = try number()
            guard number <= UInt64(bytes.count - index) else { throw Malformed() }
            return Int(number)
        }

        mutating func rawBytes() throws(Malformed) -> UnsafeRawBufferPointer {
            let count = try count()
            defer { index += count }
            return UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
        }

        mutating func text() throws(Malformed) -> String { String(decoding: try rawBytes(), as: UTF8.self) }

        mutating func optionalText() throws(Malformed) -> String? { try number() == 0 ? nil : try text() }

        mutating func date() throws(Malformed) -> Date {
            let seconds = Double(bitPattern: try number())
            guard seconds.isFinite else { throw Malformed() }
            return Date(timeIntervalSince1970: seconds)
        }

        mutating func head() throws(Malformed) -> CacheHead {
            guard try number() == CacheHead.version else { throw Malformed() }
            let key = CacheKey(partition: try text(), url: try text())
            guard let status = Int(exactly: try signed()) else { throw Malformed() }
            let id = try number()
            let (requested, received) = (try date(), try date())
            let bodyLength = try signed()
            guard bodyLength >= 0 else { throw Malformed() }
            let (version, identifier) = (try optionalText(), try optionalText())
            var tags: [String] = []
            for _ in 0..<(try count()) { tags.append(try text()) }
            var part: CacheHead.Part?
            if try number() != 0 {
                let requested = try text()
                let (first, total) = (try signed(), try signed())
                guard first >= 0, first <= Int64.max / 2, bodyLength <= Int64.max / 2 else { throw Malformed() }
                part = CacheHead.Part(requested: requested, first: first, total: total < 0 ? nil : total)
            }
            var selection: [SelectingField] = []
            for _ in 0..<(try count()) { selection.append(SelectingField(name: HTTPFields.Name(try text()), value: try optionalText())) }
            var fields: [HTTPFields.Field] = []
            for _ in 0..<(try count()) {
                let nameBytes = try rawBytes()
                let name = HTTPFields.Name.common(nameBytes) ?? HTTPFields.Name(String(decoding: nameBytes, as: UTF8.self))
                fields.append(HTTPFields.Field(name: name, bytes: try rawBytes()))
            }
            guard index == bytes.count else { throw Malformed() }
            return CacheHead(
                key: key, id: id, status: status, headers: HTTPFields(fields), requested: requested, received: received, tags: tags,
                identifier: identifier, bodyLength: bodyLength, part: part, selection: selection, httpVersion: version)
        }
    }
}
