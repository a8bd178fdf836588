/// A challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.3): a scheme by which the client can authenticate.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// A parameter of a challenge (RFC 9110 §11.2).
    public struct Parameter: Hashable, Sendable {
        /// The parameter's name in the server's spelling. Names are compared case-insensitively.
        public let name: String

        /// The value, without the quotes and escapes of a quoted string.
        public let value: String

        /// The value's raw bytes.
        let quoted: QuotedText

        /// Creates a parameter with a name and an unquoted value.
        public init(name: String, value: String) {
            self.init(name: name, value: value, quoted: QuotedText(Array(value.utf8)))
        }

        init(name: String, value: String, quoted: QuotedText) {
            self.name = name
            self.value = value
            self.quoted = quoted
        }

        /// Whether names and values are equal.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.value == right.value }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    /// The scheme in the server's spelling, such as `Basic`. Compare it with ``isScheme(_:)``, which ignores case.
    public let scheme: String

    /// The parameters in the order of the field, including duplicate names; ``subscript(_:)`` returns the first.
    public let parameters: [Parameter]

    /// The unnamed value that some schemes send instead of parameters (RFC 9110 §11.2, `token68`).
    public let token68: String?

    /// Creates a challenge from its parts.
    public init(scheme: String, parameters: [Parameter] = [], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// The value of the first parameter with this name, ignoring case, or nil.
    public subscript(_ name: String) -> String? { parameter(name)?.value }

    /// The first parameter with this name, ignoring case.
    func parameter(_ name: String) -> Parameter? {
        let wanted = name.lowercased()
        return parameters.first { $0.name.lowercased() == wanted }
    }

    /// Returns whether the challenge has this scheme, ignoring case (RFC 9110 §11.1).
    public func isScheme(_ name: String) -> Bool {
        scheme.lowercased() == name.lowercased()
    }

    /// Returns the challenges of a response in order (RFC 9110 §11.6.1).
    ///
    /// Parsing never fails: text that isn't a challenge or parameter is skipped up to the next comma outside quotes. Parameters may
    /// continue in a later line, since lines with one name form one list (RFC 9110 §5.2).
    /// - Parameter lines: The values of all fields with the name, one per line.
    public static func challenges(in lines: [String]) -> [AuthenticationChallenge] {
        challenges(inBytes: lines.map { Array($0.utf8) })
    }

    /// Returns the challenges in the raw bytes of the lines.
    static func challenges(inBytes lines: [[UInt8]]) -> [AuthenticationChallenge] {
        var scanner = ChallengeScanner()
        for line in lines {
            scanner.scan(line)
        }
        return scanner.finish()
    }
}

/// Parses lists of challenges and lists of parameters (RFC 9110 §11.2 to §11.6) in one pass over the bytes. It tolerates faults and never
/// traps.
///
/// It accepts known server deviations from the grammar: unquoted values with characters outside tokens, a missing comma between two
/// parameters, blanks around `=`, empty list elements, and a quoted string cut off by the line's end.
struct ChallengeScanner {
    /// A challenge that may get further parameters.
    private struct Draft {
        var scheme: String
        var parameters: [AuthenticationChallenge.Parameter] = []
        var token68: String?
    }

    private var drafts: [Draft] = []
    private var bytes: [UInt8] = []
    private var position = 0

    /// Returns the parameters of a field that is a list of parameters only, such as `Authentication-Info` (RFC 7615 §3).
    static func parameters(in lines: [[UInt8]]) -> [AuthenticationChallenge.Parameter] {
        var scanner = ChallengeScanner()
        scanner.drafts.append(Draft(scheme: ""))
        for line in lines {
            scanner.scan(line)
        }
        return scanner.drafts.first?.parameters ?? []
    }

    /// Returns the challenges of all lines so far.
    func finish() -> [AuthenticationChallenge] {
        drafts.map { AuthenticationChallenge(scheme: $0.scheme, parameters: $0.parameters, token68: $0.token68) }
    }

    /// Parses one line. Its first parameters belong to the last challenge of the previous line.
    mutating func scan(_ line: [UInt8]) {
        bytes = line
        position = 0
        var followsComma = true
        while true {
            while let byte = current, byte == Self.comma || Self.isBlank(byte) {
                followsComma = followsComma || byte == Self.comma
                position += 1
            }
            guard position < bytes.count else { return }
            scanElement(followsComma: followsComma)
            followsComma = false
        }
    }

    /// Parses a parameter, or a scheme with an optional `token68`. Always advances by at least one byte.
    private mutating func scanElement(followsComma: Bool) {
        let name = token()
        guard !name.isEmpty else {
            skipToComma()
            return
        }
        let afterName = position
        skipBlanks()
        if current == Self.equals {
            position += 1
            skipBlanks()
            let parameter = current == Self.quote ? quotedString(of: name) : unquotedValue(of: name)
            if !drafts.isEmpty {
                drafts[drafts.count - 1].parameters.append(parameter)
            }
        } else if position > afterName && current != Self.comma && current != nil {
            drafts.append(Draft(scheme: name, token68: token68()))
        } else if followsComma && (current == Self.comma || current == nil) {
            drafts.append(Draft(scheme: name))
        } else {
            skipToComma()
        }
    }

    private mutating func token() -> String {
        let start = position
        while let byte = current, Self.isTokenCharacter(byte) {
            position += 1
        }
        return text(start..<position)
    }

    /// Parses a `token68` if it is the whole rest of the list element; otherwise returns nil without advancing.
    private mutating func token68() -> String? {
        let start = position
        while let byte = current, Self.isToken68Character(byte) {
            position += 1
        }
        let hasCharacters = position > start
        while current == Self.equals {
            position += 1
        }
        let end = position
        skipBlanks()
        guard hasCharacters, current == nil || current == Self.comma, !isEmptyParameter(endingAt: end) else {
            position = start
            return nil
        }
        return text(start..<end)
    }

    /// Whether an apparent `token68` is a parameter with an empty value, as in `Digest realm=, nonce="1"`: another parameter follows,
    /// which isn't possible after a `token68`.
    private func isEmptyParameter(endingAt end: Int) -> Bool {
        guard bytes[end - 1] == Self.equals else { return false }
        var next = ChallengeScanner()
        next.bytes = bytes
        next.position = position
        while let byte = next.current, byte == Self.comma || Self.isBlank(byte) { next.position += 1 }
        guard !next.token().isEmpty else { return false }
        next.skipBlanks()
        return next.current == Self.equals
    }

    /// Parses from the opening quote to the closing one or the line's end, and removes the escapes.
    private mutating func quotedString(of name: String) -> AuthenticationChallenge.Parameter {
        position += 1
        let start = position
        var end = position
        var value: [UInt8] = []
        // At the line's end, a trailing backslash escapes nothing.
        var escape: [UInt8] = []
        while let byte = current {
            position += 1
            if byte == Self.quote { break }
            if byte == Self.backslash, let escaped = current {
                position += 1
                value.append(escaped)
            } else {
                if byte == Self.backslash { escape = [byte] }
                value.append(byte)
            }
            end = position
        }
        let quoted = QuotedText(content: bytes[start..<end] + escape)
        return .init(name: name, value: value.withUnsafeBytes(HTTPFields.Lines.text), quoted: quoted)
    }

    /// Parses up to the next comma or blank, with any characters, since some servers omit the quotes.
    private mutating func unquotedValue(of name: String) -> AuthenticationChallenge.Parameter {
        let start = position
        while let byte = current, byte != Self.comma, !Self.isBlank(byte) {
            position += 1
        }
        return .init(name: name, value: text(start..<position), quoted: QuotedText(Array(bytes[start..<position])))
    }

    /// Skips invalid text up to the next comma outside quotes. Advances unless the next byte is a comma.
    private mutating func skipToComma() {
        while let byte = current, byte != Self.comma {
            if byte == Self.quote {
                _ = quotedString(of: "")
            } else {
                position += 1
            }
        }
    }

    private mutating func skipBlanks() {
        while let byte = current, Self.isBlank(byte) {
            position += 1
        }
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        bytes[range].withUnsafeBytes(HTTPFields.Lines.text)
    }

    private static let comma = UInt8(ascii: ",")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// RFC 9110 §11.2, without the equals signs at the end.
    private static func isToken68Character(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~+/".utf8.contains(byte)
    }
}
