/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.3): a way in which the server lets the client
/// prove who it is.
public struct AuthenticationChallenge: Hashable, Sendable {
    /// A parameter of a challenge (RFC 9110 §11.2).
    public struct Parameter: Hashable, Sendable {
        /// The parameter's name as the server spelled it. Names are compared without regard to case.
        public let name: String

        /// The value, without quotes and escapes if it was sent as a quoted string.
        public let value: String

        /// The value's bytes as they came.
        let quoted: QuotedText

        /// A parameter with a name and an unquoted value.
        public init(name: String, value: String) {
            self.init(name: name, value: value, quoted: QuotedText(Array(value.utf8)))
        }

        init(name: String, value: String, quoted: QuotedText) {
            self.name = name
            self.value = value
            self.quoted = quoted
        }

        /// Whether name and value are the same.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.value == right.value }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    /// The scheme as the server spelled it, such as `Basic`. Compare it with ``isScheme(_:)``, which disregards case.
    public let scheme: String

    /// The parameters in the order in which they were sent. A name that was sent twice is here twice; ``subscript(_:)`` gives the first.
    public let parameters: [Parameter]

    /// The one unnamed value that some schemes send instead of parameters (RFC 9110 §11.2, `token68`).
    public let token68: String?

    /// A challenge made of its parts.
    public init(scheme: String, parameters: [Parameter] = [], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// The value of the first parameter of this name in any case, or nil.
    public subscript(_ name: String) -> String? { parameter(name)?.value }

    /// The first parameter of this name in any case.
    func parameter(_ name: String) -> Parameter? {
        let wanted = name.lowercased()
        return parameters.first { $0.name.lowercased() == wanted }
    }

    /// Whether the challenge is of this scheme. Case doesn't count (RFC 9110 §11.1).
    public func isScheme(_ name: String) -> Bool {
        scheme.lowercased() == name.lowercased()
    }

    /// The challenges of a response in the order in which they were sent (RFC 9110 §11.6.1).
    ///
    /// Never fails: what isn't a challenge or a parameter is skipped, up to the next comma outside quotes. Parameters may follow their
    /// scheme in a later line, since lines of one name are one list (RFC 9110 §5.2).
    /// - Parameter lines: the values of all fields of the name, one for each line.
    public static func challenges(in lines: [String]) -> [AuthenticationChallenge] {
        challenges(inBytes: lines.map { Array($0.utf8) })
    }

    /// The same, of the lines' bytes as they came.
    static func challenges(inBytes lines: [[UInt8]]) -> [AuthenticationChallenge] {
        var scanner = ChallengeScanner()
        for line in lines {
            scanner.scan(line)
        }
        return scanner.finish()
    }
}
