import Foundation

/// Parses structured fields by the algorithms of RFC 9651 §4.2. Any text is safe: the time is linear in its length, and the nesting is
/// limited to a list within a list.
struct StructuredFieldParser {
    typealias Fault = StructuredFields.Fault

    private let bytes: [UInt8]
    private var position = 0

    /// Parses the whole value of a field.
    static func parse<Value>(
        _ lines: [String], _ body: (inout StructuredFieldParser) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        var parser = StructuredFieldParser(bytes: Array(lines.joined(separator: ", ").utf8))
        parser.skipSpaces()
        let value = try body(&parser)
        parser.skipSpaces()
        guard parser.next == nil else { throw parser.fault("a character that ends no value") }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next byte; `nil` at the end.
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func fault(_ problem: String) -> Fault {
        Fault("The structured field has \(problem) at byte \(position + 1) of \(bytes.count) (RFC 9651).")
    }

    private mutating func skipSpaces() {
        while next == UInt8(ascii: " ") { position += 1 }
    }

    private mutating func skipWhitespace() {
        while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    // MARK: Containers

    mutating func list() throws(Fault) -> [StructuredFields.Member] {
        var members: [StructuredFields.Member] = []
        while next != nil {
            members.append(try member())
            if try endsAfterMember() { break }
        }
        return members
    }

    mutating func dictionary() throws(Fault) -> StructuredFields.Dictionary {
        var entries = Entries<StructuredFields.Member>()
        while next != nil {
            let key = try key()
            if take(UInt8(ascii: "=")) {
                entries.set(key, try member())
            } else {
                entries.set(key, .item(StructuredFields.Item(.boolean(true), parameters: try parameters())))
            }
            if try endsAfterMember() { break }
        }
        return entries.keyed
    }

    /// Skips the comma between two members.
    private mutating func endsAfterMember() throws(Fault) -> Bool {
        skipWhitespace()
        guard next != nil else { return true }
        guard take(UInt8(ascii: ",")) else { throw fault("something other than a comma between two members") }
        skipWhitespace()
        guard next != nil else { throw fault("a comma without a member after it") }
        return false
    }

    private mutating func member() throws(Fault) -> StructuredFields.Member {
        guard take(UInt8(ascii: "(")) else { return .item(try item()) }
        var items: [StructuredFields.Item] = []
        while next != nil {
            skipSpaces()
            if take(UInt8(ascii: ")")) {
                return .innerList(StructuredFields.InnerList(items, parameters: try parameters()))
            }
            items.append(try item())
            guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else {
                throw fault("something other than a space after an item of an inner list")
            }
        }
        throw fault("an inner list without an end")
    }

    mutating func item() throws(Fault) -> StructuredFields.Item {
        StructuredFields.Item(try bareItem(), parameters: try parameters())
    }

    private mutating func parameters() throws(Fault) -> StructuredFields.Parameters {
        guard next == UInt8(ascii: ";") else { return [:] }
        var entries = Entries<StructuredFields.BareItem>()
        while take(UInt8(ascii: ";")) {
            skipSpaces()
            let key = try key()
            entries.set(key, take(UInt8(ascii: "=")) ? try bareItem() : .boolean(true))
        }
        return entries.keyed
    }

    private mutating func key() throws(Fault) -> String {
        guard let first = next, StructuredFieldAlphabet.beginsKey(first) else { throw fault("no key") }
        return word(StructuredFieldAlphabet.isInKey)
    }

    /// Takes the bytes that a condition accepts. They are ASCII.
    private mutating func word(_ accepts: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, accepts(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    // MARK: Bare items

    private mutating func bareItem() throws(Fault) -> StructuredFields.BareItem {
        guard let byte = next else { throw fault("no value") }
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: ":"): return .bytes(try byteSequence())
        case UInt8(ascii: "?"): return try boolean()
        case UInt8(ascii: "@"):
            position += 1
            guard case .integer(let seconds) = try number() else { throw fault("a date with a fraction") }
            return .date(seconds)
        case UInt8(ascii: "%"): return .displayString(try displayString())
        case _ where StructuredFieldAlphabet.beginsToken(byte): return .token(word(StructuredFieldAlphabet.isInToken))
        default: throw fault("no value")
        }
    }

    private mutating func number() throws(Fault) -> StructuredFields.BareItem {
        let isNegative = take(UInt8(ascii: "-"))
        let start = position
        let whole = try digits(atMost: 15)
        guard position > start else { throw fault("a number without digits") }
        guard take(UInt8(ascii: ".")) else { return .integer(isNegative ? -whole : whole) }
        guard position - 1 - start <= 12 else { throw fault("a decimal of more than 12 digits before its point") }
        let beginning = position
        let fraction = try digits(atMost: 3)
        let scale: Double
        switch position - beginning {
        case 1: scale = 10
        case 2: scale = 100
        case 3: scale = 1_000
        default: throw fault("a decimal without digits after its point")
        }
        // Both are at most 15 digits long, so the quotient is the double that is nearest to the number.
        let magnitude = (Double(whole) * scale + Double(fraction)) / scale
        return .decimal(isNegative ? -magnitude : magnitude)
    }

    private mutating func digits(atMost limit: Int) throws(Fault) -> Int64 {
        var (value, count) = (Int64(0), 0)
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            guard count < limit else { throw fault("a number of too many digits") }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            count += 1
            position += 1
        }
        return value
    }

    private mutating func string() throws(Fault) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw fault("a backslash before something other than a quote or a backslash")
                }
                position += 1
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: throw fault("a string with a control character or a character outside ASCII")
            }
        }
        throw fault("a string without an end")
    }

    private mutating func byteSequence() throws(Fault) -> Data {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: ":") {
            guard StructuredFieldAlphabet.isBase64(byte) else { throw fault("bytes with a character outside base64") }
            position += 1
        }
        var text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard take(UInt8(ascii: ":")) else { throw fault("bytes without an end") }
        // Padding may be missing (RFC 9651 §4.2.7). The unused bits of the last character may be set.
        while text.hasSuffix("=") { text.removeLast() }
        guard text.utf8.count % 4 != 1, !text.contains("=") else { throw fault("bytes that aren't base64") }
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { throw fault("bytes that aren't base64") }
        return data
    }

    private mutating func boolean() throws(Fault) -> StructuredFields.BareItem {
        position += 1
        if take(UInt8(ascii: "1")) { return .boolean(true) }
        if take(UInt8(ascii: "0")) { return .boolean(false) }
        throw fault("a Boolean that is neither ?0 nor ?1")
    }

    private mutating func displayString() throws(Fault) -> String {
        position += 1
        guard take(UInt8(ascii: "\"")) else { throw fault("a display string without a quote") }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                let string = String(decoding: text, as: UTF8.self)
                guard string.utf8.elementsEqual(text) else { throw fault("a display string that isn't UTF-8") }
                return string
            case UInt8(ascii: "%"):
                guard let high = hexadecimalDigit(), let low = hexadecimalDigit() else {
                    throw fault("a percent sign without two lower-case hexadecimal digits")
                }
                text.append(high << 4 | low)
            case 0x20...0x7E: text.append(byte)
            default: throw fault("a display string with a control character or a character outside ASCII")
            }
        }
        throw fault("a display string without an end")
    }

    private mutating func hexadecimalDigit() -> UInt8? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - UInt8(ascii: "a") + 10
        default: return nil
        }
    }

    /// Collects entries; a later value replaces an earlier one. The index keeps the work linear.
    private struct Entries<Value: Sendable & Hashable> {
        private var entries: [StructuredFields.Keyed<Value>.Entry] = []
        private var positions: [String: Int] = [:]

        mutating func set(_ key: String, _ value: Value) {
            let entry = StructuredFields.Keyed<Value>.Entry(key: key, value: value)
            if let position = positions.updateValue(positions[key] ?? entries.count, forKey: key) {
                entries[position] = entry
            } else {
                entries.append(entry)
            }
        }

        var keyed: StructuredFields.Keyed<Value> { StructuredFields.Keyed(distinct: entries) }
    }
}

/// The characters of keys and tokens.
enum StructuredFieldAlphabet {
    static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isLower(byte | 0x20) && byte < 0x80 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func beginsKey(_ byte: UInt8) -> Bool { isLower(byte) || byte == UInt8(ascii: "*") }

    static func isInKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "*"):
            true
        default: false
        }
    }

    static func beginsToken(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "*")
    }

    static func isInToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: isAlphanumeric(byte)
        }
    }

    static func isBase64(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}
