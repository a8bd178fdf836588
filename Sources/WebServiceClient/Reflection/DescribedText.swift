import HTTPTransport

// Reads the texts that descriptions have for values, such as attributes and serializers.

extension StringProtocol where SubSequence == Substring {
    /// Returns the part between a beginning and an end; `nil` if the text has others. Bytes are compared, because a beginning may form one
    /// character with the text after it.
    package func inside(_ beginning: String, _ end: String = ")") -> Substring? {
        let (text, bytes) = (self[...], self[...].utf8)
        let (first, last) = (beginning.utf8, end.utf8)
        guard bytes.count >= first.count + last.count, bytes.starts(with: first), bytes.suffix(last.count).elementsEqual(last) else {
            return nil
        }
        return text[bytes.index(bytes.startIndex, offsetBy: first.count)..<bytes.index(bytes.endIndex, offsetBy: -last.count)]
    }

    /// Returns the text before a mark and the text after it; `nil` if the mark isn't in the text.
    func divided(by mark: String) -> (before: Substring, after: Substring)? {
        guard let found = range(ofMark: mark) else { return nil }
        return (self[..<found.lowerBound], self[found.upperBound...])
    }

    /// Returns the parts between `, ` outside of quotation marks, parentheses and brackets; an empty text has no parts.
    ///
    /// - Parameter nesting: Whether parentheses and brackets count. In texts of a program they needn't have counterparts.
    func listed(nesting: Bool = true) -> [Substring] {
        guard !isEmpty else { return [] }
        var parts: [Substring] = []
        var (start, position) = (startIndex, startIndex)
        var (depth, isQuoted) = (0, false)
        let bytes = self[...].utf8
        while position < endIndex {
            let next = bytes.index(after: position)
            switch bytes[position] {
            case UInt8(ascii: "\\") where isQuoted && next < endIndex:
                position = bytes.index(after: next)
                continue
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "("), UInt8(ascii: "["): if nesting, !isQuoted { depth += 1 }
            case UInt8(ascii: ")"), UInt8(ascii: "]"): if nesting, !isQuoted { depth -= 1 }
            case UInt8(ascii: ","):
                guard depth == 0, !isQuoted, next < endIndex, bytes[next] == UInt8(ascii: " ") else { break }
                parts.append(self[start..<position])
                start = bytes.index(after: next)
                position = start
                continue
            default: break
            }
            position = next
        }
        return parts + [self[start...]]
    }

    /// The text that a Swift literal in quotation marks represents; `nil` if this isn't one.
    var literalText: String? {
        guard let content = inside("\"", "\"") else { return nil }
        var result = String.UnicodeScalarView()
        var rest = content.unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                guard scalar != "\"" else { return nil }
                result.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "n"?: result.append("\n")
            case "r"?: result.append("\r")
            case "t"?: result.append("\t")
            case "0"?: result.append("\0")
            case let mark? where mark == "\\" || mark == "\"" || mark == "'": result.append(mark)
            case "u"?:
                guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                    let scalar = UInt32(Substring(rest[..<end]), radix: 16).flatMap(Unicode.Scalar.init)
                else { return nil }
                result.append(scalar)
                rest = rest[rest.index(after: end)...]
            default: return nil
            }
        }
        return String(result)
    }

    /// Returns the text for a list: in quotation marks if it contains one of some marks. Scalars are compared, because a mark may form one
    /// character with the text after it.
    func quoted(ifContaining marks: String) -> String {
        unicodeScalars.contains { marks.unicodeScalars.contains($0) } ? String(self).debugDescription : String(self)
    }

    /// The texts that an array of Swift literals represents, such as `["a", "b"]`; `nil` if this isn't one.
    var literalTexts: [String]? {
        guard let parts = inside("[", "]")?.listed() else { return nil }
        let texts = parts.compactMap(\.literalText)
        return texts.count == parts.count ? texts : nil
    }

    /// The name of an enumeration's case, without its module and type.
    package var caseName: String { String(self[...].split(separator: ".").last ?? "") }

    /// The value of an optional in Swift's default form: `Optional(7)`. It is `nil` for `nil`.
    package var wrapped: Substring? { inside("Optional(") }
}

/// The members of a value in Swift's default form, such as `Coalescing(isEnabled: true)`.
package struct DescribedMembers {
    private let members: [String: Substring]

    /// Splits a text; `nil` if it belongs to another type.
    ///
    /// - Parameter type: The type's name.
    package init?(_ text: some StringProtocol, of type: String) {
        guard let content = String(text).inside(type + "(") else { return nil }
        var members: [String: Substring] = [:]
        var last: String?
        for part in content.listed() {
            if let (label, value) = part.divided(by: ": "), label.allSatisfy({ $0.isLetter }) {
                last = String(label)
                members[String(label)] = value
            } else if let last {
                // A value that is a list without brackets, such as statuses.
                members[last] = (members[last] ?? "") + ", " + part
            }
        }
        self.members = members
    }

    /// The text of a member; `nil` if it is missing.
    package subscript(label: String) -> Substring? { members[label] }

    /// The whole number of a member.
    package func integer(_ label: String) -> Int? { members[label].flatMap { Int($0) } }

    /// The duration of a member, in Swift's form: `2.5 seconds`.
    func duration(_ label: String) -> Duration? {
        members[label].flatMap { Duration(describedSeconds: $0) }
    }
}

extension Duration {
    /// Reads what ``text`` writes; `nil` if the text is another one.
    init?(text: some StringProtocol) {
        let text = String(text)
        guard let number = text.inside("", " s"), let duration = Duration(decimalSeconds: number), duration.text == text else { return nil }
        self = duration
    }

    /// Reads Swift's own description, such as `2.5 seconds`; `nil` if the text is another one.
    ///
    /// The description is a rounded sum, such as `0.033000000000000004 seconds`, so that whole nanoseconds are tried first.
    init?(describedSeconds text: Substring) {
        guard let number = text.inside("", " seconds") else { return nil }
        if let seconds = Double(number), seconds.magnitude < 9e9 {
            let duration = Duration.nanoseconds(Int64((seconds * 1e9).rounded()))
            if duration.description == text {
                self = duration
                return
            }
        }
        guard let duration = Duration(decimalSeconds: number) else { return nil }
        self = duration
    }

    /// Reads a decimal number of seconds, exactly up to 18 decimal places; `nil` if the text isn't one.
    fileprivate init?(decimalSeconds text: Substring) {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDecimal, (1...2).contains(parts.count), let whole = Int64(parts[0]) else { return nil }
        var attoseconds: Int64 = 0
        if parts.count == 2 {
            guard parts[1].utf8.count <= 18 else { return nil }
            attoseconds = Int64(parts[1] + String(repeating: "0", count: 18 - parts[1].utf8.count)) ?? 0
        }
        let duration = Duration(secondsComponent: whole, attosecondsComponent: attoseconds)
        self = isNegative ? .zero - duration : duration
    }
}
